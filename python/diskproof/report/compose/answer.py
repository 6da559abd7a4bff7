"""The answer to the study's question: how its levels compare, what holds them back, what cuts took."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from diskproof.analysis.answers import Analysis, CellAnswer, CellComparison, Outcome, Verdict
from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.safety.shapes import Safety
from diskproof.analysis.safety.worst import worst_way
from diskproof.report.compose import cut_words, difference_words, limits_words, verdict_words
from diskproof.report.compose.verdicts import Compared, by_importance, has_verdict, why_no_verdict
from diskproof.report.document import Line
from diskproof.results.factor import Factor
from diskproof.results.plan import Asks, Cell, Metric
from diskproof.stats.boxes import boxes
from diskproof.stats.groups import grouped
from diskproof.wording import Range, numbers, say, us

CONDITIONS: tuple[Factor, ...] = ("workload", "clients")
"""Factors that a study varies to see the others under them. They are the question if nothing else varies."""

NOT_COMPARABLE = "no comparison is possible"

UNDECIDED: dict[Outcome, str] = {
    "inconclusive": "undecided",
    "not comparable": NOT_COMPARABLE,
}

UNITS: dict[Metric, str] = {
    "transactions_per_s": "TPS",
    "requests_per_s": "requests/s",
    "latency_mean_us": "ms a transaction",
    "seconds": "s",
}
"""What the figures of a metric are counted in, as the table of cells has it."""

MOST_SENTENCES = 4

MOST_LINES = 8
"""Comparisons of several levels that each have a line; of more, a sentence has the range."""

SIDES: tuple[Factor, ...] = ("storage", "server", "tuning", "memory", "host")
"""The first of these that a study varies has the sides: what holds each back has a line."""

MOST_SIDES = 4
"""Of more, each limit has a line."""

MOST_PLACES = 2
"""Conditions under which an outcome is said to be found; with more of them, the comparisons are counted."""

ANCHOR = "answer"


Said = Callable[[Sequence[Any]], str]
"""What is added to an outcome that verdicts, or cells of two runs, share: where, figures, times."""


def speed(analysis: Analysis) -> Iterator[str | Line]:
    """Yield how the levels compare, those that a comparison decides first; or why there is no verdict."""
    if not has_verdict(analysis):
        if analysis.safety is None:
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
        return f"up to {_sizes([max(timed, key=_saved_us)])}"
    if each and (told := _told_apart(timed)):
        return numbers.listed([f"{_sizes([one])} ({where})" for one, where in zip(timed, told, strict=True)])
    return _sizes(timed)


def _saved_us(one: Verdict) -> float:
    return -one.difference.whole_us.estimate if one.difference else 0.0


def _overall(group: Sequence[Verdict]) -> str:
    """Return the outcomes of two levels: ``disk is 34% to 45% slower than dram at safest and the same …``."""
    first = group[0]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))

    def where(some: Sequence[Verdict]) -> str:
        found = boxes([one.held for one in some], [one.held for one in group])
        few = len(found) <= MOST_PLACES
        return verdict_words.where(found) if few else f" in {len(some)} of {len(group)} comparisons"

    differing = [one for one in group if one.outcome in ("faster", "slower") and one.ratio]
    said = [
        f"{_outcome(some, baseline, first.same_within)}{where(some)}"
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
        said = f"{_decided(one)}{_both([one], cells)}{more}"
        yield f"{verdict_words.listed(one.held)}: {said}."
    for outcome, some in grouped(
        [one for one in group if one not in decided], lambda one: one.outcome
    ).items():
        where = verdict_words.where(boxes([one.held for one in some], [one.held for one in group])).strip()
        where = verdict_words.listed(some[0].held) if len(some) == 1 else where
        said = _with_bound(UNDECIDED.get(outcome, NOT_COMPARABLE), some)
        yield f"{f'{where}: ' if where else ''}{said}{_both(some, cells)}."


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


def limits_in_short(analysis: Analysis, found: Sequence[CellLimit]) -> str:
    """Return the limits of all cells in a sentence: ``The database is held back by … on disk; …``."""
    every = [_levels(analysis, one.cell) for one in found]
    groups = grouped(found, lambda one: one.limit)
    held, without = [], ""
    for limit, cells in sorted(groups.items(), key=lambda one: -len(one[1])):
        where = verdict_words.where(boxes([_levels(analysis, one.cell) for one in cells], every))
        if limit is None:
            without = f"{limits_words.NOT_ESTABLISHED}{where}"
        else:
            held.append(f"by {limits_words.bound_by(cells)}{where}")
    if not held:
        return f"What holds the database back is {limits_words.NOT_ESTABLISHED}."
    return f"The database is held back {', and '.join(held)}{f'; {without}' if without else ''}."


def limits(analysis: Analysis, found: Sequence[CellLimit]) -> Iterator[str | Line]:
    """Yield what holds each side back: ``disk: the redo log's flush (80% of a transaction).``."""
    side = next((one for one in SIDES if len({cell.cell.level(one) for cell in found}) > 1), None)
    if side is None or len({one.cell.level(side) for one in found}) > MOST_SIDES:
        yield from (f"{numbers.sentence_case(one)}." for one in _held_back(analysis, found))
        return
    by_side = grouped(found, lambda one: one.cell.level(side))
    said, is_first = {}, True
    for name, cells in by_side.items():
        said[name] = "; ".join(_held_back(analysis, cells, of_what=is_first))
        is_first = is_first and not any(one.limit for one in cells)
    for text, names in grouped(said, lambda one: said[one]).items():
        lead = numbers.listed([verdict_words.subject(side, one) for one in names])
        yield Line(f"{text}.", lead=lead, style="plain")


