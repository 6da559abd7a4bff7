"""`run --watch`: a run's page beside it, from a process of its own that gives way to the measurement."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from diskproof.cli.screen import messages, say
from diskproof.refusal import RefusalError
from diskproof.system.programs import ANSWER_S, PIPE, first_line, kill, start


@contextmanager
def watching(out: Path) -> Iterator[Callable[[], None]]:
    """Serve the runs in a folder while a run is made.

    Yield what keeps the page after the run, on a terminal until Ctrl-C; it does nothing elsewhere.
    """
    process = start([sys.executable, "-m", "diskproof", "serve", str(out), "--port", "0"], stdout=PIPE)

    def stay() -> None:
        if messages.is_terminal:
            say(f"its report: {address}newest until Ctrl-C")
            with suppress(KeyboardInterrupt):
                process.wait()

    try:
        assert process.stdout is not None
        address = first_line(process.stdout, ANSWER_S).decode().strip()
        if not address:
            raise RefusalError("--watch: the page could not be served; `diskproof serve` says why")
        say(f"the run as it grows: {address}newest")
        yield stay
    finally:
        kill(process)
