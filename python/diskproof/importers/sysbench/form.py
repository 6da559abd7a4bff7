"""sysbench as a format: recognised by what only it prints, each run made into a result."""

from collections.abc import Iterator
from statistics import fmean

from diskproof.importers.base import NO_SUMMARY, Format, Found, ImportRefusedError, Text, ending
from diskproof.importers.sysbench.figures import (
    asked_of,
    clients_of,
    fatal_errors,
    intervals_of,
    judge_command,
    remarks_of,
    source_of,
    warm_up_s,
)
from diskproof.importers.sysbench.files import MIB, block_of_head, file_result, mode_of
from diskproof.importers.sysbench.oltp import oltp_result
from diskproof.importers.sysbench.output import Output, outputs
from diskproof.results.imported import ImportedResult
from diskproof.results.load import FileRequests, LoadResult

MARKS = (
    "SQL statistics:",
    "OLTP test statistics:",
    "Threads fairness:",
    "Operations performed:",
    "File operations:",
    "Latency (ms):",
    " tps: ",
    "Running the test with following options:",
    "multi-threaded system evaluation benchmark",
)


def _recognises(text: Text) -> bool:
    return any(mark in text.content for mark in MARKS)


def _read(text: Text) -> Iterator[Found]:
    if "Checkpoint report:" in text.content:
        raise ImportRefusedError(
            f"{text.file} has reports of checkpoints, which are not read: run sysbench without "
            "`--report-checkpoints`"
        )
    place, without_result = 0, None
    for run in outputs(text):
        judge_command(run)
        place += 1
        if _is_of_files(run):
            yield file_result(text, run, place)
        elif run.counts_statements and "transactions" in run.figures:
            yield oltp_result(text, run, place)
        elif run.intervals or fatal_errors(run):
            yield _without_summary(text, run, place)
        else:
            place -= 1
            without_result = without_result or (run if run.whole else None)
    if not place and without_result is not None:
        raise ImportRefusedError(_why_no_result(text, without_result))


def _without_summary(text: Text, run: Output, place: int) -> ImportedResult:
    """Return what interval lines alone say, or nothing but the error that ended a run."""
    remarks = remarks_of(run)
    of_files = "file-test" in run.head or run.test == "fileio"
    rates, latencies_us, interval_s = intervals_of(run)
    block_bytes = block_of_head(text, run) if of_files else None
    if of_files:
        rates = [rate * MIB / block_bytes for rate in rates] if block_bytes else []
    errors = fatal_errors(run)
    if rates:
        remarks.append("it has no summary of sysbench's own: its rate is the mean of its interval lines")
    if rates and not errors and run.whole and not run.said_more:
        errors = ending("sysbench", [NO_SUMMARY])
    elif rates and not errors:
        remarks.append("it was stopped early, or its script prints a report of its own")
    load, mix = ("fileio", mode_of(run)) if of_files else ("oltp", run.test)
    workload = " ".join(filter(None, (load, mix)))
    return ImportedResult(
        source=source_of(text, run, "fileio" if of_files else "OLTP"),
        name=f"sysbench {place}: {workload}",
        levels={"workload": workload},
        load=LoadResult(
            workload=load,
            mix=mix,
            clients=clients_of(run, remarks),
            seconds=run.intervals[-1].at_s if rates else None,
            transactions=None,
            transactions_per_s=fmean(rates) if rates else 0.0,
            derived=["transactions_per_s"],
            errors=errors,
            intervals_only=True,
            file_requests=FileRequests(block_bytes=block_bytes) if of_files else None,
        ),
        asked=asked_of(run),
        interval_s=interval_s,
        intervals_per_s=rates,
        intervals_latency_us=latencies_us,
        interval_percentile=run.interval_percentile if latencies_us else None,
        warm_up_s=warm_up_s(run),
        remarks=remarks,
    )


def _is_of_files(run: Output) -> bool:
    return any(name in run.figures for name in ("read ops", "reads/s", "read iops"))


def _why_no_result(text: Text, run: Output) -> str:
    """Return why a run of sysbench is no result, and what to do."""
    if run.figures:
        return (
            f"{text.file}, line {run.line}: this test of sysbench measures neither a database nor files; "
            "give the output of an OLTP or a fileio run"
        )
    complaint = f" ({run.complaints[0][:200]})" if run.complaints else ""
    return (
        f"{text.file}, line {run.line}: sysbench's output has no result{complaint}; give the output of a "
        "whole `run`, not of `prepare`"
    )


SYSBENCH = Format("sysbench 0.4 to 1.1 (OLTP and fileio)", _recognises, _read)
