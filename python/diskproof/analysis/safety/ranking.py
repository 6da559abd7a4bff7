"""Whether the cuts of two settings show that one loses more often than the other."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.results.record import Record
from diskproof.stats.proportions import same_share_p, trials_to_tell_apart

LEVEL_OF_SIGNIFICANCE = 0.05


class Unranked(Record):
    """Two settings. The cuts do not show that one of them is harmed more often."""

    a: CutAnswer
    b: CutAnswer
    """The one that was harmed more often, or as often; of whole databases lost, the one that lost them."""
    cuts_needed: int | None
    """Of each, to show it if the shares stay as they were seen; None: they were the same."""


def unranked(answers: Sequence[CutAnswer]) -> Iterator[Unranked]:
    """Yield pairs that differ only in level or storage, died in the same way, and cannot be ranked.

    A pair that nothing harmed is left out. Each pair has Fisher's exact test (1922) for itself: if that
    shows no difference, a test adjusted for several pairs shows none either.
    """
    yield from _not_told_apart(answers, lambda one: one.harmed)


def whole_losses_by_chance(answers: Sequence[CutAnswer]) -> Iterator[Unranked]:
    """Yield such pairs of which one alone lost whole databases, and the cuts do not show more than chance."""
    for pair in _not_told_apart(answers, lambda one: one.gone):
        if not pair.a.gone:
            yield pair


def _not_told_apart(answers: Sequence[CutAnswer], harmed: Callable[[CutAnswer], int]) -> Iterator[Unranked]:
    for one, other in combinations([answer for answer in answers if answer.telling and not answer.states], 2):
        a, b = sorted((one, other), key=lambda answer: harmed(answer) / answer.telling)
        if not harmed(b) or not _comparable(a, b):
            continue
        if same_share_p(harmed(a), a.telling, harmed(b), b.telling) >= LEVEL_OF_SIGNIFICANCE:
            needed = trials_to_tell_apart(harmed(a) / a.telling, harmed(b) / b.telling)
            yield Unranked(a=a, b=b, cuts_needed=needed)


def _comparable(a: CutAnswer, b: CutAnswer) -> bool:
    same = [getattr(a.cell, one) == getattr(b.cell, one) for one in ("server", "storage", "tuning")]
    return (
        (a.way, a.cell.fault, a.cell.clients) == (b.way, b.cell.fault, b.cell.clients)
        and same.count(False) == 1
        and same[0]
    )
