"""Speed beside safety: the cells of the run's speed trials whose setting was cut as well."""

from collections.abc import Mapping, Sequence

from diskproof.analysis.answers import CellAnswer
from diskproof.analysis.safety.shapes import Safety, SpeedBeside
from diskproof.results.fault import NO_FAULT
from diskproof.results.plan import NO_LEVEL, Cell, Cuts, Metric
from diskproof.stats.intervals import Interval

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


def cells_of(safety: Safety) -> list[Cell]:
    """Return the cells that are cut, in the order of the plan."""
    return list({one.cell.id: one.cell for one in safety.answers}.values())


def speeds_of(safety: Safety) -> Mapping[str, Interval | None]:
    """Return how fast each cell commits: as measured if all were, else until they were cut."""
    measured = {one.id: typical(safety.speeds, one) for one in cells_of(safety)}
    if all(one and one.throughput_per_s for one in measured.values()):
        return {cell: one.throughput_per_s for cell, one in measured.items() if one}
    return {one.cell.id: one.commits_per_s for one in reversed(safety.answers)}
