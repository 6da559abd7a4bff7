"""Signals that end a measurement: all of them in the good order in which Ctrl-C does."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a polite kill, and a terminal that closes."""

HEARD = "heard"
"""Marks an interruption that came as a signal, and after which no other is heard."""

_came: list[int] = []
"""Signals that came and have not yet ended anything."""


@contextmanager
def ending_in_good_order() -> Iterator[None]:
    """Let every ending signal do what Ctrl-C does; one that is ignored (nohup) stays ignored.

    Once one has come, no further one is heard, from here to the end of the process: neither what is undone
    nor the last word is to be cut short.
    """
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    _came.clear()
    for number in ENDING_SIGNALS:
        hear_one(number)
    heard = False
    try:
        yield
    except KeyboardInterrupt as interrupt:
        heard = interrupt.args[:1] == (HEARD,)
        raise
    finally:
        if not heard:
            for number, handler in before.items():
                signal.signal(number, handler)


def hear_one(number: signal.Signals) -> None:
    """Let the first signal of a kind raise KeyboardInterrupt, and no further ending signal be heard."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, _interrupt)


def end_if_asked() -> None:
    """Raise the interruption that got lost: one that falls into a destructor is only printed by Python."""
    if _came:
        raise KeyboardInterrupt(HEARD, signal.Signals(_came[0]).name)


def ignore_endings() -> None:
    """Let no ending signal disturb what follows; `ending_in_good_order` puts them back at its end."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    ignore_endings()
    _came.append(number)
    if number == signal.SIGHUP:  # the terminal is gone: whatever is still said there would be an error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    raise KeyboardInterrupt(HEARD, signal.Signals(number).name)
