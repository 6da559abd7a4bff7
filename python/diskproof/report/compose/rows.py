"""What a run compares, in rows: levels against each other, limits, TPC-C, cuts."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from diskproof.analysis.answers import Analysis, CellComparison, Outcome, Ranking, Verdict
from diskproof.analysis.asked import asked, on_dials
from diskproof.analysis.limits.records import Limits
from diskproof.analysis.limits.records import Outcome as Proven
from diskproof.analysis.so_far import PairSoFar
from diskproof.audit.run import ENOUGH_BLOCKS
from diskproof.report.compose import dials, limits_words, verdict_words
from diskproof.report.compose.answer import has_verdict, is_of_limits
from diskproof.report.compose.limits_words import percents
from diskproof.report.compose.safety import on_screen
from diskproof.report.document import Bar, Scale, Tone
from diskproof.report.intervals import as_shown, bounds, estimate, percentile
from diskproof.report.one_screen import SHARES, Block, Row
from diskproof.results.factor import Factor
from diskproof.results.plan import NO_LEVEL, Cell, Metric
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval, over_conditions
from diskproof.study.servers import THEIRS
from diskproof.wording import numbers

UNITS: dict[Metric, str] = {
    "transactions_per_s": "transactions/s",
    "requests_per_s": "requests/s",
    "latency_mean_us": "mean latency, ms",
    "seconds": "seconds",
}

TONES: dict[Outcome, Tone] = {
    "faster": "better",
    "slower": "worse",
    "the same": "same",
    "inconclusive": "open",
    "not comparable": "barred",
}

TONES_OF_PROOFS: dict[Proven, Tone] = {"as predicted": "better", "not as predicted": "alarm", "open": "open"}

WORDS: dict[Outcome, str] = {"the same": "same", "inconclusive": "open", "not comparable": "no ratio"}

TIES = {"the same": "tied", "inconclusive": "open", "not comparable": "no ratio"}
"""Levels that are not shown to be slower than the best."""

RATIOS = (
    (0.01, "1/100"),
    (0.1, "1/10"),
    (0.25, "1/4"),
    (0.5, "half"),
    (0.8, "-20%"),
    (1.0, "same"),
    (1.25, "+25%"),
    (2.0, "double"),
    (4.0, "x4"),
    (10.0, "x10"),
    (100.0, "x100"),
)


MOST_TICKS = 5


def blocks(analysis: Analysis, weak: Collection[str]) -> list[Block]:
    """Return what is compared; rows about the cells `weak` have a mark, unless all rows would."""
    safety, limits = analysis.safety, analysis.limits
    found = list(on_screen(safety)) if safety else []
    # Rows of cuts have the speed of their level.
    if not safety or len(safety.speeds) < len(analysis.cells) or not found:
        found += [_limits(analysis, limits)] if limits and is_of_limits(analysis) else _speed(analysis, weak)
    found += tpcc(analysis)
    if all(row.is_weak for one in found for row in one.rows):  # a mark on all of them tells nothing apart
        return [replace(one, rows=tuple(replace(row, is_weak=False) for row in one.rows)) for one in found]
    return found


def _speed(analysis: Analysis, weak: Collection[str]) -> Iterator[Block]:
    if not has_verdict(analysis):
        if analysis.trials_valid:
            yield _single(analysis)
        return
    ranked = {one.factor for one in analysis.rankings}
    drawn = analysis.plan.dials if analysis.curves else {}
    across = on_dials(analysis)
    if across:
        yield from dials.ratios(analysis, across)
    yield from dials.blocks(analysis, weak)
    for ranking in analysis.rankings:
        if not across and not all(one.level in drawn for one in ranking.placed):
            yield _ranked(analysis, ranking)
    found = [one for one in asked(analysis) if one.factor not in ranked and one not in across]
    yield from pairs(analysis, [one for one in found if not {one.level, one.baseline} <= drawn.keys()], weak)


def pairs(analysis: Analysis, found: Sequence[Verdict], weak: Collection[str] = ()) -> Iterator[Block]:
    """Yield verdicts by the two levels that they compare, all on one scale."""
    scale = ratio_scale([one.ratio for one in found if one.ratio])
    for group in grouped(found, lambda one: (one.factor, one.level, one.baseline)).values():
        yield _pair(analysis, group, scale, weak)


def single(analysis: Analysis) -> str:
    """Return what one cell came to: ``410 transactions/s (292 to 575), p95 47 ms, 8 clients.``."""
    rows = _single(analysis).rows if not analysis.varying and analysis.trials_valid else ()
    if not rows:
        return ""
    figure, ends, p95 = rows[0].figures
    return f"{figure} {UNITS[analysis.cells[0].metric]} ({ends}), p95 {p95}, {rows[0].levels[-1]}."


def _single(analysis: Analysis) -> Block:
    """Return the figures of cells that are compared with nothing."""
    rows = []
    for one in analysis.cells:
        if one.figure is None:
            continue
        tail = f"{percentile('95', one)} ms" if "95" in one.latency_us else numbers.NOT_OBSERVED
        place = one.cell.server if one.cell.storage == THEIRS else one.cell.storage
        levels = (place, verdict_words.clients(str(one.cell.clients)))
        figure = as_shown(one.metric, one.figure)
        rows.append(Row(levels, figures=(estimate(figure), bounds(figure), tail)))
    return Block("", tuple(rows), (UNITS[analysis.cells[0].metric], "95% interval", "p95"))


def _pair(analysis: Analysis, group: Sequence[Verdict], scale: Scale, weak: Collection[str]) -> Block:
    first = group[0]
    cells = {one.cell.id: one for one in analysis.cells}
    published = {
        (one.cell, one.baseline_cell): one.published.ratio
        for one in (analysis.beside.ratios if analysis.beside else [])
        if one.cell and one.baseline_cell
    }
    turned = {(second, first): 1 / ratio for (first, second), ratio in published.items()}
    theirs = [(turned | published).get((one.cell, one.baseline_cell)) for one in group]
    rows = []
    for one, ratio in zip(group, theirs, strict=True):
        pair = (one.cell, one.baseline_cell)
        sides = [as_shown(cells[cell].metric, cells[cell].figure) for cell in pair]
        said = verdict_words.amount(ratio) if ratio else ""
        figures = [*map(estimate, sides), *([said] if any(theirs) else [])]
        row = ratio_row(_levels(one), one, tuple(figures))
        rows.append(replace(row, is_weak=not set(pair).isdisjoint(weak)))
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    columns = (level, baseline, *(("published",) if any(theirs) else ()))
    return Block(f"{level} against {baseline}; {UNITS[first.metric]}", tuple(rows), columns, scale)


def _cell_levels(cell: Cell, varying: Sequence[Factor]) -> tuple[str, ...]:
    """Return a cell's levels, a column a factor."""
    found = ((factor, cell.level(factor)) for factor in varying)
    named = (
        "" if level == NO_LEVEL and factor != "server" else verdict_words.subject(factor, level)
        for factor, level in found
    )
    return tuple(named) or (cell.storage,)


