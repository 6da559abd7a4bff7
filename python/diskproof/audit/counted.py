"""Checks of imported results by the server's own counters beside them: pages read, commits flushed."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import NoReturn

from diskproof.audit.check import (
    Configuration,
    Evidence,
    NothingToCheckError,
    Said,
    Untold,
    check,
    note,
    warning,
)
from diskproof.audit.configuration import effective, is_whole
from diskproof.audit.figures import is_fixed_mix
from diskproof.audit.in_force import given_beside, without_waiting
from diskproof.families.mysql.durability import METHOD
from diskproof.families.mysql.printed import Counted, counted
from diskproof.families.values import is_set
from diskproof.results.imported import Counters
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import Quantity, say, seconds
from diskproof.wording import counted as count_of

IN_MEMORY = 0.01
"""Pages from files a transaction. Below it, memory served the reads. A judgement: one transaction in a
hundred then waited for a read."""

MOSTLY = 0.9
"""Share of the server's statements. Above it, its counters are of the run alone. A judgement."""

UNCOUNTED = 0.02
"""Share of a run's statements that the counters may lack: they are read a little earlier or later."""

BEFORE = frozenset({"before", "start", "begin"})
"""Words in the name of a file that was written before the run."""

SINCE_START = " (since the server's start, if that was read after the run)"

COUNTERS = "the server's counters (SHOW GLOBAL STATUS before and after)"

OF_THE_RUN = "counters of the run alone (SHOW GLOBAL STATUS before and after)"


@check(
    "page-reads",
    reason="If the server has nearly every page in memory, a load that only reads tests memory on any "
    "storage.",
    remedy="more rows, or a smaller buffer pool, if reading from storage is the question",
    source="MySQL Reference Manual, Server Status Variables: Innodb_buffer_pool_reads / "
    "Innodb_buffer_pool_read_requests",
)
def page_reads(evidence: Evidence) -> Iterator[Said]:
    """Find loads whose pages were in memory, by the server's own counters.

    Since its start the server read at least as much as in the run: few reads are proof, many are not.
    """
    _needs_imported(evidence)
    told = _of_the_run(evidence)
    requests = recorded(told.account.page_requests, "the pages that the server asked for")
    reads = recorded(told.account.page_reads, "the pages that the server read from files")
    transactions = evidence.load.known_transactions
    if not requests or not transactions:
        raise NothingToCheckError("no page was asked for")
    each = reads / transactions
    if each >= IN_MEMORY:
        if not _is_mostly_the_run(evidence, told):
            yield Untold(OF_THE_RUN)
        return
    memory = say(
        f"{{reads}} of {{requests}} pages{SINCE_START if told.since_start else ''} came from files, "
        f"{{each}} a "
        "transaction: the data was in memory",
        reads=reads,
        requests=requests,
        each=each,
    )
    if evidence.load.writes == 0:
        yield warning("{memory}, and nothing was written: this tests memory, not storage", memory=memory)
    else:
        yield note("{memory}; commits and page writes test the storage, reads do not", memory=memory)


