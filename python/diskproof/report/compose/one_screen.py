"""The answer of a run on one screen: what is compared, what holds it back, what to do, what to beware of."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from diskproof.analysis.answers import Analysis, CellAnswer, CellComparison, Outcome, Ranking, Verdict
from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.rankings import CONDITIONS
from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.analysis.safety.speed import typical
from diskproof.analysis.safety.worst import worst_way
from diskproof.audit.run import ENOUGH_BLOCKS
from diskproof.report.compose import cut_words, limits_words, names, to_do, verdict_words
from diskproof.report.compose.head import left_out, progress
from diskproof.report.compose.warnings import Caution, cautions
from diskproof.report.document import Tone
from diskproof.report.intervals import at_least, bounds, confidence, estimate, in_milliseconds
from diskproof.report.one_screen import Block, OneScreen, Row, Scale
from diskproof.results.crash_plan import Way
from diskproof.results.limit import IN_WORDS
from diskproof.results.plan import NO_LEVEL, Metric
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval
from diskproof.wording import numbers, say, us

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

WORDS: dict[Outcome, str] = {"the same": "same", "inconclusive": "open", "not comparable": "no ratio"}

TIES = {"the same": "tied", "inconclusive": "open"}
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

MOST_LIMITS = 3
"""Limits that the screen names."""


def run(analysis: Analysis) -> OneScreen:
    """Return a run on one screen."""
    warned = cautions(analysis)
    limits = analysis.limits.cells if analysis.limits else []
    is_of_limits = analysis.plan.asks == "limits" and bool(limits)
    speed = [_limits(analysis, limits)] if is_of_limits else list(_speed(analysis, _weak(analysis, warned)))
    blocks = [*speed, *_tpcc(analysis), *(_cuts(analysis.safety) if analysis.safety else ())]
    if all(row.is_weak for one in blocks for row in one.rows):  # a mark on all of them tells nothing apart
        blocks = [replace(one, rows=tuple(replace(row, is_weak=False) for row in one.rows)) for one in blocks]
    lines = {
        "ALARM": _alarm(analysis),
        "Held back by": "" if is_of_limits else "; ".join(held_back(analysis)),
        "To do": "",
        "Beware": _beware(warned, is_weak=any(row.is_weak for one in blocks for row in one.rows))
        or (_rarest(analysis.safety) if analysis.safety else ""),
    }
    shown: list[tuple[str, str]] = []
    for lead, text in lines.items():
        if lead == "To do":
            actions = to_do.actions(analysis)[: to_do.MOST_SHOWN]
            shown += [("" if at else lead, one) for at, one in enumerate(actions)]
        elif text:
            shown.append((lead, text))
    return OneScreen(
        question=analysis.plan.question,
        facts=facts(analysis),
        answer=answer(analysis),
        blocks=tuple(blocks),
        lines=tuple(shown),
    )


def facts(analysis: Analysis) -> str:
    """Return what was tested, how much of it there is, and what its storages are."""
    state = "" if analysis.complete else "INCOMPLETE. "
    tested = names.tested(analysis)
    # Where a model comes from stands on the page.
    storages = "; ".join(one.partition(": ")[0] for one in names.storages(analysis))
    loads = list(names.workloads(analysis))
    load = loads[0].partition(" = ")[2] if len(loads) == 1 else ""
    parts = [f"{state}{tested}", f"{progress(analysis)}{left_out(analysis.plan)}", storages]
    parts.append(numbers.sentence_case(load))
    return ". ".join(part for part in parts if part)


# ---------------------------------------------------------------- the sentence


def has_verdict(analysis: Analysis) -> bool:
    """Report whether there is anything to say; if no trial is valid, every verdict would say the same."""
    return bool(analysis.verdicts) and analysis.trials_valid > 0


def why_no_verdict(analysis: Analysis) -> str:
    """Return why a run has no verdict, and what would give one."""
    if not analysis.trials_run:
        return f"No verdict: no trial has finished. Continue with {analysis.plan.resumed_by}."
    if not analysis.trials_valid:
        return "No verdict: no trial is valid. The findings say why."
    if not analysis.varying and analysis.plan.imported:
        return "No verdict: the results are of a single cell. Add those of another storage or server."
    if not analysis.varying:
        each = analysis.machine.each if analysis.machine else []
        is_given = any(server.address for one in each for server in one.servers)
        second = "tuning level" if is_given else "storage or tuning level"
        return f"No verdict: the study has a single cell. Add a second {second}."
    return "No verdict: no two levels of a factor could be compared."


def answer(analysis: Analysis) -> str:
    """Return the answer in one sentence; with the rows below it needs no more."""
    if analysis.safety and analysis.safety.made:
        return _of_cuts(analysis.safety)
    if not has_verdict(analysis):
        return "" if analysis.trials_valid and not analysis.varying else why_no_verdict(analysis)
    limits = analysis.limits.cells if analysis.limits else []
    if analysis.plan.asks == "limits" and limits:
        return f"The database is held back by {held_back(analysis)[0]}."
    return " ".join(filter(None, (_largest(analysis), cost(analysis))))


def cost(analysis: Analysis) -> str:
    """Return what a durable commit costs: ``A durable commit costs 280 µs to 1.8 ms on disk.``.

    Empty if no level here spares its flush, or no difference was shown.
    """
    found = [
        one for one in asked(analysis) if one.flush_spared and one.outcome == "faster" and one.difference
    ]
    if not found:
        return ""
    said = []
    for storage, some in grouped(found, lambda one: one.held.get("storage", "")).items():
        on = f" on {storage}" if storage else ""
        by_time = sorted(some, key=_saved_us)
        if len(some) == 1:
            said.append(f"{_saved(some[0])}{on}")
        elif len(some) == 2 and (told := _told_apart(some)):
            said.append(f"{_saved(some[0])}{told[0]} and {_saved(some[1])}{told[1]}{on}")
        else:
            said.append(f"{_saved(by_time[0])} to {_saved(by_time[-1])}{on}, by condition")
    return f"A durable commit costs {numbers.listed(said)}."


def _saved_us(one: Verdict) -> float:
    return max(-one.difference.whole_us.estimate, 0.0) if one.difference else 0.0


def _saved(one: Verdict) -> str:
    return say("{time}", time=us(_saved_us(one))).text


def _told_apart(pair: Sequence[Verdict]) -> tuple[str, ...]:
    """Return what tells two comparisons apart, if it is one factor: `` with 1 client``, `` with 8 …``."""
    first, second = (one.held for one in pair)
    differing = [factor for factor, level in first.items() if second.get(factor) != level]
    if len(differing) != 1:
        return ()
    return tuple(verdict_words.conditions({differing[0]: one.held[differing[0]]}) for one in pair)


def _largest(analysis: Analysis) -> str:
    """Return how the levels that differ most compare, over all conditions in which they do."""
    decided = [one for one in asked(analysis) if one.outcome in ("faster", "slower") and one.ratio]
    if not decided:
        same = any(one.outcome == "the same" for one in asked(analysis))
        return "No difference is shown." if not same else "No difference: what is decided is the same."
    # What spares a flush is said as the cost of a commit.
    groups = grouped(
        [one for one in decided if not one.flush_spared] or decided,
        lambda one: (one.factor, one.level, one.baseline, one.outcome),
    )
    most = max(groups.values(), key=lambda some: max(map(_size, some)))
    first = most[0]
    alike = (first.factor, first.level, first.baseline)
    every = [one.held for one in asked(analysis) if (one.factor, one.level, one.baseline) == alike]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    where = verdict_words.places([one.held for one in most], every, "comparisons")
    ratios = [one.ratio.estimate for one in most if one.ratio]
    return f"{numbers.sentence_case(level)} is {verdict_words.by_how_much(*ratios)} {baseline}{where}."


def _size(one: Verdict) -> float:
    return max(one.ratio.estimate, 1 / one.ratio.estimate) if one.ratio else 1.0


def _of_cuts(safety: Safety) -> str:
    """Return which levels kept every commit in the cuts, and the worst that another took."""
    worst = [one for one in _worst_of_cells(safety) if one.telling]
    whole = [cut_words.level(one.cell) for one in worst if one.is_whole]
    kept = f"{numbers.listed(whole)} kept every commit" if whole else "No level kept every commit"
    harmed = [one for one in worst if not one.is_whole]
    if not harmed:
        return f"{kept}."
    most = worst_way(harmed)
    return f"{kept}; {cut_words.level(most.cell)} {cut_words.outcome(most)}."


# ---------------------------------------------------------------- speed


def asked(analysis: Analysis) -> list[Verdict]:
    """Return the verdicts that the study asks for: not those on conditions, unless there are no others."""
    return [one for one in analysis.verdicts if one.factor not in CONDITIONS] or analysis.verdicts


def _weak(analysis: Analysis, warned: Sequence[Caution]) -> Collection[str]:
    """Return the cells that the warning on the screen is about; empty if it is about all of them."""
    cells = set(warned[0].cells) if warned else set()
    return cells if len(cells) < len(analysis.cells) else ()


def _speed(analysis: Analysis, weak: Collection[str]) -> Iterator[Block]:
    if not has_verdict(analysis):
        if analysis.trials_valid:
            yield _single(analysis)
        return
    found = asked(analysis)
    ranked = {one.factor for one in analysis.rankings}
    scale = ratio_scale([one.ratio for one in found if one.ratio])
    for ranking in analysis.rankings:
        yield _ranked(analysis, ranking)
    groups = grouped(
        (one for one in found if one.factor not in ranked), lambda one: (one.factor, one.level, one.baseline)
    )
    for group in groups.values():
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
        p95 = one.latency_us.get("95")
        tail = (
            f"{at_least(one, '95')}{numbers.milliseconds(p95.estimate)} ms" if p95 else numbers.NOT_OBSERVED
        )
        levels = (one.cell.storage, verdict_words.clients(str(one.cell.clients)))
        figure = _figure(one)
        rows.append(Row(levels, figures=(estimate(figure), bounds(figure), tail)))
    return Block("", tuple(rows), (UNITS[analysis.cells[0].metric], "95% interval", "p95"))


def _figure(one: CellAnswer) -> Interval | None:
    known = one.figure
    return in_milliseconds(known) if known and one.metric == "latency_mean_us" else known


def _pair(analysis: Analysis, group: Sequence[Verdict], scale: Scale, weak: Collection[str]) -> Block:
    first = group[0]
    cells = {one.cell.id: one for one in analysis.cells}
    published = {
        (one.cell, one.baseline_cell): one.published.ratio
        for one in (analysis.beside.ratios if analysis.beside else [])
        if one.cell and one.baseline_cell
    }
    theirs = [_published(published, one) for one in group]
    rows = [
        ratio_row(
            _levels(one),
            one,
            (estimate(_figure(cells[one.cell])), estimate(_figure(cells[one.baseline_cell])))
            + ((ratio,) if any(theirs) else ()),
        )
        for one, ratio in zip(group, theirs, strict=True)
    ]
    rows = [
        replace(row, is_weak=bool({one.cell, one.baseline_cell} & set(weak)))
        for row, one in zip(rows, group, strict=True)
    ]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    columns = (level, baseline, *(("published",) if any(theirs) else ()))
    unit = f"bars: {confidence(analysis)} intervals; {UNITS[first.metric]}"
    return Block(f"{level} against {baseline}", tuple(rows), columns, scale, unit)


def _published(known: dict[tuple[str, str], float], one: Verdict) -> str:
    ratio = known.get((one.cell, one.baseline_cell))
    turned = known.get((one.baseline_cell, one.cell))
    ratio = 1 / turned if ratio is None and turned else ratio
    return "" if ratio is None else verdict_words.amount(ratio)


def _levels(one: Verdict) -> tuple[str, ...]:
    held = [verdict_words.subject(factor, level) for factor, level in one.held.items() if level != NO_LEVEL]
    return tuple(held) or ("",)


def ratio_row(levels: tuple[str, ...], one: Verdict | CellComparison, figures: tuple[str, ...]) -> Row:
    """Return a comparison as a row: its result, its bar, both figures."""
    said = WORDS.get(one.outcome) or (verdict_words.amount(one.ratio.estimate) if one.ratio else "")
    if one.outcome in ("faster", "slower") and one.ratio and one.ratio.n < ENOUGH_BLOCKS:
        said = f"likely {said}"
    return _with_bar(Row(levels, said, TONES[one.outcome], figures=figures), one.ratio)


def _with_bar(row: Row, ratio: Interval | None) -> Row:
    if ratio is None:
        return row
    return replace(row, estimate=ratio.estimate, low=ratio.low, high=ratio.high)


def ratio_scale(ratios: Sequence[Interval]) -> Scale:
    """Return the scale on which all these ratios lie, with equal speed on it."""
    ends = [0.75, 1.3333]
    for one in ratios:
        ends += [end for end in (one.estimate, one.low, one.high) if end is not None and end > 0]
    low, high = max(min(ends), min(one.estimate for one in ratios) / 20 if ratios else 0.1), max(ends)
    high = min(high, max((one.estimate for one in ratios), default=1.0) * 20)
    margin = (high / low) ** 0.04
    low, high = min(low / margin, 0.75), max(high * margin, 1.3333)
    return Scale(low, high, tuple(tick for tick in RATIOS if low <= tick[0] <= high), middle=1.0)


def _ranked(analysis: Analysis, ranking: Ranking) -> Block:
    """Return the levels of a factor, the best first, each with the range of its ratio to the best."""
    cells = grouped(analysis.cells, lambda one: one.cell.level(ranking.factor))
    everything = [ratio for one in ranking.placed for ratio in one.ratios]
    rows = []
    for one in ranking.placed:
        figures = [found for cell in cells[one.level] if (found := _figure(cell))]
        ends = [min(figures, key=lambda it: it.estimate), max(figures, key=lambda it: it.estimate)]
        shown = dict.fromkeys(estimate(end) for end in ends)
        row = Row((verdict_words.subject(ranking.factor, one.level),), "best", "better")
        if one.outcome != "best" and one.ratios:
            ratios = [ratio.estimate for ratio in one.ratios]
            said = verdict_words.amount(*ratios) if one.outcome == "slower" else TIES[one.outcome]
            row = replace(row, said=said, tone=TONES[one.outcome])
            row = replace(
                row,
                estimate=numbers.geometric_mean(ratios),
                low=min((ratio.low for ratio in one.ratios if ratio.low is not None), default=None),
                high=max((ratio.high for ratio in one.ratios if ratio.high is not None), default=None),
            )
        rows.append(replace(row, figures=(" to ".join(shown),)))
    over = "" if ranking.conditions == 1 else f", over {ranking.conditions} conditions"
    metric = analysis.cells[0].metric
    return Block(
        f"{ranking.factor}, best first{over}", tuple(rows), (UNITS[metric],), ratio_scale(everything)
    )


# ---------------------------------------------------------------- limits


def _limits(analysis: Analysis, limits: Sequence[CellLimit]) -> Block:
    """Return what holds each cell back, its share of a transaction, and what a proof made of it."""
    proofs = {one.cell: one for one in (analysis.limits.proofs if analysis.limits else [])}
    rows = []
    for one in limits:
        share = limits_words.share_of(one)
        proof = proofs.get(one.cell.id)
        figures: tuple[str, ...] = ()
        if proofs:
            figures = ("", "")
            if proof is not None:
                predicted = f"{proof.predicted_low:.2f} to {proof.predicted_high:.2f}"
                figures = (
                    predicted,
                    numbers.NOT_OBSERVED if proof.measured is None else bounds(proof.measured),
                )
        tone: Tone = "plain" if one.limit else "open"
        if proof is not None:
            tone = {"as predicted": "better", "not as predicted": "alarm", "open": "open"}[proof.outcome]  # type: ignore[assignment]
        rows.append(
            Row(
                tuple(limits_words.name(analysis, one).split(", ")),
                IN_WORDS[one.limit] if one.limit else "not established",
                tone,
                share,
                0.0 if share is not None else None,
                share,
                figures,
            )
        )
    columns = ("predicted", "measured") if proofs else ()
    title = "held back by" if not proofs else "held back by; changed, throughput is"
    return Block(title, tuple(rows), columns, SHARES, "of the unchanged" if proofs else "")


SHARES = Scale(0.0, 1.0, ((0.0, "0%"), (0.5, "50%"), (1.0, "100%")), logarithmic=False)


def held_back(analysis: Analysis) -> list[str]:
    """Return each limit with the cells that it holds back, those of most cells first."""
    return list(_held_back(analysis, analysis.limits.cells)) if analysis.limits else []


def _held_back(analysis: Analysis, found: Sequence[CellLimit]) -> Iterator[str]:
    every = [{factor: one.cell.level(factor) for factor in analysis.varying} for one in found]

    def where(some: Sequence[CellLimit]) -> str:
        held = [{factor: one.cell.level(factor) for factor in analysis.varying} for one in some]
        if len(some) == len(found):
            return (
                "" if len(found) == 1 else f" in {'both' if len(found) == 2 else f'all {len(found)}'} cells"
            )
        return verdict_words.places(held, every, "cells")

    groups = list(
        grouped(found, lambda one: (one.limit, limits_words.kind(one) if one.limit else "")).values()
    )
    groups.sort(key=lambda cells: (cells[0].limit is None, -len(cells)))
    for cells in groups[:MOST_LIMITS]:
        said = limits_words.bound_by(cells)
        share = limits_words.evidence(cells) if cells[0].limit else ""
        yield f"{said}{where(cells)}{share}"
    if left := sum(map(len, groups[MOST_LIMITS:])):
        yield f"others in {numbers.count(left, 'cell')}"


def _tpcc(analysis: Analysis) -> Iterator[Block]:
    """Yield what TPC-C's specification asks: new orders a minute, times kept, tables consistent."""
    if not analysis.tpcc:
        return
    rows = []
    for one in analysis.tpcc:
        kept = [response.kept for response in one.responses if response.kept is not None]
        rows.append(
            Row(
                (verdict_words.cell_words(one.cell, analysis.varying),),
                figures=(
                    estimate(one.new_orders_per_min),
                    bounds(one.new_orders_per_min),
                    f"{sum(kept)} of {len(kept)}",
                    f"{one.consistent} of {one.checked}",
                ),
            )
        )
    yield Block("TPC-C", tuple(rows), ("new orders/min", "95% interval", "times kept", "consistent"))


