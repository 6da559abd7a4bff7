"""Trials whose sides are up at once: restored and started one by one, measured in turns, then stopped."""

import threading
from collections.abc import Sequence
from queue import SimpleQueue

from diskproof.results.findings import FINISHED
from diskproof.results.trial import Trial
from diskproof.run.bench import MISHAPS
from diskproof.run.served import ServerAttempt
from diskproof.run.turns import Turns
from diskproof.wording import say

PARTNER_BROKE_OFF = "it took turns with {trial}, which broke off"

PARTING_S = 20.0
"""How long a side may take to end after its load was ended."""

Broken = tuple[ServerAttempt, Exception]
"""The side that broke off first, and why."""


def run_attempts(attempts: Sequence[ServerAttempt], turns: Turns) -> list[Trial]:
    """Run trials that take turns to their end. If one fails, all break off, and each records why."""
    try:
        broken = _prepare(attempts) or _measure(attempts, turns)
        if broken is None:
            _stop(attempts)
        else:
            _say_why(attempts, *broken)
    finally:
        for attempt in attempts:
            attempt.clear()
    return [attempt.record() for attempt in attempts]


def _prepare(attempts: Sequence[ServerAttempt]) -> Broken | None:
    """Restore all data, then start all servers. The lab's main thread starts them: they end with it."""
    for step in (ServerAttempt.restore, ServerAttempt.start):
        for attempt in attempts:
            attempt.begin_step()
            try:
                step(attempt)
            except MISHAPS as error:
                return attempt, error
    return None


def _measure(attempts: Sequence[ServerAttempt], turns: Turns) -> Broken | None:
    """Measure all sides, each in a thread; when one fails, the others are ended."""
    ended: SimpleQueue[tuple[ServerAttempt, Exception | None]] = SimpleQueue()

    def measure(attempt: ServerAttempt) -> None:
        attempt.begin_step()
        try:
            attempt.measure()
        except Exception as error:  # noqa: BLE001 - raised again below, in the main thread
            ended.put((attempt, error))
        else:
            ended.put((attempt, None))

    threads = [threading.Thread(target=measure, args=(attempt,), daemon=True) for attempt in attempts]
    for thread in threads:
        thread.start()
    try:
        for _ in threads:
            attempt, error = ended.get()
            if isinstance(error, MISHAPS):
                return attempt, error
            if error is not None:
                raise error
        return None
    finally:
        turns.give_up()
        for attempt in attempts:
            attempt.end_load()
        for thread in threads:
            thread.join(PARTING_S)


def _stop(attempts: Sequence[ServerAttempt]) -> None:
    for attempt in attempts:
        attempt.begin_step()
        try:
            attempt.stop()
        except MISHAPS as error:
            attempt.fail(error)


def _say_why(attempts: Sequence[ServerAttempt], first: ServerAttempt, error: Exception) -> None:
    first.fail(error)
    for attempt in attempts:
        if attempt is not first:
            attempt.invalid(FINISHED, say(PARTNER_BROKE_OFF, trial=first.planned.id))
