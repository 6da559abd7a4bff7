"""sysbench as a format: recognised by what only it prints, each run made into a result."""

from collections.abc import Iterator
from statistics import fmean

from diskproof.importers.base import NO_SUMMARY, Format, Found, ImportRefusedError, Text, ending
from diskproof.importers.sysbench.figures import (
    clients_of,
    fatal_errors,
    intervals_of,
    judge_command,
    remarks_of,
    result_of,
)
from diskproof.importers.sysbench.files import block_of_head, file_result, mode_of
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
        if any(name in run.figures for name in ("read ops", "reads/s", "read iops")):
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
    files = FileRequests(block_bytes=block_of_head(text, run)) if of_files else None
    rates, *_ = intervals_of(run, files)
    errors = fatal_errors(run)
    if rates:
        remarks.append("it has no summary of sysbench's own: its rate is the mean of its interval lines")
    if rates and not errors and run.whole and not run.said_more:
        errors = ending("sysbench", [NO_SUMMARY])
    elif rates and not errors:
        remarks.append("it was stopped early, or its script prints a report of its own")
    kind, mix = ("fileio", mode_of(run)) if of_files else ("oltp", run.test)
    workload = " ".join(filter(None, (kind, mix)))
    load = LoadResult(
        workload=kind,
        mix=mix,
        clients=clients_of(run, remarks),
        seconds=run.intervals[-1].at_s if rates else None,
        transactions=None,
        transactions_per_s=fmean(rates) if rates else 0.0,
        derived=["transactions_per_s"],
        errors=errors,
        intervals_only=True,
        file_requests=files,
    )
    test = "fileio" if of_files else "OLTP"
    return result_of(text, run, place, test, workload, load, remarks)


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
