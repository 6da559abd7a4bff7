"""Cases of the checks of any one result, another tool's above all."""

from typing import Any

from diskproof.audit import asked, commits, device, figures, intervals, pgbench
from diskproof.audit.check import Evidence
from diskproof.audit.imported import evidence_of
from diskproof.results.load import Contradiction, Iterations
from support import files as bare
from support.cases import Case
from support.imported import FAST, SAFE, make_beside, make_file_result, make_result
from support.trials import make_machine, make_places


def result(**changes: Any) -> Evidence:
    return evidence_of(make_result(**changes))


def of_files(**changes: Any) -> Evidence:
    return evidence_of(make_file_result(**changes))


def measured_with(text: str, file: str = "safest.txt", **changes: Any) -> Evidence:
    """Return a result in a file of that name, beside these settings of its server."""
    return evidence_of(make_result(source__file=file, **changes), make_beside(text))


def of_pgbench(clients: int) -> Evidence:
    """Return pgbench's TPC-B over 40 branches."""
    asked = {"scaling factor": "40", "number of clients": str(clients)}
    mix = "TPC-B (sort of)"
    return result(source__format="pgbench", asked=asked, load__mix=mix, load__clients=clients)


def of_hammerdb(orders_a_minute: float, seconds: float = 300.0, warehouses: int = 1) -> Evidence:
    """Return HammerDB's new orders on so many warehouses."""
    return result(
        source__format="HammerDB",
        asked={"warehouses": str(warehouses)},
        load__transactions_per_s=orders_a_minute / 60,
        load__seconds=seconds,
    )


def copy(seconds: float, **asked: str) -> Evidence:
    """Return what dd prints of 10 MiB written to a file, beside its command."""
    blocks = 160
    told = make_file_result(
        source__format="dd",
        asked={"of": "/mnt/x", **asked},
        load__transactions=blocks,
        load__transactions_per_s=blocks / seconds,
        load__seconds=seconds,
        load__file_requests__one_pass=True,
        load__file_requests__read_bytes=None,
        load__file_requests__written_bytes=blocks * 65536,
    )
    return evidence_of(told)


def job(mean_s: float, min_s: float, max_s: float) -> Evidence:
    """Return what mysqlslap prints of ten iterations."""
    told = Iterations(count=10, mean_s=mean_s, min_s=min_s, max_s=max_s, queries_per_client=100)
    return result(load__iterations=told)


def synced(syncs: int) -> Evidence:
    """Return half a minute of four threads on one file of a spinning disk, with so many syncs."""
    places = make_places("disk", rotational=True)
    load = bare.made_load(file_requests__syncs=syncs, file_requests__files=1)
    trial = bare.made_trial(load, places=places)
    return Evidence(trial, bare.CELL, bare.PLAN, make_machine(bare.BASE, places=places))


RESULT_CASES: tuple[Case[Evidence], ...] = (
    Case(
        asked.command_output,
        fails=result(load__contradictions=[Contradiction(option="clients", asked="64", shown="32")]),
        says="asks for clients 64, but the output shows 32",
        passes=result(),
    ),
    Case(
        asked.named_test,
        fails=of_files(load__mix="rndwr", load__reads=120_000, load__writes=0),
        says="the test `rndwr` wrote nothing: 120,000 reads were made",
        passes=of_files(load__mix="rndrw", load__reads=72_000, load__writes=48_000),
    ),
    Case(
        figures.rate_arithmetic,
        result(load__transactions_per_s=250.0),
        r"69,000 transactions in 300 s are 230/s, but the output says 250/s: \+8.7%",
        result(),
    ),
    Case(
        figures.statement_arithmetic,
        result(load__reads=69_000 * 10),
        r"690,000 reads, 276,000 writes and 138,000 others are 1,104,000 statements, but the output says "
        "1,380,000",
        result(),
    ),
    Case(
        figures.latency_order,
        result(load__latency_us__max=50_000.0),
        r"the p95 \(69.57 ms\) is above the maximum \(50 ms\)",
        result(),
    ),
    Case(
        figures.mean_bounds,
        result(load__latency_us__percentiles={"95": 20_000.0}),
        r"at most 0.95 x 20 ms \+ 0.05 x 310 ms = 34.5 ms, but the output says 43.48 ms",
        result(),
    ),
    Case(
        figures.iterations,
        job(0.9, 0.3, 0.8),
        "the average is 0.9 s, but the iterations took 0.3 to 0.8 s",
        job(0.5, 0.45, 0.6),
    ),
    Case(
        intervals.interval_sum,
        result(intervals_per_s=[260.0] * 30),
        r"30 intervals of 10 s have a mean of 260/s, but the summary says 230/s: \+13.0%",
        result(),
    ),
    Case(
        intervals.warm_up,
        result(warm_up_s=None, load__seconds=15.0),
        "15 s were measured, and no warm-up is recorded",
        result(),
    ),
    Case(
        intervals.stalls,
        result(intervals_per_s=[460.0, 0.0] * 15),
        "in 15 of 30 intervals of 10 s nothing completed, at a mean of 230/s",
        result(),
    ),
    Case(
        device.cached_reads,
        of_files(load__latency_us__min=2.0, load__file_requests__written_bytes=0),
        "the fastest request took 0.002 ms, but the fastest disk takes 0.008 ms or more",
        of_files(),
    ),
    Case(
        device.synced_writes,
        synced(60_000),
        "500 syncs a second and thread, .* at most 250",
        synced(12_000),
    ),
    Case(
        device.buffered_copy,
        copy(0.03, **{"if": "/dev/zero"}),
        "10.*MiB were written to the page cache: the time ends before the disk has them",
        copy(4.0, **{"if": "/dev/urandom", "conv": "fsync"}),
    ),
    Case(
        commits.durable_commits,
        measured_with(FAST),
        "the name `safest.txt` promises durable commits, .*last second may be lost .*_commit = 2",
        measured_with(SAFE),
    ),
    Case(
        pgbench.pgbench_scale,
        of_pgbench(100),
        "update 40 rows of pgbench_branches: at most 40 of them can be between that update",
        of_pgbench(40),
    ),
)