def _held_back(analysis: Analysis, found: Sequence[CellLimit], *, of_what: bool = True) -> Iterator[str]:
    """Yield each limit with the cells that it holds back, those without one last, by their reason.

    `of_what`: the first says what the shares are of.
    """
    every = [_levels(analysis, one.cell) for one in found]

    def where(some: Sequence[CellLimit]) -> str:
        told = boxes([_levels(analysis, one.cell) for one in some], every)
        few = len(told) <= MOST_PLACES
        return verdict_words.where(told) if few else f" in {len(some)} of {len(found)} cells"

    groups = list(grouped(found, lambda one: (one.limit, limits_words.kind(one))).values())
    groups.sort(key=len, reverse=True)
    named = [cells for cells in groups if cells[0].limit]
    open_ones = [cells for cells in groups if not cells[0].limit]
    for index, cells in enumerate(named):
        share = limits_words.evidence(cells, of_what=of_what and not index)
        yield f"{limits_words.bound_by(cells)}{where(cells)}{share}"
    if len(open_ones) == 1:
        [cells] = open_ones
        yield f"{limits_words.NOT_ESTABLISHED}{where(cells)}{limits_words.evidence(cells)}"
    elif open_ones:
        each = [f"{where(cells).strip()}, {limits_words.why_open(cells)}" for cells in open_ones]
        yield f"{limits_words.NOT_ESTABLISHED}: {'; '.join(each)}"


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
        figures = "; ".join(filter(None, [ends, _both([one], cells).removeprefix(": ")]))
        found[_setting(analysis, one)] = f"is {how}{f' ({figures})' if figures else ''}"
    return found


# ---------------------------------------------------------------- two levels


def _sentence(verdicts: Sequence[Verdict], analysis: Analysis, *, cost: bool) -> str:
    """Return the answer of two levels: ``disk is 12% to 45% slower than dram at safest; no difference …``.

    `cost`: with what a durable commit costs, if nobody has said that yet.
    """
    cells = {one.cell.id: one for one in analysis.cells}

    def detail(found: Sequence[Verdict]) -> str:
        return _figures(found, cells, cost=cost)

    first = verdicts[0]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    doubt = _doubt(verdicts, analysis) if cost else ""
    if len(verdicts) == 1 and first.outcome not in UNDECIDED:
        return f"{verdict_words.verdict(first, brief=True)}{detail(verdicts)}{_no_cost(first)}{doubt}."
    said, rest = outcomes(verdicts, baseline, first.same_within, lambda some: _where(some, verdicts), detail)
    if not said:
        return f"{verdict_words.against(first)}: {rest}{_both(verdicts, cells)}."
    return f"{level} {_verb(first)} {said}{f'; {rest}' if rest else ''}{doubt}."


def outcomes(
    found: Sequence[Compared],
    baseline: str,
    same_within: float,
    where: Said,
    detail: Said | None = None,
) -> tuple[str, str]:
    """Return the outcomes of comparisons with one baseline, and where there is none; each may be empty.

    ``12% to 45% slower than dram at safest``, ``undecided at fast (between 3.0% slower and 11% faster)``.
    """
    detail = detail or _time
    by_outcome = grouped(found, lambda one: one.outcome)
    decided = [some for outcome, some in by_outcome.items() if outcome not in UNDECIDED and some[0].ratio]
    said = [
        f"{_outcome(some, baseline, same_within)}{where(some)}{detail(some)}"
        for some in sorted(decided, key=len, reverse=True)
    ]
    rest = [
        _with_bound(f"{UNDECIDED[one]}{where(by_outcome[one])}", by_outcome[one])
        for one in UNDECIDED
        if one in by_outcome
    ]
    return numbers.listed(said) if said else "", " and ".join(rest)


def _with_bound(said: str, found: Sequence[Compared]) -> str:
    """Add how large a difference may be that is not shown: ``… (between 10% slower and 11% faster)``."""
    ends = [(one.ratio.low, one.ratio.high) for one in found if one.ratio]
    low, high = (min(one or 0 for one, _ in ends), max(one or 0 for _, one in ends)) if ends else (0, 0)
    if not low or not high:
        return said
    bound = verdict_words.between(low, high)
    return f"{said}, {bound}" if said.endswith(")") else f"{said} ({bound})"


def _outcome(found: Sequence[Compared], baseline: str, same_within: float) -> str:
    """Return an outcome that comparisons share: ``12% to 45% slower than dram``."""
    if found[0].outcome == "the same":
        return f"the same as {baseline} within {numbers.percent(same_within)}"
    ratios = [one.ratio.estimate for one in found if one.ratio]
    return f"{verdict_words.by_how_much(*ratios, where=_told_apart(found))} {baseline}"


