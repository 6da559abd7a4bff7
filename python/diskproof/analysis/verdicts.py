"""Verdicts: each level of a factor against the factor's first, everything else held equal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from diskproof.analysis.answers import Outcome, Verdict
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.difference import difference_of, flush_spared
from diskproof.audit.run import compared_pairs, varying_factors
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell, Plan
from diskproof.stats.intervals import Interval, RatioTest, blocks_needed
from diskproof.stats.multiple import adjusted
from diskproof.stats.sequential import blocks_for_precision, blocks_needed_at_any_time
from diskproof.wording import Message, counted, say, share

LEVEL_OF_SIGNIFICANCE = 0.05

HARDLY_S = 12 * 3600.0
"""A night: the longest that a user may wait for one verdict."""

FEWEST_PAIRS = 2
"""One ratio has no interval."""


def fewest_valid(planned: int) -> int:
    """Return how many of the planned blocks an answer needs: more than half."""
    return max(planned // 2 + 1, FEWEST_PAIRS)


@dataclass(frozen=True)
class Pair:
    """Two cells that differ in one factor, and what was found about them."""

    factor: Factor
    baseline: Cell
    cell: Cell
    test: RatioTest | None
    """None: they cannot be compared, for `reasons`."""
    reasons: list[Message]
    common_operations: int | None = None
    """Number of a job's operations that were compared; None: all."""
    extrapolated: bool = False
    """Whether some of the seconds that were compared are extrapolated."""


def make_verdicts(gathered: Gathered) -> list[Verdict]:
    """Return a verdict for every factor that varies, at every setting of the others.

    Holm's adjustment runs over all verdicts that have a p at all.
    """
    varying = varying_factors(gathered.plan.cells)
    pairs = [compare(gathered, *compared) for compared in compared_pairs(gathered.plan.cells)]
    ps = adjusted([pair.test for pair in pairs])
    comparisons = len(ps) - ps.count(None)
    return [_verdict(gathered, pair, varying, p, comparisons) for pair, p in zip(pairs, ps, strict=True)]


def decide(ratio: Interval, p_adjusted: float | None, same_within: float) -> Outcome:
    """Return the outcome of a comparison that could be made.

    "The same" if the whole interval is within the band (equivalence by confidence interval:
    Westlake, Biometrics 32, 1976; at 95 % it errs on the side of "inconclusive"); a difference if
    the interval excludes 1 and the adjusted p is below 0.05; else inconclusive.
    """
    if ratio.within(1 - same_within, 1 + same_within):
        return "the same"
    if ratio.excludes(1) and p_adjusted is not None and p_adjusted < LEVEL_OF_SIGNIFICANCE:
        return "faster" if ratio.estimate > 1 else "slower"
    return "inconclusive"


def compare(gathered: Gathered, factor: Factor, baseline: Cell, cell: Cell) -> Pair:
    """Return what two cells that differ in one factor come to, or why they cannot be compared."""
    parts = gathered.parts(baseline) & gathered.parts(cell)
    below, above = gathered.speeds(baseline, parts or None), gathered.speeds(cell, parts or None)
    test = gathered.ratio(above, below, on_one_host=factor != "host")
    reasons = list(too_few_pairs(gathered, baseline, cell, test.interval.n if test else 0))
    reasons += gathered.bars(baseline, cell)
    if reasons:
        return Pair(factor, baseline, cell, None, reasons)
    left_out = (gathered.parts(baseline) | gathered.parts(cell)) - parts
    return Pair(
        factor,
        baseline,
        cell,
        test,
        reasons=[],
        common_operations=len(parts) if left_out else None,
        extrapolated=gathered.rests_on_estimates((baseline, cell), parts or None),
    )


def too_few_pairs(gathered: Gathered, baseline: Cell, cell: Cell, pairs: int) -> Iterator[Message]:
    """Say why two cells have too few blocks in common: invalid trials by name, or blocks not run."""
    plan = gathered.plan
    planned = _planned(plan, baseline, cell)
    if pairs >= fewest_valid(planned):
        return
    for side in (baseline, cell):
        yield from _not_counted(gathered, side, _planned(plan, side))
    if planned >= FEWEST_PAIRS:
        yield say(
            "{pairs} of {planned} blocks have a valid trial on both sides; a verdict needs {needed}",
            pairs=pairs,
            planned=planned,
            needed=fewest_valid(planned),
        )
    elif plan.imported:
        yield say(
            "a single block gives no interval; measure each five times or more, and name the files as "
            "repeats (`-run1`, `-run2` …)"
        )
    else:
        yield say("a single block gives no interval; set `blocks` in `[design]` to 5 or more")


def _planned(plan: Plan, *cells: Cell) -> int:
    """Return in how many blocks these cells are planned; an imported run planned nothing."""
    return len(plan.blocks() if plan.imported else plan.blocks(*cells))


def _not_counted(gathered: Gathered, cell: Cell, planned: int) -> Iterator[Message]:
    invalid = [one for one in gathered.of(cell) if not one.valid]
    if invalid:
        checks = dict.fromkeys(
            finding.check for one in invalid for finding in one.findings if finding.severity == "invalid"
        )
        yield say(
            "{cell}: {invalid} of {planned} invalid ({checks:/, }): {trials}",
            cell=cell.id,
            invalid=len(invalid),
            planned=counted(planned, "trial"),
            checks=list(checks),
            trials=[one.trial.id for one in invalid],
        )
    missing = planned - len(gathered.of(cell))
    if missing > 0 and gathered.plan.imported:
        yield say(
            "{cell}: measured {times}, but {planned} of each are needed",
            cell=cell.id,
            times=counted(planned - missing, "time"),
            planned=planned,
        )
    elif missing > 0:
        yield say(
            "{cell}: {missing} of {planned} not run yet; {command} runs them",
            cell=cell.id,
            missing=missing,
            planned=counted(planned, "trial"),
            command=gathered.plan.resumed_by,
        )


