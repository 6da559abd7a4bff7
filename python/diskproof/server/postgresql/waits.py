"""What PostgreSQL's sessions wait for, by its own names, sorted by what holds them back.

Names are ``TYPE:EVENT`` as in pg_stat_activity; https://www.postgresql.org/docs/current/monitoring-stats.html,
tables 27.4 to 27.12, for all versions from 9.6 on (an event that a version does not know never comes).
"""

from diskproof.results.limit import Limit

_EVENTS: dict[str, Limit] = {
    "IO:WALSync": "log flush",
    "IO:WalSync": "log flush",
    "IO:WALSyncMethodAssign": "log flush",
    "IO:WALWrite": "log flush",
    "IO:WalWrite": "log flush",
    "IO:WALInitWrite": "log flush",
    "IO:WalInitWrite": "log flush",
    "IO:WALInitSync": "log flush",
    "IO:WalInitSync": "log flush",
    # Sessions that wait until another has flushed the WAL for them, too: group commit.
    "LWLock:WALWrite": "log flush",
    "LWLock:WALWriteLock": "log flush",
    "IO:DataFileRead": "data reads",
    "IO:DataFilePrefetch": "data reads",
    "IO:AioIoCompletion": "data reads",
    # Until another session has read the page that both want.
    "IPC:BufferIO": "data reads",
    "IPC:BufferIo": "data reads",
    "LWLock:BufferIO": "data reads",
    "LWLock:buffer_io": "data reads",
    "IO:DataFileWrite": "page writes",
    "IO:DataFileExtend": "page writes",
    "IO:DataFileFlush": "page writes",
    "IO:DataFileSync": "page writes",
    "IO:DataFileImmediateSync": "page writes",
}


def limit_of(wait: str) -> Limit | None:
    """Return what a wait speaks for; None of one that speaks for none of them."""
    return "locks" if wait.startswith("Lock:") else _EVENTS.get(wait)
