"""A host's part of a run: an ordinary run of the host's trials, which waits for its head before each block.

It is a process of its own. Its line to the head closes if the head, the network or Ray is gone. Then it
breaks off its trial, cleans up and ends, as after Ctrl-C.
"""

import json
import os
import pickle
import select
import signal
import sys
import threading
import traceback
from contextlib import suppress
from typing import Any

from diskproof.refusal import RefusalError, refusal_of
from diskproof.results.folder import RunFolder
from diskproof.results.plan import PlannedTrial
from diskproof.run.session import Progress, Request, session
from diskproof.run.trials import run_trials
from diskproof.system.endings import ending_in_good_order

STDIN = 0


LENGTH_BYTES = 8
"""What comes first on stdin: how long the request is."""


class _Line(Progress):
    """The line to the head, which is also told of the run's progress: only between blocks.

    Progress does nothing of itself: the head reads the records.
    """

    def __init__(self, said: int) -> None:
        self._said = said
        self._block: int | None = None
        self._notes: list[str] = []
        self.folder: RunFolder | None = None

    def tell(self, **what: Any) -> None:  # noqa: ANN401 - whatever JSON has
        """Say something to the head; nothing if it is gone."""
        with suppress(BrokenPipeError):
            os.write(self._said, (json.dumps(what) + "\n").encode())

    def note(self, text: str) -> None:
        """Keep a message until the block is done: nothing is sent while a trial is measured."""
        self._notes.append(text)

    def trial_begins(self, planned: PlannedTrial) -> None:
        """Wait for the head before each block; end if it is gone."""
        if planned.block != self._block:
            self._block = planned.block
            self.flush()
            assert self.folder is not None
            self.tell(state="waits", folder=str(self.folder.path))
            if os.read(STDIN, 100) == b"":
                signal.raise_signal(signal.SIGTERM)

    def flush(self) -> None:
        """Send the messages that were kept."""
        for text in self._notes:
            self.tell(note=text)
        self._notes.clear()


def _whole(size_bytes: int) -> bytes:
    """Read so many bytes, and none of what comes later."""
    content = b""
    while len(content) < size_bytes and (more := os.read(STDIN, size_bytes - len(content))):
        content += more
    return content


def _end_without_head() -> None:
    """Wait until the line to the head closes, then end this process in good order."""
    line = select.poll()
    line.register(STDIN, 0)  # its end is reported unasked
    line.poll()
    os.kill(os.getpid(), signal.SIGTERM)


def _check_priority() -> None:
    """Have the priority of any other program: Ray's workers have less, unless it is told otherwise."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, min(0, os.getpriority(os.PRIO_PROCESS, 0)))
    except PermissionError:
        raise RefusalError(
            "Ray gives its workers a low priority on this host, which would slow the server down: set "
            "RAY_worker_niceness=0 in the environment in which Ray starts"
        ) from None


def main() -> None:
    """Run the part that comes on stdin."""
    line = _Line(os.dup(1))
    os.dup2(2, 1)  # stdout is the line to the head
    request: Request = pickle.loads(_whole(int.from_bytes(_whole(LENGTH_BYTES))))  # noqa: S301 - from the head
    try:
        with ending_in_good_order():
            threading.Thread(target=_end_without_head, daemon=True).start()
            _check_priority()
            with session(request, line) as bench:
                line.folder = bench.folder
                run_trials(bench, line)
        line.flush()
        line.tell(state="done")
    except KeyboardInterrupt:
        line.flush()
        line.tell(state="refused", why="its part of the run was interrupted")
    except RefusalError as error:
        line.flush()
        line.tell(state="refused", why=str(error))
    except OSError as error:
        traceback.print_exc()
        line.tell(state="refused", why=refusal_of(error) or str(error))
    except BaseException as error:  # noqa: BLE001 - the head must hear of it
        traceback.print_exc()
        line.tell(state="refused", why=f"an error of diskproof: {type(error).__name__}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
