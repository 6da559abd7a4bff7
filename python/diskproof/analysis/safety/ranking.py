"""Whether the cuts of two settings show that one loses more often than the other."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.results.record import Record
from diskproof.stats.proportions import same_share_p

LEVEL_OF_SIGNIFICANCE = 0.05


class Unranked(Record):
    """Two settings. The cuts do not show that one of them loses whole databases more often."""

    a: CutAnswer
    b: CutAnswer
    """The one that lost whole databases."""


def whole_losses_by_chance(answers: Sequence[CutAnswer]) -> Iterator[Unranked]:
    """Yield pairs of settings of which only one lost whole databases, perhaps by chance.

    They differ only in level or storage, and died in the same way. Each pair has Fisher's exact test (1922)
    for itself: if that shows no difference, a test adjusted for several pairs shows none either.
    """
    for one, other in combinations([answer for answer in answers if answer.telling and not answer.states], 2):
        a, b = sorted((one, other), key=lambda answer: answer.gone / answer.telling)
        is_alone = b.gone and not a.gone and _comparable(a, b)
        if is_alone and same_share_p(a.gone, a.telling, b.gone, b.telling) >= LEVEL_OF_SIGNIFICANCE:
            yield Unranked(a=a, b=b)


def _comparable(a: CutAnswer, b: CutAnswer) -> bool:
    same = [getattr(a.cell, one) == getattr(b.cell, one) for one in ("server", "storage", "tuning")]
    return (
        (a.way, a.cell.fault, a.cell.clients) == (b.way, b.cell.fault, b.cell.clients)
        and same.count(False) == 1
        and same[0]
    )
