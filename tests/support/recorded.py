"""A recorded run from which other disks can be predicted."""

from pathlib import Path

from support.limited import MAKERS, one_cell, virtual_machine
from support.runs import write_run
from support.trials import change
from support.virtual import make_facts


def write_recorded(path: Path) -> None:
    """Write a run of one cell with eight clients, which waits for the log on a desktop's hard disk."""
    plan = one_cell(8)
    trials = [MAKERS["log flush"](plan, number) for number in range(len(plan.trials))]
    machine = virtual_machine(plan)
    facts = make_facts(name="disk", device="desktop-7200")
    places = [change(place, virtual=facts) for place in machine.places]
    write_run(path, plan, trials, change(machine, places=places))
