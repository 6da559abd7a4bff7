"""From the plan of the cuts and their records to everything that they say."""

import re
from collections.abc import Sequence

from diskproof.analysis.answers import CellAnswer, Verdict
from diskproof.analysis.safety.controls import make_controls, unasked_controls
from diskproof.analysis.safety.count import count
from diskproof.analysis.safety.documented import beside_documentation
from diskproof.analysis.safety.shapes import CutAnswer, CutFinding, Safety
from diskproof.analysis.safety.speed import speeds_beside
from diskproof.analysis.safety.verdicts import make_safety_verdicts
from diskproof.results.crash_plan import CrashPlan, Way
from diskproof.results.cut import CutTrial
from diskproof.results.plan import Plan
from diskproof.results.trial import Severity

WORST_FIRST: tuple[Way, ...] = ("power", "stop", "kill")

SEVERITIES: tuple[Severity, ...] = ("invalid", "warning", "note")


def answer_safety(
    plan: Plan, cuts: Sequence[CutTrial], cells: Sequence[CellAnswer], verdicts: Sequence[Verdict]
) -> Safety | None:
    """Return what the cuts of a run say; None where its study asks for none.

    `cells` and `verdicts` are those of the speed trials. A cut that was not planned is left aside.
    """
    crash = plan.crash
    if crash is None:
        return None
    answers = _answers(crash, cuts)
    speeds = speeds_beside(crash, cells, verdicts)
    return Safety(
        made=sum(one.made for one in answers),
        planned=len(crash.trials),
        telling=sum(one.telling for one in answers),
        answers=answers,
        controls=make_controls(crash, answers),
        unasked=unasked_controls(crash),
        documented=beside_documentation(crash, answers),
        verdicts=make_safety_verdicts(plan, answers, speeds, verdicts),
        speeds=speeds,
        findings=_findings(cuts),
        keep=crash.keep,
        unreadable=crash.unreadable,
    )


def _answers(crash: CrashPlan, cuts: Sequence[CutTrial]) -> list[CutAnswer]:
    by_pair: dict[tuple[str, Way], list[CutTrial]] = {}
    for cut in cuts:
        by_pair.setdefault((cut.cell, cut.way), []).append(cut)
    planned: dict[tuple[str, Way], int] = {}
    for one in crash.trials:
        planned[one.cell, one.way] = planned.get((one.cell, one.way), 0) + 1
    return [
        count(cell, way, planned.get((cell.id, way), 0), by_pair.get((cell.id, way), []))
        for way in WORST_FIRST
        for cell in crash.cells
        if way in cell.ways
    ]


def _findings(cuts: Sequence[CutTrial]) -> list[CutFinding]:
    """Return what was found while cutting, the gravest first; what differs in its figures alone is one."""
    merged: dict[tuple[str, str, str], CutFinding] = {}
    for cut in cuts:
        for finding in cut.findings:
            key = (finding.check, finding.severity, re.sub(r"[\d.,]+", "#", finding.message))
            before = merged.get(key)
            merged[key] = CutFinding(
                finding=before.finding if before else finding,
                cuts=[*(before.cuts if before else []), cut.id],
                cells=list(dict.fromkeys([*(before.cells if before else []), cut.cell])),
            )
    return sorted(merged.values(), key=lambda one: SEVERITIES.index(one.finding.severity))
