"""The cuts of two runs side by side: what suffers more often, what less, and what cannot be compared."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from diskproof.analysis.safety.shapes import CutAnswer, CutComparison, LossOutcome, Safety
from diskproof.analysis.verdicts import LEVEL_OF_SIGNIFICANCE
from diskproof.results.plan import Cuts
from diskproof.stats.multiple import holm
from diskproof.stats.proportions import same_share_p
from diskproof.wording import Item, Message, Quantity, Range, bytes_, counted, say


def compare_cuts(
    plans: tuple[Cuts | None, Cuts | None], a: Safety | None, b: Safety | None
) -> list[CutComparison]:
    """Return every cell and way that was cut in both runs; empty if one of them has no cuts.

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


MUST_EQUAL: tuple[tuple[str, Callable[[Cuts, CutAnswer], Item]], ...] = (
    ("the load is {a} in the first run, {b} in the second", lambda plan, _: plan.load),
    ("{a} in the first run, {b} in the second", lambda plan, _: counted(plan.warehouses, "warehouse")),
    ("{a} in the first run, {b} in the second", lambda plan, _: counted(plan.accounts, "account")),
    (
        "{a:,.0f} bytes of filler in each row in the first run, {b:,.0f} in the second",
        lambda plan, _: Quantity(value=plan.filler_bytes),
    ),
    (
        "cuts fell {a} after the first answer in the first run, {b} in the second",
        lambda plan, _: Range(low=plan.cut_after_s, high=plan.cut_before_s, unit="s"),
    ),
    ("{a} in the first run, {b} in the second", lambda _, answer: counted(answer.cell.clients, "client")),
    (
        "the server's memory is {a} in the first run, {b} in the second",
        lambda _, answer: bytes_(answer.cell.memory_bytes),
    ),
)
"""What two runs must have alike for their cuts to be compared, and what is said if they have not."""


def _reasons(first: Cuts, second: Cuts, one: CutAnswer, two: CutAnswer) -> Iterator[Message]:
    if first.states or second.states:
        yield say("states of one logged run were tried, and a number of states is no number of cuts")
    if one.way == "power" and first.keep != second.keep:
        yield say(
            "the writes that a power cut kept differ: {a} in the first run, {b} in the second",
            a=first.keep,
            b=second.keep,
        )
    for form, fact in MUST_EQUAL:
        a, b = fact(first, one), fact(second, two)
        if a != b:
            yield say(form, a=a, b=b)
    for run, answer in (("first", one), ("second", two)):
        if not answer.telling:
            yield say("no cut of the {run} run proves anything", run=run)


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
    one: CutAnswer, two: CutAnswer, reasons: Sequence[Message], tested: Sequence[tuple[_Test, float]]
) -> CutComparison:
    """Return the gravest difference that is shown, with its adjusted p."""
    outcome: LossOutcome = "no difference seen" if tested else "not comparable"
    p_adjusted = min((p for _, p in tested), default=None)
    for test, p in tested:
        if p < LEVEL_OF_SIGNIFICANCE:
            outcome, p_adjusted = test.outcome, p
            break
    return CutComparison(
        cell=one.cell,
        way=one.way,
        a=one,
        b=two,
        p_adjusted=p_adjusted,
        outcome=outcome,
        reasons=list(reasons),
    )
