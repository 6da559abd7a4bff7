"""A PostgreSQL that is asked over connections, whoever started it."""

from collections.abc import Mapping

import psycopg
from psycopg.rows import TupleRow

from diskproof.database.asking import NULLABLE, AnswerError, said
from diskproof.families.postgresql.account import account
from diskproof.families.samples import Samples, Status
from diskproof.results.usage import ServerAccount
from diskproof.server.asked import Asked
from diskproof.server.base import ANSWER_LIMIT_S

WAITING_SESSIONS = """
    SELECT wait_event_type || ':' || wait_event, count(*) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()
      AND wait_event_type NOT IN ('Activity', 'Client')
    GROUP BY 1"""

INPUT_OUTPUT = """
    (SELECT sum(coalesce(writes, 0) + coalesce(extends, 0)) AS writes, sum(write_time) AS write_time,
      sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time FROM pg_stat_io WHERE {})"""
"""What pg_stat_io has of all kinds of processes together."""

Connection = psycopg.Connection[TupleRow]


class PostgresqlAsked(Asked[Connection]):
    """A running PostgreSQL."""

    driver_error = psycopg.Error
    version: tuple[int, ...]
    _onlooker: Connection | None = None

    def _observed(self) -> Mapping[str, tuple[str, str]]:
        asked = "SELECT name, setting, coalesce(unit, '') FROM pg_settings"
        rows = self._query(asked, shape=(str, NULLABLE, str))
        return {name.lower(): (setting, unit) for name, setting, unit in rows}

    def status(self) -> Status:
        """Return the statistics of the database, the WAL and the checkpointer, named ``view.column``.

        A backend hands its counts in at most once a second.
        """
        figures: list[tuple[str, object]] = []
        for view, rows in self._statistics().items():
            asked = f"SELECT row_to_json(v) FROM {rows} v"  # noqa: S608 - ours
            for (row,) in self._query(asked, shape=(dict,)):
                figures += [
                    (f"{view}.{name}", value) for name, value in row.items() if not name.endswith("id")
                ]
        return self._family.status(figures)

    def account(self, samples: Samples) -> ServerAccount:
        """Return what the statuses of a while say."""
        names = "'track_io_timing', 'track_wal_io_timing'"
        asked = f"SELECT name FROM pg_settings WHERE setting = 'on' AND name IN ({names})"  # noqa: S608 - ours
        rows = self._query(asked, shape=(str,))
        on = {name for (name,) in rows}
        return account(samples, times_input="track_io_timing" in on, times_wal="track_wal_io_timing" in on)

    def waiting_sessions(self) -> dict[str, int] | None:
        """Return how many backends of clients wait for what, by ``wait_event_type:wait_event``.

        From version 10 on, which distinguishes them from the server's own helpers.
        """
        if self.version < (10,):
            return None
        if self._onlooker is None:
            try:
                self._onlooker = self._connect(None, ANSWER_LIMIT_S)
            except (psycopg.Error, AnswerError) as error:
                raise self._failed(f"cannot be asked what its sessions wait for: {said(error)}") from error
        return dict(self._ask(self._onlooker, ANSWER_LIMIT_S, WAITING_SESSIONS, shape=(str, int)))

    def settle(self) -> None:
        """Vacuum, freeze and analyse: what autovacuum would do to freshly loaded tables."""
        self._ask_at_length(["VACUUM (FREEZE, ANALYZE)", "CHECKPOINT"])

    def preload(self) -> None:
        """Read tables and indexes by pg_prewarm: a scan would keep to a small ring of buffers."""
        self._ask_at_length(
            [
                "CREATE EXTENSION IF NOT EXISTS pg_prewarm",
                "SELECT sum(pg_prewarm(oid)) FROM pg_class WHERE relkind IN ('r', 'i') "
                "AND relnamespace = 'public'::regnamespace",
            ]
        )

    def _statistics(self) -> dict[str, str]:
        """Return the views that this version has, each with the rows that are read of it."""
        name = self.database.replace("'", "''")
        database = f"(SELECT * FROM pg_stat_database WHERE datname = '{name}')"  # noqa: S608 - quoted
        views = {
            "pg_stat_database": ((), database),
            "pg_stat_bgwriter": ((), "pg_stat_bgwriter"),
            "pg_stat_wal": ((14,), "pg_stat_wal"),
            "pg_stat_io.relation": ((16,), INPUT_OUTPUT.format("object = 'relation'")),
            "pg_stat_checkpointer": ((17,), "pg_stat_checkpointer"),
            "pg_stat_io.wal": ((18,), INPUT_OUTPUT.format("object = 'wal' AND context = 'normal'")),
        }
        return {view: rows for view, (since, rows) in views.items() if self.version >= since}

    def _disconnect(self) -> None:
        super()._disconnect()
        if self._onlooker is not None:
            self._onlooker.close()
        self._onlooker = None
