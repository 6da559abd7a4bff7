"""From the plan of the cuts and their records to everything that they say."""

from collections.abc import Hashable, Sequence

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
from diskproof.results.trial import SEVERITIES, Finding
from diskproof.wording import together, without_figures

WORST_FIRST: tuple[Way, ...] = ("power", "stop", "kill")


def answer_safety(
    plan: Plan, cuts: Sequence[CutTrial], cells: Sequence[CellAnswer], verdicts: Sequence[Verdict]
) -> Safety | None:
    """Return what the cuts of a run say; None if its study asks for none.

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
        verdicts=make_safety_verdicts(plan, answers, speeds),
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
    alike: dict[Hashable, list[tuple[CutTrial, Finding]]] = {}
    for cut in cuts:
        for finding in cut.findings:
            key = (finding.check, finding.severity, without_figures(finding.message))
            alike.setdefault(key, []).append((cut, finding))
    merged = [
        CutFinding(
            finding=found[0][1].model_copy(update={"message": together([one.message for _, one in found])}),
            cuts=[cut.id for cut, _ in found],
            cells=list(dict.fromkeys(cut.cell for cut, _ in found)),
        )
        for found in alike.values()
    ]
    return sorted(merged, key=lambda one: SEVERITIES.index(one.finding.severity))
