"""What a run comes to, in one sentence; with the rows below it needs no more."""

from collections.abc import Mapping, Sequence

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.rankings import CONDITIONS
from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.analysis.safety.worst import worst_way
from diskproof.audit.run import ENOUGH_BLOCKS
from diskproof.report.compose import cut_words, dials, faults, limits_words, verdict_words
from diskproof.report.compose.names import is_given
from diskproof.results.factor import Factor
from diskproof.stats.grouping import grouped
from diskproof.wording import numbers, say, us

MOST_PARTS = 1
"""Parts of a transaction's time that are named of a side without a limit."""

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
    if analysis.safety and analysis.safety.made:
        return " ".join(filter(None, (_open(analysis), _of_cuts(analysis.safety))))
    if not has_verdict(analysis):
        return "" if analysis.trials_valid and not analysis.varying else why_no_verdict(analysis)
    if is_of_limits(analysis):
        return f"The database is held back by {_commonest(analysis)}{_proven(analysis)}."
    found = _open(analysis) or dials.answer(analysis.curves) or _largest(analysis)
    return " ".join(filter(None, (found, cost(analysis))))


def _proven(analysis: Analysis) -> str:
    """Return how many proofs came out as predicted; empty if none was made."""
    proofs = analysis.limits.proofs if analysis.limits else []
    hits = sum(one.outcome == "as predicted" for one in proofs)
    return f"; {hits} of {numbers.count(len(proofs), 'proof')} came out as predicted" if proofs else ""


def _open(analysis: Analysis) -> str:
    """Return that the speed is open, and why; empty if a comparison is decided, or none was made."""
    if not has_verdict(analysis) or _decided(analysis):
        return ""
    why = next((one.reasons[0].text for one in asked(analysis) if one.reasons), "")
    return f"The speed is open{why and ': '}{why.partition(';')[0]}."


def _decided(analysis: Analysis) -> list[Verdict]:
    return [one for one in asked(analysis) if one.outcome not in ("inconclusive", "not comparable")]


def cost(analysis: Analysis) -> str:
    """Return what a durable commit costs: ``A durable commit costs 280 µs to 1.8 ms more on disk.``.

    Empty if no level here spares its flush, or no difference was shown.
    """
    latencies_us = {one.cell.id: one.latency_mean_us for one in analysis.cells}

    def saved_us(one: Verdict) -> float:
        """Return it from the figures that stand above, so that a reader finds the same."""
        with_flush, without = latencies_us[one.baseline_cell], latencies_us[one.cell]
        return with_flush.estimate - without.estimate if with_flush and without else 0.0

    def saved(one: Verdict) -> str:
        return say("{time}", time=us(saved_us(one))).text

    spared = (one for one in asked(analysis) if one.flush_spared and one.outcome == "faster")
    found = [one for one in spared if saved_us(one) > 0]
    if not found:
        return ""
    said = []
    by_storage = grouped(found, lambda one: one.held.get("storage", ""))
    for storage, some in by_storage.items():
        on = f" on {storage}" if len(by_storage) > 1 else ""
        by_time = sorted(some, key=saved_us)
        if len(some) == 1:
            said.append(f"{saved(some[0])} more{on}")
        elif len(some) == 2 and (factor := _told_apart(some)):
            each = [f"{saved(one)} ({verdict_words.subject(factor, one.held[factor])})" for one in by_time]
            said.append(f"{' to '.join(each)} more{on}")
        else:
            said.append(f"{saved(by_time[0])} to {saved(by_time[-1])} more{on}, by condition")
    return f"A durable commit costs {numbers.listed(said)}."


def _told_apart(pair: Sequence[Verdict]) -> Factor | None:
    """Return the factor that tells two comparisons apart, if it is one."""
    first, second = (one.held for one in pair)
    differing = [factor for factor, level in first.items() if second.get(factor) != level]
    return differing[0] if len(differing) == 1 else None


