"""Controls: cells whose result the study knows beforehand: they keep, lose, or break.

A campaign that misses a loss that is certain would also miss a loss that is possible.
"""

from collections.abc import Sequence
from typing import Literal

from diskproof.analysis.safety.shapes import ControlAnswer, ControlOutcome, CutAnswer, Rarer
from diskproof.results.crash import Must
from diskproof.results.plan import Cell, Control, Cuts
from diskproof.stats.proportions import trials_to_see

RARER = (0.05, 0.01, 0.001)
"""Shares of cuts to look for, one after the other, if so far none has lost anything."""

Suffering = Literal["lose", "break"]


def make_controls(plan: Cuts, answers: Sequence[CutAnswer]) -> list[ControlAnswer]:
    """Return every control of every cell with what came of it.

    A cell that must keep must do so in each of the control's ways. A cell that must lose, or break, must do
    so in one of them. It has no control if its server can only be killed: a kill leaves the page cache, and
    takes nothing from most levels.
    """
    return [
        _must_keep(cell, covered) if control.must == "keep" else _must_suffer(cell, covered, control.must)
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


def _must_keep(cell: Cell, answers: list[CutAnswer]) -> ControlAnswer:
    outcome: ControlOutcome = "holds" if all(one.telling for one in answers) else "not tried"
    if any(one.with_loss or one.damaged for one in answers):
        outcome = "failed"
    return _answer(cell, answers, "keep", outcome)


def _must_suffer(cell: Cell, answers: list[CutAnswer], must: Suffering) -> ControlAnswer:
    if any(suffers(one, must) for one in answers):
        return _answer(cell, answers, must, "holds")
    telling = sum(one.telling for one in answers)
    if not telling:
        return _answer(cell, answers, must, "not tried")
    return _answer(cell, answers, must, "too weak", rarer_to_see(telling))


def suffers(answer: CutAnswer, must: Suffering) -> bool:
    """Tell whether cuts did what a control says that they must."""
    return bool(answer.damaged or (must == "lose" and answer.with_loss))


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


def _answer(
    cell: Cell,
    answers: list[CutAnswer],
    must: Must,
    outcome: ControlOutcome,
    rarer: Rarer | None = None,
) -> ControlAnswer:
    return ControlAnswer(
        cell=cell.id, ways=[one.way for one in answers], must=must, outcome=outcome, rarer=rarer
    )
