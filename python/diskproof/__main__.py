"""``python -m diskproof``, and the program `diskproof`: where both begin, before what is slow to import."""

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""As in `cli.exits` and `system.endings`, which are not imported yet."""


def run() -> NoReturn:
    """Run the command line. Before and after it a signal has nothing to undo, and ends with a word."""
    for number in ENDING_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    from diskproof.cli import main  # noqa: PLC0415 - this is what takes the while

    main()


def _leave(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, b"interrupted\n")
    finally:  # a closed terminal takes no word
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()
