"""What the statistics views say of a while, in words that all families share.

From the manual's chapter The Cumulative Statistics System, versions 10 to 18. What a version does not report
stays unknown: before 14 the WAL, before 16 who waited for a page to be written. From 18 on flushes of the WAL
stand in a view that is not read here. No client ever waits for room in the log: a checkpoint that
`max_wal_size` forces is the nearest to a stall.

Backends hand their counts in at most once a second: some of the last second are missing, and some of the
second before the first are there instead.
"""

from diskproof.families.samples import Samples
from diskproof.results.usage import ServerAccount

MILLISECOND_S = 1e-3


def account(samples: Samples, *, times_input: bool, times_wal: bool) -> ServerAccount:
    """Return the account of a while; the two say whether ``track_io_timing`` and the WAL's are on."""
    # Up to 16; since 17 the checkpointer has a view of its own, and what backends write is in another.
    writers = ("buffers_checkpoint", "buffers_clean", "buffers_backend")
    forced = samples.count("pg_stat_bgwriter.checkpoints_req")
    if forced is None:
        forced = samples.count("pg_stat_checkpointer.num_requested")
    return ServerAccount(
        commits=samples.count("pg_stat_database.xact_commit"),
        log_flushes=samples.count("pg_stat_wal.wal_sync"),
        log_flush_s=samples.seconds("pg_stat_wal.wal_sync_time", MILLISECOND_S) if times_wal else None,
        log_buffer_waits=samples.count("pg_stat_wal.wal_buffers_full"),
        page_requests=samples.count("pg_stat_database.blks_hit", "pg_stat_database.blks_read"),
        page_reads=samples.count("pg_stat_database.blks_read"),
        page_read_s=samples.seconds("pg_stat_database.blk_read_time", MILLISECOND_S) if times_input else None,
        page_writes=samples.count(*(f"pg_stat_bgwriter.{name}" for name in writers)),
        deadlocks=samples.count("pg_stat_database.deadlocks"),
        checkpoint_stalls=forced,
        temporary_tables_on_disk=samples.count("pg_stat_database.temp_files"),
    )
