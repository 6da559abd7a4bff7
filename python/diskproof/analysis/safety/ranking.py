"""Whether the cuts of two settings show that one loses more often than the other."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.results.record import Record
from diskproof.stats.proportions import same_share_p, trials_to_tell_apart

LEVEL_OF_SIGNIFICANCE = 0.05


class Unranked(Record):
    """Two settings. The cuts do not show that one of them is harmed more often."""

    a: CutAnswer
    b: CutAnswer
    """The one that was harmed more often, or as often."""
    cuts_needed: int | None
    """Of each, to show it if the shares stay as they were seen; None: they were the same."""


def unranked(answers: Sequence[CutAnswer]) -> Iterator[Unranked]:
    """Yield pairs that differ only in level or storage, died in the same way, and cannot be ranked.

    A pair that nothing harmed is left out. Each pair has Fisher's exact test (1922) for itself: if that
    shows no difference, a test adjusted for several pairs shows none either.
    """
    for one, other in combinations([answer for answer in answers if answer.telling], 2):
        a, b = sorted((one, other), key=lambda answer: answer.harmed / answer.telling)
        if not b.harmed or not _comparable(a, b):
            continue
        if same_share_p(a.harmed, a.telling, b.harmed, b.telling) >= LEVEL_OF_SIGNIFICANCE:
            needed = trials_to_tell_apart(a.harmed / a.telling, b.harmed / b.telling)
            yield Unranked(a=a, b=b, cuts_needed=needed)


def _comparable(a: CutAnswer, b: CutAnswer) -> bool:
    same = [getattr(a.cell, one) == getattr(b.cell, one) for one in ("server", "storage", "tuning")]
    return a.way == b.way and same.count(False) == 1 and same[0]
