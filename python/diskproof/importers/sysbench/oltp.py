"""A run of sysbench against a database, as a result."""

from diskproof.importers.base import Text
from diskproof.importers.numbers import broken
from diskproof.importers.sysbench.figures import (
    clients_of,
    fatal_errors,
    latency_of,
    remarks_of,
    result_of,
    seconds_of,
)
from diskproof.importers.sysbench.output import Output
from diskproof.results.imported import ImportedResult
from diskproof.results.load import Derived, LoadError, LoadResult

IGNORED = ("ignored errors", "deadlocks")
"""What sysbench 0.5 and later call them, and 0.4."""

VARIES = 0.2
"""So far from a whole number of statements, transactions are not all alike: a script of the user's own."""


def oltp_result(text: Text, run: Output, place: int) -> ImportedResult:
    """Return the result of one run; ImportRefusedError if its rate is missing."""
    figures, remarks = run.figures, remarks_of(run)
    transactions = _count(figures.get("transactions"))
    rate_per_s = figures.get("transactions per s")
    seconds = seconds_of(run)
    derived: list[Derived] = []
    events = _count(figures.get("total number of events"))
    if not transactions and events and seconds:
        remarks.append("it counts no transactions (without BEGIN and COMMIT), so its events are counted")
        transactions, rate_per_s = events, None
    if rate_per_s is None:
        if transactions is None or not seconds:
            raise broken(text, run.line, "sysbench's output that begins here has no transactions a second")
        rate_per_s = transactions / seconds
        derived.append("transactions_per_s")
        remarks.append(f"{rate_per_s:.4g} a second, derived: {transactions} transactions / {seconds:g} s")
    if rate := run.head.get("rate"):
        remarks.append(f"transactions were to come at {rate} a second: their latency holds their waiting")
    ignored = next((figures[label] for label in IGNORED if label in figures), None)
    reads, writes, others = (_count(figures.get(kind)) for kind in ("read", "write", "other"))
    workload = _workload(transactions, reads, writes)
    load = LoadResult(
        workload="oltp",
        mix=_mix(run),
        clients=clients_of(run, remarks),
        seconds=seconds,
        transactions=transactions,
        transactions_per_s=rate_per_s,
        derived=derived,
        statements=_count(figures.get("total")),
        reads=reads,
        writes=writes,
        others=others,
        latency_us=latency_of(run, transactions, remarks),
        errors=[*_errors(ignored), *fatal_errors(run)],
        retries=_count(ignored),
        reconnects=_count(figures.get("reconnects")),
    )
    return result_of(text, run, place, "OLTP", workload, load, remarks)


def _mix(run: Output) -> str | None:
    """Return the mix by sysbench's name: of the script, or of the test mode of older versions."""
    if run.test and run.test.startswith(("oltp_", "select_", "bulk_")):
        return run.test
    if mode := run.options.get("test-mode"):
        return mode
    older = {"simple": "simple", "mixed": "complex", "non-transactional": "nontrx", "stored procedure": "sp"}
    return older.get(run.head.get("oltp-test", ""))


def _workload(transactions: int | None, reads: int | None, writes: int | None) -> str:
    """Return what identifies this load: the statements of a transaction, which every output has.

    The script's name stands in the command, which is often not kept; two runs of one script should not be two
    loads because of that.
    """
    if not transactions or reads is None or writes is None:
        return "oltp"
    each = {"reads": round(reads / transactions), "writes": round(writes / transactions)}
    told = [f"{count} {kind if count > 1 else kind[:-1]}" for kind, count in each.items() if count]
    varies = any(abs(done / transactions - round(done / transactions)) > VARIES for done in (reads, writes))
    return f"oltp, {'about ' * varies}{' and '.join(told)} a transaction" if told else "oltp"


def _errors(ignored: float | None) -> list[LoadError]:
    if not ignored:
        return []
    message = "errors that sysbench ignored: it began the transaction again"
    return [
        LoadError(code="ignored", statement=None, message=message, transient=True, count=int(ignored)),
    ]


def _count(told: float | None) -> int | None:
    return None if told is None else int(told)
