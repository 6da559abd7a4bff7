"""What a run comes to, in one sentence, and how sure that is; with the rows below it needs no more."""

from collections.abc import Collection, Sequence

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
from diskproof.report.intervals import confidence
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import over_conditions
from diskproof.wording import numbers, say, us

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
        return " ".join(filter(None, (_of_cuts(safety), _largest(analysis) if _says_speed(analysis) else "")))
    if not has_verdict(analysis):
        return "" if analysis.trials_valid and not analysis.varying else why_no_verdict(analysis)
    if is_of_limits(analysis):
        return _of_limits(analysis)
    found = ("" if on_dials(analysis) else dials.answer(analysis.curves)) or _largest(analysis)
    return " ".join(filter(None, (found, cost(analysis))))


# ---------------------------------------------------------------- comparisons


def cost(analysis: Analysis) -> str:
    """Return what a durable commit costs: ``Waiting for the disk adds 280 µs to 1.8 ms to each commit.``.

    Empty if no level here spares its flush, or no difference was shown.
    """
    found = flush_costs_us(analysis)
    if not found:
        return ""
    said = [(one, say("{time}", time=us(cost_us)).text) for one, cost_us in found]
    ends = [said[0], said[-1]] if said[0][1] != said[-1][1] else said[:1]
    # What all of them share needs no words.
    shared = set.intersection(*(set(one.held.items()) for one, _ in found))
    apart = [
        {factor: level for factor, level in one.held.items() if (factor, level) not in shared}
        for one, _ in ends
    ]
    each = [
        f"{saved} ({verdict_words.listed(held)})" if held and len(ends) > 1 else saved
        for (_, saved), held in zip(ends, apart, strict=True)
    ]
    return f"Waiting for the disk adds {' to '.join(each)} to each commit."


def _apart(most: Sequence[Verdict]) -> list[str]:
    """Return in words what tells two comparisons apart; empty if they are not two, or differ in more."""
    if len(most) != 2:
        return []
    first, second = (one.held for one in most)
    differing = [factor for factor in first.keys() & second.keys() if second[factor] != first[factor]]
    each = [[verdict_words.subject(factor, one.held[factor]) for one in most] for factor in differing]
    return each[0] if len(each) == 1 else []


def _largest(analysis: Analysis) -> str:
    """Return how the levels that differ most compare."""
    most = foremost(analysis)
    if not most:
        return _alike(decided(analysis))
    first, apart = most[0], _apart(most)
    every = [one.held for one in asked(analysis) if is_alike(one, first)]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    ratios = [one.ratio.estimate for one in most if one.ratio]
    rest = otherwise_measured(analysis, most)
    likely = "likely " if any(one.ratio.n < ENOUGH_BLOCKS for one in (*most, *rest) if one.ratio) else ""
    by = verdict_words.by_how_much(*ratios, where=apart)
    where = verdict_words.places([one.held for one in most], every, "comparisons") or _shared(every)
    if not rest:
        return f"{level} is {likely}{by} {baseline}{where}."
    loads = {one.held["workload"] for one in most}
    under = [held for held in every if held["workload"] in loads]
    where = verdict_words.places([one.held for one in most], under, "comparisons")
    also = verdict_words.amount(*(one.ratio.estimate for one in rest if one.ratio))
    return f"{level} is {likely}{by} {baseline}{_loads(most)}{where}; {also}{_loads(rest)}."


def _loads(some: Sequence[Verdict]) -> str:
    """Return under which loads comparisons were made: `` for `fileio```."""
    return verdict_words.at_levels({"workload": list(dict.fromkeys(one.held["workload"] for one in some))})


def _shared(every: Sequence[verdict_words.Levels]) -> str:
    """Return where all comparisons were made, if the study has more: `` at safest``."""
    held = {factor: {one.get(factor) for one in every} for factor in every[0]}
    return verdict_words.at_levels(
        {factor: [level] for factor, levels in held.items() for level in levels if level and len(levels) == 1}
    )


def _alike(decided: Sequence[Verdict]) -> str:
    """Return what is said if no decided comparison shows a difference."""
    if not decided:
        return "Which is faster is open."
    if len({(one.factor, one.level, one.baseline) for one in decided}) > 1:
        return "What is decided is the same."
    first = decided[0]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    within = numbers.whole_percent(first.same_within)
    return f"{level} is as fast as {baseline}, within {within}."


