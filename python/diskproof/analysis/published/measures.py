"""The measures that publications print, from what the load generator recorded, in the publications' units."""

from collections.abc import Collection

from diskproof.results.load import LoadResult
from diskproof.results.plan import Cell, Plan
from diskproof.results.published import RATES, PublishedMeasure
from diskproof.stats.quantiles import known_percentiles


def can_measure(plan: Plan, cell: Cell, measure: PublishedMeasure) -> bool:
    """Tell whether a cell's kind of load has such a figure.

    A published table that names no workload is held against the cells that can have its figures: transactions
    and statements are a server's, requests and megabytes those of a load on bare files, seconds a job's.
    """
    match measure:
        case "transactions_per_s" | "statements_per_s":
            return cell.has_server
        case "requests_per_s" | "megabytes_per_s":
            return not cell.has_server
        case "seconds":
            return plan.metric(cell) == "seconds"
        case _:
            return True


def measured(
    load: LoadResult, measure: PublishedMeasure, parts: Collection[str] | None = None
) -> float | None:
    """Return a trial's figure in the unit of the measure; None if there is none above 0.

    `parts` limits a job's seconds to the operations with these keys.
    """
    match measure:
        case "transactions_per_s" | "requests_per_s":
            found: float | None = load.transactions_per_s
        case "statements_per_s":
            found = load.statements / load.seconds if load.statements is not None and load.seconds else None
        case "megabytes_per_s":
            found = load.megabytes_per_s
        case "seconds":
            found = load.figure("seconds", parts)
        case _:
            found = _latency_ms(load, measure)
    return found or None


def of_test(test: str, keys: Collection[str]) -> frozenset[str]:
    """Return the keys of the operations that belong to one test of a job."""
    return frozenset(key for key in keys if key.startswith(f"{test}/"))


def speed(load: LoadResult, measure: PublishedMeasure, parts: Collection[str] | None = None) -> float | None:
    """Return a figure that is the larger the faster: a rate, or a time turned over."""
    figure = measured(load, measure, parts)
    return figure if figure is None or measure in RATES else 1 / figure


def _latency_ms(load: LoadResult, measure: PublishedMeasure) -> float | None:
    # Of a job of many operations, one distribution of all latencies says nothing.
    if load.latency_us is None or (load.operations and not load.iterations):
        return None
    found = load.latency_us
    if measure == "latency_p95_ms":
        known = "95" in known_percentiles(found.count, found.percentiles)
        p95_us = found.exact("95") if known else None
        return p95_us / 1000 if p95_us is not None else None
    latency_us: float = getattr(found, measure.removeprefix("latency_").removesuffix("_ms"))
    return latency_us / 1000