# ---------------------------------------------------------------- cuts


def _worst_of_cells(safety: Safety) -> list[CutAnswer]:
    return [worst_way(dying) for dying in grouped(safety.answers, lambda one: one.cell.id).values()]


def _cuts(safety: Safety) -> Iterator[Block]:
    """Yield a row a level: the share of cuts that took something, the worst that one took, and its speed."""
    answers = [one for one in _worst_of_cells(safety) if one.made]
    if not answers:
        return
    several = len({one.cell.server for one in answers}) > 1
    speeds = {one.cell.id: typical(safety.speeds, one.cell) for one in answers}
    has_speed = any(one and one.throughput_per_s for one in speeds.values())
    ways = {one.way for one in answers}
    rows = []
    for one in answers:
        share, speed = one.loss_share, speeds[one.cell.id]
        figures = [worst_loss(one)]
        if has_speed:
            figures.append(estimate(speed.throughput_per_s if speed else None))
        tone: Tone = "plain" if one.is_whole else "alarm" if one.gone or one.damaged else "worse"
        rows.append(
            Row(
                ((one.cell.server,) if several else ()) + (one.cell.storage, one.cell.tuning),
                one.way if len(ways) > 1 else "",
                "open" if not one.telling else tone,
                share.estimate if share else None,
                share.low if share else None,
                share.high if share else None,
                tuple(figures),
            )
        )
    title = "cuts that lost something" if ways == {"power"} else f"lost something to {_dying(ways)}"
    columns = ("at worst", *(("transactions/s",) if has_speed else ()))
    yield Block(title, tuple(rows), columns, SHARES)


