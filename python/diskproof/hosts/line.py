"""The line between a program that a host runs for a run and the lab of that host: JSON, a line each way.

It closes if the head, the network or Ray is gone. Then the program cleans up and ends, as after Ctrl-C.
"""

import json
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from diskproof.refusal import RefusalError, refusal_of
from diskproof.system.endings import ending_in_good_order

STDIN = 0

Said = dict[str, Any]


class Line:
    """The program's end of the line."""

    def __init__(self) -> None:
        """Take over standard output; what else writes there goes to the log."""
        self._said = os.dup(1)
        os.dup2(2, 1)
        self._heard = b""

    @contextmanager
    def held(self) -> Iterator[None]:
        """Run the program's work within: it ends in good order if the line closes, and tells the head why."""
        try:
            with ending_in_good_order():
                threading.Thread(target=_end_without_head, daemon=True).start()
                _check_priority()
                yield
        except KeyboardInterrupt:
            self.tell(state="refused", why="its part of the run was interrupted")
        except RefusalError as error:
            self.tell(state="refused", why=str(error))
        except BaseException as error:  # noqa: BLE001 - the head must hear of it
            traceback.print_exc()
            refused = refusal_of(error) if isinstance(error, OSError) else None
            self.tell(
                state="refused", why=refused or f"an error of diskproof: {type(error).__name__}: {error}"
            )
            sys.exit(1)

    def tell(self, **what: Any) -> None:  # noqa: ANN401 - whatever JSON has
        """Say something; nothing if nobody is there."""
        with suppress(BrokenPipeError):
            left = (json.dumps(what) + "\n").encode()
            while left:
                left = left[os.write(self._said, left) :]

    def hears(self, limit_s: float | None = None) -> bool:
        """Return whether something is said, or the line closes, within the limit; nothing is taken away."""
        return b"\n" in self._heard or bool(select.select([STDIN], [], [], limit_s)[0])

    def hear(self, limit_s: float | None = None) -> Said | None:
        """Return what is said next; None if the line closes. TimeoutError after the limit."""
        until_s = None if limit_s is None else time.monotonic() + limit_s
        while b"\n" not in self._heard:
            if not self.hears(None if until_s is None else max(until_s - time.monotonic(), 0.0)):
                raise TimeoutError
            more = os.read(STDIN, 2**20)
            if not more:
                return None
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        said: Said = json.loads(line)
        return said

    def whole(self, size_bytes: int) -> bytes:
        """Return so many bytes, before anything is said in lines."""
        content = b""
        while len(content) < size_bytes and (more := os.read(STDIN, size_bytes - len(content))):
            content += more
        return content


def _end_without_head() -> None:
    line = select.poll()
    line.register(STDIN, 0)  # its end is reported unasked
    line.poll()
    os.kill(os.getpid(), signal.SIGTERM)


def _check_priority() -> None:
    """Raise this process to the usual priority, which Ray lowers for its workers; RefusalError if it may not.

    A cluster that `diskproof host` made does not lower it.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, min(0, os.getpriority(os.PRIO_PROCESS, 0)))
    except PermissionError:
        raise RefusalError(
            "Ray gives its workers a low priority on this host, which would slow its programs down: set "
            "RAY_worker_niceness=0 in the environment in which Ray starts"
        ) from None
