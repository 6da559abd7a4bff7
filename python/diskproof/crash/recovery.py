"""After the cut: mount, start the server again, and read all that the database holds."""

import errno
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diskproof.crash.ledger import ACCOUNTS, ENTRIES, ENTRIES_TABLE, ENTRY_KEY_COLUMNS, Ledger
from diskproof.results.cut import Recovery
from diskproof.results.findings import BINARY_LOG
from diskproof.results.trial import Finding
from diskproof.server.base import Running, ServerError, ServerFailedError, ServerTooSlowError
from diskproof.storage.filesystem import NotMountedError
from diskproof.wording import Message, as_message, say

RECOVERY_DEADLINE_S = 600.0
"""Limit for the server to come up again: on a slow disk recovery takes minutes."""

DAMAGED = {errno.EIO, errno.EUCLEAN, errno.EBADMSG, errno.EROFS}
"""What a file system reports over its own damage: ext4 and xfs call it EUCLEAN, and bad checksums EBADMSG."""


NOT_STARTED = "the server did not start: {error}"


@dataclass
class Verified:
    """What the database holds after recovery."""

    ledger: Ledger | None = None
    """None if it cannot be read any more."""
    complaints: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    binlog_only: int | None = None
    engine_only: int | None = None
    findings: list[Finding] = field(default_factory=list)
    """What could not be checked."""


@dataclass
class Recovered:
    """What came up again."""

    running: Running | None = None
    """None if no server did."""
    mount_s: float | None = None
    server_s: float | None = None
    refused: Message | None = None
    complaints: Sequence[str] = ()
    """Damage that a server reported before it gave up."""


def recover(
    mount: Callable[[], None] | None, start: Callable[[float], Running], folders: Iterable[Path]
) -> Recovered:
    """Mount what was unmounted and start the server; a failure of the database is an outcome, not an error.

    `start` gets the seconds that recovery may take; `folders` are those of the roles. Other failures are
    raised: a missing program, a full disk of our own, a time limit. A time limit counts as an outcome if the
    server has reported damage: MySQL 9 may wait forever for a page that it cannot read.
    """
    done = Recovered()
    began = time.monotonic()
    try:
        if mount is not None:
            mount()
            done.mount_s = time.monotonic() - began
            began = time.monotonic()
        done.running = start(RECOVERY_DEADLINE_S)
        done.server_s = time.monotonic() - began
    except NotMountedError as error:
        done.refused = say("a file system could not be mounted: {error}", error=str(error))
    except ServerError as error:
        done.complaints = error.complaints if isinstance(error, ServerFailedError) else ()
        if isinstance(error, ServerTooSlowError) and not done.complaints:
            raise
        done.refused = say(NOT_STARTED, error=str(error))
    except OSError as error:
        if not _is_of_damage(error, folders):
            raise
        done.refused = say(NOT_STARTED, error=str(error))
    return done


def _is_of_damage(error: OSError, folders: Iterable[Path]) -> bool:
    """Return whether the error is about a file of the database, not one of ours."""
    if error.filename is None:
        return error.errno in DAMAGED
    path = Path(os.fsdecode(error.filename))
    return any(path.is_relative_to(folder) for folder in folders)


def look(recovered: Recovered) -> tuple[Recovery, Verified]:
    """Read all that the database holds after recovery, and return the record of it."""
    found = Verified() if recovered.running is None else _verify(recovered.running)
    record = Recovery(
        mount_s=recovered.mount_s,
        server_s=recovered.server_s,
        refused=recovered.refused,
        complaints=[*recovered.complaints, *found.complaints],
        damaged_tables=found.damaged,
        binlog_only=found.binlog_only,
        engine_only=found.engine_only,
    )
    return record, found


def _verify(running: Running) -> Verified:
    found = Verified()
    try:
        found.ledger = Ledger(running.rows(ENTRIES), running.rows(ACCOUNTS))
    except ServerError as error:
        found.damaged.append(f"the ledger cannot be read: {error}")
    found.damaged += running.damage()
    found.complaints = running.complaints()
    _compare_with_binary_log(running, found)
    return found


def _compare_with_binary_log(running: Running, found: Verified) -> None:
    """Compare what a replica would get with what the tables hold; nothing if there is no binary log.

    A binary log that cannot be read leaves that open, and changes nothing about the tables.
    """
    try:
        logged = running.logged_rows(ENTRIES_TABLE, ENTRY_KEY_COLUMNS)
    except (ServerError, OSError) as error:
        found.findings.append(
            Finding(
                check=BINARY_LOG,
                severity="warning",
                message=say("the binary log was not compared with the tables: {error}", error=str(error)),
                remedy=as_message("Check that the server's program that prints its binary log works here."),
            )
        )
        return
    if logged is None or found.ledger is None:
        return
    there = found.ledger.keys
    found.binlog_only = len(logged - there)
    found.engine_only = len(there - logged)