def _dying(ways: Collection[Way]) -> str:
    return numbers.listed(sorted(cut_words.CAUSES[way] for way in ways))


def worst_loss(one: CutAnswer) -> str:
    """Return the worst that a cut took: ``nothing in 15 (at most 18%)``, ``1.0 s of commits, or more``."""
    if not one.telling or one.loss_share is None:
        return "no cut proves anything"
    if one.gone:
        return f"the whole database ({numbers.count(one.gone, 'cut')})"
    if one.damaged:
        return f"a damaged database ({numbers.count(one.damaged, 'cut')})"
    if not one.with_loss:
        return f"nothing in {one.telling} (at most {cut_words.points(one.loss_share.high)})"
    window = cut_words.seconds(one.window_s.worst) if one.window_s else numbers.NOT_OBSERVED
    return f"{window} of commits{', or more' if one.open_windows else ''}"


# ---------------------------------------------------------------- warnings


RARE, CUTS_FOR_RARE = 0.05, 59
"""So many cuts without a loss show that at most that share loses something: 1 - 0.05**(1/n)."""


def _rarest(safety: Safety) -> str:
    """Return how rare a loss may be that the cuts do not show; empty if they show a rare one."""
    bounds_of = [one.loss_share for one in safety.answers if one.is_whole and one.loss_share]
    if not bounds_of or (worst := max(bounds_of, key=lambda one: one.high)).high <= RARE:
        return ""
    return (
        f"{worst.n} cuts would miss a loss that strikes fewer than {cut_words.points(worst.high)} of cuts; "
        f"`--cuts {CUTS_FOR_RARE}` brings that to {numbers.percent(RARE)} (95% bounds)"
    )


def _alarm(analysis: Analysis) -> str:
    """Return which controls failed: then the cuts prove nothing."""
    safety = analysis.safety
    if safety is None:
        return ""
    return "; ".join(cut_words.control(safety, one) for one in safety.controls if one.outcome == "failed")


def _beware(warned: Sequence[Caution], *, is_weak: bool) -> str:
    """Return the gravest warning; `is_weak`: rows have a mark that it is about them."""
    if not warned:
        return ""
    more = f"; {numbers.count(len(warned) - 1, 'more warning')}" if len(warned) > 1 else ""
    return f"{'! ' if is_weak else ''}{warned[0].text}{warned[0].where}{more}"
