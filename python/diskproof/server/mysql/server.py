"""One server of the MySQL family: made, started, asked and stopped."""

import re
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pymysql

from diskproof.results.records import Role, ServerFacts, Setting
from diskproof.server.base import (
    ANSWER_LIMIT_S,
    DATABASE,
    SETTLE_LIMIT_S,
    Dirs,
    ServerFailedError,
    Settings,
    Status,
)
from diskproof.server.lifecycle import (
    check_socket_folder,
    describe_silence,
    kill_tree,
    log_tail,
    wait_for_end,
    wait_until,
)
from diskproof.server.mysql import bootstrap, options
from diskproof.server.mysql.installation import Installation
from diskproof.server.mysql.roles import role_of
from diskproof.server.mysql.status import status
from diskproof.server.values import same
from diskproof.study.model import Level
from diskproof.system.processes import Starter

INITIAL_MEMORY_BYTES = 64 * 2**20
"""Buffer pool of an initialisation, which touches some 30 MiB of pages."""


class MysqlServer:
    """A found server of the MySQL family."""

    def __init__(self, installation: Installation, name: str) -> None:
        """Name an installation as the study does."""
        self.installation = installation
        self.facts = ServerFacts(
            name=name,
            family="mysql",
            flavour=installation.flavour,
            version=installation.version_text,
            binary=str(installation.binary),
        )

    page_bytes = options.PAGE_BYTES

    def data_format(self) -> str:
        """Return what a golden image depends on."""
        version = ".".join(str(number) for number in self.installation.version)
        return f"{self.installation.flavour} {version}, redo {options.REDO_BYTES}"

    def check(self, dirs: Dirs) -> None:
        """Refuse a socket folder with too long a name; the server runs as we do and reaches the rest."""
        check_socket_folder(dirs.run)

    def settings(
        self, dirs: Dirs, *, level: Level, memory_bytes: int, max_clients: int, variables: Mapping[str, str]
    ) -> Settings:
        """Return the variables for one trial."""
        return options.settings(
            self.installation,
            dirs,
            level=level,
            memory_bytes=memory_bytes,
            max_clients=max_clients,
            variables=variables,
        )

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the variables for filling a golden image."""
        return options.loading_settings(
            self.installation, dirs, memory_bytes=memory_bytes, max_clients=max_clients
        )

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database on empty directories."""
        settings = self.loading_settings(dirs, memory_bytes=INITIAL_MEMORY_BYTES, max_clients=1)
        bootstrap.initialise(self.installation, dirs, self._configure(dirs, settings), starter)

    def place(self, dirs: Dirs) -> None:
        """Do nothing: an image without a binary log holds no paths."""

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> "MysqlRunning":
        """Start the server and wait until it takes connections."""
        self.check(dirs)
        log = options.error_log(dirs)
        log_start = log.stat().st_size if log.exists() else 0
        process = starter.start(
            [str(self.installation.binary), f"--defaults-file={self._configure(dirs, settings)}"],
            log_file=log,
            cwd=dirs.data,
        )
        running = MysqlRunning(self, dirs, settings, process)

        def failure(what: str) -> ServerFailedError:
            with log.open("rb") as file:
                file.seek(log_start)
                said = file.read().decode(errors="replace")
            return ServerFailedError(_why_not_started(self.facts, settings, what, said, log))

        wait_until(running.takes_connections, process, deadline_s=deadline_s, failure=failure)
        return running

    def _configure(self, dirs: Dirs, settings: Settings) -> Path:
        """Write the one configuration file that the server reads."""
        dirs.run.chmod(0o700)  # root has no password: the folder of its socket is the lock
        path = dirs.log / "my.cnf"
        path.write_text(options.configuration(self.installation, dirs, settings.merged()))
        return path


