"""SQLite: a database inside the load generator. No process, no log; settings travel in the URL."""

import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from diskproof.results.machine import ServerFacts
from diskproof.results.record import Role
from diskproof.results.trial import Setting
from diskproof.server.base import (
    CHECK_LIMIT_S,
    DATABASE,
    Dirs,
    ServerError,
    ServerFailedError,
    ServerTooSlowError,
    Settings,
)
from diskproof.server.samples import Samples, Status
from diskproof.server.tuning import tuned_variables, user_variables
from diskproof.server.values import same
from diskproof.study.model import Level
from diskproof.system.processes import Starter

KIB = 2**10

PAGE_BYTES = 4 * KIB

BUSY_TIMEOUT_MS = 5000
"""How long a writer waits for another's lock; transactions last milliseconds, so longer is a fault."""


class SqliteServer:
    """The SQLite that is built into diskproof-load."""

    def __init__(self, name: str, version: str) -> None:
        """Name it as the study does."""
        self.facts = ServerFacts(name=name, family="sqlite", flavour="SQLite", version=version)

    page_bytes = PAGE_BYTES

    def data_format(self) -> str:
        """Return what a golden image depends on: the file format is that of every SQLite 3."""
        return f"SQLite 3, pages of {PAGE_BYTES} bytes"

    def check(self, dirs: Dirs) -> None:
        """Refuse a layout that puts the log elsewhere: SQLite keeps it beside the database."""
        if dirs.redo.stat().st_dev != dirs.data.stat().st_dev:
            raise ServerError(
                f"SQLite keeps its write-ahead log beside the database in {dirs.data} and cannot put it into "
                f"{dirs.redo} on another file system; give both roles one storage, or compare another server"
            )

    def settings(
        self,
        dirs: Dirs,
        *,
        level: Level,
        memory_bytes: int,
        max_clients: int,
        variables: Mapping[str, str],
        redo_bytes: int | None = None,
    ) -> Settings:
        """Return the PRAGMAs for one trial, named as the load generator's URL names them."""
        del dirs
        if redo_bytes is not None:
            raise ServerError("SQLite's write-ahead log has no set size: leave the redo log's size out")
        own = user_variables(variables, places=(), memory="cache_size_kib")
        return Settings(_common(memory_bytes, max_clients), tuned_variables("sqlite", level) | own)

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the PRAGMAs for filling a golden image: one writer at a time, so one cache is in use."""
        del dirs, max_clients
        return Settings(_common(memory_bytes, max_clients=1), tuned_variables("sqlite", "unsafe"), kept=True)

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database file in WAL mode, a mode that the file itself remembers."""
        del starter  # nothing runs
        self.check(dirs)
        with sqlite3.connect(_file(dirs)) as connection:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = wal")
        connection.close()

    def place(self, dirs: Dirs) -> None:
        """Do nothing: the one file holds no paths."""

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> "SqliteRunning":
        """Open the database once: after a crash that recovers it. Later it runs in the load generator.

        Recovery plays the write-ahead log back, or a rollback journal.
        """
        del starter
        self.check(dirs)
        if not _file(dirs).is_file():
            raise ServerFailedError(
                f"there is no SQLite database at {_file(dirs)}; initialise or restore it first"
            )
        running = SqliteRunning(dirs, settings)
        running.ask("SELECT count(*) FROM sqlite_master", deadline_s)
        return running


