"""Figures of an article as results, if a table has a rate or a job's seconds."""

from collections.abc import Iterator, Sequence

from diskproof.results.article import Counts, Stated
from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import FileRequests, Latency, LoadResult, Operation


def as_results(stated: Sequence[Stated], source: Source) -> list[ImportedResult]:
    """Return the results; the tests of one job are one result. A rate of bytes alone is none."""
    return [*_rates(stated, source), *_jobs(stated, source)]


def _rates(stated: Sequence[Stated], source: Source) -> Iterator[ImportedResult]:
    for one in stated:
        of_files = "requests_per_s" in one.figures
        rate = one.figures.get("requests_per_s" if of_files else "transactions_per_s")
        if one.run is not None or rate is None:
            continue
        counts = one.counts or Counts()
        load = LoadResult(
            workload=one.levels.get("workload", one.table),
            clients=one.clients,
            seconds=counts.seconds,
            transactions=counts.transactions,
            transactions_per_s=rate,
            statements=counts.total,
            reads=counts.reads,
            writes=counts.writes,
            others=counts.others,
            latency_us=_latency(one, counts),
            file_requests=FileRequests(sync_every=None, syncs=counts.others) if of_files else None,
        )
        yield _result(one.name, one.levels, load, source)


def _latency(one: Stated, counts: Counts) -> Latency | None:
    """Return the latencies; without their number they are no distribution, and left to the article."""
    mean = one.figures.get("latency_mean_ms")
    if mean is None or counts.transactions is None:
        return None
    p95 = one.figures.get("latency_p95_ms")
    return Latency(
        count=counts.transactions,
        mean=mean * 1000,
        min=_us(one.figures.get("latency_min_ms")),
        max=_us(one.figures.get("latency_max_ms")),
        percentiles={} if p95 is None else {"95": p95 * 1000},
    )


def _us(latency_ms: float | None) -> float | None:
    return None if latency_ms is None else latency_ms * 1000


def _jobs(stated: Sequence[Stated], source: Source) -> Iterator[ImportedResult]:
    jobs: dict[frozenset[tuple[Factor, str]], list[Stated]] = {}
    for one in stated:
        if one.run is None and "seconds" in one.figures:
            jobs.setdefault(frozenset(one.levels.items()), []).append(one)
    for parts in jobs.values():
        first = parts[0]
        workload = first.levels.get("workload", first.table)
        seconds = sum(one.figures["seconds"] for one in parts)
        load = LoadResult(
            workload=workload,
            clients=first.clients,
            seconds=seconds,
            transactions=len(parts),
            transactions_per_s=len(parts) / seconds,
            operations=[
                Operation(
                    test=workload,
                    name=one.part or workload,
                    clients=one.clients or 1,
                    planned=1,
                    count=1,
                    seconds=one.figures["seconds"],
                )
                for one in parts
            ],
        )
        name = first.name if len(parts) == 1 else first.name.replace(f"{first.part}, ", "", 1)
        yield _result(name, first.levels, load, source)


def _result(name: str, levels: dict[Factor, str], load: LoadResult, source: Source) -> ImportedResult:
    told = {factor: level for factor, level in levels.items() if factor != "clients"}
    return ImportedResult(source=source, name=name, levels=told, load=load)
