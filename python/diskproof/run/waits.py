"""What clients' sessions wait for by the server's own word, asked some times a second."""

import threading
import time
from collections import Counter
from collections.abc import Callable

from diskproof.server.base import ANSWER_LIMIT_S, ServerError

PERIOD_S = 0.2

MOST_TIME = 0.02
"""Of the time, for asking: of a server with a thousand sessions it is asked less often."""


class WaitsWatch:
    """Asks a server what its sessions wait for, in the background; a server that does not tell is let be."""

    def __init__(self, ask: Callable[[], dict[str, int] | None]) -> None:
        """Take the question: ``Running.waiting_sessions``."""
        self._ask = ask
        self._moments = 0
        self._found: Counter[str] = Counter()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Ask from now on."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ask no more, and wait for the answer that is under way."""
        self.abandon()
        if self._thread is not None:
            self._thread.join(ANSWER_LIMIT_S)

    def abandon(self) -> None:
        """Ask no more."""
        self._stop.set()

    def mean(self) -> dict[str, float] | None:
        """Return the mean number of sessions by what they waited for; None where the server did not tell."""
        if not self._moments:
            return None
        return {name: count / self._moments for name, count in sorted(self._found.items())}

    def _watch(self) -> None:
        wait_s = 0.0
        while not self._stop.wait(wait_s):
            began_s = time.monotonic()
            try:
                waiting = self._ask()
            except ServerError:  # whoever asks it for its counters says what is wrong with it
                return
            if waiting is None:
                return
            self._moments += 1
            self._found.update(waiting)
            wait_s = max(PERIOD_S, (time.monotonic() - began_s) / MOST_TIME)
