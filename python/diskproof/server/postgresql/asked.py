"""A PostgreSQL that is asked over connections, whoever started it."""

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import TupleRow

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

Connection = psycopg.Connection[TupleRow]


class PostgresqlAsked(Asked[Connection]):
    """A running PostgreSQL."""

    driver_error = psycopg.Error
    version: tuple[int, ...]
    _onlooker: Connection | None = None

    def _observed(self) -> Mapping[str, tuple[str, str]]:
        rows = self._query("SELECT name, setting, coalesce(unit, '') FROM pg_settings")
        return {name.lower(): (setting, unit) for name, setting, unit in rows}

    def status(self) -> Status:
        """Return the statistics of the database, the WAL and the checkpointer, named ``view.column``.

        A backend hands its counts in at most once a second.
        """
        figures: list[tuple[str, object]] = []
        for view in self._statistics_views():
            where = f" WHERE datname = '{self.database}'" if view == "pg_stat_database" else ""
            for (row,) in self._query(f"SELECT row_to_json(v) FROM {view} v{where}"):  # noqa: S608 - ours
                figures += [
                    (f"{view}.{name}", value) for name, value in row.items() if not name.endswith("id")
                ]
        return self._family.status(figures)

    def account(self, samples: Samples) -> ServerAccount:
        """Return what the statuses of a while say."""
        names = "'track_io_timing', 'track_wal_io_timing'"
        rows = self._query(f"SELECT name FROM pg_settings WHERE setting = 'on' AND name IN ({names})")  # noqa: S608
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
            except psycopg.Error as error:
                raise self._failed(f"cannot be asked what its sessions wait for: {error}") from error
        return dict(self._ask(self._onlooker, ANSWER_LIMIT_S, WAITING_SESSIONS))

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

    def _statistics_views(self) -> list[str]:
        since = {"pg_stat_wal": (14,), "pg_stat_checkpointer": (17,)}
        later = [view for view, version in since.items() if self.version >= version]
        return ["pg_stat_database", "pg_stat_bgwriter", *later]

    def _answer(
        self, connection: Connection, limit_s: float, sql: str, *arguments: object
    ) -> list[tuple[Any, ...]]:
        with _cut_after(limit_s, connection), connection.cursor() as cursor:
            cursor.execute(sql.encode(), arguments or None)
            return cursor.fetchall() if cursor.description else []

    def _disconnect(self) -> None:
        super()._disconnect()
        if self._onlooker is not None:
            self._onlooker.close()
        self._onlooker = None


@contextmanager
def _cut_after(limit_s: float, connection: Connection) -> Iterator[None]:
    """Shut a connection down if its server does not answer in time; the waiting client sees its end.

    A server that hangs does not enforce its own statement_timeout.
    """
    with socket.socket(fileno=os.dup(connection.fileno())) as own:
        timer = threading.Timer(limit_s, own.shutdown, [socket.SHUT_RDWR])
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
