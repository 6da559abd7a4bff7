"""Signals that end a measurement, or spoil it: each that ends it leads to the same orderly end as Ctrl-C."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, a plain kill, and a terminal that closes."""

HANDLED = (*ENDING_SIGNALS, signal.SIGALRM, signal.SIGCONT)

AGAIN_S = 0.01

LOOK_S = 0.05
"""Between two looks of a sleeping thread: only the main one is interrupted by a signal."""

_came: list[int] = []
"""Signals that have interrupted this process."""

_continued_s: list[float] = []
"""When this process went on after a stop, by the monotonic clock."""

_at_interruption: list[Callable[[], object]] = []
"""What is called at an interruption."""


@contextmanager
def ending_in_good_order() -> Iterator[None]:
    """Handle every ending signal like Ctrl-C; one that is ignored (nohup) stays ignored.

    After the first one, all others are ignored until the process ends, so that nothing interrupts the
    clean-up or the last message.
    """
    before = {number: signal.getsignal(number) for number in HANDLED}
    hook = sys.unraisablehook
    for number in ENDING_SIGNALS:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    signal.signal(signal.SIGALRM, _interrupt)
    signal.signal(signal.SIGCONT, _went_on)
    sys.unraisablehook = _interrupt_again
    _came.clear()
    try:
        yield
    except BaseException as error:
        if _came and not isinstance(error, KeyboardInterrupt):  # libraries turn it into errors of their own
            raise KeyboardInterrupt from error
        raise
    finally:
        if not _came:
            sys.unraisablehook = hook
            for number, handler in before.items():
                signal.signal(number, handler)


def ignore_endings() -> None:
    """Ignore all ending signals, and an interruption that was to come again.

    `ending_in_good_order` restores them at its end.
    """
    for number in (*ENDING_SIGNALS, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)


def check_going_on() -> None:
    """KeyboardInterrupt if the process was interrupted; for threads other than the main one."""
    if _came:
        raise KeyboardInterrupt


def sleep(seconds: float) -> None:
    """Sleep in any thread; KeyboardInterrupt ends it."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        check_going_on()
        time.sleep(min(left, LOOK_S))


def at_interruption(do: Callable[[], object]) -> None:
    """Call this at an interruption, before any clean-up; it replaces what an earlier call named."""
    _at_interruption[:] = [do]


def was_stopped_since(at_s: float) -> bool:
    """Return whether this process was stopped (Ctrl-Z) and continued since a monotonic time."""
    return any(continued_s >= at_s for continued_s in _continued_s)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    for ending in ENDING_SIGNALS:
        signal.signal(ending, signal.SIG_IGN)
    _came.append(number)
    if number == signal.SIGHUP:  # the terminal is gone: output to it would fail
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    while _at_interruption:  # once, also if the interruption comes again
        _at_interruption.pop()()
    raise KeyboardInterrupt


def _interrupt_again(lost: "sys.UnraisableHookArgs") -> None:
    """Interrupt once more in a moment: Python only prints an interruption that falls into a destructor."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    else:
        sys.__unraisablehook__(lost)


def _went_on(_number: int, _frame: FrameType | None) -> None:
    _continued_s.append(time.monotonic())
