"""sysbench as a format: recognised by what only it prints, each run made into a result."""

from collections.abc import Iterator

from diskproof.importers.base import Format, Found, ImportRefusedError, Text
from diskproof.importers.sysbench.figures import without_another_command
from diskproof.importers.sysbench.files import file_result
from diskproof.importers.sysbench.oltp import oltp_result
from diskproof.importers.sysbench.output import Output, outputs

MARKS = (
    "SQL statistics:",
    "OLTP test statistics:",
    "Threads fairness:",
    "Operations performed:",
    "File operations:",
    "Latency (ms):",
    " tps: ",
    "multi-threaded system evaluation benchmark",
)


def _recognises(text: Text) -> bool:
    return any(mark in text.content for mark in MARKS)


def _read(text: Text) -> Iterator[Found]:
    place, unfinished = 0, None
    for run in outputs(text):
        without_another_command(run)
        if _is_of_files(run):
            place += 1
            yield file_result(text, run, place)
        elif run.counts_statements and "transactions" in run.figures:
            place += 1
            yield oltp_result(text, run, place)
        elif unfinished is None and (run.intervals or run.whole):
            unfinished = run
    if not place and unfinished is not None:
        raise ImportRefusedError(_why_no_result(text, unfinished))


def _is_of_files(run: Output) -> bool:
    return any(name in run.figures for name in ("read ops", "reads/s", "read iops"))


def _why_no_result(text: Text, run: Output) -> str:
    """Return why a run of sysbench is no result, and what to do."""
    if run.intervals:
        told = f"has {len(run.intervals)} interval lines and no summary: it was stopped early"
        return f"{text.file}, line {run.line}: sysbench's output {told}; give the output of a whole run"
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