def _verdict(
    gathered: Gathered, pair: Pair, varying: Sequence[Factor], p_adjusted: float | None, comparisons: int
) -> Verdict:
    plan = gathered.plan
    outcome: Outcome = "not comparable"
    reasons, needed = pair.reasons, None
    if pair.test is not None:
        outcome = decide(pair.test.interval, p_adjusted, plan.same_within)
        if outcome == "inconclusive" or not _is_precise(pair.test.interval, plan):
            needed = _what_decides(gathered, pair, pair.test, comparisons)
        if outcome == "inconclusive":
            reasons = list(_why_inconclusive(pair, pair.test, p_adjusted, plan, comparisons, needed))
    return Verdict(
        factor=pair.factor,
        level=pair.cell.level(pair.factor),
        baseline=pair.baseline.level(pair.factor),
        held={factor: pair.cell.level(factor) for factor in varying if factor != pair.factor},
        cell=pair.cell.id,
        baseline_cell=pair.baseline.id,
        ratio=pair.test.interval if pair.test else None,
        p_adjusted=p_adjusted,
        outcome=outcome,
        metric=plan.metric(pair.cell),
        same_within=plan.same_within,
        common_operations=pair.common_operations,
        extrapolated=pair.extrapolated,
        reasons=reasons,
        blocks_needed=needed,
        difference=difference_of(gathered, pair.factor, pair.cell, pair.baseline)
        if outcome in ("faster", "slower")
        else None,
        flush_spared=pair.test is not None and flush_spared(gathered, pair.cell, pair.baseline),
    )


def is_open(verdict: Verdict, plan: Plan) -> bool:
    """Tell whether a run would go on for a verdict, if its number of blocks is not fixed."""
    if plan.precision is None:
        return verdict.outcome == "inconclusive"
    return verdict.ratio is not None and not _is_precise(verdict.ratio, plan)


def _is_precise(ratio: Interval, plan: Plan) -> bool:
    """Tell whether a ratio is known as well as the study asks; always, if it asks for no precision."""
    if plan.precision is None:
        return True
    return ratio.uncertainty is not None and ratio.uncertainty <= plan.precision


def _what_decides(gathered: Gathered, pair: Pair, test: RatioTest, comparisons: int) -> int | None:
    """Return how many blocks would probably decide a ratio; None: hardly any number, or not within a night.

    They are at least one more than the plan has. Blocks without a valid pair of trials are among them.
    """
    plan = gathered.plan
    if test.log_deviation is None:
        return None
    decided_by = blocks_needed if plan.at_most_s is None else blocks_needed_at_any_time
    if plan.precision is not None:
        blocks = blocks_for_precision(test.log_deviation, plan.precision)
    else:
        blocks = decided_by(test.interval.estimate, test.log_deviation, plan.same_within, comparisons)
    took_s = fmean(one.trial.took_s for cell in (pair.baseline, pair.cell) for one in gathered.valid(cell))
    if blocks is None or 2 * blocks * took_s > HARDLY_S:
        return None
    return len(plan.blocks()) + max(blocks - test.interval.n, 1)


def _why_inconclusive(
    pair: Pair,
    test: RatioTest,
    p_adjusted: float | None,
    plan: Plan,
    comparisons: int,
    needed: int | None,
) -> Iterator[Message]:
    """Say why a ratio is inconclusive, and what would probably decide it."""
    if test.log_deviation is None:
        return
    ratio = test.interval
    if ratio.excludes(1) and p_adjusted is not None:
        yield say(
            "the interval excludes 1, but not after Holm's correction over {verdicts} (p {p:.2g})",
            verdicts=counted(comparisons, "verdict"),
            p=p_adjusted,
        )
    else:
        yield say(
            "the interval holds both 1 and differences of more than {band:.3g}", band=share(plan.same_within)
        )
    if plan.precision is not None and _is_precise(ratio, plan):
        yield say("a finer `precision` in `[design]` would probably decide it")
    elif needed is None:
        longer = "longer measurements" if plan.imported else "a longer `measure_s`"
        longer = "a larger job" if plan.metric(pair.cell) == "seconds" else longer
        yield _hardly_decided(say(longer), imported=plan.imported)
    elif plan.imported:
        runs = counted(needed - len(plan.blocks()), "more run")
        yield say("about {more} of each would probably decide it", more=runs)
    else:
        how = say("`blocks = {blocks}`", blocks=needed)
        if plan.at_most_s is not None:
            how = say("`--resume` with a longer `--at-most`")
        blocks, precise = counted(needed - len(plan.blocks()), "more block"), plan.precision
        if precise is None:
            yield say("about {more} would probably decide it: {how}", more=blocks, how=how)
        else:
            form = "about {more} would probably reach {precise}: {how}"
            yield say(form, more=blocks, precise=share(precise), how=how)


def _hardly_decided(longer: Message, *, imported: bool) -> Message:
    if imported:
        return say(
            "more runs of each will hardly decide it: {longer} would narrow the scatter", longer=longer
        )
    return say(
        "more blocks will hardly decide it: {longer} and a quieter machine would narrow the scatter, and a "
        "wider `same_within` asks for less",
        longer=longer,
    )
