"""``python -m diskproof``, and the program `diskproof`: where both begin, before what is slow to import."""

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""As in `cli.exits`, which is not imported yet."""


def run() -> NoReturn:
    """Run the command line. Until it is there, Ctrl-C has nothing to undo, and ends with a word."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    from diskproof.cli import main  # noqa: PLC0415 - this is what takes the while
    from diskproof.system.endings import hear_one  # noqa: PLC0415

    hear_one(signal.SIGINT)
    main()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()
