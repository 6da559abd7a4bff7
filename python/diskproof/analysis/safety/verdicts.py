"""Verdicts on safety: what each level gains, and what it loses in the worst way to die that was tried."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.safety.shapes import CutAnswer, SafetyOutcome, SafetyVerdict, SpeedBeside
from diskproof.analysis.safety.speed import typical
from diskproof.analysis.safety.worst import worst_way
from diskproof.results.plan import Plan
from diskproof.stats.grouping import grouped


def make_safety_verdicts(
    plan: Plan, answers: Sequence[CutAnswer], speeds: Sequence[SpeedBeside]
) -> list[SafetyVerdict]:
    """Return a verdict on every level against the first of its server on its storage.

    Each is about the worst way in which its cell died; the tables have all ways. A first level that is
    alone, or that lost something, has a verdict of its own.
    """
    made = []
    for first, *others in _by_storage(plan, answers):
        if not others or not first.is_whole:
            made.append(_verdict(first))
        made += [
            _verdict(answer, _same_way(first, answer, answers), typical(speeds, answer.cell))
            for answer in others
        ]
    return made


def _by_storage(plan: Plan, answers: Sequence[CutAnswer]) -> Iterator[list[CutAnswer]]:
    """Yield the way that took most from each level of a server on a storage, in order of levels.

    Levels that have not been cut yet are left out.
    """
    order = list(dict.fromkeys(cell.tuning for cell in plan.cells))
    of_cells = grouped((one for one in answers if one.made), lambda one: one.cell.id)
    worst = map(worst_way, of_cells.values())
    for levels in grouped(worst, _but_for_tuning).values():
        yield sorted(
            levels,
            key=lambda one: order.index(one.cell.tuning) if one.cell.tuning in order else len(order),
        )


def _but_for_tuning(one: CutAnswer) -> tuple[object, ...]:
    return one.cell.server, one.cell.storage, one.cell.fault, one.cell.clients


def _same_way(first: CutAnswer, answer: CutAnswer, answers: Sequence[CutAnswer]) -> CutAnswer:
    """Return the first level's cuts in the way in which another died, or else in its own worst way."""
    alike = (one for one in answers if one.key == (first.cell.id, answer.way) and one.telling)
    return next(alike, first)


def _verdict(
    answer: CutAnswer, first: CutAnswer | None = None, speed: SpeedBeside | None = None
) -> SafetyVerdict:
    return SafetyVerdict(
        cell=answer.cell.id,
        way=answer.way,
        cuts=answer.telling,
        outcome=safety_outcome(answer),
        first=first.key if first else None,
        speed_cell=speed.cell.id if speed and speed.ratio and speed.baseline else None,
    )


def safety_outcome(answer: CutAnswer) -> SafetyOutcome:
    """Return the gravest of what the cuts of a cell showed."""
    if not answer.telling:
        return "not known"
    if answer.damaged:
        return "damaged"
    if answer.with_loss:
        return "lost"
    return "kept" if answer.way == "power" else "unverified"
