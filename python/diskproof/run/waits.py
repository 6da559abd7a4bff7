"""What the server reports that its sessions wait for, asked some times a second."""

import threading
import time
from collections import Counter
from collections.abc import Callable

from diskproof.server.base import ANSWER_LIMIT_S, ServerError

PERIOD_S = 0.2

MOST_TIME = 0.02
"""Share of the time for asking: a server with a thousand sessions is asked less often."""


class WaitsWatch:
    """Asks a server in the background what its sessions wait for; stops if the server does not report it."""

    def __init__(self, ask: Callable[[], dict[str, int] | None]) -> None:
        self._ask = ask
        self._moments = 0
        self._found: Counter[str] = Counter()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start asking."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop asking, and wait for the current answer."""
        self.abandon()
        if self._thread is not None:
            self._thread.join(ANSWER_LIMIT_S)

    def abandon(self) -> None:
        """Stop asking."""
        self._stop.set()

    def mean(self) -> dict[str, float] | None:
        """Return the mean number of sessions by what they waited for; None if it is not reported."""
        if not self._moments:
            return None
        return {name: count / self._moments for name, count in sorted(self._found.items())}

    def _watch(self) -> None:
        wait_s = 0.0
        while not self._stop.wait(wait_s):
            began_s = time.monotonic()
            try:
                waiting = self._ask()
            except ServerError:  # the sampler's own question reports the fault
                return
            if waiting is None:
                return
            self._moments += 1
            self._found.update(waiting)
            wait_s = max(PERIOD_S, (time.monotonic() - began_s) / MOST_TIME)
