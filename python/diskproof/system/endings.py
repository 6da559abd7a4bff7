"""Signals that end a measurement: all of them in the good order in which Ctrl-C does."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a polite kill, and a terminal that closes."""


@contextmanager
def ending_in_good_order() -> Iterator[None]:
    """Let every ending signal do what Ctrl-C does; one that is ignored (nohup) stays ignored."""
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ignore_endings() -> None:
    """Let no ending signal disturb what follows; `ending_in_good_order` puts them back at its end."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGHUP:  # the terminal is gone: whatever is still said there would be an error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    raise KeyboardInterrupt(signal.Signals(number).name)
