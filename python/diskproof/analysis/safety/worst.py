"""What cuts took most from: a way to die, a level; and what others gain beside one that kept every commit.

No verdict may be kinder than any of its tables.
"""

from collections.abc import Iterable

from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.analysis.safety.speed import speeds_of
from diskproof.results.crash import WAYS
from diskproof.results.plan import Cell
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval


def worst_way(answers: Iterable[CutAnswer]) -> CutAnswer:
    """Return the worst of the ways in which one cell died; of ways that showed as much, the power cut first.

    A power cut takes at least what a stop takes, and a stop at least what a kill takes; what they showed may
    be the other way round, by chance. A way with a cut that proves something comes before one without.
    """
    return max(answers, key=_gravity)


def _gravity(answer: CutAnswer) -> tuple[bool, bool, bool, bool, float, float, int]:
    return (
        answer.telling > 0,
        answer.made > 0,
        answer.gone > 0,
        answer.damaged > 0,
        answer.lost.worst if answer.lost else 0.0,
        answer.window_s.worst if answer.window_s else 0.0,
        WAYS.index(answer.way),
    )


def worst_of_cells(safety: Safety) -> list[CutAnswer]:
    """Return of each cell the way of dying that took most."""
    return [worst_way(dying) for dying in grouped(safety.answers, lambda one: one.cell.id).values()]


def most_harmed(safety: Safety) -> CutAnswer | None:
    """Return the level from which cuts took most: one that lost whole databases, if any did."""
    harmed = [one for one in worst_of_cells(safety) if one.telling and not one.is_whole]
    gone = max(harmed, key=lambda one: one.gone, default=None)
    return gone if gone is None or gone.gone else worst_way(harmed)


def _but_tuning(answer: CutAnswer) -> Cell:
    return answer.cell.model_copy(update={"id": "", "tuning": ""})


def faster_than_whole(safety: Safety) -> tuple[CutAnswer | None, list[tuple[Interval, CutAnswer]]]:
    """Return a level that kept every commit, and those beside it that were faster, the fastest last.

    Of several such levels the one that leaves most speed to another; None if none was slower.
    """
    speeds = speeds_of(safety)
    telling = [one for one in worst_of_cells(safety) if one.telling]
    known = [(one, speed) for one in telling if (speed := speeds.get(one.cell.id))]

    def faster_than(kept: CutAnswer, speed: Interval) -> list[tuple[Interval, CutAnswer]]:
        beside = [one for one in known if _but_tuning(one[0]) == _but_tuning(kept)]
        ratios = [(other_speed.over(speed), other) for other, other_speed in beside]
        known_faster = [one for one in ratios if (one[0].low or 0.0) > 1]
        return sorted(known_faster, key=lambda one: one[0].estimate)

    found = [(kept, faster_than(kept, speed)) for kept, speed in known if kept.is_whole]
    slower = (one for one in found if one[1])
    return max(slower, key=lambda one: one[1][-1][0].estimate, default=(None, []))