def _largest(analysis: Analysis) -> str:
    """Return how the levels that differ most compare, over all conditions in which they do."""
    most = _most_apart(analysis)
    if not most:
        return f"No difference: what is decided is the same{_sureness(analysis)}."
    first = most[0]
    alike = (first.factor, first.level, first.baseline)
    every = [one.held for one in asked(analysis) if (one.factor, one.level, one.baseline) == alike]
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    ratios = [one.ratio.estimate for one in most if one.ratio]
    factor = _told_apart(most) if len(most) == 2 else None
    apart = [_with_interval(factor, one) for one in most] if factor else []
    # Two conditions stand beside their figures, lest these look like the ends of an interval.
    where = "" if apart else verdict_words.places([one.held for one in most], every, "comparisons")
    likely = "likely " if any(one.ratio.n < ENOUGH_BLOCKS for one in most if one.ratio) else ""
    by = verdict_words.by_how_much(*ratios, where=apart)
    sure = _sureness(analysis, most[0] if len(most) == 1 else None)
    return f"{numbers.sentence_case(level)} is {likely}{by} {baseline}{where}{sure}."


def _with_interval(factor: Factor, one: Verdict) -> str:
    """Return a condition with the ends of its ratio: ``8 clients: 1.5 to 5.4``."""
    ends = verdict_words.interval(one.outcome, one.ratio)
    return f"{verdict_words.subject(factor, one.held[factor])}{ends and ': '}{ends}"


def _sureness(analysis: Analysis, named: Verdict | None = None) -> str:
    """Return the interval of the only ratio that is named, and how many are decided if not all are."""
    ends = verdict_words.interval(named.outcome, named.ratio) if named else ""
    said = (
        [f"{ends}, {numbers.percent(named.ratio.confidence)} interval"]
        if named and named.ratio and ends
        else []
    )
    if len(_decided(analysis)) < (every := len(asked(analysis))):
        said.append(f"{len(_decided(analysis))} of {every} comparisons decided")
    return f" ({'; '.join(said)})" if said else ""


def _most_apart(analysis: Analysis) -> list[Verdict]:
    """Return the comparisons of the two levels that differ most; none if nothing differs."""
    decided = [one for one in asked(analysis) if one.outcome in ("faster", "slower") and one.ratio]
    # What spares a flush is said as the cost of a commit.
    groups = grouped(
        [one for one in decided if not one.flush_spared] or decided,
        lambda one: (one.factor, one.level, one.baseline, one.outcome),
    )
    return max(groups.values(), key=lambda some: max(map(_size, some)), default=[])


def _size(one: Verdict) -> float:
    return max(one.ratio.estimate, 1 / one.ratio.estimate) if one.ratio else 1.0


def _of_cuts(safety: Safety) -> str:
    """Return which levels kept every commit in the cuts, and the worst that another took.

    A kill or a stop shows nothing of power cuts, which the question is mostly about.
    """
    if safety.faults:
        return faults.answer(safety)
    worst = [one for one in worst_of_cells(safety) if one.telling]
    kept = "; ".join(
        f"{_kept(alike, worst)}{'' if way == 'power' else f'; {cut_words.UNVERIFIED[way]}'}"
        for way, alike in grouped([one for one in worst if one.is_whole], lambda one: one.way).items()
    )
    kept = kept or "No level kept every commit"
    harmed = [one for one in worst if not one.is_whole]
    if not harmed:
        return f"{kept}."
    most = worst_way(harmed)
    whole_database = f"lost the whole database in {most.gone} of {cut_words.cuts(most.telling)}"
    if most.states:
        which = cut_words.counterexample(most.states[-1])
        return f"{kept}; {cut_words.level(most.cell)} {cut_words.outcome(most)}; {which}."
    return f"{kept}; {cut_words.level(most.cell)} {whole_database if most.gone else cut_words.outcome(most)}."


def _kept(whole: Sequence[CutAnswer], worst: Sequence[CutAnswer]) -> str:
    named = numbers.listed([cut_words.level(one.cell) for one in whole])
    return f"{named if len(whole) <= MOST_KEPT else f'{len(whole)} of {len(worst)} levels'} kept every commit"