# ---------------------------------------------------------------- cuts


def _of_cuts(safety: Safety) -> str:
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
        ratios, beside = [ratio.estimate for ratio, _ in faster], [other for _, other in faster]
        named = numbers.listed([one.cell.tuning for one in beside], MOST_KEPT)
        was = "was" if len(beside) == 1 else "were"
        gained = f"; {named} there {was} {verdict_words.amount(*ratios)}"
        if len(whole) > 1:
            than = verdict_words.by_how_much(*ratios)
            gained = f"; {named} on {base.cell.storage} {was} {than} {base.cell.tuning}"
        if most and beside == [most]:
            return f"{kept}{gained}, and {_lost(most)}."
        if not any(one.is_whole or one.gone or one.damaged for one in beside):
            gained += f", and lost {cut_words.window(worst_way(beside))}"
    kept = f"{kept or 'No level kept every commit'}{gained}"
    if most is None:
        return f"{kept}."
    return f"{kept}{'.' if gained else ';'} {cut_words.level(most.cell)} {_lost(most)}."


def _lost(most: CutAnswer) -> str:
    """Return the most that cuts took of a level, to follow its name."""
    if most.states:
        return f"{cut_words.outcome(most)}; {cut_words.counterexample(most.states[-1])}"
    if not most.gone:
        return cut_words.worst(most)
    more = most.with_loss - most.gone
    of = f"lost the whole database in {most.gone} of {cut_words.cuts(most.telling)}"
    return f"{of}, and commits in {more} more" if more else of


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
    cells = analysis.limits.cells if analysis.limits else []
    named = [one for one in cells if one.limit]
    many = f"{len(named)} of {numbers.count(len(cells), 'case')} answered"
    return f"{many}: the database is held back by {_limits(analysis, named)}." if named else f"{many}."


def held_back(analysis: Analysis) -> str:
    """Return what holds cells back, first those that wait for a disk; empty if nothing was counted.

    ``likely the log's flush on disk at safest; the CPUs on dram``.
    """
    cells = analysis.limits.cells if analysis.limits and analysis.trials_valid else []
    known = [one for one in cells if limits_words.held_by(one)]
    unknown = [one for one in cells if limits_words.held_by(one) is None]
    where = _places(analysis, unknown) if known else f": {open_limits(analysis)}"
    found = (_limits(analysis, known), f"{limits_words.NOT_ESTABLISHED}{where}" if unknown else "")
    return "; ".join(filter(None, found))


def _limits(analysis: Analysis, some: Sequence[CellLimit]) -> str:
    cells = analysis.limits.cells if analysis.limits else []
    known = [(one, held) for one in some if (held := limits_words.held_by(one))]
    said: list[str] = []
    groups = grouped(known, lambda one: one[1]).items()
    for (_, bound), alike in sorted(groups, key=lambda one: (one[0][0] == "CPU", -len(one[1]))):
        where = _places(analysis, [one for one, _ in alike]) if len(alike) < len(cells) else ""
        # Two instruments name a limit; one alone makes it likely.
        likely = "likely " if any(one.limit is None for one, _ in alike) else ""
        said.append(f"{likely}{bound}{where}")
    return "; ".join(said)


def _places(analysis: Analysis, some: Sequence[CellLimit]) -> str:
    """Return where some of the limits are: `` on disk at safest``."""

    def held(of: Sequence[CellLimit]) -> list[verdict_words.Levels]:
        return [{factor: one.cell.level(factor) for factor in analysis.varying} for one in of]

    every = analysis.limits.cells if analysis.limits else []
    return verdict_words.places(held(some), held(every), "cases")


