"""From the plan of the cuts and their records to everything that they say."""

from collections import Counter
from collections.abc import Sequence

from diskproof.analysis.answers import CellAnswer
from diskproof.analysis.gather import as_one, kind_of
from diskproof.analysis.safety.controls import make_controls, unasked_controls
from diskproof.analysis.safety.count import count
from diskproof.analysis.safety.documented import beside_documentation
from diskproof.analysis.safety.faulted import faulted
from diskproof.analysis.safety.shapes import CutAnswer, CutFinding, Safety
from diskproof.analysis.safety.speed import speeds_beside
from diskproof.results.crash import Way
from diskproof.results.cut import CutTrial
from diskproof.results.plan import Cuts, Plan
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
    answers = _answers(crash, cuts)
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


def _answers(crash: Cuts, cuts: Sequence[CutTrial]) -> list[CutAnswer]:
    made = grouped(cuts, lambda cut: (cut.cell, cut.way))
    planned = Counter((one.cell, one.way) for one in crash.trials)
    return [
        count(cell, way, planned[cell.id, way], made.get((cell.id, way), [])).model_copy(
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
