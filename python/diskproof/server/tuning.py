"""The tuning levels of every server family, as data: what each variable is set to, and why.

safest: every acknowledged commit survives a power cut on an honest disk, and so does the binary log; but
for torn pages on MySQL from 8.0.20 on, see `innodb_doublewrite`.
fast: an operating-system crash or a power cut may lose the last moments; nothing is ever inconsistent.
unsafe: such a crash may leave a database that cannot be used.

The meaning follows the tuning levels of the Juju charm for MySQL (2015). What a level really loses
differs between servers, as the reasons say: label a result by the measured loss, not by the name.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diskproof.server.base import ServerError
from diskproof.study.model import Level
from diskproof.study.part import Family


@dataclass(frozen=True)
class Tuned:
    """One server variable at the three levels; None leaves it to the common configuration."""

    name: str
    safest: str | None
    fast: str | None
    unsafe: str | None
    reason: str

    def at(self, level: Level) -> str | None:
        """Return the value at one level."""
        return {"safest": self.safest, "fast": self.fast, "unsafe": self.unsafe}[level]


TUNING: dict[Family, tuple[Tuned, ...]] = {
    "mysql": (
        Tuned(
            "innodb_flush_log_at_trx_commit",
            safest="1",
            fast="2",
            unsafe="0",
            reason="1 flushes the redo log to the disk at each commit. 2 writes it at each commit and "
            "flushes about once a second: a killed server loses nothing, a power cut about a second. "
            "0 also writes only once a second: a killed server loses about a second too.",
        ),
        Tuned(
            "log_bin",
            safest="ON",
            fast="ON",
            unsafe="ON",
            reason="The binary log is on at every level, so that the levels differ in what they flush "
            "and not in how much they write.",
        ),
        Tuned(
            "sync_binlog",
            safest="1",
            fast="0",
            unsafe="0",
            reason="1 flushes the binary log at each group of commits; 0 leaves that to the operating "
            "system. Servers' own defaults differ: 1 on MySQL 5.7 and later, 0 on MariaDB.",
        ),
        Tuned(
            "innodb_doublewrite",
            safest="ON",
            fast="ON",
            unsafe="OFF",
            reason="Without the doublewrite buffer a page that was half written when the power failed stays "
            "torn, unless the device writes whole pages atomically. MySQL from 8.0.20 on does not flush it "
            "before the pages where innodb_flush_method is O_DIRECT: a disk's volatile cache may lose both.",
        ),
        Tuned(
            "innodb_flush_method",
            safest=None,
            fast=None,
            unsafe="nosync",
            reason="nosync never flushes data files and writes them through the page cache; after a power "
            "cut they may be older than the redo log's checkpoint. The other levels use O_DIRECT, or "
            "fsync where the file system takes no O_DIRECT.",
        ),
    ),
    "postgresql": (
        Tuned(
            "synchronous_commit",
            safest="on",
            fast="off",
            unsafe="off",
            reason="on waits until the commit's WAL is flushed. off answers before that: up to three times "
            "wal_writer_delay (0.6 s) of acknowledged commits are lost in a power cut, and, unlike "
            "InnoDB's 2, also when the server is killed; the database stays consistent.",
        ),
        Tuned(
            "fsync",
            safest="on",
            fast="on",
            unsafe="off",
            reason="off never flushes anything: after a power cut the database may be corrupt beyond repair.",
        ),
        Tuned(
            "full_page_writes",
            safest="on",
            fast="on",
            unsafe="off",
            reason="off leaves whole pages out of the WAL after a checkpoint: a page that was half written "
            "when the power failed stays torn.",
        ),
    ),
    "sqlite": (
        Tuned(
            "journal_mode",
            safest="wal",
            fast="wal",
            unsafe="wal",
            reason="A write-ahead log at every level, so that the levels differ in what they flush only.",
        ),
        Tuned(
            "synchronous",
            safest="full",
            fast="normal",
            unsafe="off",
            reason="full flushes the WAL at each commit. normal flushes at checkpoints only: a power cut "
            "loses what came since the last one, which has no bound in time (InnoDB's 2 has: about a "
            "second), and the database stays consistent. off never flushes: a power cut "
            "may corrupt the database.",
        ),
    ),
}


def tuned_variables(family: Family, level: Level) -> dict[str, str]:
    """Return the variables that a level sets in one family of servers."""
    values = {tuned.name: tuned.at(level) for tuned in TUNING[family]}
    return {name: value for name, value in values.items() if value is not None}


def user_variables(variables: Mapping[str, str], *, places: Collection[str], memory: str) -> dict[str, str]:
    """Return the user's own variables under the server's spelling of their names.

    ServerError for what is not tuning: where things lie (`places`), and the `memory` variable.
    """
    wanted = {}
    for given, value in variables.items():
        name = given.replace("-", "_").lower()
        if not re.fullmatch(r"[a-z_][a-z0-9_.]*", name):
            raise ServerError(
                f"{given!r} is not the name of a server variable; correct it in the study's tuning"
            )
        if name in places:
            raise ServerError(
                f"variable {given} says where something lies: leave it out, "
                "and give the role a place in the study's storage layout"
            )
        if name == memory:
            raise ServerError(f"variable {given} is the study's memory factor: set memory instead")
        wanted[name] = value
    return wanted
