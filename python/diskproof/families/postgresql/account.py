"""What the statistics views say of a while, in words that all families share.

From the manual's chapter The Cumulative Statistics System, versions 10 to 18. What a version does not report
stays unknown: before 14 the WAL. From 18 on pg_stat_io has the flushes of the WAL; from 17 on it has the
writes of pages, extensions of files included, as before. No client ever waits for room in the log: a
checkpoint that `max_wal_size` forces is the nearest to a stall.

Backends hand their counts in at most once a second: some of the last second are missing, and some of the
second before the first are there instead.
"""

from diskproof.families.samples import Samples, first
from diskproof.results.usage import ServerAccount

MILLISECOND_S = 1e-3


def account(samples: Samples, *, times_input: bool, times_wal: bool) -> ServerAccount:
    """Return the account of a while; the two say whether ``track_io_timing`` and the WAL's are on."""
    writers = ("buffers_checkpoint", "buffers_clean", "buffers_backend")  # since 17 in other views

    def seconds(*names: str) -> float | None:
        return first(*(samples.seconds(name, MILLISECOND_S) for name in names))

    return ServerAccount(
        commits=samples.count("pg_stat_database.xact_commit"),
        log_flushes=first(samples.count("pg_stat_wal.wal_sync"), samples.count("pg_stat_io.wal.fsyncs")),
        log_flush_s=seconds("pg_stat_wal.wal_sync_time", "pg_stat_io.wal.fsync_time") if times_wal else None,
        page_requests=samples.count("pg_stat_database.blks_hit", "pg_stat_database.blks_read"),
        page_reads=samples.count("pg_stat_database.blks_read"),
        page_read_s=seconds("pg_stat_database.blk_read_time") if times_input else None,
        page_writes=first(
            samples.count(*(f"pg_stat_bgwriter.{name}" for name in writers)),
            samples.count("pg_stat_io.relation.writes"),
        ),
        page_write_s=seconds("pg_stat_io.relation.write_time") if times_input else None,
        page_flushes=samples.count("pg_stat_io.relation.fsyncs"),
        checkpoint_stalls=first(
            samples.count("pg_stat_bgwriter.checkpoints_req"),
            samples.count("pg_stat_checkpointer.num_requested"),
        ),
    )
