"""A host's part of a run: an ordinary run of its trials, which waits for its head before each block."""

import pickle
import signal
from dataclasses import replace

from diskproof.hosts.line import Line
from diskproof.hosts.remote import RemoteLoads, Roles
from diskproof.results.folder import RunFolder
from diskproof.results.plan import PlannedTrial
from diskproof.run.session import Progress, Request, session
from diskproof.run.trials import run_trials

LENGTH_BYTES = 8
"""What comes first on the line: how long the request is."""


class _Told(Progress):
    """The run's progress for the head: between blocks alone, and no trials, whose records the head reads."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._block: int | None = None
        self._notes: list[str] = []
        self.folder: RunFolder | None = None

    def note(self, text: str) -> None:
        """Keep a message until the block is done: nothing is sent while a trial is measured."""
        self._notes.append(text)

    def trial_begins(self, planned: PlannedTrial) -> None:
        """Wait for the head before each block; end if it is gone."""
        if planned.block != self._block:
            self._block = planned.block
            self.flush()
            assert self.folder is not None
            self._line.tell(state="waits", folder=str(self.folder.path))
            if self._line.hear() is None:
                signal.raise_signal(signal.SIGTERM)

    def flush(self) -> None:
        """Send the messages that were kept."""
        for text in self._notes:
            self._line.tell(note=text)
        self._notes.clear()


def main() -> None:
    """Run the part that comes on the line."""
    line = Line()
    told = _Told(line)
    request: Request
    roles: Roles | None
    request, roles = pickle.loads(line.whole(int.from_bytes(line.whole(LENGTH_BYTES))))  # noqa: S301 - the head's
    with line.held():
        try:
            with session(request, told) as bench:
                told.folder = bench.folder
                loads = RemoteLoads(line, roles, bench.sockets.parent) if roles else None
                run_trials(replace(bench, elsewhere=loads), told)
        finally:
            told.flush()
        line.tell(state="done")


if __name__ == "__main__":
    main()
