"""Which settings make a commit wait until its log is flushed, as data: what a durable commit costs."""

from collections.abc import Mapping

from diskproof.results.records import Role
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
log at checkpoints alone.
"""

LOG_ROLE: dict[Family, Role] = {"mysql": "redo", "postgresql": "redo", "sqlite": "data"}
"""The role whose place such a flush goes to; SQLite's write-ahead log lies beside its database."""


def commits_wait_for_flush(family: Family, observed: Mapping[str, str | None]) -> bool:
    """Tell whether a running server's settings make each commit wait; False where they do not say so."""
    return all(
        (observed.get(name) or "").casefold() in values for name, values in WAITS_FOR_FLUSH[family].items()
    )