@check(
    "counted-flushes",
    reason="A commit that waits for its log's flush shares it with at most one commit of each other client. "
    "With fewer flushes, the run did not have these settings.",
    remedy="check that the option file is the one that the server read (SHOW VARIABLES), and read SHOW "
    "GLOBAL STATUS right before and after the run",
    source="arithmetic: flushes >= commits / clients, as each client waits for its own; "
    "MySQL Reference Manual, Innodb_os_log_fsyncs and Innodb_data_fsyncs",
)
def counted_flushes(evidence: Evidence) -> Iterator[Said]:
    """Find fewer flushes than waiting commits can share, by the server's own counters."""
    load = evidence.load
    _needs_imported(evidence)
    if load.writes == 0:
        raise NothingToCheckError("nothing was written")
    if unwaited := without_waiting(evidence):
        yield unwaited
        return
    if _flushes_by_itself(given_beside(evidence)):
        raise NothingToCheckError("each write of the log is durable by itself, and no flush is counted")
    told = _of_the_run(evidence)
    if not is_fixed_mix(evidence) or load.known_writes < load.known_transactions:
        raise NotRecordedError("how many of its transactions wrote")
    least = load.known_transactions / load.known_clients
    of_log = told.account.log_flushes
    flushes = recorded(told.flushes if of_log is None else of_log, "the flushes that the server counted")
    if flushes < least * (1 - UNCOUNTED):
        yield warning(
            "{commits} commits of {clients} clients that each wait need {commits} / {clients} = {least} "
            "flushes at least, but the server counted {flushes} of {files}{since}: commits did not wait",
            commits=load.known_transactions,
            clients=load.known_clients,
            least=least,
            flushes=flushes,
            files="all files" if of_log is None else "the log",
            since=SINCE_START if told.since_start else "",
        )
    elif of_log is None:
        yield Untold("the flushes of the log apart from those of other files")
    elif not _is_mostly_the_run(evidence, told):
        yield Untold(OF_THE_RUN)


def _needs_imported(evidence: Evidence) -> None:
    """Raise NothingToCheckError unless another tool measured it, with a server."""
    evidence.needs_server()
    if not evidence.imported:
        raise NothingToCheckError("our own trials count that themselves: see their limits")


def _of_the_run(evidence: Evidence) -> Counted:
    """Return what was counted during the run, or more; NotRecordedError if nothing was."""
    beside = evidence.beside
    if beside and beside.misfit:
        raise NotRecordedError(beside.missing(COUNTERS))
    readings = beside.counters if beside else []
    if not readings:
        raise NotRecordedError(COUNTERS)
    told = recorded(
        counted([one.values for one in readings]),
        "the order of the server's counters (`Uptime`), of one start",
    )
    if told.since_start and _was_before(readings[0]):
        before = readings[0].source.file
        raise NotRecordedError(say("counters after the run ({file} is from before it)", file=before))
    lasted_s = recorded(told.seconds, "how long the server had counted (`Uptime`)")
    if lasted_s < evidence.load.known_seconds * (1 - UNCOUNTED):
        _not_of_the_run(readings, seconds(lasted_s), seconds(evidence.load.known_seconds))
    statements = recorded(told.statements, "how many statements the server counted (`Queries`)")
    asked = evidence.load.known_statements
    if statements < asked * (1 - UNCOUNTED):
        _not_of_the_run(readings, count_of(statements, "statement"), count_of(asked, "statement"))
    return told


def _not_of_the_run(readings: Sequence[Counters], counted: Quantity, of_run: Quantity) -> NoReturn:
    files = list(dict.fromkeys(one.source.file for one in readings))
    form = "counters of the run ({files}: {counted}, but the run had {of_run})"
    raise NotRecordedError(say(form, files=files, counted=counted, of_run=of_run))


def _is_mostly_the_run(evidence: Evidence, told: Counted) -> bool:
    return evidence.load.known_statements >= MOSTLY * (told.statements or 0)


def _was_before(reading: Counters) -> bool:
    """Tell whether the file's name says that it was written before the run."""
    return not BEFORE.isdisjoint(re.findall(r"[^\W\d_]+", PurePath(reading.source.file).name.casefold()))


def _flushes_by_itself(configuration: Configuration) -> bool:
    """Tell whether InnoDB writes its log past all caches, so that it is never flushed.

    NotRecordedError if only a part of a server's answer is given, without the flush method.
    """
    values = effective(configuration)
    if is_set(values, METHOD, "O_DSYNC") or is_set(values, "innodb_log_file_write_through", "ON"):
        return True
    if METHOD not in values and configuration.observed and not is_whole(configuration.observed):
        raise NotRecordedError(f"`{METHOD}`, which the server's answer leaves out")
    return False