def open_limits(analysis: Analysis) -> str:
    """Return in how many cells no limit is established, if not in all, and the most frequent reason."""
    cells = analysis.limits.cells if analysis.limits and analysis.trials_valid else []
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
    """Return how many comparisons are decided; the rows have their intervals."""
    every, known = asked(analysis), decided(analysis)
    if not known:
        why = next((one.reasons[0].text for one in every if one.reasons), "")
        return f"no comparison is decided{why and ': '}{why.partition(';')[0]}"
    number = "all" if len(known) == len(every) else f"{len(known)} of"
    many = f"{number} {len(every)} comparisons have an answer" if every[1:] else ""
    few = sum(one.ratio.n < ENOUGH_BLOCKS for one in known if one.ratio)
    likely = f"{f'{few} ' if every[1:] else ''}only likely: fewer than {ENOUGH_BLOCKS} blocks" if few else ""
    return "; ".join(filter(None, (_ends(analysis), many, likely)))


def _ends(analysis: Analysis) -> str:
    """Return the intervals of what the answer says: ``95% intervals: 2.5 to 4.7 and 7.8 to 18 times``."""
    settled = decided(analysis)
    alike = len({(one.factor, one.level, one.baseline) for one in settled}) == 1
    most = sorted(foremost(analysis) or (settled if alike else []), key=size_of)
    times = bool(most) and size_of(most[-1]) >= verdict_words.TIMES_FROM
    ratios = [one.ratio for one in most if one.ratio]
    known = [ends for one in most if (ends := verdict_words.interval(one.outcome, one.ratio, times=times))]
    if not known:
        return ""
    sides = [{one.held.get("storage", ""), one.level, one.baseline} for one in most]
    storages = set().union(*sides)
    said = f": {known[-1]}" if len(known) == 1 else f"s: {known[0]} and {known[-1]}"
    if known[1:] and len({verdict_words.amount(ratio.estimate) for ratio in ratios}) == 1:
        # The answer has one figure for all of them.
        said = f"s: within {verdict_words.interval(most[-1].outcome, over_conditions(ratios), times=times)}"
    also = "".join(
        f"; {verdict_words.interval(one.outcome, one.ratio)}{_loads([one])}"
        for one in otherwise_measured(analysis, most)[:1]
    )
    return f"{confidence(analysis)} interval{said}{' times' * times}{_on(analysis, storages)}{also}"


def _on(analysis: Analysis, storages: Collection[str]) -> str:
    """Return that one of these is a virtual disk."""
    places = analysis.machine.places if analysis.machine else []
    virtual = any(one.virtual and one.storage in storages for one in places)
    return " on virtual disks" if virtual else ""


def _of_instruments(analysis: Analysis) -> str:
    """Return that instruments agree, and what came of the changes that were made to test it."""
    cells, proofs = (analysis.limits.cells, analysis.limits.proofs) if analysis.limits else ([], [])
    tested = [one for one in proofs if one.outcome != "open"]
    hits = sum(one.outcome == "as predicted" for one in tested)
    proven = (
        f"{numbers.count(len(proofs), 'test')} by a change undecided" if proofs else "no change was tested"
    )
    proven = (
        f"{hits} of {numbers.count(len(tested), 'change')} had the predicted effect" if tested else proven
    )
    agree = "two measurements agree on each answer; " if any(one.limit for one in cells) else ""
    return f"{agree}{proven}"


def _of_enough_cuts(analysis: Analysis, safety: Safety) -> str:
    """Return how many cuts there are, and how rare a loss they would miss; alarms tell of controls."""
    worst = [one for one in worst_of_cells(safety) if one.telling]
    said = []
    if states := [seen.checked for one in worst for seen in one.states]:
        said.append(f"{numbers.count(sum(states), 'state')} tried")
    elif worst:
        noun = "try" if safety.faults else "cut"
        on = _on(analysis, {one.cell.storage for one in worst})
        said.append(f"{numbers.count(min(one.telling for one in worst), noun)} each{on}")
        if spared := [one.loss_share.high for one in worst if one.is_whole and one.loss_share]:
            said[0] += f": losses in under {cut_words.points(max(spared))} of cuts may be missed"
    if not safety.faults and (faster := faster_than_whole(safety)[1]):
        ratio = faster[-1][0]
        said.append(f"{verdict_words.amount(ratio.estimate)}: {verdict_words.interval('faster', ratio)}")
    if _says_speed(analysis):
        said.append(_ends(analysis))
    if analysis.trials_valid < analysis.trials_run:
        said.append(f"of the trials of speed, {analysis.trials_valid} of {analysis.trials_run} are valid")
    return "; ".join(filter(None, said))
