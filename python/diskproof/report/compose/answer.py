"""The answer to the study's question: how its levels compare, what holds them back, what cuts took."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis, CellAnswer, Verdict
from diskproof.analysis.safety.shapes import Safety
from diskproof.analysis.safety.worst import worst_way
from diskproof.report.compose import cut_words, difference_words, verdict_words
from diskproof.report.compose.outcome_words import (
    NOT_COMPARABLE,
    UNDECIDED,
    both_figures,
    figures_of,
    outcome_of,
    outcomes,
    time_range,
    told_apart,
    with_bound,
)
from diskproof.report.compose.verdicts import has_verdict, why_no_verdict
from diskproof.report.document import Line
from diskproof.report.intervals import at_least, bounds, estimate, in_milliseconds
from diskproof.results.factor import Factor
from diskproof.results.plan import Asks, Metric
from diskproof.stats.boxes import boxes
from diskproof.stats.groups import grouped
from diskproof.wording import numbers, say, us

CONDITIONS: tuple[Factor, ...] = ("workload", "clients")
"""Factors that a study varies to see the others under them. They are the question if nothing else varies."""

MOST_SENTENCES = 4

MOST_LINES = 8
"""Comparisons of several levels that each have a line; of more, a sentence has the range."""

ANCHOR = "answer"


def speed(analysis: Analysis) -> Iterator[str | Line]:
    """Yield how the levels compare, those that a comparison decides first; or why there is no verdict."""
    if not has_verdict(analysis):
        if analysis.trials_valid and not analysis.varying:
            yield from map(_figure, analysis.cells)
        elif analysis.safety is None:
            yield why_no_verdict(analysis)
        return
    groups = _asked(analysis)
    compared = [group for group in groups if _is_compared(group)]
    spared: set[str] = set()
    listed = is_listed(analysis)
    for group in compared if listed else compared[:MOST_SENTENCES]:
        cost = group[0].baseline not in spared
        yield from _lines(group, analysis, cost=cost) if listed else [_sentence(group, analysis, cost=cost)]
        spared |= {one.baseline for one in group if one.flush_spared and one.difference}
    if not listed and (left := len(compared) - MOST_SENTENCES) > 0:
        yield f"{numbers.count(left, 'more pair', 'more pairs')} of levels: see the verdicts."
    barred = grouped([group[0] for group in groups if group not in compared], lambda one: one.baseline)
    for baseline, alike in barred.items():
        levels = numbers.listed([verdict_words.subject(one.factor, one.level) for one in alike])
        yield f"{levels} against {verdict_words.subject(alike[0].factor, baseline)}: {NOT_COMPARABLE}."


UNIT: dict[Metric, str] = {
    "transactions_per_s": " transactions/s",
    "requests_per_s": " requests/s",
    "seconds": " s",
    "latency_mean_us": " ms from when it was due to its end, as a mean",
}


def _figure(answer: CellAnswer) -> str:
    """Return what a cell came to: ``410 transactions/s (292 to 575), p95 47 ms, with 8 clients.``."""
    figure = answer.figure
    if figure is not None and answer.metric == "latency_mean_us":
        figure = in_milliseconds(figure)
    ends = f" ({bounds(figure)})" if figure and figure.low is not None else ""
    p95 = answer.latency_us.get("95")
    tail = f", p95 {at_least(answer, '95')}{numbers.milliseconds(p95.estimate)} ms" if p95 else ""
    by = numbers.count(answer.cell.clients, "client")
    return f"{estimate(figure)}{UNIT[answer.metric]}{ends}{tail}, with {by}."


def opening(analysis: Analysis) -> Iterator[str]:
    """Yield a sentence for each pair of levels that has several lines: the outcome over all its cells."""
    if has_verdict(analysis) and is_listed(analysis):
        for group in filter(_is_compared, _asked(analysis)):
            if len(group) > 1 and (said := _cost(group, analysis) or _overall(group)):
                yield said


def _is_compared(group: Sequence[Verdict]) -> bool:
    return any(one.outcome != "not comparable" for one in group)


def _cost(group: Sequence[Verdict], analysis: Analysis) -> str:
    """Return what a durable commit costs on each storage; empty if no level here spares its flush.

    ``A durable commit costs 280 us (1 client) and 1.8 ms (8 clients) on disk, and less than 3% on ssd.``
    """
    spared = [one for one in group if one.flush_spared]
    if not spared:
        return ""
    on = grouped(spared, lambda one: one.held.get("storage"))
    costing = sum(any(one.outcome == "faster" for one in some) for some in on.values())
    costs = [
        (_time_saved(some, each=costing == 1), f" on {storage}" if storage else "")
        for storage, some in on.items()
    ]
    costs.sort(key=lambda one: one[0].startswith("less"))
    said = ", and ".join(f"{cost}{where}" for cost, where in costs)
    return f"A durable commit costs {said}{_doubt(spared, analysis)}."


def _costs_little(found: Sequence[Verdict]) -> bool:
    """Tell whether no level without a flush is faster than one that waits for it."""
    return all(one.outcome in ("the same", "slower") for one in found)


def _doubt(found: Sequence[Verdict], analysis: Analysis) -> str:
    """Ask for a test of disks whose flush costs little: they may ignore it. Models are known."""
    spared = [one for one in found if one.flush_spared]
    on = grouped(spared, lambda one: analysis.plan.cell(one.cell).storage)
    storages = {storage for storage, some in on.items() if _costs_little(some)}
    caching = [
        place.device.name
        for place in (analysis.machine.places if analysis.machine else [])
        if place.storage in storages
        and place.device
        and not place.virtual_disks
        and place.device.write_cache != "write through"
    ]
    names = numbers.listed(list(dict.fromkeys(caching)))
    return f"; if {names} has a write cache, test that it flushes" if caching else ""


def _time_saved(found: Sequence[Verdict], *, each: bool) -> str:
    """Return how much shorter transactions are: ``280 us (1 client) and 1.8 ms (8 clients)``.

    `each`: with the condition of each of two; otherwise the range.
    """
    timed = [one for one in found if one.outcome == "faster" and _saved_us(one) > 0]
    if not timed:
        least = f"less than {numbers.percent(found[0].same_within)}"
        return least if _costs_little(found) else "a time that is undecided"
    if len(timed) < len(found):
        return f"up to {time_range([max(timed, key=_saved_us)])}"
    if each and (told := told_apart(timed)):
        return numbers.listed(
            [f"{time_range([one])} ({where})" for one, where in zip(timed, told, strict=True)]
        )
    return time_range(timed)


def _saved_us(one: Verdict) -> float:
    return -one.difference.whole_us.estimate if one.difference else 0.0


def _overall(group: Sequence[Verdict]) -> str:
    """Return the outcomes of two levels: ``disk is 34% to 45% slower than dram at safest and the same …``."""
    first = group[0]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))

    def where(some: Sequence[Verdict]) -> str:
        return verdict_words.places([one.held for one in some], [one.held for one in group], "comparisons")

    differing = [one for one in group if one.outcome in ("faster", "slower") and one.ratio]
    said = [
        f"{outcome_of(some, baseline, first.same_within)}{where(some)}"
        for some in grouped(differing, lambda one: one.outcome).values()
    ]
    rest = [one for one in group if one.outcome in ("the same", "inconclusive")]
    if rest and not said and all(one.outcome == "inconclusive" for one in rest):
        return f"{verdict_words.against(first)} is undecided{where(rest)}."
    if rest:
        same = f"the same{'' if said else f' as {baseline}'} within {numbers.percent(first.same_within)}"
        kinds = dict.fromkeys(UNDECIDED.get(one.outcome, same) for one in rest)
        said.append(f"{' or '.join(kinds)}{where(rest)}")
    return f"{level} {_verb(first)} {numbers.listed(said)}." if said else ""


def _verb(one: Verdict) -> str:
    return "are" if one.factor == "clients" and one.level != "1" else "is"


def _asked(analysis: Analysis) -> list[list[Verdict]]:
    """Return the verdicts that the study asks for, by their two levels: those that are decided first."""
    asked = [one for one in analysis.verdicts if one.factor not in CONDITIONS] or analysis.verdicts
    groups = list(grouped(asked, lambda one: (one.factor, one.level, one.baseline)).values())
    return sorted(groups, key=lambda group: all(one.outcome in UNDECIDED for one in group))


def is_listed(analysis: Analysis) -> bool:
    """Tell whether each comparison has a line of its own, with its interval."""
    found = [one for group in _asked(analysis) for one in group if one.outcome != "not comparable"]
    return len(found) <= MOST_LINES


def _lines(group: Sequence[Verdict], analysis: Analysis, *, cost: bool) -> Iterator[str | Line]:
    """Yield two levels, then a line for each comparison of them: the ratio, its interval, both figures.

    `cost`: as in `_sentence`.
    """
    if len(group) == 1:
        yield _sentence(group, analysis, cost=cost)
        return
    cells = {one.cell.id: one for one in analysis.cells}
    spares = any(one.flush_spared for one in group)
    yield _heading(f"{verdict_words.against(group[0])}:")
    decided = [one for one in group if one.outcome not in UNDECIDED and one.ratio]
    for one in decided:
        more = _no_cost(one) if spares else _change(one, analysis.plan.asks)
        said = f"{_decided(one)}{both_figures([one], cells)}{more}"
        yield f"{verdict_words.listed(one.held)}: {said}."
    for outcome, some in grouped(
        [one for one in group if one not in decided], lambda one: one.outcome
    ).items():
        where = verdict_words.where(boxes([one.held for one in some], [one.held for one in group])).strip()
        where = verdict_words.listed(some[0].held) if len(some) == 1 else where
        said = with_bound(UNDECIDED.get(outcome, NOT_COMPARABLE), some)
        yield f"{f'{where}: ' if where else ''}{said}{both_figures(some, cells)}."


def _heading(text: str) -> Line:
    return Line(text, style="strong")


def _change(one: Verdict, asks: Asks) -> str:
    """Return how much longer a transaction takes, if that is sure: ``, +6.6 ms, mostly the log flush``."""
    if one.difference is None or not one.difference.whole_us.excludes(0):
        return ""
    change_us = one.difference.whole_us.estimate
    # If limits are asked for, they have been said.
    name = difference_words.largest(one.difference) if asks == "speed" else None
    size = say("{time}", time=us(abs(change_us))).text
    return f", {'+' if change_us > 0 else '-'}{size}{f', mostly {name}' if name else ''}"


def _no_cost(one: Verdict) -> str:
    """Return what it means that a level without a flush is not faster than one that waits for it."""
    return ": not a commit's cost" if one.outcome == "slower" and one.flush_spared else ""


def _decided(one: Verdict) -> str:
    """Return a decided comparison: ``7.8 times slower (5.3 to 12)``."""
    if one.outcome == "the same" or one.ratio is None:
        return f"the same within {numbers.percent(one.same_within)}"
    return verdict_words.by_how_much_within(one.ratio)


def has_one_speed_each(analysis: Analysis) -> bool:
    """Tell whether each level that was cut has one speed, and nothing else has any: a sentence has both."""
    groups = _asked(analysis) if analysis.safety and has_verdict(analysis) else []
    answers = analysis.safety.answers if analysis.safety else []
    cut = {(one.cell.server, one.cell.storage, one.cell.tuning) for one in answers}
    return bool(groups) and all(
        len(group) == 1 and group[0].factor == "tuning" and group[0].ratio and _setting(analysis, one) in cut
        for group in groups
        for one in group
    )


def _setting(analysis: Analysis, one: Verdict) -> tuple[str, str, str]:
    cell = analysis.plan.cell(one.cell)
    return cell.server, cell.storage, cell.tuning


def cuts(analysis: Analysis, safety: Safety) -> Iterator[str]:
    """Yield for each storage what cuts took at each level: a line a level of the one that keeps commits."""
    several = len({one.cell.server for one in safety.answers}) > 1
    gains = _gains(analysis) if has_one_speed_each(analysis) else {}
    of_storage = grouped(safety.answers, lambda one: (one.cell.server, one.cell.storage))
    kept_first = sorted(of_storage.items(), key=lambda one: not worst_way(one[1][:1]).is_whole)
    for index, ((server, storage), answers) in enumerate(kept_first):
        said = [
            cut_words.in_short(tuning, dying, gains.get((server, storage, tuning), ""))
            for tuning, dying in grouped(answers, lambda one: one.cell.tuning).items()
        ]
        on = f"On {storage}{f' in {server}' if several else ''}"
        if index:
            yield f"{on}, {'; '.join(said)}."
        else:
            yield from (f"{one}." for one in (f"{on}, {said[0]}", *said[1:]))


def _gains(analysis: Analysis) -> dict[tuple[str, str, str], str]:
    """Return how fast levels are, by server, storage and level, to follow a level's name."""
    cells = {one.cell.id: one for one in analysis.cells}
    found = {}
    for one in (one for group in _asked(analysis) for one in group):
        assert one.ratio  # else the answer says speed and safety apart
        how = f"{verdict_words.by_how_much(one.ratio.estimate)} {one.baseline}"
        if one.outcome not in ("faster", "slower"):
            how = "as fast as" if one.outcome == "the same" else "undecided against"
            how = f"{how} {one.baseline}"
        ends = "" if one.outcome == "the same" else verdict_words.ends(one.ratio).strip(" ()")
        figures = "; ".join(filter(None, [ends, both_figures([one], cells).removeprefix(": ")]))
        found[_setting(analysis, one)] = f"is {how}{f' ({figures})' if figures else ''}"
    return found