class MysqlRunning:
    """A started server of the MySQL family."""

    def __init__(
        self, server: MysqlServer, dirs: Dirs, settings: Settings, process: subprocess.Popen[bytes]
    ) -> None:
        """Hold a process that was just started."""
        self._server = server
        self._dirs = dirs
        self._settings = settings
        self._process = process
        self._connection: pymysql.Connection[Any] | None = None

    @property
    def pids(self) -> list[int]:
        """The server's processes: one."""
        return [self._process.pid] if self.alive else []

    @property
    def alive(self) -> bool:
        """False once the server has ended."""
        return self._process.poll() is None

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database."""
        return f"mysql://root@localhost/{DATABASE}?socket={quote(str(options.socket(self._dirs)))}"

    def takes_connections(self) -> bool:
        """Tell whether the server can be asked by now."""
        try:
            self._connection = self._connect(ANSWER_LIMIT_S)
        except pymysql.Error:
            return False
        return True

    def read_settings(self) -> list[Setting]:
        """Read back every requested variable."""
        observed = dict(self._query("SHOW GLOBAL VARIABLES"))
        return [
            Setting(
                name=name,
                requested=value,
                observed=observed.get(name),
                holds=name in observed and same(value, observed[name]),
                level=name in self._settings.level,
            )
            for name, value in self._settings.merged().items()
        ]

    def status(self) -> Status:
        """Return all numeric values of SHOW GLOBAL STATUS, under the server's own names."""
        return status((name, value) for name, value in self._query("SHOW GLOBAL STATUS"))

    def role_of(self, path: str) -> Role | None:
        """Return the role of an open file."""
        return role_of(path, self._dirs)

    def engine(self) -> str | None:
        """Return the storage engine of the workload's tables."""
        rows = self._query(
            "SELECT DISTINCT engine FROM information_schema.tables "
            "WHERE table_schema = %s AND table_type = 'BASE TABLE' ORDER BY engine",
            DATABASE,
        )
        return ", ".join(str(row[0]) for row in rows) or None

    def settle(self) -> None:
        """Gather the statistics that InnoDB would gather itself some seconds after the load."""
        tables = self._query(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s", DATABASE
        )
        with self._connect(SETTLE_LIMIT_S) as connection:
            for (table,) in tables:
                self._ask(connection, SETTLE_LIMIT_S, f"ANALYZE TABLE `{DATABASE}`.`{table}`")

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the error log."""
        return log_tail(options.error_log(self._dirs), lines)

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Shut down cleanly, or kill."""
        self._disconnect()
        if self.alive:
            self._process.send_signal(signal.SIGTERM)
        return wait_for_end(self._process, deadline_s)

    def kill(self) -> None:
        """Kill the server."""
        self._disconnect()
        kill_tree(self._process)

    def _connect(self, limit_s: float) -> "pymysql.Connection[Any]":
        """Connect; a server that then stays silent for `limit_s` counts as failed."""
        return pymysql.connect(
            unix_socket=str(options.socket(self._dirs)),
            user="root",
            autocommit=True,
            connect_timeout=10,
            read_timeout=limit_s,
            write_timeout=limit_s,
        )

    def _query(self, sql: str, *arguments: str) -> Sequence[tuple[Any, ...]]:
        return self._ask(self._connection, ANSWER_LIMIT_S, sql, *arguments)

    def _ask(
        self, connection: "pymysql.Connection[Any] | None", limit_s: float, sql: str, *arguments: str
    ) -> Sequence[tuple[Any, ...]]:
        asked = time.monotonic()
        try:
            if connection is None:
                raise pymysql.OperationalError(0, "not connected")
            with connection.cursor() as cursor:
                cursor.execute(sql, arguments)
                return list(cursor.fetchall())
        except pymysql.Error as error:
            facts = self._server.facts
            raise ServerFailedError(
                f"{facts.flavour} {facts.version} did not answer {sql!r}"
                f"{describe_silence(self._process, time.monotonic() - asked, limit_s)}: {error}; "
                f"last lines of its error log:\n{self.log_tail()}"
            ) from error

    def _disconnect(self) -> None:
        if self._connection is not None and self._connection.open:
            self._connection.close()
        self._connection = None


_REFUSED = re.compile(
    r"unknown (?:variable|option) '(?:--)?([\w-]+)"
    r"|ambiguous option '(?:--)?([\w-]+)"
    r"|Error while setting value '[^']*' to '([\w-]+)'"
    r"|Unknown suffix '.' used for variable '([\w-]+)'"
    r"|option '([\w-]+)' (?:requires|cannot)",
)
"""How servers of all ages say that they do not take an option."""


def _why_not_started(facts: ServerFacts, settings: Settings, what: str, said: str, log: Path) -> str:
    """Return the message for a server that did not start: the refused variable first, where there is one."""
    server = f"{facts.flavour} {facts.version}"
    tail = "\n".join(said.splitlines()[-20:]) or "(empty)"
    for found in _REFUSED.finditer(said):
        name = next(group for group in found.groups() if group).replace("-", "_")
        if name in settings.level:
            return (
                f"{server} refuses {name} = {settings.level[name]}: {_line_of(said, found)}; "
                f"correct or remove the variable in the study's tuning"
            )
    return f"{server} {what}; last lines of {log}:\n{tail}"


def _line_of(text: str, found: re.Match[str]) -> str:
    start = text.rfind("\n", 0, found.start()) + 1
    return text[start : text.find("\n", found.end())].strip()
