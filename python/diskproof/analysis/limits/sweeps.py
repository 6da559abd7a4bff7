"""Throughput over numbers of clients: the knee, the bound, and the Universal Scalability Law."""

from collections.abc import Sequence

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.demands import lowest_bound
from diskproof.analysis.limits.records import CellLimit, Scaling, Sweep
from diskproof.results.plan import THROUGHPUTS, Cell
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import geometric_mean_interval
from diskproof.stats.scalability import fit_scalability


def answer_sweeps(gathered: Gathered, limits: Sequence[CellLimit]) -> list[Sweep]:
    """Return the sweeps of a plan: two or more numbers of clients in a closed loop."""
    rates = [cell for cell in gathered.plan.cells if gathered.plan.metric(cell) in THROUGHPUTS]
    by_rest = grouped(
        rates,
        lambda cell: (cell.server, cell.storage, cell.tuning, cell.workload, cell.memory_bytes, cell.host),
    )
    known = {one.cell.id: one for one in limits}
    swept = [sorted(cells, key=lambda cell: cell.clients) for cells in by_rest.values()]
    return [_sweep(gathered, cells, known) for cells in swept if len({cell.clients for cell in cells}) > 1]


def _sweep(gathered: Gathered, cells: Sequence[Cell], known: dict[str, CellLimit]) -> Sweep:
    speeds = [list(gathered.speeds(cell).values()) for cell in cells]
    most = known.get(cells[-1].id)
    throughputs = [geometric_mean_interval(one).estimate if one else None for one in speeds]
    # Little's law for clients that never pause, so that latency and throughput are two views of one figure.
    smallest_us = cells[0].clients / throughputs[0] * 1e6 if throughputs[0] else None
    bound = lowest_bound(most.demands) if most else None
    bound_per_s = bound.bound_per_s if bound else None
    return Sweep(
        cells=[cell.id for cell in cells],
        clients=[cell.clients for cell in cells],
        throughput_per_s=throughputs,
        smallest_latency_us=smallest_us,
        bound_per_s=bound_per_s,
        bound_by=bound.centre if bound else None,
        knee_clients=bound_per_s * smallest_us / 1e6 if bound_per_s and smallest_us else None,
        scaling=_scaling([(cell.clients, one) for cell, of in zip(cells, speeds, strict=True) for one in of]),
    )


def _scaling(points: Sequence[tuple[int, float]]) -> Scaling | None:
    try:
        fit = fit_scalability([count for count, _ in points], [speed for _, speed in points])
    except ValueError:
        return None
    return Scaling(
        per_client_per_s=fit.per_client,
        contention=fit.contention,
        coherency=fit.coherency,
        peak_clients=fit.peak_clients if (fit.coherency.low or 0.0) > 0 else None,
        residual=fit.residual,
    )
