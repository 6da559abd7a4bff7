"""The way to die that took most from a cell: no verdict may be kinder than any of its tables."""

from collections.abc import Iterable

from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.results.crash import WAYS


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
