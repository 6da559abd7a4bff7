"""Verdicts: each level of a factor against the factor's first, everything else held equal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diskproof.analysis import words
from diskproof.analysis.answers import Outcome, Verdict
from diskproof.analysis.gather import Gathered
from diskproof.audit.run import compared_cells
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import NO_LEVEL, Cell, Metric, Plan
from diskproof.stats.intervals import Interval, RatioTest, blocks_needed, paired_ratio
from diskproof.stats.multiple import holm

LEVEL_OF_SIGNIFICANCE = 0.05

CONDITIONS: tuple[Factor, ...] = ("workload", "clients")

FEWEST_PAIRS = 2
"""One ratio has no interval."""


def fewest_valid(planned: int) -> int:
    """Return how many of the planned blocks an answer needs: more than half, lest few speak for all."""
    return max(planned // 2 + 1, FEWEST_PAIRS)


@dataclass(frozen=True)
class Pair:
    """Two cells that differ in one factor, and what was found about them."""

    factor: Factor
    baseline: Cell
    cell: Cell
    test: RatioTest | None
    """None: they cannot be compared, for `reasons`."""
    reasons: list[str]
    basis: str = ""
    """Over which part of their work they were compared, where not over all of it, and whether by seconds
    that were extrapolated."""


def varying_factors(cells: Sequence[Cell]) -> list[Factor]:
    """Return the factors of which these cells have more than one level, in the order of FACTORS."""
    return [factor for factor in FACTORS if len({cell.level(factor) for cell in cells} - {NO_LEVEL}) > 1]


def make_verdicts(gathered: Gathered) -> list[Verdict]:
    """Return a verdict for every factor that varies, at every setting of the others.

    The number of clients and the workload are conditions, not questions, unless one of them alone varies.
    Holm's adjustment runs over all verdicts that have a p at all.
    """
    varying = varying_factors(gathered.plan.cells)
    pairs = [
        _compare(gathered, factor, baseline, cell)
        for factor, baseline, cell in compared_cells(gathered.plan.cells)
        if factor not in CONDITIONS or varying == [factor]
    ]
    tested = [pair.test.p for pair in pairs if pair.test is not None and pair.test.p is not None]
    adjusted = iter(holm(tested))
    return [
        _verdict(
            pair,
            varying,
            gathered.plan,
            next(adjusted) if pair.test is not None else None,
            len(tested),
        )
        for pair in pairs
    ]


def decide(ratio: Interval, p_adjusted: float | None, same_within: float) -> Outcome:
    """Return the outcome of a comparison that could be made.

    "The same" where the whole interval lies within the band (equivalence by confidence interval:
    Westlake, Biometrics 32, 1976; at 95 % it errs on the side of "inconclusive"); a difference where
    the interval excludes 1 and the adjusted p is below 0.05; else inconclusive.
    """
    if ratio.within(1 - same_within, 1 + same_within):
        return "the same"
    if ratio.excludes(1) and p_adjusted is not None and p_adjusted < LEVEL_OF_SIGNIFICANCE:
        return "faster" if ratio.estimate > 1 else "slower"
    return "inconclusive"


def _compare(gathered: Gathered, factor: Factor, baseline: Cell, cell: Cell) -> Pair:
    parts = gathered.parts(baseline) & gathered.parts(cell)
    below, above = gathered.speeds(baseline, parts or None), gathered.speeds(cell, parts or None)
    blocks = sorted(below.keys() & above.keys())
    reasons = list(too_few_pairs(gathered, baseline, cell, len(blocks)))
    reasons += gathered.bars(baseline, cell)
    if reasons:
        return Pair(factor, baseline, cell, None, reasons)
    test = paired_ratio([above[block] for block in blocks], [below[block] for block in blocks])
    left_out = (gathered.parts(baseline) | gathered.parts(cell)) - parts
    basis = words.common(len(parts), left_out)
    basis += words.estimated(gathered.rests_on_estimates((baseline, cell), parts or None))
    return Pair(factor, baseline, cell, test, [], basis)


def too_few_pairs(gathered: Gathered, baseline: Cell, cell: Cell, pairs: int) -> Iterator[str]:
    """Say why two cells have too few blocks in common: invalid trials by name, or blocks not run."""
    planned = len(gathered.plan.blocks())
    if pairs >= fewest_valid(planned):
        return
    for side in (baseline, cell):
        invalid = [one for one in gathered.of(side) if not one.valid]
        if invalid:
            checks = dict.fromkeys(
                finding.check for one in invalid for finding in one.findings if finding.severity == "invalid"
            )
            names = words.listed([one.trial.id for one in invalid])
            yield f"{side.id}: {len(invalid)} of {planned} trials invalid ({', '.join(checks)}): {names}"
        missing = planned - len(gathered.of(side))
        if missing > 0 and gathered.plan.imported:
            yield f"{side.id}: measured {_times(planned - missing)}, where {planned} of each are needed"
        elif missing > 0:
            yield f"{side.id}: {missing} of {planned} trials not run yet; `diskproof run --resume` runs them"
    if planned >= FEWEST_PAIRS:
        yield (
            f"{pairs} of {planned} blocks have a valid trial on both sides; "
            f"a verdict needs {fewest_valid(planned)}"
        )
    else:
        yield f"a single block gives no interval; {_more_blocks(gathered.plan)}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _more_blocks(plan: Plan) -> str:
    if plan.imported:
        return "measure each five times or more, and name the files as repeats (`-run1`, `-run2` …)"
    return "set `blocks` in `[design]` to 5 or more"


def _verdict(
    pair: Pair, varying: Sequence[Factor], plan: Plan, p_adjusted: float | None, comparisons: int
) -> Verdict:
    same_within, metric = plan.same_within, plan.metric(pair.cell)
    held: dict[Factor, str] = {factor: pair.cell.level(factor) for factor in varying if factor != pair.factor}
    level, baseline = pair.cell.level(pair.factor), pair.baseline.level(pair.factor)
    subject, other = words.subject(pair.factor, level), words.subject(pair.factor, baseline)
    outcome: Outcome = "not comparable"
    reasons, said = pair.reasons, words.not_comparable(subject, other)
    if pair.test is not None:
        ratio = pair.test.interval
        outcome = decide(ratio, p_adjusted, same_within)
        reasons = _reasons(pair.test, outcome, p_adjusted, plan, comparisons, metric)
        said = say(outcome, subject, other, ratio, same_within)
    sentence = said + words.by(metric) + words.conditions(held) + pair.basis
    if pair.test is None:
        sentence += f": {reasons[0]}"
    return Verdict(
        factor=pair.factor,
        level=level,
        baseline=baseline,
        held=held,
        cell=pair.cell.id,
        baseline_cell=pair.baseline.id,
        ratio=pair.test.interval if pair.test else None,
        p_adjusted=p_adjusted,
        outcome=outcome,
        sentence=sentence,
        reasons=reasons,
    )


def say(outcome: Outcome, subject: str, other: str, ratio: Interval, same_within: float) -> str:
    """Return the outcome of a comparison that could be made in words."""
    if outcome == "the same":
        return words.sameness(subject, other, ratio, same_within)
    if outcome == "inconclusive":
        return words.inconclusive(subject, other, ratio)
    return words.difference(subject, other, ratio)


def _reasons(
    test: RatioTest,
    outcome: Outcome,
    p_adjusted: float | None,
    plan: Plan,
    comparisons: int,
    metric: Metric,
) -> list[str]:
    """Say why a ratio is inconclusive, and how many more blocks would probably decide it."""
    if outcome != "inconclusive" or test.log_deviation is None:
        return []
    ratio, same_within = test.interval, plan.same_within
    if ratio.excludes(1):
        why = (
            f"the interval excludes 1, but among {comparisons} verdicts one such is likely by chance "
            f"(p after Holm {p_adjusted:.2g})"
        )
    else:
        why = f"the interval holds both 1 and differences of more than {words.percent(same_within)}"
    measured = "longer measurements" if plan.imported else "a longer `measure_s`"
    longer = "a larger job" if metric == "seconds" else measured
    needed = blocks_needed(ratio.estimate, test.log_deviation, same_within, comparisons)
    more_of_them = "more runs of each" if plan.imported else "more blocks"
    if needed is None and plan.imported:
        return [why, f"{more_of_them} will hardly decide it: {longer} would narrow the scatter"]
    if needed is None:
        return [
            why,
            f"{more_of_them} will hardly decide it: {longer} and a quieter machine would narrow the "
            "scatter, a wider `same_within` would ask for less",
        ]
    more = max(needed - ratio.n, 1)
    if plan.imported:
        runs = f"{more} more {'run' if more == 1 else 'runs'}"
        return [why, f"about {runs} of each would probably decide it"]
    blocks = f"{more} more {'block' if more == 1 else 'blocks'}"
    return [why, f"about {blocks} would probably decide it: `blocks = {ratio.n + more}`"]
