"""What a server's own counters, given beside an imported result, say of it: pages read, commits flushed."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from diskproof.audit.check import Apart, Configuration, Evidence, Problem, Said, Untold, check
from diskproof.audit.configuration import effective, is_set, is_whole
from diskproof.audit.durability import METHOD
from diskproof.audit.figures import is_fixed_mix
from diskproof.audit.in_force import given_beside, without_waiting
from diskproof.results.imported import Counters
from diskproof.results.record import format_figure, recorded
from diskproof.server.mysql.printed import Counted, counted

IN_MEMORY = 0.01
"""Pages from files a transaction below which reads were memory's. A judgement: one transaction in a hundred
then waited for a read."""

MOSTLY = 0.9
"""Share of what the server was asked from which its counters are those of the run alone. A judgement."""

UNCOUNTED = 0.02
"""Share of a run's statements that may be missing in the counters: readings are taken a little apart."""

BEFORE = frozenset({"before", "start", "begin"})
"""Words in the name of a file that was written before a run."""

SINCE_START = " (since the server's start, if that was read after the run)"

OWN = Apart("our own trials keep an account of that: their limits tell")

COUNTERS = "the server's counters (SHOW GLOBAL STATUS before and after)"


@check(
    "page-reads",
    reason="Where the server had nearly every page in memory, a load that only reads tests memory, whatever "
    "the storage is.",
    remedy="more rows, or a smaller buffer pool, if reading from storage is the question",
    source="MySQL Reference Manual, Server Status Variables: Innodb_buffer_pool_reads of "
    "Innodb_buffer_pool_read_requests",
)
def page_reads(evidence: Evidence) -> Iterator[Said]:
    """Find loads whose pages were in memory, by the server's own counters.

    Since the server's start it read at least as much as in the run: few are proof, many are not.
    """
    if not evidence.cell.has_server or not evidence.imported:
        yield OWN if evidence.cell.has_server else Apart("no server")
        return
    told = _of_the_run(evidence)
    requests = recorded(told.account.page_requests, "the pages that the server asked for")
    reads = recorded(told.account.page_reads, "the pages that the server read from files")
    transactions = evidence.load.known_transactions
    if not requests or not transactions:
        yield Apart("no page was asked for")
        return
    each = reads / transactions
    if each >= IN_MEMORY:
        if not _is_mostly_the_run(evidence, told):
            yield Untold("counters of the run alone (SHOW GLOBAL STATUS before and after)")
        return
    since = SINCE_START if told.since_start else ""
    said = (
        f"of {requests:,} pages that were asked for{since} {reads:,} came from files, "
        f"{format_figure(each)} a transaction: the data was in memory"
    )
    if evidence.load.writes == 0:
        yield Problem("warning", f"{said}, and nothing was written: this tests memory, not storage")
    else:
        yield Problem("note", f"{said}: storage is tested by commits and page writes, not by reads")


@check(
    "counted-flushes",
    reason="A commit that waits for its log's flush shares it with no more commits than there are other "
    "clients: fewer flushes than that, and the settings were not those that the run had.",
    remedy="see that the option file is the one that the server read (SHOW VARIABLES), and take SHOW GLOBAL "
    "STATUS right before and after the run",
    source="arithmetic: flushes >= commits / clients, as each client waits for its own; "
    "MySQL Reference Manual, Innodb_os_log_fsyncs and Innodb_data_fsyncs",
)
def counted_flushes(evidence: Evidence) -> Iterator[Said]:
    """Find fewer flushes than commits that wait for them can have shared, by the server's own counters."""
    load = evidence.load
    if not evidence.cell.has_server or not evidence.imported:
        yield OWN if evidence.cell.has_server else Apart("no server")
        return
    if load.writes == 0:
        yield Apart("nothing was written")
        return
    if unwaited := without_waiting(evidence):
        yield unwaited
        return
    if _flushes_by_itself(given_beside(evidence)):
        yield Apart("each write of the log is flushed by itself, and no flush is counted")
        return
    told = _of_the_run(evidence)
    if not is_fixed_mix(evidence) or load.known_writes < load.known_transactions:
        yield Untold("how many of its transactions wrote")
        return
    least = load.known_transactions / load.known_clients
    of_log = told.account.log_flushes
    flushes = recorded(told.flushes if of_log is None else of_log, "the flushes that the server counted")
    if flushes < least * (1 - UNCOUNTED):
        which = "of all files" if of_log is None else "of the log"
        since = SINCE_START if told.since_start else ""
        yield Problem(
            "warning",
            f"{load.known_transactions:,} commits of {load.known_clients:,} clients that each wait need "
            f"{load.known_transactions:,} / {load.known_clients:,} = {least:,.0f} flushes at least, and the "
            f"server counted {flushes:,} {which}{since}: they did not wait",
        )
    elif of_log is None:
        yield Untold("the flushes of the log apart from those of other files")
    elif not _is_mostly_the_run(evidence, told):
        yield Untold("counters of the run alone (SHOW GLOBAL STATUS before and after)")


def _of_the_run(evidence: Evidence) -> Counted:
    """Return what was counted while the result was measured, or more; NotRecordedError where nothing was."""
    beside = evidence.beside
    if beside is None or beside.why_not:
        recorded(None, evidence.untold_settings.replace("the server's settings", COUNTERS))
    readings = beside.counters if beside else []
    if not readings:
        recorded(None, COUNTERS)
    told = recorded(
        counted([one.values for one in readings]),
        "the order of the server's counters (`Uptime`), of one start",
    )
    if told.since_start and _was_before(readings[0]):
        recorded(None, f"counters after the run ({readings[0].source.file} is of before)")
    lasted, ran = (
        recorded(told.seconds, "how long the server had counted (`Uptime`)"),
        evidence.load.known_seconds,
    )
    if lasted < ran * (1 - UNCOUNTED):
        said = f"{_files(readings)}: {lasted:,.0f} s, and the run had {ran:,.0f}"
        recorded(None, f"counters of the run ({said})")
    statements = recorded(told.statements, "how many statements the server counted (`Queries`)")
    asked = evidence.load.known_statements
    if statements < asked * (1 - UNCOUNTED):
        said = f"{_files(readings)}: {statements:,} statements, and the run had {asked:,}"
        recorded(None, f"counters of the run ({said})")
    return told


def _is_mostly_the_run(evidence: Evidence, told: Counted) -> bool:
    return evidence.load.known_statements >= MOSTLY * (told.statements or 0)


def _files(readings: Sequence[Counters]) -> str:
    return ", ".join(dict.fromkeys(one.source.file for one in readings))


def _was_before(reading: Counters) -> bool:
    """Tell whether the name of its file says that it was taken before the run."""
    return not BEFORE.isdisjoint(re.findall(r"[^\W\d_]+", PurePath(reading.source.file).name.casefold()))


def _flushes_by_itself(configuration: Configuration) -> bool:
    """Tell whether InnoDB's log is written past all caches, so that no flush of it is made.

    NotRecordedError where only a part of a server's answer is given, and the method nowhere.
    """
    values = effective(configuration)
    if is_set(values, METHOD, "O_DSYNC") or is_set(values, "innodb_log_file_write_through", "ON"):
        return True
    if METHOD not in values and configuration.observed and not is_whole(configuration.observed):
        recorded(None, f"`{METHOD}`, which the server's answer leaves out")
    return False