def _levels(one: Verdict) -> tuple[str, ...]:
    held = [verdict_words.subject(factor, level) for factor, level in one.held.items() if level != NO_LEVEL]
    return tuple(held) or ("",)


def ratio_row(
    levels: tuple[str, ...], one: Verdict | CellComparison | PairSoFar, figures: tuple[str, ...]
) -> Row:
    """Return a comparison as a row: its result, its bar, both figures."""
    said = WORDS.get(one.outcome) or (verdict_words.amount(one.ratio.estimate) if one.ratio else "")
    if one.outcome == "the same" and isinstance(one, Verdict):
        said = f"same within {numbers.whole_percent(one.same_within)}"
    if one.outcome in ("faster", "slower") and one.ratio and one.ratio.n < ENOUGH_BLOCKS:
        said = f"likely {said}"
    interval = verdict_words.interval(one.outcome, one.ratio)
    return Row(levels, said, TONES[one.outcome], one.ratio, figures, interval=interval)


def ratio_scale(ratios: Sequence[Interval]) -> Scale:
    """Return the scale on which all these ratios lie, with equal speed on it."""
    ends = [0.75, 1.3333]
    for one in ratios:
        ends += [end for end in (one.estimate, one.low, one.high) if end is not None and end > 0]
    low, high = max(min(ends), min(one.estimate for one in ratios) / 20 if ratios else 0.1), max(ends)
    high = min(high, max((one.estimate for one in ratios), default=1.0) * 20)
    margin = (high / low) ** 0.04
    low, high = min(low / margin, 0.75), max(high * margin, 1.3333)
    ticks: list[tuple[float, str]] = []
    for tick in sorted(RATIOS, key=lambda tick: tick[0] != 1.0):  # equal speed finds its place first
        apart = (abs(math.log(tick[0] / other)) for other, _ in ticks)
        if low <= tick[0] <= high and min(apart, default=math.inf) > math.log(high / low) / MOST_TICKS:
            ticks.append(tick)
    return Scale(low, high, tuple(sorted(ticks)), middle=1.0)


