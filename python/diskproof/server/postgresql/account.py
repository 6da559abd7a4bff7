"""What the statistics views say of a while, in words that all families share.

From the manual's chapter The Cumulative Statistics System, versions 10 to 18. What a version does not tell
stays unknown: before 14 nothing of the WAL, before 16 nothing of who waited for a page to be written; from 18
on flushes of the WAL stand in a view that is not read here. No client ever waits for room in the log: a
checkpoint that comes early, because of `max_wal_size`, is the nearest to a stall.

Backends hand their counts in once a second at most: of the last second some are missing, and in their place
there are some of the second before the first.
"""

from diskproof.results.usage import ServerAccount
from diskproof.server.samples import Samples

MILLISECOND_S = 1e-3


def account(told: Samples, *, times_input: bool, times_wal: bool) -> ServerAccount:
    """Return the account of a while; the two say whether ``track_io_timing`` and the WAL's are on."""
    # Up to 16; since 17 the checkpointer has a view of its own, and what backends write is told of elsewhere.
    writers = ("buffers_checkpoint", "buffers_clean", "buffers_backend")
    forced = told.count("pg_stat_bgwriter.checkpoints_req")
    if forced is None:
        forced = told.count("pg_stat_checkpointer.num_requested")
    return ServerAccount(
        commits=told.count("pg_stat_database.xact_commit"),
        log_flushes=told.count("pg_stat_wal.wal_sync"),
        log_flush_s=told.seconds("pg_stat_wal.wal_sync_time", MILLISECOND_S) if times_wal else None,
        log_buffer_waits=told.count("pg_stat_wal.wal_buffers_full"),
        page_requests=told.count_of_all("pg_stat_database.blks_hit", "pg_stat_database.blks_read"),
        page_reads=told.count("pg_stat_database.blks_read"),
        page_read_s=told.seconds("pg_stat_database.blk_read_time", MILLISECOND_S) if times_input else None,
        page_writes=told.count_of_all(*(f"pg_stat_bgwriter.{name}" for name in writers)),
        deadlocks=told.count("pg_stat_database.deadlocks"),
        checkpoint_stalls=forced,
        temporary_tables_on_disk=told.count("pg_stat_database.temp_files"),
    )
