"""SQLite, which runs inside the load generator: one writer at a time, its log beside its data."""

from diskproof.families.facts import FamilyFacts, Need, read
from diskproof.families.values import Values, lower

ROLLBACK_JOURNALS = frozenset({"delete", "truncate", "persist", "memory", "off"})
"""Journal modes in which a commit goes to the database file itself, and not to a write-ahead log."""

FULL, EXTRA = frozenset({"full", "2"}), frozenset({"extra", "3"})


def _needs(observed: Values) -> dict[str, Need]:
    """Return the needs. ``normal`` flushes a write-ahead log at checkpoints, and a database at each commit.

    In mode ``delete`` a commit is the removal of the journal. Only ``extra`` flushes the folder, so that a
    removed journal cannot come back and take the transaction back
    (https://sqlite.org/pragma.html#pragma_synchronous).
    """
    mode = lower(observed, "journal_mode")
    flushed = frozenset({"normal", "1"}) if mode in ROLLBACK_JOURNALS else frozenset()
    return {
        "synchronous": Need(
            "the last commits may be lost",
            keeps=EXTRA if mode == "delete" else FULL | EXTRA,
            log="data",
            called="journal" if mode in ROLLBACK_JOURNALS else "write-ahead log",
            waits=FULL | EXTRA | flushed,
        ),
        "journal_mode": Need(
            "a transaction that was half written stays half written",
            keeps=frozenset({"wal", "delete", "truncate", "persist"}),
        ),
    }


def _relaxed(observed: Values) -> dict[str, str]:
    return {"synchronous": "off" if lower(observed, "journal_mode") in ROLLBACK_JOURNALS else "normal"}


SQLITE = FamilyFacts(**read("sqlite"), needs=_needs, relaxed=_relaxed)