def _ranked(analysis: Analysis, ranking: Ranking) -> Block:
    """Return the levels of a factor, the best first, each with the range of its ratio to the best."""
    cells = grouped(analysis.cells, lambda one: one.cell.level(ranking.factor))
    everything = [ratio for one in ranking.placed for ratio in one.ratios]
    rows = []
    for one in ranking.placed:
        figures = [found for cell in cells[one.level] if (found := as_shown(cell.metric, cell.figure))]
        by_size = sorted(figures, key=lambda it: it.estimate)
        shown = dict.fromkeys(map(estimate, (by_size[0], by_size[-1]) if by_size else (None,)))
        row = Row((verdict_words.subject(ranking.factor, one.level),), "best", "better")
        if one.outcome != "best":
            said = TIES.get(one.outcome) or how_much_slower([ratio.estimate for ratio in one.ratios])
            every = over_conditions(one.ratios) if one.ratios else None
            ends = verdict_words.interval(one.outcome, every) if len(one.ratios) == 1 else ""
            row = replace(row, said=said, tone=TONES[one.outcome], drawn=every, interval=ends)
        rows.append(replace(row, figures=(" to ".join(shown),)))
    over = "" if ranking.conditions == 1 else f", over {ranking.conditions} conditions"
    metric = analysis.cells[0].metric
    return Block(
        f"{ranking.factor}, best first{over}", tuple(rows), (UNITS[metric],), ratio_scale(everything)
    )


def how_much_slower(ratios: Sequence[float]) -> str:
    """Return how much slower a level is; in some conditions it may be as fast as the best, or faster."""
    return verdict_words.amount(*ratios) if max(ratios) < 1 else f"up to {verdict_words.amount(min(ratios))}"


def _limits(analysis: Analysis, limits: Limits) -> Block:
    """Return what holds each cell back, its share of a transaction, and what a proof made of it."""
    proofs = {one.cell: one for one in limits.proofs}
    rows = []
    for one in limits.cells:
        share, proof = one.share_of_time, proofs.get(one.cell.id)
        figures = [numbers.whole_percent(share) if share else ""]
        tone: Tone = "plain" if one.limit else "open"
        if proof is not None:
            measured = proof.measured and percents(proof.measured.low, proof.measured.high)
            figures += [percents(proof.predicted_low, proof.predicted_high), measured or "undecided"]
            tone = TONES_OF_PROOFS[proof.outcome]
        bar = Bar(share, 0.0, share) if share else None
        levels = _cell_levels(one.cell, analysis.varying)
        rows.append(Row(levels, limits_words.bound_by(one), tone, bar, tuple(figures)))
    change = "slowed" if all(one.predicted_high < 1 for one in proofs.values()) else "changed"
    title = f"held back by{f'; speed left if {change}' if proofs else ''}"
    columns = ("of time", *(("predicted", "measured") if proofs else ()))
    return Block(title, tuple(rows), columns, None if proofs else SHARES)


def tpcc(analysis: Analysis) -> Iterator[Block]:
    """Yield what TPC-C's specification asks: new orders a minute, times kept, tables consistent."""
    rows = []
    for one in analysis.tpcc:
        kept = [response.kept for response in one.responses if response.kept is not None]
        rows.append(
            Row(
                (verdict_words.cell_words(one.cell, analysis.varying),),
                estimate(one.new_orders_per_min),
                figures=(
                    f"{sum(kept)} of {len(kept)}",
                    f"{one.consistent} of {one.checked}" if one.checked else numbers.NOT_OBSERVED,
                    f"{one.warehouses:,}",
                ),
                interval=bounds(one.new_orders_per_min),
            )
        )
    columns = ("times kept", "consistent", "warehouses")
    if rows:
        yield Block("TPC-C, new orders/min", tuple(rows), columns, most_figures=2)
