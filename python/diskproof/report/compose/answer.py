"""What a run comes to, in one sentence, and how sure that is; with the rows below it needs no more."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.asked import (
    asked,
    decided,
    flush_costs_us,
    foremost,
    is_alike,
    on_dials,
    otherwise_measured,
    size_of,
)
from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.analysis.safety.worst import faster_than_whole, most_harmed, worst_of_cells, worst_way
from diskproof.audit.run import ENOUGH_BLOCKS
from diskproof.report.compose import cut_words, dials, faults, limits_words, verdict_words
from diskproof.report.compose.names import is_given
from diskproof.report.compose.verdict_words import conditions
from diskproof.report.intervals import confidence
from diskproof.stats.boxes import boxes
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval, over_conditions
from diskproof.wording import numbers

MOST_KEPT = 2
"""Levels that kept every commit, by name; the rows have them all."""


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
        second = "tuning level" if is_given(analysis) else "storage or tuning level"
        return f"No verdict: the study has a single cell. Add a second {second}."
    return "No verdict: no two levels of a factor could be compared."


def is_of_limits(analysis: Analysis) -> bool:
    """Report whether the study asks what holds its cells back, and the run has looked."""
    return analysis.plan.asks == "limits" and analysis.limits is not None and bool(analysis.limits.cells)


def answer(analysis: Analysis) -> str:
    """Return the answer in one sentence; with the rows below it needs no more."""
    safety = analysis.safety
    if safety and safety.made:
        faster = f" {_largest(analysis)}" if _says_speed(analysis) else ""
        return f"{_of_cuts(analysis, safety)}{faster}"
    if not has_verdict(analysis):
        return "" if analysis.trials_valid and not analysis.varying else why_no_verdict(analysis)
    if is_of_limits(analysis):
        return _of_limits(analysis)
    found = ("" if on_dials(analysis) else dials.answer(analysis.curves)) or _largest(analysis)
    return " ".join(filter(None, (found, cost(analysis))))


# ---------------------------------------------------------------- comparisons


def cost(analysis: Analysis) -> str:
    """Return what a durable commit costs: ``Waiting for the disk adds 280 µs (250 to 320 µs) to each``.

    Empty if no level here spares its flush, or no difference was shown.
    """
    found = flush_costs_us(analysis)
    if not found:
        return ""
    by_size = sorted(found, key=lambda one: one[1].estimate)
    (first, least), (last, most) = found if len(found) == 2 else (by_size[0], by_size[-1])
    if numbers.time(least.estimate) == numbers.time(most.estimate):
        where = _shared([one for one, _ in found])
        return (
            f"Waiting for the disk adds {_time(least, *(cost for _, cost in found))} to each commit{where}."
        )
    then = f"{'up to ' if found[2:] else ''}{_time(most)}{conditions(_differing(first, last))}"
    return f"Waiting for the disk adds {_time(least)} to each commit{conditions(first.held)}, {then}."


def _time(*costs_us: Interval) -> str:
    """Return a time with its interval, or that of several: ``280 µs (250 to 320 µs)``."""
    whole = over_conditions(costs_us)
    if whole.low is None or whole.high is None:
        return numbers.time(costs_us[0].estimate)
    low, high = numbers.time(whole.low), numbers.time(whole.high)
    ends = f"{low.removesuffix(high.lstrip('0123456789.'))} to {high}"
    return f"{numbers.time(costs_us[0].estimate)} ({ends})"


def _differing(first: Verdict, other: Verdict) -> verdict_words.Levels:
    """Return in which levels another comparison differs from a first one."""
    return {factor: level for factor, level in other.held.items() if first.held.get(factor) != level}


def _largest(analysis: Analysis) -> str:
    """Return how the levels that differ most compare: two comparisons each, or all of them together."""
    most = foremost(analysis)
    if not most:
        return _alike(decided(analysis))
    first, rest = most[0], otherwise_measured(analysis, most)
    every = [one.held for one in asked(analysis) if is_alike(one, first)]
    level, baseline = (verdict_words.subjects(first.factor, [one]) for one in (first.level, first.baseline))
    likely = "likely " if any(one.ratio.n < ENOUGH_BLOCKS for one in (*most, *rest) if one.ratio) else ""
    if _are_two(most):
        found = [(most[:1], conditions(first.held)), (most[1:], conditions(_differing(*most)))]
    else:
        loads = {one.held["workload"] for one in most} if rest else set()
        under = [held for held in every if not rest or held["workload"] in loads]
        where = verdict_words.places([one.held for one in most], under, "comparisons")
        found = [(most, f"{_loads(most)}{where}" if rest else where or _shared(most))]
    (some, where), *others = [*found, *([(rest, _loads(rest))] if rest else [])]
    also = "".join(f", {verdict_words.amount(*_ratios(these))}{there}" for these, there in others)
    return f"{level} is {likely}{verdict_words.by_how_much(*_ratios(some))} {baseline}{where}{also}."


def _ratios(some: Sequence[Verdict]) -> list[float]:
    return [one.estimate for one in _said_once([one.ratio for one in some if one.ratio])]


def _are_two(most: Sequence[Verdict]) -> bool:
    """Report whether these are two comparisons with different results that one level tells apart."""
    ratios = [one.ratio for one in most if one.ratio]
    return len(most) == 2 and len(_differing(*most)) == 1 and len(_said_once(ratios)) > 1


ALIKE = 1.25
"""Two ratios whose intervals overlap, and that differ by less, are said as one. A judgement."""


def _said_once(ratios: Sequence[Interval]) -> list[Interval]:
    """Return one for ratios that have one figure, or for two that are alike: their names say little."""
    by_size = sorted(ratios, key=lambda one: one.estimate)
    figures = {verdict_words.amount(one.estimate) for one in ratios}
    high, low = (by_size[0].high, by_size[-1].low) if len(ratios) == 2 else (None, None)
    overlap = high is not None and low is not None and low <= high
    overlap = overlap and by_size[-1].estimate <= ALIKE * by_size[0].estimate
    return [over_conditions(ratios)] if len(figures) == 1 or overlap else [*ratios]


def _loads(some: Sequence[Verdict]) -> str:
    """Return under which loads comparisons were made: `` for `fileio```."""
    return verdict_words.at_levels({"workload": list(dict.fromkeys(one.held["workload"] for one in some))})


def _shared(some: Sequence[Verdict]) -> str:
    """Return where all these comparisons were made, if the study has more: `` at safest``."""
    return conditions(dict(set.intersection(*(set(one.held.items()) for one in some))))


def _alike(decided: Sequence[Verdict]) -> str:
    """Return what is said if no decided comparison shows a difference."""
    if not decided:
        return "Which is faster is open."
    if len({(one.factor, one.level, one.baseline) for one in decided}) > 1:
        return "What is decided is the same."
    first = decided[0]
    level, baseline = (verdict_words.subjects(first.factor, [one]) for one in (first.level, first.baseline))
    within = numbers.whole_percent(first.same_within)
    return f"{level} is as fast as {baseline}, within {within}."


# ---------------------------------------------------------------- cuts


def _of_cuts(analysis: Analysis, safety: Safety) -> str:
    """Return which levels kept every commit in the cuts, what others gained, and the worst that one lost.

    A kill or a stop shows nothing of power cuts, which the question is mostly about.
    """
    if safety.faults:
        return faults.answer(safety)
    worst = [one for one in worst_of_cells(safety) if one.telling]
    whole = [one for one in worst if one.is_whole]
    kept = "; ".join(
        f"{_kept(alike, worst)}{'' if way == 'power' else f'; {cut_words.UNVERIFIED[way]}'}"
        for way, alike in grouped(whole, lambda one: one.way).items()
    )
    most = most_harmed(safety)
    base, faster = faster_than_whole(safety)
    gained = ""
    if base:
        ratios = _said_once([ratio for ratio, _ in faster])
        beside = [other for _, other in faster]
        named = numbers.listed([f"`{one.cell.tuning}`" for one in beside], MOST_KEPT)
        was = "was" if len(beside) == 1 else "were"
        gained = f"; {named} {was} {_gain(ratios)}"
        if len(whole) > 1:
            than = "than" if gained.endswith("faster") else "as"
            gained = f"; {named} on {base.cell.storage} {was} {_gain(ratios)} {than} `{base.cell.tuning}`"
        if most and beside == [most]:
            return f"{kept}{gained}, and {_lost(most)}."
        if not any(one.is_whole or one.gone or one.damaged for one in beside):
            longest = worst_way(beside)
            gained += f", but in the worst cut lost {cut_words.window(longest)}"
    kept = f"{kept or 'No level kept every commit'}{gained}"
    if most is None:
        return f"{kept}."
    cell = most.cell
    lying = ", which ignores flushes," if cell.storage in analysis.ignoring_flushes else ""
    if lying and most.gone and not any(one.is_whole for one in worst if one.cell.storage == cell.storage):
        often = f"in {most.with_loss} of {cut_words.cuts(most.telling)}"
        once = "once" if most.gone == 1 else f"in {most.gone}"
        gone = f"`{cell.tuning}` {often}, {once} the whole database"
        return f"{kept}. On {cell.storage}{lying} every level lost commits: {gone}."
    safe = {one.cell.tuning for one in whole if one.cell.storage != cell.storage}
    here = (one for one in worst if one.cell.storage == cell.storage and one.with_loss and not one.states)
    even = next((one for one in here if one.cell.tuning in safe), None)
    if lying and not most.gone and even:
        often = f"in {even.with_loss} of {cut_words.cuts(even.telling)}"
        return f"{kept}. On {cell.storage}{lying} even `{even.cell.tuning}` lost commits {often}."
    return f"{kept}{'.' if gained else ';'} {cut_words.level(cell)}{lying} {_lost(most)}."


def _gain(ratios: Sequence[Interval]) -> str:
    """Return how much faster levels were, a few with their intervals: ``42 (35 to 48) times as fast``."""
    ends = [verdict_words.with_interval("faster", one) for one in ratios]
    are_times = {one.estimate >= verdict_words.TIMES_FROM for one in ratios}
    if len(ratios) > MOST_KEPT or len(are_times) > 1 or not all(ends):
        return verdict_words.amount(*(one.estimate for one in ratios), each=len(ratios) <= MOST_KEPT)
    return f"{' and '.join(ends)} {'times as fast' if are_times == {True} else 'faster'}"


def _lost(most: CutAnswer) -> str:
    """Return the most that cuts took of a level, to follow its name."""
    if most.states:
        return f"{cut_words.outcome(most)}; {cut_words.counterexample(most.states[-1])}"
    return cut_words.gone(most) if most.gone else cut_words.worst(most)


def _says_speed(analysis: Analysis) -> bool:
    """Whether verdicts say more of speed than the cuts do, which have what a level gains."""
    if not (has_verdict(analysis) and decided(analysis)):
        return False
    safety, most = analysis.safety, foremost(analysis)
    gained = safety and not safety.faults and faster_than_whole(safety)[1]
    return not gained or bool(most and most[0].factor != "tuning")


def _kept(whole: Sequence[CutAnswer], worst: Sequence[CutAnswer]) -> str:
    named = numbers.listed([cut_words.level(one.cell) for one in whole])
    return f"{named if len(whole) <= MOST_KEPT else f'{len(whole)} of {len(worst)} levels'} kept every commit"


# ---------------------------------------------------------------- limits


def _of_limits(analysis: Analysis) -> str:
    """Return for how many cells the limit is known, and which it is: ``2 of 8 cases answered: …``."""
    cells = _limit_cells(analysis)
    named = [one for one in cells if one.limit]
    many = f"{len(named)} of {numbers.count(len(cells), 'case')} answered"
    said = f": the database is held back by {'; '.join(_limits(analysis, _alike_limits(analysis, named)))}"
    return f"{many}{said if named else ''}."


def held_back(analysis: Analysis) -> str:
    """Return what holds cells back, with its share of the time; empty if nothing was counted.

    ``log flushes on disk at safest (79% of time); probably the CPUs in all other cases``.
    """
    cells = _limit_cells(analysis)
    groups, unknown = _alike_limits(analysis, cells), [one for one in cells if not limits_words.held_by(one)]
    where = _places(analysis, unknown) if groups else f": {open_limits(analysis)}"
    timed = dict.fromkeys(one.cell.storage for one in cells)
    is_part = not {cell.storage for cell in analysis.plan.every_cell} <= timed.keys()
    is_whole = {cell.id for cell in analysis.plan.cells} <= {one.cell.id for one in cells}
    last = [one for one, _ in groups[-1]] if groups[1:] and is_whole and not is_part else []
    others = _are_scattered(analysis, last)
    said = _limits(analysis, groups, others=others)
    if unknown:
        said.insert(len(said) - others, f"{limits_words.NOT_ESTABLISHED}{where}")
    return f"{f'on {numbers.listed([*timed])}: ' if groups and is_part else ''}{'; '.join(said)}"


Alike = list[tuple[CellLimit, limits_words.Held]]


def _alike_limits(analysis: Analysis, some: Sequence[CellLimit]) -> list[Alike]:
    """Return limits that are alike together, in the order of the rows: those of cuts and limits are cells."""
    pairs = [] if analysis.safety or is_of_limits(analysis) else asked(analysis)
    order = [cell for one in pairs for cell in (one.cell, one.baseline_cell)]
    rows = sorted(some, key=lambda one: order.index(one.cell.id) if one.cell.id in order else len(order))
    known = [(one, held) for one in rows if (held := limits_words.held_by(one))]
    return [*grouped(known, lambda one: (one[1].limit, one[1].words)).values()]


def _limits(analysis: Analysis, groups: Sequence[Alike], *, others: bool = False) -> list[str]:
    """Return each limit with its places; the last has all `others`, if that says it in fewer words."""
    every = len(_limit_cells(analysis))
    # Two instruments confirm a limit.
    likely = [any(one.limit is None for one, _ in alike) for alike in groups]
    said: list[str] = []
    unit = " of time"
    for alike, is_likely in zip(groups, likely, strict=True):
        probably = "probably " if is_likely and not (said and all(likely)) else ""
        cells = [one for one, _ in alike]
        where = _places(analysis, cells) if len(cells) < every else ""
        if others and alike is groups[-1]:
            where = " in all other cases"
        shares = [held.share for _, held in alike if held.share and not is_likely]
        noted = f" ({limits_words.percents(min(shares), max(shares))}{unit})" if shares else ""
        said.append(f"{probably}{alike[0][1].words}{where}{noted}")
        unit = "" if shares else unit
    return said


def _limit_cells(analysis: Analysis) -> list[CellLimit]:
    return analysis.limits.cells if analysis.limits and analysis.trials_valid else []


def _places(analysis: Analysis, some: Sequence[CellLimit]) -> str:
    """Return where some of the limits are: `` on disk at safest``."""
    return verdict_words.places(_levels(analysis, some), _levels(analysis, _limit_cells(analysis)), "cases")


def _are_scattered(analysis: Analysis, some: Sequence[CellLimit]) -> bool:
    return len(boxes(_levels(analysis, some), _levels(analysis, _limit_cells(analysis)))) > 1


def _levels(analysis: Analysis, of: Sequence[CellLimit]) -> list[verdict_words.Levels]:
    return [{factor: one.cell.level(factor) for factor in analysis.varying} for one in of]


def open_limits(analysis: Analysis) -> str:
    """Return in how many cells no limit is established, if not in all, and the most frequent reason."""
    cells = _limit_cells(analysis)
    unknown = [one for one in cells if not one.limit]
    if not unknown:
        return ""
    why = limits_words.why_open(unknown)
    if is_given(analysis):
        why = "its CPUs, threads and disks were not observed"
    some = _places(analysis, unknown).strip() if len(unknown) < len(cells) else ""
    return ": ".join(filter(None, (some, why)))


# ---------------------------------------------------------------- how sure


def how_sure(analysis: Analysis) -> str:
    """Return how far the answer can be trusted; empty if there is none."""
    safety = analysis.safety
    if safety and safety.made:
        return _of_enough_cuts(analysis, safety)
    if is_of_limits(analysis):
        return _of_instruments(analysis)
    if has_verdict(analysis):
        return _of_comparisons(analysis)
    counted = [one.figure.n for one in analysis.cells if one.figure]
    return f"95% intervals, of {numbers.count(min(counted), 'trial')} each" if counted else ""


def _of_comparisons(analysis: Analysis) -> str:
    """Return the intervals, and how many comparisons are decided if that is not all."""
    every, known = asked(analysis), decided(analysis)
    if not known:
        why = next((one.reasons[0].text for one in every if one.reasons), "")
        return f"no comparison is decided{why and ': '}{why.partition(';')[0]}"
    many = f"{len(known)} of {len(every)} comparisons have an answer" if len(known) < len(every) else ""
    few = sum(one.ratio.n < ENOUGH_BLOCKS for one in known if one.ratio)
    likely = f"{f'{few} ' if every[1:] else ''}only likely: fewer than {ENOUGH_BLOCKS} blocks" if few else ""
    return "; ".join(filter(None, (_ends(analysis), many, likely)))


def _ends(analysis: Analysis) -> str:
    """Return the intervals of what the answer says, with its figures if these are several.

    ``95% intervals: 11 (7.8 to 18) and 3.4 (2.5 to 4.7) times``.
    """
    settled = decided(analysis)
    alike = len({(one.factor, one.level, one.baseline) for one in settled}) == 1
    most = foremost(analysis) or (settled if alike else [])
    ratios = [one.ratio for one in most if one.ratio]
    if not ratios:
        return ""
    by_size = sorted(most, key=size_of)
    are_two = _are_two(most)
    times = size_of(by_size[0 if are_two else -1]) >= verdict_words.TIMES_FROM
    shown = ratios if are_two else [one.ratio for one in (by_size[0], by_size[-1]) if one.ratio]
    shown = once if len(once := _said_once(ratios)) == 1 else shown
    rest = otherwise_measured(analysis, most)[:1]
    say = verdict_words.with_interval if len(shown) + len(rest) > 1 else verdict_words.interval
    ends = [say(most[0].outcome, one, times=times) for one in shown]
    if not all(ends):
        return ""
    also = "".join(f", {say(one.outcome, one.ratio)}{_loads([one])}" for one in rest)
    said = f"{' and '.join(ends)}{' times' * times}{_loads(most) if rest else ''}{also}"
    storages = {storage for one in most for storage in (one.held.get("storage", ""), one.level, one.baseline)}
    is_short = analysis.plan.scale is not None and analysis.whole_by is not None
    models = not analysis.virtual.isdisjoint(storages)
    noted = (
        f"; model disks{', short run' * is_short}: real ones may differ"
        if models
        else "; short run" * is_short
    )
    plural = "s" * (len(ends) + len(rest) > 1)
    return f"{confidence(analysis)} interval{plural}: {said}{noted}"


def _of_instruments(analysis: Analysis) -> str:
    """Return that instruments agree, and what came of the changes that were made to test it."""
    cells, proofs = (analysis.limits.cells, analysis.limits.proofs) if analysis.limits else ([], [])
    tested = [one for one in proofs if one.outcome != "open"]
    hits = sum(one.outcome == "as predicted" for one in tested)
    proven = f"{hits} of {numbers.count(len(tested), 'change')} had the predicted effect"
    if not tested:
        undecided = f"{numbers.count(len(proofs), 'test')} by a change undecided"
        proven = undecided if proofs else "no change was tested"
    agree = "two measurements agree on each answer; " if any(one.limit for one in cells) else ""
    return f"{agree}{proven}"


def _of_enough_cuts(analysis: Analysis, safety: Safety) -> str:
    """Return how many cuts there are, and how rare a loss they would miss; alarms tell of controls."""
    worst = [one for one in worst_of_cells(safety) if one.telling]
    said = []
    if states := [seen.checked for one in worst for seen in one.states]:
        said.append(f"{numbers.count(sum(states), 'state')} tried")
    elif worst:
        noun, nouns = ("try", "tries") if safety.faults else ("cut", "cuts")
        said.append(f"{numbers.count(min(one.telling for one in worst), noun)} each")
        if whole := [(one.loss_share, one) for one in worst if one.is_whole and one.loss_share]:
            share, kept = max(whole, key=lambda one: one[0].high)
            level = cut_words.level(kept.cell) if len(whole) == 1 else f"{len(whole)} levels"
            risk = f"up to {cut_words.points(share.high)} of {nouns} may lose something"
            sure = f"{numbers.percent(share.confidence)} sure"
            said[0] = f"{level}: no loss in {numbers.count(share.n, noun)}, but {risk} ({sure})"
    if _says_speed(analysis):
        said.append(_ends(analysis))
    if analysis.trials_valid < analysis.trials_run:
        said.append(f"of the trials of speed, {analysis.trials_valid} of {analysis.trials_run} are valid")
    return "; ".join(filter(None, said))
