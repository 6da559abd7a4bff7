"""One trial of a plan, and what the checks find in it where some of its fields differ from a sound one's."""

from collections.abc import Iterable, Sequence
from typing import Any

from diskproof.audit.check import Evidence
from diskproof.audit.registry import audit_trial
from diskproof.results.machine import Machine
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Finding, Trial
from diskproof.wording import Message
from support.trials import (
    make_machine,
    make_plan,
    make_trial,
)

PLAN = make_plan()
MACHINE = make_machine(PLAN)


def find_cell(plan: Plan, storage: str = "disk", tuning: str = "safest", clients: int = 8) -> Cell:
    wanted = (storage, tuning, clients)
    return next(cell for cell in plan.cells if (cell.storage, cell.tuning, cell.clients) == wanted)


def trial_of(cell: Cell) -> Trial:
    """Return a sound trial of one cell of the plan."""
    return make_trial(PLAN, next(one for one in PLAN.trials if one.cell == cell.id))


def audit(
    trial_changes: dict[str, Any] | None = None,
    *,
    plan: Plan = PLAN,
    machine: Machine | None = MACHINE,
    series: Sequence[float] = (),
    rate: float | None = None,
    **where: Any,
) -> dict[str, Finding]:
    """Return the findings, by check, of one trial in which the given fields differ from a sound one's."""
    cell = find_cell(plan, **where)
    planned = next(one for one in plan.trials if one.cell == cell.id)
    trial = make_trial(plan, planned, rate, **(trial_changes or {}))
    findings = audit_trial(Evidence(trial, cell, plan, machine, series))
    return {finding.check: finding for finding in findings}


def texts(messages: Iterable[Message]) -> list[str]:
    """Return the words of messages."""
    return [one.text for one in messages]
