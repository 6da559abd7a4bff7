"""Throughput over numbers of clients: the knee, the bound, and the Universal Scalability Law."""

import math
from collections.abc import Sequence

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.shapes import CellLimit, Scaling, Sweep
from diskproof.analysis.limits.words import share
from diskproof.analysis.words import clients as in_words
from diskproof.analysis.words import digits
from diskproof.results.plan import THROUGHPUTS, Cell
from diskproof.stats.intervals import geometric_mean_interval
from diskproof.stats.scalability import fit_scalability

PEAK = 0.97
"""Within this share of the most throughput fewer clients count as having reached it."""


def answer_sweeps(gathered: Gathered, limits: Sequence[CellLimit]) -> list[Sweep]:
    """Return the sweeps of a plan: two or more numbers of clients in a closed loop."""
    by_rest: dict[tuple[object, ...], list[Cell]] = {}
    for cell in gathered.plan.cells:
        if gathered.plan.metric(cell) in THROUGHPUTS:
            rest = (cell.server, cell.storage, cell.tuning, cell.workload, cell.memory_bytes)
            by_rest.setdefault(rest, []).append(cell)
    known = {one.cell.id: one for one in limits}
    swept = [sorted(cells, key=lambda cell: cell.clients) for cells in by_rest.values()]
    return [_sweep(gathered, cells, known) for cells in swept if len({cell.clients for cell in cells}) > 1]


def _sweep(gathered: Gathered, cells: Sequence[Cell], known: dict[str, CellLimit]) -> Sweep:
    points = [(cell.clients, speed) for cell in cells for speed in gathered.speeds(cell).values()]
    means = [_mean(list(gathered.speeds(cell).values())) for cell in cells]
    fewest, most = known.get(cells[0].id), known.get(cells[-1].id)
    smallest = fewest.split.latency_us if fewest and fewest.split else None
    bound = most.bound_per_s if most else None
    scaling = _scaling(points)
    knee = bound * smallest / 1e6 if bound and smallest else None
    counts = [cell.clients for cell in cells]
    return Sweep(
        cells=[cell.id for cell in cells],
        clients=counts,
        throughput_per_s=means,
        smallest_latency_us=smallest,
        bound_per_s=bound,
        knee_clients=knee,
        scaling=scaling,
        sentence=_sentence(counts, means, _full(most, knee), scaling),
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


def _mean(speeds: Sequence[float]) -> float | None:
    return geometric_mean_interval(speeds).estimate if speeds else None


def _sentence(
    counts: Sequence[int], means: Sequence[float | None], full: str | None, scaling: Scaling | None
) -> str:
    told = [(mean, count) for count, mean in zip(counts, means, strict=True) if mean is not None]
    if len(told) < 2:
        return "fewer than two numbers of clients have valid trials."
    most, _ = max(told)
    enough = min(count for mean, count in told if mean >= PEAK * most)
    reach = "reaches" if enough == 1 else "reach"
    said = [f"{in_words(str(enough))} {reach} the most, {digits(most, 3)} a second"]
    last, at_last = told[-1]
    if last < PEAK * most:
        said.append(f"{in_words(str(at_last))} lose {share(1 - last / most)} of it")
    if full is not None:
        said.append(full)
    if scaling is not None:
        said.append(_law(counts, scaling))
    return "; ".join(said) + "."


def _full(limit: CellLimit | None, knee: float | None) -> str | None:
    """Say from where on the centre with the lowest bound is full: the knee of the two asymptotes."""
    if limit is None or knee is None:
        return None
    centre = min(
        (one for one in limit.demands if one.bound_per_s), key=lambda one: one.bound_per_s or 0.0
    ).centre
    what = {"CPU": "the CPUs", "load generator": "the load generator"}.get(centre, centre)
    return f"by its demands {what} can be full from {in_words(str(max(math.ceil(knee), 2)))} on"


def _law(counts: Sequence[int], scaling: Scaling) -> str:
    contention = scaling.contention
    ends = f" ({share(contention.low or 0.0)} to {share(contention.high or 0.0)})"
    said = f"the Universal Scalability Law sees {share(contention.estimate)}{ends} done one after the other"
    peak = scaling.peak_clients
    if peak is None:
        return f"{said} and no decline is shown"
    beyond = ", beyond those tried" if peak > max(counts) else ""
    return f"{said} and the most at {digits(peak, 2)} clients{beyond}"
