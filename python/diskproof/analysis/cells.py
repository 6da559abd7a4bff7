"""One cell over all its valid trials: its figure and latency."""

from collections.abc import Sequence

from diskproof.analysis.answers import CellAnswer
from diskproof.analysis.gather import Audited, Gathered
from diskproof.results.load import Latency
from diskproof.results.plan import Cell
from diskproof.stats.intervals import Interval, geometric_mean_interval
from diskproof.stats.quantiles import known_percentiles


def answer_cell(gathered: Gathered, cell: Cell) -> CellAnswer:
    """Return what the cell's valid trials say together."""
    valid = gathered.valid(cell)
    metric = gathered.plan.metric(cell)
    rates = [one.load.rate for one in valid if one.load.rate]
    held = all(rate.held for rate in rates)
    figures = [one.load.figure(metric) or 0.0 for one in valid] if held else []
    # One distribution of the latencies of many different operations says nothing.
    alike = [one.load for one in valid if held and (one.load.iterations or not one.load.operations)]
    latencies = [load.latency_us for load in alike if load.latency_us is not None]
    return CellAnswer(
        cell=cell,
        valid=len(valid),
        total=len(gathered.of(cell)),
        metric=metric,
        figure=_interval(figures),
        extrapolated=any(one.load.rests_on_estimates() for one in valid),
        throughput_per_s=None
        if metric in ("seconds", "requests_per_s")
        else _interval([one.load.transactions_per_s for one in valid]),
        megabytes_per_s=_interval([one.load.megabytes_per_s or 0.0 for one in valid]),
        rate_asked_per_s=rates[0].asked_per_s if rates else None,
        rate_held=held if rates else None,
        latency_mean_us=_interval([latency.mean for latency in latencies]),
        latency_us=_percentiles(latencies),
        latency_at_least=sorted(
            {name for one in latencies for name in one.percentiles if one.is_bound(name)}, key=float
        ),
        block_speeds=gathered.speeds(cell) if held else {},
        operations_run=sorted(gathered.parts(cell)),
        data=valid[0].trial.data if valid else None,
        sizes=_sizes(valid[0]) if valid else {},
        settings=valid[0].trial.settings if valid else [],
    )


def _sizes(one: Audited) -> dict[str, int]:
    """Return the sizes that distinguish a trial from the same cell at another scale, as far as recorded.

    The bytes of a database are not among them: another version of a server stores the same rows differently.
    """
    data, load = one.trial.data, one.load
    sizes: dict[str, int] = {}
    if data and data.rows is not None:
        sizes["rows"] = data.rows
    if load.file_requests:
        known = {"files": load.file_requests.files, "bytes a request": load.file_requests.block_bytes}
        sizes |= {name: count for name, count in known.items() if count is not None}
        sizes |= {"bytes of files": data.data_bytes} if data else {}
    if load.iterations:
        return {**sizes, "queries a client": load.iterations.queries_per_client}
    return sizes | {f"of `{one.key}` planned": one.planned for one in load.operations}


def _percentiles(latencies: Sequence[Latency]) -> dict[str, Interval]:
    """Return each percentile that every trial can carry; the trial is the unit, so its scatter counts."""
    if not latencies:
        return {}
    known = [set(known_percentiles(one.count, one.percentiles)) for one in latencies]
    names = [name for name in latencies[0].percentiles if all(name in one for one in known)]
    intervals = {name: _interval([one.percentiles[name] for one in latencies]) for name in names}
    return {name: interval for name, interval in intervals.items() if interval is not None}


def _interval(values: Sequence[float]) -> Interval | None:
    """Return a geometric mean; None if there is nothing to average, or a 0 that has no logarithm."""
    return geometric_mean_interval(values) if values and min(values) > 0 else None
