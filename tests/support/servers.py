"""Directories for a server under test, and a plain client for each family."""

import shutil
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

import psutil
import psycopg
import pymysql
import pytest

from diskproof.families.facts import Level
from diskproof.server.base import Dirs, Running, ServerKind
from diskproof.system.processes import Starter
from support.shared import once

needs_mariadb = pytest.mark.skipif(
    not (shutil.which("mariadbd") or Path("/usr/sbin/mariadbd").exists()),
    reason="no MariaDB: apt-get install mariadb-server-core",
)


class Client(Protocol):
    """Runs one statement after the other, each committed by itself."""

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""


def make_dirs(root: Path, log: str = "log") -> Dirs:
    """Make the directories below `root`; with another `log` the same server gets a fresh log folder."""
    paths = {name: root / name for name in ("data", "redo", "binlog", "tmp", "run")}
    for path in (*paths.values(), root / log):
        path.mkdir(exist_ok=True, parents=True)
    return Dirs(**paths, log=root / log)


class DbApiClient:
    """A client over any DB-API connection in autocommit mode."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(sql)
            return list(cursor.fetchall()) if cursor.description else []
        finally:
            cursor.close()


def start(
    kind: ServerKind,
    dirs: Dirs,
    starter: Starter,
    level: Level = "safest",
    variables: Mapping[str, str] | None = None,
) -> Running:
    """Start a server as a trial does."""
    settings = kind.settings(
        dirs, level=level, memory_bytes=200 * 2**20, max_clients=8, variables=variables or {}
    )
    return kind.start(dirs, settings, starter)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended; init may take a second to collect it."""
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


class Images:
    """Golden images of the servers under test: each made once for all workers, when first asked for."""

    TABLES = 3
    ROWS = 300

    def __init__(self, starter: Starter) -> None:
        """Start with `starter` what makes them."""
        self._starter = starter

    def restore(self, kind: ServerKind, root: Path) -> Dirs:
        """Copy a server's image into directories below `root`."""
        image = once(f"image-{kind.facts.name}", lambda building: self._make(kind, building))
        dirs = make_dirs(root)
        for role in ("data", "redo"):
            # Most of a fresh redo log is zeros, which a test need not write again and again.
            command = ["cp", "--archive", "--sparse=always", f"{image / role}/.", str(dirs.of(role))]
            subprocess.run(command, check=True)
        kind.place(dirs)
        return dirs

    def _make(self, kind: ServerKind, folder: Path) -> None:
        folder.chmod(0o755)
        building = make_dirs(folder)
        kind.initialise(building, self._starter)
        settings = kind.loading_settings(building, memory_bytes=64 * 2**20, max_clients=4)
        running = kind.start(building, settings, self._starter)
        with connect(running) as client:
            for table in range(1, self.TABLES + 1):
                client.run(f"CREATE TABLE sbtest{table} (id INTEGER PRIMARY KEY, c CHAR(120) NOT NULL)")
                values = ", ".join(f"({row}, 'row {row}')" for row in range(self.ROWS))
                client.run(f"INSERT INTO sbtest{table} VALUES {values}")
        running.settle()
        assert running.stop(), running.log_tail()
        assert not running.alive


@contextmanager
def connect(running: Running) -> Iterator[Client]:
    """Connect to the workload's database as diskproof-load would: from the URL alone."""
    connection = _open(running.url)
    try:
        yield DbApiClient(connection)
    finally:
        connection.close()


def _open(url: str) -> Any:
    parts = urlsplit(url)
    options = {name: values[0] for name, values in parse_qs(parts.query).items()}
    database = unquote(parts.path.lstrip("/"))
    match parts.scheme:
        case "mysql":
            return pymysql.connect(
                unix_socket=options["socket"],
                ssl_disabled=True,  # else the driver reads the machine's certificates for each connection
                user=parts.username,
                database=database,
                autocommit=True,
            )
        case "postgresql":
            return psycopg.connect(
                host=options["socket"], user=parts.username, dbname=database, autocommit=True
            )
        case "sqlite":
            connection = sqlite3.connect(unquote(parts.path), isolation_level=None)
            connection.execute(f"PRAGMA synchronous = {options['synchronous']}")
            return connection
    raise ValueError(url)
