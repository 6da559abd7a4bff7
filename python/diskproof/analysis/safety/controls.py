"""Controls: cells of which it is known beforehand that they keep, that they lose, or that they break.

A campaign that sees no loss where there must be one would see none where there may be one.
"""

from collections.abc import Sequence
from typing import Literal

from diskproof.analysis.safety import words
from diskproof.analysis.safety.shapes import ControlAnswer, ControlOutcome, CutAnswer
from diskproof.analysis.words import listed, percent
from diskproof.results.crash_plan import CrashCell, CrashPlan, Must
from diskproof.stats.proportions import trials_to_see

RARER = (0.05, 0.01, 0.001)
"""Shares of cuts to look for, one after the other, where so far none has lost anything."""

Suffering = Literal["lose", "break"]

SUFFERS: dict[Suffering, tuple[str, str, str]] = {
    "lose": ("loses something", "lose something to", "lost nothing"),
    "break": ("breaks", "be damaged by", "never was"),
}
"""How it is said that a cell does what it must, that it must, and that it did not."""

MORE_FREQUENT: dict[Suffering, str] = {
    "lose": "more `clients` or a later `cut_after_s`",
    "break": '`keep = "subset"`, a cache that holds much and pages that are written all the time',
}
"""What makes it likelier to be seen in a cut."""


def make_controls(plan: CrashPlan, answers: Sequence[CutAnswer]) -> list[ControlAnswer]:
    """Return every control of every cell with what came of it.

    A cell that must keep must do so in each of the control's ways; one that must lose, or break, in one of
    them, unless its server can only be killed, which leaves the page cache and takes nothing from most
    levels.
    """
    return [
        _must_keep(cell, covered) if control.must == "keep" else _must_suffer(cell, covered, control.must)
        for control in plan.controls
        for cell in plan.cells
        if (covered := [one for one in answers if one.cell.id == cell.id and control.covers(cell, one.way)])
        if control.must == "keep" or not _can_only_be_killed(cell, covered)
    ]


def unasked_controls(plan: CrashPlan) -> list[str]:
    """Say of each control that no cell of the campaign dies as it asks, which may be a slip of the pen."""
    return [
        f"{listed(control.tunings, 3)} on {listed(control.storages, 3)} must {control.must} to "
        f"{listed([words.CAUSES[way] for way in control.ways])}, and no cell dies so"
        for control in plan.controls
        if not any(control.covers(cell, way) for cell in plan.cells for way in cell.ways)
    ]


def _can_only_be_killed(cell: CrashCell, answers: list[CutAnswer]) -> bool:
    return cell.unverified is not None and not any(one.with_loss or one.damaged for one in answers)


def _must_keep(cell: CrashCell, answers: list[CutAnswer]) -> ControlAnswer:
    broken = [one for one in answers if one.with_loss or one.damaged]
    telling = [one for one in answers if one.telling]
    outcome: ControlOutcome = "failed" if broken else "holds" if len(telling) == len(answers) else "not tried"
    if broken:
        said = f"{cell.id} must keep everything and {_told(broken)}"
    elif outcome == "holds":
        said = f"{cell.id} keeps everything, as it must: it {_told(telling)}"
    else:
        silent = [words.CAUSES[one.way] for one in answers if not one.telling]
        said = f"{cell.id} must keep everything, and no cut tells whether it does after {listed(silent)}"
    return _answer(cell, answers, "keep", outcome, said)


def _must_suffer(cell: CrashCell, answers: list[CutAnswer], must: Suffering) -> ControlAnswer:
    does, verb, did_not = SUFFERS[must]
    suffering = [one for one in answers if one.damaged or (must == "lose" and one.with_loss)]
    if suffering:
        return _answer(cell, answers, must, "holds", f"{cell.id} {does}, as it must: it {_told(suffering)}")
    telling, causes = sum(one.telling for one in answers), listed([words.CAUSES[one.way] for one in answers])
    if not telling:
        said = f"{cell.id} must {verb} {causes}, and no cut tells whether it does"
        return _answer(cell, answers, must, "not tried", said)
    said = (
        f"the campaign is too weak: {cell.id} must {verb} {causes} and {did_not} in "
        f"{words.cuts(telling)}; {_how_to_see_it(must, answers)}"
    )
    return _answer(cell, answers, must, "too weak", said)


def _how_to_see_it(must: Suffering, answers: list[CutAnswer]) -> str:
    more = more_cuts(sum(one.telling for one in answers), must)
    if must == "break" and not any(one.torn_writes for one in answers):
        return f"no write was torn in any of them; {more}"
    return more


def more_cuts(telling: int, must: Suffering = "lose") -> str:
    """Say how many more cuts would show what is rarer than the campaign could have seen."""
    for rare in RARER:
        if (needed := trials_to_see(rare)) > telling:
            return (
                f"{words.cuts(needed - telling)} more would show one that {percent(rare)} of cuts have "
                f"(95%), and {MORE_FREQUENT[must]} make it more frequent"
            )
    return "more cuts will hardly show any: see whether the level relaxes what it is to relax"


def _told(answers: list[CutAnswer]) -> str:
    return listed([f"{words.outcome(one)} to {words.CAUSES[one.way]}" for one in answers])


def _answer(
    cell: CrashCell, answers: list[CutAnswer], must: Must, outcome: ControlOutcome, said: str
) -> ControlAnswer:
    return ControlAnswer(
        cell=cell.id, ways=[one.way for one in answers], must=must, outcome=outcome, sentence=said
    )
