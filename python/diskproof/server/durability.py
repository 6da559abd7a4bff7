"""Which settings make a commit wait until its log is flushed, and which make it last, as data."""

from collections.abc import Mapping
from typing import Literal

from diskproof.results.record import Role
from diskproof.study.part import Family

WAITS_FOR_FLUSH: dict[Family, dict[str, frozenset[str]]] = {
    "mysql": {"innodb_flush_log_at_trx_commit": frozenset({"1", "3"})},
    "postgresql": {
        "synchronous_commit": frozenset({"on", "local", "remote_write", "remote_apply"}),
        "fsync": frozenset({"on"}),
    },
    "sqlite": {"synchronous": frozenset({"full", "extra", "2", "3"})},
}
"""For each family the variables that decide, and their values with which a commit waits.

InnoDB's 3 is MariaDB's name for 1 with a further flush at prepare. PostgreSQL's values but ``off``
differ in what a standby must do; all flush here first. SQLite's ``normal`` flushes its write-ahead
log at checkpoints alone, and a database without such a log at each commit.
"""

WITHOUT_WRITE_AHEAD_LOG = frozenset({"delete", "truncate", "persist", "memory", "off"})
"""SQLite's journal modes in which a commit goes to the database file itself."""

LOG_ROLE: dict[Family, Role] = {"mysql": "redo", "postgresql": "redo", "sqlite": "data"}
"""The role whose place such a flush goes to; SQLite's write-ahead log lies beside its database."""


def commits_wait_for_flush(family: Family, observed: Mapping[str, str | None]) -> bool:
    """Tell whether a running server's settings make each commit wait; False where they do not say so."""
    if family == "sqlite" and _value(observed, "journal_mode") in WITHOUT_WRITE_AHEAD_LOG:
        return _value(observed, "synchronous") in {"normal", "1", *WAITS_FOR_FLUSH["sqlite"]["synchronous"]}
    return all(_value(observed, name) in values for name, values in WAITS_FOR_FLUSH[family].items())


def no_commit_waits(family: Family, observed: Mapping[str, str | None]) -> bool:
    """Tell whether a running server's settings let no commit wait; False where not all of them are known."""
    if any(observed.get(name) is None for name in WAITS_FOR_FLUSH[family]):
        return False
    if family == "mysql" and not _without_binary_log(observed) and _value(observed, "sync_binlog") != "0":
        return False
    return not commits_wait_for_flush(family, observed)


Awaited = Literal["log", "binary log", "nothing"]
"""The flush that commits wait for: the log's own, the binary log's alone, or none."""


def awaited_flush(family: Family, observed: Mapping[str, str | None]) -> Awaited | None:
    """Return which flush a server's commits wait for; None where its settings do not tell."""
    if commits_wait_for_flush(family, observed):
        return "log"
    if no_commit_waits(family, observed):
        return "nothing"
    if any(observed.get(name) is None for name in (*WAITS_FOR_FLUSH[family], "log_bin", "sync_binlog")):
        return None
    return "binary log"


def relaxed(family: Family, observed: Mapping[str, str | None]) -> dict[str, str]:
    """Return the variables with which no commit of a server waits for a flush, all else as it is.

    Each log is still written, and flushed about once a second, at checkpoints or, where a rollback journal
    leaves SQLite no other way, never.
    """
    if family == "sqlite":
        journals = _value(observed, "journal_mode") in WITHOUT_WRITE_AHEAD_LOG
        return {"synchronous": "off" if journals else "normal"}
    if family == "postgresql":
        return {"synchronous_commit": "off"}
    binlog = {} if _without_binary_log(observed) else {"sync_binlog": "0"}
    return {"innodb_flush_log_at_trx_commit": "2", **binlog}


def _value(observed: Mapping[str, str | None], name: str) -> str:
    return (observed.get(name) or "").casefold()


NEEDED: dict[Family, dict[str, frozenset[str]]] = {
    "mysql": {
        **WAITS_FOR_FLUSH["mysql"],
        "sync_binlog": frozenset({"1"}),
        "innodb_doublewrite": frozenset({"on", "1", "detect_and_recover"}),
    },
    "postgresql": {**WAITS_FOR_FLUSH["postgresql"], "full_page_writes": frozenset({"on"})},
    "sqlite": {
        **WAITS_FOR_FLUSH["sqlite"],
        "journal_mode": frozenset({"wal", "delete", "truncate", "persist"}),
    },
}
"""For each family the values without which a power cut may take acknowledged commits, or the database.

Where there is a binary log, recovery asks it which prepared transactions were committed, so it must be
flushed at each commit too. A page that was half written is put right from the doublewrite buffer, or from
its whole image in the WAL; without those the commits on it are lost with it. SQLite's journal must lie on
the disk for a transaction that was half written to be taken back.
"""

UNFLUSHED = {"nosync", "littlesync", "o_direct_no_fsync"}
"""InnoDB's flush methods that leave data files to the operating system, or the last of them to the disk's
volatile cache; at a checkpoint the log is let go. O_DIRECT_NO_FSYNC is safe since MySQL 8.0.14 where data and
log share a device, whose flush for the log takes the data along: neither is known from the settings."""


def roles_needed(family: Family, observed: Mapping[str, str | None]) -> tuple[Role, ...]:
    """Return the roles that a commit rests on; a binary log that is not known to be off is one of them."""
    needed: tuple[Role, ...] = tuple(dict.fromkeys(("data", LOG_ROLE[family])))
    if family == "mysql" and not _without_binary_log(observed):
        needed += ("binlog",)
    return needed


def _without_binary_log(observed: Mapping[str, str | None]) -> bool:
    return _value(observed, "log_bin") in {"off", "0"}


def _may_undo_its_last_commit(observed: Mapping[str, str | None]) -> bool:
    """Tell whether SQLite commits by removing its journal and leaves it to time when the removal lasts.

    A journal that comes back takes the transaction back. ``extra`` flushes the folder; where the journal is
    truncated or overwritten instead, ``full`` flushes that (https://sqlite.org/pragma.html#pragma_synchronous).
    """
    return _value(observed, "journal_mode") == "delete" and _value(observed, "synchronous") in {"full", "2"}


def at_risk(family: Family, observed: Mapping[str, str | None]) -> dict[str, str]:
    """Return the variables of a running server that let a power cut take commits, with their values.

    One that was not read back counts as such: what is not known to hold is not promised.
    """
    found = {}
    for name, values in NEEDED[family].items():
        value = observed.get(name)
        if name == "sync_binlog" and _without_binary_log(observed):
            continue
        if (value or "").casefold() not in values:
            found[name] = "not known" if value is None else value
    if family == "sqlite" and _may_undo_its_last_commit(observed):
        found["synchronous"] = str(observed["synchronous"])
    if family == "mysql" and _value(observed, "innodb_flush_method") in UNFLUSHED:
        found["innodb_flush_method"] = str(observed["innodb_flush_method"])
    return found
