"""Cases of the checks of any one result, another tool's above all."""

from typing import Any

from diskproof.audit import figures, files, in_force, intervals
from diskproof.audit.check import Evidence
from diskproof.audit.imported import evidence_of
from support.cases import Case
from support.imported import FAST, SAFE, make_beside, make_file_result, make_result


def result(**changes: Any) -> Evidence:
    return evidence_of(make_result(**changes))


def of_files(**changes: Any) -> Evidence:
    return evidence_of(make_file_result(**changes))


def measured_with(text: str, file: str = "safest.txt", **changes: Any) -> Evidence:
    """Return a result in a file of that name, beside these settings of its server."""
    return evidence_of(make_result(source__file=file, **changes), make_beside(text))


RESULT_CASES: tuple[Case[Evidence], ...] = (
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
        files.cached_reads,
        of_files(load__latency_us__min=2.0, load__file_requests__written_bytes=0),
        "the fastest request took 0.002 ms, but the fastest disk takes 0.008 ms or more",
        of_files(),
    ),
    Case(
        in_force.durable_commits,
        measured_with(FAST),
        "the name `safest.txt` promises durable commits, .*last second may be lost .*_commit = 2",
        measured_with(SAFE),
    ),
)