def worst_of_cells(safety: Safety) -> list[CutAnswer]:
    """Return of each cell the way of dying that took most."""
    return [worst_way(dying) for dying in grouped(safety.answers, lambda one: one.cell.id).values()]


def asked(analysis: Analysis) -> list[Verdict]:
    """Return the verdicts that the study asks for: not those on conditions, unless there are no others."""
    return [one for one in analysis.verdicts if one.factor not in CONDITIONS] or analysis.verdicts


def held_back(analysis: Analysis) -> str:
    """Return what holds each side of the comparison in the sentence back; empty if that is not known.

    ``disk: the log's flush (93%); dram: the CPUs (90%)``; if conditions differ in it, under the one in which
    the sides differ most.
    """
    found = {one.cell.id: one for one in analysis.limits.cells} if analysis.limits else {}
    if not found:
        return ""
    if not has_verdict(analysis):
        return _commonest(analysis)
    compared = _most_apart(analysis) or asked(analysis)[:1]
    alike = len({(_kind(found, one.cell), _kind(found, one.baseline_cell)) for one in compared}) == 1
    shown = compared if alike else [max(compared, key=_size)]
    first = shown[0]
    sides = {
        verdict_words.subject(first.factor, level): _of_side([found[cell] for cell in cells if cell in found])
        for level, cells in (
            (first.level, [one.cell for one in shown]),
            (first.baseline, [one.baseline_cell for one in shown]),
        )
    }
    differing = {
        factor: level
        for factor, level in first.held.items()
        if any(one.held.get(factor) != level for one in compared)
    }
    where = "" if alike else verdict_words.conditions(differing)
    if len(set(sides.values())) == 1:
        sides = {"both": next(iter(sides.values()))}
    said = "; ".join(f"{level}: {what}" for level, what in sides.items())
    before = f"{limits_words.NOT_ESTABLISHED} ("
    if all(what.startswith(before) for what in sides.values()):
        return f"{limits_words.NOT_ESTABLISHED}{where} ({said.replace(before, '').replace(')', '')})"
    return f"{where.strip()}{where and ', '}{said}"


def _kind(found: Mapping[str, CellLimit], cell: str) -> tuple[str | None, str]:
    one = found.get(cell)
    return (one.limit, limits_words.kind(one)) if one else (None, "")


def _of_side(cells: Sequence[CellLimit]) -> str:
    """Return the limit of one side with its share of the time; without a limit the largest parts of it."""
    if not cells or cells[0].limit:
        return (
            f"{limits_words.bound_by(cells)}{limits_words.evidence(cells)}" if cells else numbers.NOT_OBSERVED
        )
    parts = limits_words.main_parts(cells[0].split, MOST_PARTS, limits_words.UNEXPLAINED)
    known = f" ({parts})" if parts != numbers.NOT_OBSERVED else ""
    return f"{limits_words.NOT_ESTABLISHED}{known}"


def _commonest(analysis: Analysis) -> str:
    """Return the limit of most cells, and in which it is: ``the log's flush on disk (93% of the time)``."""
    found = analysis.limits.cells if analysis.limits else []
    every = [{factor: one.cell.level(factor) for factor in analysis.varying} for one in found]
    groups = grouped(found, lambda one: (one.limit, limits_words.kind(one) if one.limit else ""))
    cells = max(groups.values(), key=lambda some: (some[0].limit is not None, len(some)))
    held = [{factor: one.cell.level(factor) for factor in analysis.varying} for one in cells]
    where = verdict_words.places(held, every, "cells") if len(cells) < len(found) else ""
    where = f" in all {len(found)} cells" if not where and len(found) > 1 else where
    share = limits_words.evidence(cells, " of the time")
    others = sorted((some for some in groups.values() if some is not cells), key=len, reverse=True)
    if len(found) > 1 and others and not where.startswith(" on"):
        rest = [f"{limits_words.bound_by(some)} in {len(some)}" for some in others]
        share = f"{share}, by {numbers.listed(rest)}"
    if is_given(analysis) and not cells[0].limit:
        share = ": its CPUs, threads and disks were not observed"
    return f"{limits_words.bound_by(cells)}{where}{share}"