def _sentence(verdicts: Sequence[Verdict], analysis: Analysis, *, cost: bool) -> str:
    """Return the answer of two levels: ``disk is 12% to 45% slower than dram at safest; no difference …``.

    `cost`: with what a durable commit costs, if nobody has said that yet.
    """
    cells = {one.cell.id: one for one in analysis.cells}

    def detail(found: Sequence[Verdict]) -> str:
        return figures_of(found, cells, cost=cost)

    first = verdicts[0]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    doubt = _doubt(verdicts, analysis) if cost else ""
    if len(verdicts) == 1 and first.outcome not in UNDECIDED:
        return f"{verdict_words.verdict(first, brief=True)}{detail(verdicts)}{_no_cost(first)}{doubt}."
    said, rest = outcomes(verdicts, baseline, first.same_within, lambda some: _where(some, verdicts), detail)
    if not said:
        return f"{verdict_words.against(first)}: {rest}{both_figures(verdicts, cells)}."
    return f"{level} {_verb(first)} {said}{f'; {rest}' if rest else ''}{doubt}."


def _where(some: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """Return under which conditions an outcome was found, or in how many comparisons."""
    of = len(verdicts)
    if of == 1:
        return verdict_words.conditions(some[0].held)
    if len(some) == of:
        every = "both" if of == 2 else f"all {of}"
        return "" if some[0].outcome in UNDECIDED else f" in {every} comparisons"
    return verdict_words.places([one.held for one in some], [one.held for one in verdicts], "comparisons")
