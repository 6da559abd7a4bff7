"""Speed beside safety: the cells of the run's speed trials whose setting was cut as well."""

from collections.abc import Sequence

from diskproof.analysis.answers import CellAnswer
from diskproof.analysis.safety.shapes import SpeedBeside
from diskproof.results.fault import NO_FAULT
from diskproof.results.plan import NO_LEVEL, Cell, Cuts, Metric

OF_TRANSACTIONS: tuple[Metric, ...] = ("transactions_per_s", "latency_mean_us")
"""What a cell is judged by that has a throughput of transactions: neither a job nor bare files have one."""


def speeds_beside(plan: Cuts, cells: Sequence[CellAnswer]) -> list[SpeedBeside]:
    """Return the throughput of every cell of a server, storage and tuning that were cut."""
    return [
        SpeedBeside(
            cell=answer.cell,
            crash_cell=crash_cell.id,
            throughput_per_s=answer.throughput_per_s,
        )
        for crash_cell in plan.cells
        for answer in cells
        if _is_of(answer, crash_cell)
        and crash_cell.fault in (NO_LEVEL, NO_FAULT)
        and answer.metric in OF_TRANSACTIONS
    ]


def _is_of(answer: CellAnswer, crash_cell: Cell) -> bool:
    cell = answer.cell
    return (cell.server, cell.storage, cell.tuning) == (
        crash_cell.server,
        crash_cell.storage,
        crash_cell.tuning,
    )


def typical(speeds: Sequence[SpeedBeside], crash_cell: Cell) -> SpeedBeside | None:
    """Return the typical speed of a cell, for a sentence; None if it was not measured.

    That of the first workload, with the clients nearest in number to those of the cuts.
    """
    own = [one for one in speeds if one.crash_cell == crash_cell.id]
    of_workload = [one for one in own if one.cell.workload == own[0].cell.workload]
    return min(of_workload, key=lambda one: abs(one.cell.clients - crash_cell.clients), default=None)
