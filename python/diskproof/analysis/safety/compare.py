"""The cuts of two runs side by side: what suffers more often, what less, and what cannot be compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diskproof.analysis.safety import words
from diskproof.analysis.safety.shapes import CutAnswer, CutComparison, LossOutcome, Safety
from diskproof.results.crash_plan import CrashPlan
from diskproof.stats.multiple import holm
from diskproof.stats.proportions import same_share_p

LEVEL_OF_SIGNIFICANCE = 0.05


def compare_cuts(
    plans: tuple[CrashPlan | None, CrashPlan | None], a: Safety | None, b: Safety | None
) -> list[CutComparison]:
    """Return every cell and way that was cut in both runs; empty where one of them has no cuts.

    Two shares are held against each other by Fisher's exact test: that of cuts with a loss or damage, and,
    where there was damage, that of damaged cuts alone, which most cuts losing something would hide. Holm's
    adjustment is over all tests of all rows. What was cut under another load, or from disks that kept by
    another policy, is not compared.
    """
    if a is None or b is None or plans[0] is None or plans[1] is None:
        return []
    pairs = [(one, two) for one in a.answers if (two := b.answer(*one.key)) is not None]
    barred = [list(_reasons(plans[0], plans[1], one, two)) for one, two in pairs]
    tests = [
        [] if reasons else list(_tests(one, two)) for (one, two), reasons in zip(pairs, barred, strict=True)
    ]
    adjusted = iter(holm([test.p for of_pair in tests for test in of_pair]))
    return [
        _compared(one, two, reasons, [(test, next(adjusted)) for test in of_pair])
        for (one, two), reasons, of_pair in zip(pairs, barred, tests, strict=True)
    ]


def _reasons(first: CrashPlan, second: CrashPlan, one: CutAnswer, two: CutAnswer) -> Iterator[str]:
    if one.way == "power" and first.keep != second.keep:
        yield f"what a power cut kept differs: {first.keep} in the first run, {second.keep} in the second"
    if one.way == "power" and first.unreadable != second.unreadable:
        yield "in one of the runs a cut made sectors unreadable, in the other not"
    if first.accounts != second.accounts:
        yield f"{first.accounts:,} accounts in the first run, {second.accounts:,} in the second"
    if first.filler_bytes != second.filler_bytes:
        yield (
            f"{first.filler_bytes:,} bytes of filler in each row in the first run, "
            f"{second.filler_bytes:,} in the second"
        )
    moments = [f"{one.cut_after_s:g} to {one.cut_before_s:g} s" for one in (first, second)]
    if moments[0] != moments[1]:
        yield f"cuts fell {moments[0]} after the first answer in the first run, {moments[1]} in the second"
    if one.cell.clients != two.cell.clients:
        yield f"{one.cell.clients} clients in the first run, {two.cell.clients} in the second"
    if one.cell.memory_bytes != two.cell.memory_bytes:
        yield "the server's memory differs"
    for run, answer in (("first", one), ("second", two)):
        if not answer.telling:
            yield f"no cut of the {run} run tells anything"


@dataclass(frozen=True)
class _Test:
    """Whether something befell as many cuts of the second run as of the first."""

    p: float
    outcome: LossOutcome
    """Where it did not."""


def _tests(one: CutAnswer, two: CutAnswer) -> Iterator[_Test]:
    """Yield the tests on a cell and way, the graver one first."""
    if one.damaged or two.damaged:
        p = same_share_p(two.damaged, two.telling, one.damaged, one.telling)
        more = two.damaged * one.telling > one.damaged * two.telling
        yield _Test(p, "damaged more often" if more else "damaged less often")
    p = same_share_p(two.harmed, two.telling, one.harmed, one.telling)
    more = two.harmed * one.telling > one.harmed * two.telling
    yield _Test(p, "suffers more often" if more else "suffers less often")


def _compared(
    one: CutAnswer, two: CutAnswer, reasons: Sequence[str], tested: Sequence[tuple[_Test, float]]
) -> CutComparison:
    """Say what came of a cell and way: the gravest difference, with its adjusted p."""
    outcome: LossOutcome = "no difference seen" if tested else "not comparable"
    p_adjusted = min((p for _, p in tested), default=None)
    for test, p in tested:
        if p < LEVEL_OF_SIGNIFICANCE:
            outcome, p_adjusted = test.outcome, p
            break
    said = reasons[0] if reasons else f"before it {words.outcome(one)}; after it {words.outcome(two)}"
    return CutComparison(
        cell=one.cell,
        way=one.way,
        a=one,
        b=two,
        p_adjusted=p_adjusted,
        outcome=outcome,
        sentence=f"{one.cell.id}, to {words.CAUSES[one.way]}: {said}",
        reasons=list(reasons),
    )
