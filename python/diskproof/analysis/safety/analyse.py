"""From the plan of the cuts and their records to everything that they say."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from diskproof.analysis.answers import CellAnswer
from diskproof.analysis.gather import as_one, kind_of
from diskproof.analysis.safety.controls import make_controls, unasked_controls
from diskproof.analysis.safety.count import count, spread, why_silent
from diskproof.analysis.safety.documented import beside_documentation
from diskproof.analysis.safety.shapes import CutAnswer, CutFinding, Faulted, Safety
from diskproof.analysis.safety.speed import speeds_beside
from diskproof.results.crash import Way
from diskproof.results.cut import CutTrial
from diskproof.results.fault import Trouble
from diskproof.results.plan import Cell, Cuts, Plan
from diskproof.results.trial import SEVERITIES
from diskproof.stats.grouping import grouped

WORST_FIRST: tuple[Way, ...] = ("power", "stop", "kill", "restart")


def answer_safety(plan: Plan, cuts: Sequence[CutTrial], cells: Sequence[CellAnswer]) -> Safety | None:
    """Return what the cuts of a run say; None if its study asks for none.

    `cells` are those of the speed trials. A cut that was not planned is left aside.
    """
    crash = plan.crash
    if crash is None:
        return None
    answers = _answers(crash, cuts, plan.dilation)
    return Safety(
        made=sum(one.made for one in answers),
        planned=len(crash.trials),
        telling=sum(one.telling for one in answers),
        answers=answers,
        controls=make_controls(crash, answers),
        unasked=unasked_controls(crash),
        documented=beside_documentation(crash, answers),
        speeds=speeds_beside(crash, cells),
        findings=_findings(cuts),
        keep=crash.keep,
        faults=crash.faults,
        unverified=crash.unverified,
    )


def _answers(crash: Cuts, cuts: Sequence[CutTrial], dilation: int) -> list[CutAnswer]:
    made = grouped(cuts, lambda cut: (cut.cell, cut.way))
    planned = Counter((one.cell, one.way) for one in crash.trials)
    return [
        count(cell, way, planned[cell.id, way], made.get((cell.id, way), []), dilation).model_copy(
            update={"faulted": faulted(crash, cell, made.get((cell.id, way), []))}
        )
        for worst in WORST_FIRST
        for cell, way in crash.deaths
        if way == worst
    ]


def _findings(cuts: Sequence[CutTrial]) -> list[CutFinding]:
    """Return what was found while cutting, the gravest first; what differs in its figures alone is one."""
    found = [(cut, finding) for cut in cuts for finding in cut.findings]
    merged = [
        CutFinding(
            finding=as_one([finding for _, finding in of_kind]),
            cuts=[cut.id for cut, _ in of_kind],
            cells=list(dict.fromkeys(cut.cell for cut, _ in of_kind)),
        )
        for of_kind in grouped(found, lambda one: kind_of(one[1])).values()
    ]
    return sorted(merged, key=lambda one: SEVERITIES.index(one.finding.severity))


ENDED_S = 1.0
"""A server that has acknowledged nothing for so long before the death has ended to serve, or hangs."""


def faulted(plan: Cuts, cell: Cell, cuts: Sequence[CutTrial]) -> Faulted | None:
    """Return what the telling tries of a cell met; None if the study has no faults, or no try tells."""
    telling = [cut for cut in cuts if cut.finished and why_silent(cut) is None]
    met = [cut.trouble for cut in telling if cut.trouble]
    silent = spread([one.silent_s for one in met])
    if not plan.faults or silent is None:
        return None
    hits = [one.hits for one in met if one.hits is not None]
    own = plan.faults.get(cell.fault)
    after_s = own.after_s if own else min(one.after_s for one in plan.faults.values())
    bin_s = max(one.bin_s for one in met)
    return Faulted(
        hit=sum(map(bool, hits)) if hits else None,
        unnoticed=sum(cut.is_unnoticed for cut in telling),
        told=sum(bool(one.errors) for one in met),
        logged=sum(map(_is_logged, telling)),
        errors=dict(sum((Counter(one.errors) for one in met), Counter()).most_common()),
        stopped=sum(one.stopped or one.gave_up for one in met),
        read_only=sum(one.read_only for one in met),
        ended_serving=sum(one.serves_again_s is None and one.silent_s >= ENDED_S for one in met),
        silent_s=silent,
        commits_per_s=fmean(_rate_since(one, after_s) for one in met),
        bin_s=bin_s,
        course=_course(met, bin_s),
    )


def _is_logged(cut: CutTrial) -> bool:
    after = cut.recovery and (cut.recovery.complaints or cut.recovery.damaged_tables)
    return bool(after or (cut.trouble and cut.trouble.complaints))


def _rate_since(one: Trouble, after_s: float) -> float:
    first = int(after_s / one.bin_s)
    seconds = one.lasted_s - first * one.bin_s
    return sum(one.course[first:]) / seconds if seconds > 0 else 0.0


def _course(met: Sequence[Trouble], bin_s: float) -> list[float]:
    """Return commits a second in bins of one length, the mean over those that lasted through each."""
    binned: list[list[float]] = []
    for one in met:
        own: Counter[int] = Counter()
        for number, commits in enumerate(one.course):
            own[int((number + 0.5) * one.bin_s / bin_s)] += commits
        for number in range(int(one.lasted_s / bin_s)):
            binned += [[]] if number == len(binned) else []
            binned[number].append(own[number] / bin_s)
    return [fmean(rates) for rates in binned]
