"""Made-up runs over many machines."""

from collections.abc import Sequence
from typing import Any

from diskproof.results.machine import Machine
from diskproof.results.plan import Plan, PlannedTrial
from support.trials import change, make_machine


def comparing(plan: Plan, hosts: Sequence[str] = ("a", "b")) -> Plan:
    """Return a plan with each of its cells on each host, in every block."""
    cells = [change(cell, id=f"{cell.id}/{host}", host=host) for host in hosts for cell in plan.cells]
    trials = [
        PlannedTrial(
            id=f"b{block:02}-t{position:02}", block=block, position=position, cell=cell.id, host=cell.host
        )
        for block in plan.blocks()
        for position, cell in enumerate(cells, start=1)
    ]
    return change(plan, cells=cells, trials=trials)


def sharing(plan: Plan, hosts: Sequence[str] = ("a", "b")) -> Plan:
    """Return a plan with its blocks on the hosts in turn."""
    trials = [change(one, host=hosts[(one.block - 1) % len(hosts)]) for one in plan.trials]
    return change(plan, trials=trials)


def make_machines(plan: Plan, **changes: dict[str, Any]) -> Machine:
    """Return the machines of a plan's hosts as a run folder has them, the first one's facts on top."""
    hosts = {host: make_machine(plan, host=host, **changes.get(host, {})) for host in plan.hosts}
    return change(hosts[plan.hosts[0]], others=hosts)