class SqliteRunning:
    """A SQLite database that is ready to be opened."""

    def __init__(self, dirs: Dirs, settings: Settings) -> None:
        """Hold the place of a database and what is asked of its connections."""
        self._dirs = dirs
        self._settings = settings
        self.alive = True

    @property
    def pids(self) -> list[int]:
        """No processes: the load generator's own are the server's."""
        return []

    @property
    def url(self) -> str:
        """The file and the PRAGMAs that the load generator sets on each connection."""
        return f"sqlite:{quote(str(_file(self._dirs)))}?{urlencode(self._settings.merged())}"

    def read_settings(self) -> list[Setting]:
        """Tell what holds, once the load generator has connected.

        It sets each PRAGMA on each connection, reads it back and does not become ready where one does
        not hold. The journal mode is kept in the file: it is read here again, by another program.
        """
        return [self._setting(name, value) for name, value in self._settings.merged().items()]

    def status(self) -> Status:
        """Return nothing: SQLite counts per connection, inside the load generator."""
        return Status(counters={}, gauges={})

    def account(self, told: Samples) -> None:
        """Return None: it keeps no account beyond its connections, inside the load generator."""
        del told

    def waiting_sessions(self) -> None:
        """Return None: who waits for a lock sleeps for a while and tries again."""

    def role_of(self, path: str) -> Role | None:
        """Return ``data`` for the database and for its write-ahead log, which lies beside it."""
        file = Path(path.removesuffix(" (deleted)"))
        return "data" if file.is_relative_to(self._dirs.data.resolve()) else None

    def engine(self) -> str | None:
        """Return None: SQLite has one way to store a table."""
        return None

    def settle(self) -> None:
        """Gather statistics for the planner, and empty the write-ahead log into the database."""
        connection = sqlite3.connect(_file(self._dirs), isolation_level=None)
        try:
            connection.execute("ANALYZE")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()

    def preload(self) -> None:
        """Refuse: every connection has a cache of its own, and none is there yet."""
        raise ServerFailedError(
            "SQLite has no memory that its connections share: leave `preload` out of the workload"
        )

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what one question to the database brings."""
        return self.ask(sql, CHECK_LIMIT_S)

    def damage(self) -> list[str]:
        """Return what integrity_check and foreign_key_check find."""
        try:
            lines = [str(text) for (text,) in self.rows("PRAGMA integrity_check")]
            orphans = self.rows("PRAGMA foreign_key_check")
        except ServerFailedError as error:
            return [str(error)]
        found = [] if lines == ["ok"] else lines
        return found + [
            f"{row[0]}: row {row[1]} refers to a row of {row[2]} that is not there" for row in orphans
        ]

    def complaints(self) -> list[str]:
        """Return nothing: SQLite keeps no log."""
        return []

    def logged_rows(self, table: str, columns: int) -> None:
        """Return None: there is no binary log."""
        del table, columns

    def ask(self, sql: str, limit_s: float) -> list[tuple[Any, ...]]:
        """Return the rows that a statement brings; ServerFailedError with SQLite's words.

        ServerTooSlowError after `limit_s`.
        """
        connection = sqlite3.connect(_file(self._dirs), isolation_level=None)
        watch = threading.Timer(limit_s, connection.interrupt)
        watch.start()
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.Error as error:
            interrupted = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
            raise (ServerTooSlowError if interrupted else ServerFailedError)(
                f"SQLite did not answer {sql!r} on {_file(self._dirs)}: {error}"
            ) from error
        finally:
            watch.cancel()
            watch.join()
            connection.close()

    def log_tail(self, lines: int = 20) -> str:
        """Return that there is no log."""
        del lines
        return "(SQLite writes no log; its errors are in the load generator's output)"

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Do nothing but say that it ended: the last connection to close has emptied the log."""
        del deadline_s
        self.alive = False
        return True

    def kill(self) -> None:
        """Do nothing: whoever kills the load generator has killed the server."""
        self.alive = False

    def _setting(self, name: str, value: str) -> Setting:
        observed = self._journal_mode(value) if name == "journal_mode" else value
        return Setting(
            name=name,
            requested=value,
            observed=observed,
            holds=same(value, observed),
            level=name in self._settings.level,
        )

    def _journal_mode(self, requested: str) -> str:
        """Return the mode of the database file, which remembers but one: that it has a write-ahead log.

        Which of the others a connection uses is its own, and the load generator reads it back on each.
        """
        connection = sqlite3.connect(f"file:{quote(str(_file(self._dirs)))}?mode=ro", uri=True)
        try:
            found = str(connection.execute("PRAGMA journal_mode").fetchone()[0])
        finally:
            connection.close()
        return found if "wal" in {found, requested.casefold()} else requested


def _file(dirs: Dirs) -> Path:
    return dirs.data / f"{DATABASE}.db"


def _common(memory_bytes: int, max_clients: int) -> dict[str, str]:
    return {
        "busy_timeout_ms": str(BUSY_TIMEOUT_MS),
        # Each connection has a cache of its own: together they use the memory that was asked for.
        "cache_size_kib": str(max(memory_bytes // max_clients // KIB, 1)),
        # Sorts stay in memory, so that no file lies outside the layout.
        "temp_store": "memory",
    }
