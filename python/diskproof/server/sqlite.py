"""SQLite: a database inside the load generator. It has no process and no log; settings travel in the URL."""

import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from diskproof import load
from diskproof.families.sqlite import SQLITE
from diskproof.results.machine import ServerFacts
from diskproof.server.base import (
    CHECK_LIMIT_S,
    DATABASE,
    NO_PLACES,
    SETTLE_LIMIT_S,
    Dirs,
    Running,
    ServerError,
    ServerFailedError,
    ServerKind,
    ServerTooSlowError,
    Settings,
    user_variables,
)
from diskproof.server.lifecycle import complaint_of
from diskproof.system.processes import Starter

BUSY_TIMEOUT_MS = 5000
"""How long a writer waits for another's lock; transactions last milliseconds, so longer is a fault."""


class SqliteServer(ServerKind):
    """The SQLite that is built into diskproof-load."""

    def __init__(self, name: str, version: str) -> None:
        """Name it as the study does."""
        self.facts = ServerFacts(name=name, family="sqlite", flavour="SQLite", version=version)

    def data_format(self) -> str:
        """Return what a golden image depends on: the file format is that of every SQLite 3."""
        return f"SQLite 3, pages of {self.page_bytes} bytes"

    def check(self, dirs: Dirs) -> None:
        """Refuse a layout that puts the log elsewhere: SQLite keeps it beside the database."""
        if dirs.redo.stat().st_dev != dirs.data.stat().st_dev:
            raise ServerError(
                f"SQLite keeps its write-ahead log beside the database in {dirs.data} and cannot put it into "
                f"{dirs.redo} on another file system. Give both roles one storage, or compare another server"
            )

    def _settings(self, dirs: Dirs, tuned: dict[str, str], memory_bytes: int, max_clients: int) -> Settings:
        """Return the PRAGMAs for one trial, named as the load generator's URL names them."""
        del dirs
        return Settings(_common(memory_bytes, max_clients), tuned)

    def check_variables(self, variables: Mapping[str, str], places: Mapping[str, str] = NO_PLACES) -> None:
        """Let the load generator read a URL with these; there is no database behind it."""
        del places  # it has no option files
        wanted = urlencode(user_variables(variables, SQLITE))
        said = complaint_of(
            Path(load.program()), "cleanup", "oltp", "--url", f"sqlite:/dev/null/none?{wanted}"
        )
        if "the URL's parameter" in said:
            words = said.strip().removeprefix("diskproof-load: ")
            raise ServerError(f"SQLite refuses its variables: {words}; correct them in the study's tuning")

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the PRAGMAs for filling a golden image: one writer at a time, so one cache is in use."""
        del dirs, max_clients
        return Settings(_common(memory_bytes, max_clients=1), SQLITE.tuned("unsafe"), kept=True)

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database file in WAL mode, which the file itself remembers."""
        del starter  # nothing runs
        self.check(dirs)
        with closing(sqlite3.connect(_file(dirs))) as connection:
            connection.execute(f"PRAGMA page_size = {self.page_bytes}")
            connection.execute("PRAGMA journal_mode = wal")

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> "SqliteRunning":
        """Open the database once; after a crash that recovers it. Later it runs in the load generator.

        Recovery plays the write-ahead log back, or a rollback journal.
        """
        del starter
        self.check(dirs)
        if not _file(dirs).is_file():
            raise ServerFailedError(
                f"there is no SQLite database at {_file(dirs)}; initialise or restore it first"
            )
        running = SqliteRunning(self.facts, dirs, settings)
        running.ask(deadline_s, "SELECT count(*) FROM sqlite_master")
        return running


class SqliteRunning(Running):
    """A SQLite database that is ready to be opened. Clients count, wait and die in the load generator."""

    where = "load generator"
    alive = True
    pids: list[int] = []  # noqa: RUF012 - the load generator's own are the server's

    @property
    def url(self) -> str:
        """The file and the PRAGMAs that the load generator sets on each connection."""
        return f"sqlite:{quote(str(_file(self._dirs)))}?{urlencode(self._settings.merged())}"

    def _observed(self) -> Mapping[str, tuple[str, str]]:
        """Return what holds once the load generator has connected.

        It sets each PRAGMA on each connection, reads it back, and does not become ready if one does not hold.
        The journal mode is kept in the file: it is read here again, by another program. The file remembers
        only whether it has a write-ahead log; which other mode a connection uses is its own.
        """
        observed = self._settings.merged()
        asked = observed.get("journal_mode", "").casefold()
        found = str(self.rows("PRAGMA journal_mode")[0][0])
        if asked and "wal" in {found, asked}:
            observed["journal_mode"] = found
        return {name: (value, "") for name, value in observed.items()}

    def settle(self) -> None:
        """Gather statistics for the planner, and empty the write-ahead log into the database."""
        self.ask(SETTLE_LIMIT_S, "ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)")

    def preload(self) -> None:
        """Refuse: every connection has a cache of its own, and none is there yet."""
        raise ServerFailedError(
            "SQLite has no memory that its connections share: leave `preload` out of the workload"
        )

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the answer to one question to the database."""
        return self.ask(CHECK_LIMIT_S, sql)

    def damage(self) -> list[str]:
        """Return what integrity_check and foreign_key_check find."""
        try:
            lines = [str(text) for (text,) in self.rows("PRAGMA integrity_check")]
            orphans = self.rows("PRAGMA foreign_key_check")
        except ServerFailedError as error:
            return [str(error)]
        found = [] if lines == ["ok"] else lines
        return found + [
            f"{row[0]}: row {row[1]} refers to a row of {row[2]} that is missing" for row in orphans
        ]

    def ask(self, limit_s: float, *statements: str) -> list[tuple[Any, ...]]:
        """Return the rows of the last of some statements; ServerFailedError with SQLite's words.

        ServerTooSlowError after `limit_s`.
        """
        file = f"file:{quote(str(_file(self._dirs)))}?mode=rw"  # one that is gone is not made again
        rows: list[tuple[Any, ...]] = []
        try:
            with closing(sqlite3.connect(file, uri=True, isolation_level=None)) as connection:
                watch = threading.Timer(limit_s, connection.interrupt)
                watch.start()
                try:
                    for sql in statements:
                        rows = connection.execute(sql).fetchall()
                finally:
                    watch.cancel()
                    watch.join()
        except sqlite3.Error as error:
            interrupted = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT
            raise (ServerTooSlowError if interrupted else ServerFailedError)(
                f"SQLite did not answer {'; '.join(statements)!r} on {_file(self._dirs)}: {error}"
            ) from error
        return rows

    def log_tail(self, lines: int = 20) -> str:
        """Return that there is no log."""
        del lines
        return "(SQLite writes no log; its errors are in the load generator's output)"

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Do nothing but note the end: the last connection to close has emptied the log."""
        del deadline_s
        self.alive = False
        return True

    def kill(self) -> None:
        """Do nothing: the server dies with the load generator."""
        self.alive = False


def _file(dirs: Dirs) -> Path:
    return dirs.data / f"{DATABASE}.db"


def _common(memory_bytes: int, max_clients: int) -> dict[str, str]:
    return {
        "busy_timeout_ms": str(BUSY_TIMEOUT_MS),
        # Each connection has a cache of its own: together they use the memory that was asked for.
        "cache_size_kib": str(max(memory_bytes // max_clients // 2**10, 1)),
        # Sorts stay in memory, so that no file lies outside the layout.
        "temp_store": "memory",
    }
