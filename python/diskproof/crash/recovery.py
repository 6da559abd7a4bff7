"""After the cut: mount, start the server again, and read all that the database holds."""

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diskproof.crash.loads import LEDGER, Books, Held
from diskproof.results.cut import LedgerOutcome, Recovery
from diskproof.results.findings import BINARY_LOG
from diskproof.results.trial import Finding
from diskproof.server.base import Running, ServerError, ServerFailedError, ServerTooSlowError
from diskproof.storage.filesystem import NotMountedError
from diskproof.system.dilation import REAL, TrialTime
from diskproof.wording import Message, as_message, say

RECOVERY_DEADLINE_S = 600.0
"""Limit for the server to come up again: on a slow disk recovery takes minutes."""

DAMAGED = {errno.EIO, errno.EUCLEAN, errno.EBADMSG, errno.EROFS}
"""What a file system reports over its own damage: ext4 and xfs call it EUCLEAN, and bad checksums EBADMSG."""


NOT_STARTED = "the server did not start: {error}"


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


@dataclass(frozen=True)
class Verified:
    """What the database holds after recovery."""

    recovery: Recovery
    ledger: Held | None = None
    """None if it cannot be read any more."""
    findings: Sequence[Finding] = ()
    """What could not be checked."""


def recover(
    mount: Callable[[], None] | None,
    start: Callable[[float], Running],
    folders: Iterable[Path],
    own_time: TrialTime = REAL,
) -> Recovered:
    """Mount what was unmounted and start the server; a failure of the database is an outcome, not an error.

    `start` gets the seconds that recovery may take; `folders` are those of the roles. Other failures are
    raised: a missing program, a full disk of our own, a time limit. A time limit counts as an outcome if the
    server has reported damage: MySQL 9 may wait forever for a page that it cannot read.
    """
    done = Recovered()
    began = own_time.now_s()
    try:
        if mount is not None:
            mount()
            done.mount_s = own_time.now_s() - began
            began = own_time.now_s()
        done.running = start(RECOVERY_DEADLINE_S)
        done.server_s = own_time.now_s() - began
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


def look(recovered: Recovered, books: Books = LEDGER) -> Verified:
    """Read all that the database holds after recovery."""
    recovery = Recovery(
        mount_s=recovered.mount_s,
        server_s=recovered.server_s,
        refused=recovered.refused,
        complaints=list(recovered.complaints),
    )
    running = recovered.running
    if running is None:
        return Verified(recovery)
    ledger: Held | None = None
    unreadable = []
    try:
        ledger = books.read(running)
    except ServerError as error:
        unreadable.append(f"the ledger cannot be read: {error}")
    found: dict[str, object] = {
        "damaged_tables": [*unreadable, *running.damage()],
        "complaints": [*recovered.complaints, *running.complaints()],
    }
    logged, findings = _logged(running, books)
    if logged is not None and ledger is not None:
        # What a replica would get, and what the tables hold.
        there = ledger.there.keys()
        found |= {"binlog_only": len(logged - there), "engine_only": len(there - logged)}
    return Verified(recovery.model_copy(update=found), ledger, findings)


def does_harm(verified: Verified, outcome: LedgerOutcome | None) -> bool:
    """Tell whether something is lost or damaged."""
    recovery = verified.recovery
    return recovery.tells_of_damage or outcome is None or bool(outcome.lost) or outcome.is_broken


def _logged(running: Running, books: Books) -> tuple[set[tuple[int, ...]] | None, list[Finding]]:
    """Return the transactions in the binary log; None if there is no such log, or it cannot be read.

    That it cannot be read changes nothing about the tables.
    """
    try:
        return running.logged_rows(books.table, books.key_columns), []
    except (ServerError, OSError) as error:
        finding = Finding(
            check=BINARY_LOG,
            severity="warning",
            message=say("the binary log was not compared with the tables: {error}", error=str(error)),
            remedy=as_message("Check that the server's program that prints its binary log works here."),
        )
        return None, [finding]
