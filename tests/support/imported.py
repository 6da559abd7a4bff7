"""Results of other tools, as their output tells them: little, and nothing besides."""

import math
from typing import Any

from diskproof.results.imported import Beside, ImportedResult, Settings, Source
from diskproof.results.load import FileRequests, Latency, LoadResult
from support.trials import change


def make_result(**changes: Any) -> ImportedResult:
    """Return what sysbench 1.0 prints of five minutes by ten clients, with a line each ten seconds."""
    transactions, seconds, clients = 69_000, 300.0, 10
    mean_us = clients * seconds / transactions * 1e6
    load = LoadResult(
        workload="oltp",
        clients=clients,
        seconds=seconds,
        transactions=transactions,
        transactions_per_s=transactions / seconds,
        statements=transactions * 20,
        reads=transactions * 14,
        writes=transactions * 4,
        others=transactions * 2,
        latency_us=Latency(
            count=transactions,
            mean=mean_us,
            min=8_000.0,
            max=310_000.0,
            percentiles={"95": 1.6 * mean_us},
        ),
        statement_types=[],
        errors=[],
        failed_transactions=0,
        retries=0,
        reconnects=0,
        client=None,
    )
    result = ImportedResult(
        source=Source(file="old.txt", format="sysbench 1.0 OLTP", tool="sysbench 1.0.20"),
        name="10 clients",
        load=load,
        interval_s=10.0,
        intervals_per_s=[230.0 * (1 + 0.03 * math.sin(step * 2.4)) for step in range(30)],
        intervals_latency_us=[70_000.0] * 30,
        interval_percentile="95",
        warm_up_s=60.0,
    )
    return change(result, **changes)


def make_file_result(**changes: Any) -> ImportedResult:
    """Return what sysbench prints of five minutes of random requests for files, past the page cache."""
    requests, seconds, threads = 120_000, 300.0, 8
    mean_us = threads * seconds / requests * 1e6
    load = change(
        make_result().load,
        workload="fileio",
        mix="rndrw",
        clients=threads,
        transactions=requests,
        transactions_per_s=requests / seconds,
        statements=requests,
        reads=72_000,
        writes=48_000,
        others=0,
        latency_us=Latency(
            count=requests, mean=mean_us, min=90.0, max=200_000.0, percentiles={"95": 2 * mean_us}
        ),
        file_requests=FileRequests(
            files=128,
            block_bytes=16384,
            direct=True,
            one_pass=False,
            read_bytes=72_000 * 16384,
            written_bytes=48_000 * 16384,
            syncs=0,
        ),
    )
    source = Source(file="io.txt", format="sysbench 1.0 fileio", tool="sysbench 1.0.20")
    result = make_result(source=source, name="rndrw", load=load, intervals_per_s=[], interval_s=None)
    return change(result, **changes)


def make_option_file(text: str, file: str = "my.cnf", *, observed: bool = False) -> Settings:
    """Return settings of ``name = value`` between semicolons; MySQL 8.0.36 where a server answered them."""
    values: dict[str, str | None] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = (word.strip() for word in part.partition("="))
        values[name] = value if equals else None
    return Settings(
        source=Source(file=file, format="SHOW VARIABLES" if observed else "my.cnf"),
        observed=observed,
        values=values,
        version="8.0.36" if observed else None,
    )


SAFE = "innodb_flush_log_at_trx_commit=1; sync_binlog=1; log_bin=ON; innodb_doublewrite=ON"
FAST = "innodb_flush_log_at_trx_commit=2; sync_binlog=0; log_bin=ON; innodb_doublewrite=ON"


def make_beside(text: str = SAFE) -> Beside:
    """Return an option file with these settings that is of a result's server."""
    return Beside(asked=make_option_file(text))
