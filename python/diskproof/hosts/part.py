"""A host's part of a run: an ordinary run of its steps, which waits for its head before each of them."""

import pickle
import signal
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from diskproof.hosts.line import Line, Said
from diskproof.hosts.remote import RemoteLoads, Roles
from diskproof.results.folder import RunFolder
from diskproof.results.plan import PlannedCut
from diskproof.run.execute import make_steps
from diskproof.run.prove import Provable
from diskproof.run.session import Planned, PlannedPair, Progress, Request, session

LENGTH_BYTES = 8
"""What comes first on the line: how long the request is."""


class _Told(Progress):
    """The run's progress for the head: between steps alone, and no results, whose records the head reads."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._block: int | None = None
        self._notes: list[str] = []
        self._pairs: Sequence[PlannedPair] = ()
        self.loads: RemoteLoads | None = None
        self.folder: RunFolder | None = None

    def note(self, text: str) -> None:
        """Keep a message until the step is done: nothing is sent while a trial is measured."""
        self._notes.append(text)

    def begins(self, planned: Planned) -> None:
        """Wait for the head before each block, and before each pair of trials and each cut."""
        block = None if isinstance(planned, PlannedCut | PlannedPair) else planned.block
        if block is None or block != self._block:
            self._block = block
            pairs, self._pairs = self._pairs, ()
            self.wait("waits", pairs=[pair.model_dump(mode="json") for pair in pairs])

    def proofs_begin(self, pairs: Sequence[PlannedPair]) -> None:
        """Keep the pairs until the first of them."""
        self._pairs = pairs

    def limits(self) -> list[Provable]:
        """Wait for the limits that the head wants proved here."""
        return [Provable.model_validate(one) for one in self.wait("proves")["limits"]]

    def wait(self, state: str, **more: Any) -> Said:  # noqa: ANN401 - whatever JSON has
        """Tell the head, and return what it says; end if it is gone.

        RefusalError if a machine of the load is lost: its answer would be taken for the head's.
        """
        if self.loads is not None:
            self.loads.check()
        self.flush()
        assert self.folder is not None
        self._line.tell(state=state, folder=str(self.folder.path), **more)
        said = self._line.hear()
        if said is None:
            signal.raise_signal(signal.SIGTERM)
            raise KeyboardInterrupt
        return said

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
                told.loads = RemoteLoads(line, roles, bench.sockets.parent) if roles else None
                at_work = replace(bench, elsewhere=told.loads)
                make_steps(request, at_work, told, told.limits)
        finally:
            told.flush()
        line.tell(state="done")


if __name__ == "__main__":
    main()
