"""``python -m diskproof``, and the program `diskproof`: where both begin, before what is slow to import."""

# `signal` imports a dozen modules first, and a signal may come before they are there.
import _signal  # type: ignore[import-not-found]
import gc
import os

INTERRUPTED = 130
ENDING_SIGNALS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
"""As in `cli.exits` and `system.endings`, which are not imported yet."""
GARBAGE_AFTER = 50_000
"""New objects until the collector looks for cycles. Imports make 100,000 that stay: with Python's 700 it
looks at them hundreds of times, which takes a fifth of the start."""


def run() -> None:
    """Run the command line. Before and after it a signal has nothing to undo, and ends with a word."""
    for number in ENDING_SIGNALS:
        if _signal.getsignal(number) is not _signal.SIG_IGN:
            _signal.signal(number, _leave)
    gc.set_threshold(GARBAGE_AFTER)
    from diskproof.cli import main  # noqa: PLC0415 - this is what takes the while

    main()


def _leave(_number: int, _frame: object) -> None:
    try:
        os.write(2, b"interrupted\n")
    finally:  # a closed terminal takes no word
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()