def _told_apart(found: Sequence[Verdict] | Sequence[CellComparison]) -> list[str]:
    """Return what tells two verdicts apart, if it is one factor: ``["1 client", "8 clients"]``."""
    helds = [one.held for one in found if isinstance(one, Verdict)]
    if len(found) != 2 or len(helds) != 2:
        return []
    differing = [factor for factor, level in helds[0].items() if helds[1].get(factor) != level]
    if len(differing) != 1:
        return []
    return [verdict_words.subject(differing[0], held[differing[0]]) for held in helds]


def _where(some: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """Return under which conditions an outcome was found, or in how many comparisons."""
    of = len(verdicts)
    if of == 1:
        return verdict_words.conditions(some[0].held)
    if len(some) == of:
        every = "both" if of == 2 else f"all {of}"
        return "" if some[0].outcome in UNDECIDED else f" in {every} comparisons"
    found = boxes([one.held for one in some], [one.held for one in verdicts])
    return verdict_words.where(found) if len(found) <= MOST_PLACES else f" in {len(some)} of {of} comparisons"


def _figures(found: Sequence[Verdict], cells: Mapping[str, CellAnswer], *, cost: bool) -> str:
    """Return the figures of the largest of some differences, and what a durable commit costs in time.

    ``: 1,706 instead of 3,021 TPS with 8 clients, 2.0 ms more a transaction``.
    """
    most = by_importance(found)[0]
    sides = [cells[one].figure for one in (most.cell, most.baseline_cell) if one in cells]
    known = [one for one in sides if one is not None]
    if len(known) < len((most.cell, most.baseline_cell)):
        return _time(found)
    values = [one.scaled(1e-3) if most.metric == "latency_mean_us" else one for one in known]
    own, other = (numbers.number(one.estimate) for one in values)
    differing = {
        factor: level
        for factor, level in most.held.items()
        if any(one.held.get(factor) != level for one in found)
    }
    where = verdict_words.conditions(differing)
    time = _time(found)
    after = time
    if time.startswith(": "):  # what a durable commit costs
        after = f"; {time.removeprefix(': ')}" if cost else ""
    return f": {own} instead of {other} {UNITS[most.metric]}{where}{after}"


def _both(verdicts: Sequence[Verdict], cells: Mapping[str, CellAnswer]) -> str:
    """Return the figures of both sides of some verdicts: ``: 578 to 2,478 against 623 to 2,511 TPS``."""
    found = [one for one in verdicts if one.outcome != "not comparable"]
    if len({one.metric for one in found}) != 1:
        return ""
    sides = [_ends([cells[one.cell] for one in found]), _ends([cells[one.baseline_cell] for one in found])]
    return f": {' against '.join(sides)} {UNITS[found[0].metric]}" if all(sides) else ""


def _ends(cells: Sequence[CellAnswer]) -> str:
    """Return the least and the largest figure of some cells: ``34 to 323``; empty if none is known."""
    figures = sorted(one.figure.estimate for one in cells if one.figure)
    factor = 1e-3 if cells[0].metric == "latency_mean_us" else 1.0
    return " to ".join(dict.fromkeys(numbers.number(one * factor) for one in (*figures[:1], *figures[-1:])))


def _time(found: Sequence[Compared]) -> str:
    """Return how much time the comparisons found for a transaction, and which part is most of each."""
    sure = [one for one in found if one.difference and one.difference.whole_us.excludes(0)]
    differences = [one.difference for one in sure if one.difference]
    if not sure or len({one.whole_us.estimate > 0 for one in differences}) > 1:
        return ""
    longer = "more" if differences[0].whole_us.estimate > 0 else "less"
    spared: list[Any] = [one for one in sure if isinstance(one, Verdict) and one.flush_spared]
    if longer == "less" and spared:
        on = grouped(spared, lambda one: one.held.get("storage"))
        named = len(on) > 1 or len(spared) < len(sure)
        each = [
            f"{_sizes(some)}{f' on {storage}' if storage and named else ''}" for storage, some in on.items()
        ]
        return f": a durable commit costs about {numbers.listed(each)}{_mostly(spared)}"
    return f" (about {_sizes(sure)} {longer} a transaction{_mostly(sure)})"


def _mostly(found: Sequence[Compared]) -> str:
    """Return the part of the time that is most of each difference: ``, mostly the log flush``; or nothing."""
    mostly = {difference_words.largest(one.difference) for one in found if one.difference}
    return f", mostly {name}" if len(mostly) == 1 and (name := mostly.pop()) else ""


def _sizes(found: Sequence[Compared]) -> str:
    sizes = [abs(one.difference.whole_us.estimate) for one in found if one.difference]
    return say("{time}", time=Range(low=min(sizes), high=max(sizes), unit="us")).text


def _levels(analysis: Analysis, cell: Cell) -> dict[Factor, str]:
    return {factor: cell.level(factor) for factor in analysis.varying}
