"""Signals that end a measurement: each leads to the same orderly end as Ctrl-C."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a plain kill, and a terminal that closes."""

HEARD = "heard"
"""Marks an interruption by a signal; further signals are ignored after it."""

_came: list[int] = []
"""Signals that came and have not ended anything yet."""


@contextmanager
def ending_in_good_order() -> Iterator[None]:
    """Handle every ending signal like Ctrl-C; one that is ignored (nohup) stays ignored.

    After the first one, all others are ignored until the process ends, so that nothing interrupts the
    clean-up or the last message.
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
    """Let the first signal of a kind raise KeyboardInterrupt, and ignore all ending signals after it."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, _interrupt)


def end_if_asked() -> None:
    """Raise an interruption that got lost: Python only prints one that falls into a destructor."""
    if _came:
        raise KeyboardInterrupt(HEARD, signal.Signals(_came[0]).name)


def ignore_endings() -> None:
    """Ignore all ending signals; `ending_in_good_order` restores them at its end."""
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    ignore_endings()
    _came.append(number)
    if number == signal.SIGHUP:  # the terminal is gone: output to it would fail
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    raise KeyboardInterrupt(HEARD, signal.Signals(number).name)
