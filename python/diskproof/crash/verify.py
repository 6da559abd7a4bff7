"""What there is after recovery: the ledger, the server's own checks, its log, its binary log."""

from dataclasses import dataclass, field

from diskproof.crash.ledger import ACCOUNTS, ENTRIES, ENTRIES_TABLE, ENTRY_KEY_COLUMNS, Ledger
from diskproof.results.trial import Finding
from diskproof.server.base import Running, ServerError


@dataclass
class Verified:
    """What was found."""

    ledger: Ledger | None = None
    """None where it cannot be read any more."""
    complaints: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    binlog_only: int | None = None
    engine_only: int | None = None
    findings: list[Finding] = field(default_factory=list)
    """What could not be found out."""


def verify(running: Running) -> Verified:
    """Ask a server that came up again for all that it has."""
    found = Verified()
    try:
        found.ledger = Ledger(running.rows(ENTRIES), running.rows(ACCOUNTS))
    except ServerError as error:
        found.damaged.append(f"the ledger cannot be read: {error}")
    found.damaged += running.damage()
    found.complaints = running.complaints()
    _hold_to_the_binary_log(running, found)
    return found


def _hold_to_the_binary_log(running: Running, found: Verified) -> None:
    """Compare what a replica would get with what the tables hold; nothing where there is no binary log.

    One that cannot be read leaves that open, and takes nothing from what the tables have shown.
    """
    try:
        logged = running.logged_rows(ENTRIES_TABLE, ENTRY_KEY_COLUMNS)
    except (ServerError, OSError) as error:
        found.findings.append(
            Finding(
                check="binary log",
                severity="warning",
                message=f"the binary log was not compared with the tables: {error}",
                remedy="see whether the program beside the server that prints its binary log works here",
            )
        )
        return
    if logged is None or found.ledger is None:
        return
    there = found.ledger.keys
    found.binlog_only = len(logged - there)
    found.engine_only = len(there - logged)
