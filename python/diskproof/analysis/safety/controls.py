"""Controls: cells whose result the study knows beforehand: they keep, lose, or break.

A campaign that misses a loss that is certain would also miss a loss that is possible.
"""

from collections.abc import Sequence

from diskproof.analysis.safety.shapes import ControlAnswer, ControlOutcome, CutAnswer, Rarer
from diskproof.results.crash import Must
from diskproof.results.plan import Cell, Control, Cuts
from diskproof.stats.proportions import trials_to_see

RARER = (0.05, 0.01, 0.001)
"""Shares of cuts to look for, one after the other, if so far none has lost anything."""


def make_controls(plan: Cuts, answers: Sequence[CutAnswer]) -> list[ControlAnswer]:
    """Return every control of every cell with what came of it.

    A cell that must keep must do so in each of the control's ways. A cell that must lose, or break, must do
    so in one of them. It has no control if its server can only be killed: a kill leaves the page cache, and
    takes nothing from most levels.
    """
    return [
        _answer(cell, covered, control.must)
        for control in plan.controls
        for cell in plan.cells
        if (covered := [one for one in answers if one.cell.id == cell.id and control.covers(cell, one.way)])
        if control.must == "keep" or not _can_only_be_killed(plan, cell, covered)
    ]


def unasked_controls(plan: Cuts) -> list[Control]:
    """Return each control that fits no cell and way of the campaign, which may be a mistake in the study."""
    return [
        control
        for control in plan.controls
        if not any(control.covers(cell, way) for cell, way in plan.deaths)
    ]


def _can_only_be_killed(plan: Cuts, cell: Cell, answers: list[CutAnswer]) -> bool:
    return cell.storage in plan.unverified and not any(one.with_loss or one.damaged for one in answers)


def _answer(cell: Cell, answers: list[CutAnswer], must: Must) -> ControlAnswer:
    telling = sum(one.telling for one in answers)
    suffered = any(one.damaged or (must != "break" and one.with_loss) for one in answers)
    outcome: ControlOutcome = "holds"
    if must == "keep":
        tried = all(one.telling for one in answers)
        outcome = "failed" if suffered else "holds" if tried else "not tried"
    elif not suffered:
        outcome = "too weak" if telling else "not tried"
    return ControlAnswer(
        cell=cell.id,
        ways=[one.way for one in answers],
        must=must,
        outcome=outcome,
        rarer=rarer_to_see(telling) if outcome == "too weak" else None,
    )


def rarer_to_see(telling: int) -> Rarer | None:
    """Return how many more cuts would show something rarer than so many cuts could."""
    return next(
        (
            Rarer(share=rare, more_cuts=needed - telling)
            for rare in RARER
            if (needed := trials_to_see(rare)) > telling
        ),
        None,
    )
