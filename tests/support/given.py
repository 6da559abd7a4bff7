"""Servers that are there already: started outside of the lab, on loopback, with a user of limited rights."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pymysql
import pytest

from diskproof.server.base import ServerNotFoundError
from diskproof.server.mysql.installation import find_mysql
from diskproof.server.postgresql.installation import find_postgresql
from support.shared import once

PASSWORD = "a'secret of the test"

AS_APP = {"mysql": "SET @a = 1", "postgresql": "SET ROLE app"}
"""Before statements whose tables are to be the account's. In MySQL tables have no owner: it does nothing."""

START_LIMIT_S = 60.0
SYSTEM_USER = "postgres"


class Theirs(ABC):
    """A server of somebody else's: its superuser is asked over a socket, the user `app` has a password."""

    scheme: str
    made: str
    """The database `load`, as one makes it."""

    def __init__(self, folder: Path, options: Sequence[str] = ()) -> None:
        """Make its data in a folder, start it, and let `app` use the empty database `load`."""
        self.folder = folder
        self.options = options
        self.port = _free_port()
        self.process = self._start()
        end = time.monotonic() + START_LIMIT_S
        while True:
            try:
                self.ask("SELECT 1")
                break
            except (pymysql.Error, psycopg.Error):
                assert time.monotonic() < end, (folder / "log").read_text()
                assert self.process.poll() is None, (folder / "log").read_text()
                time.sleep(0.1)
        self._let_app_in()

    @property
    def url(self) -> str:
        return f"{self.scheme}://app@127.0.0.1:{self.port}/load"

    def ask(self, *statements: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Run statements as the superuser; return the rows of the last."""
        rows: list[tuple[Any, ...]] = []
        with closing(self._connect(database)) as connection, connection.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)
                rows = list(cursor.fetchall()) if cursor.description else []
        return rows

    def empty(self) -> None:
        """Make the database `load` anew."""
        name = self.made.split()[0]
        self.ask(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {self.made}")

    def value(self, name: str) -> str:
        """Return the value that new connections find of a variable."""
        return str(self.ask(self._show(name))[0][-1])

    def stop(self) -> None:
        if self.process.poll() is None:
            self._ask_to_end()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _ask_to_end(self) -> None:
        self.process.terminate()

    def _data_of(self, command: Sequence[str]) -> Path:
        """Return this server's own copy of the data that a command makes in the folder `{}`."""

        def make(folder: Path) -> None:
            shutil.chown(folder, self.folder.owner())
            words = [word.format(folder) for word in command]
            made = subprocess.run(words, check=False, capture_output=True, text=True, cwd="/")
            assert made.returncode == 0, made.stdout + made.stderr

        data = once(f"data-{type(self).__name__}", make)
        subprocess.run(["cp", "--archive", "--sparse=always", data, self.folder / "data"], check=True)
        return self.folder / "data"

    @abstractmethod
    def _start(self) -> subprocess.Popen[bytes]:
        """Make the data and start the server."""

    @abstractmethod
    def _connect(self, database: str | None) -> Any:
        """Connect as the superuser."""

    @abstractmethod
    def _let_app_in(self) -> None:
        """Make the user and the database."""

    @abstractmethod
    def _show(self, name: str) -> str:
        """Return the question for a variable."""


class TheirMysql(Theirs):
    scheme = "mysql"
    made = "`load`"
    basedir: Path | None = None

    def _start(self) -> subprocess.Popen[bytes]:
        found = find_mysql(self.basedir, None if self.basedir else "MariaDB")
        common = ["--no-defaults", "--user=root", f"--tmpdir={self.folder}"]
        if found.basedir:
            common += [f"--basedir={found.basedir}", f"--lc-messages-dir={found.share_folder()}"]
        if found.is_mariadb:
            # A later version takes over the data that the system's one makes.
            how = ["--auth-root-authentication-method=normal", "--skip-test-db"]
            make = ["mariadb-install-db", "--no-defaults", "--user=root", *how]
        else:
            common += ["--secure-file-priv=NULL"]
            make = [str(found.binary), *common, "--initialize-insecure"]
        data = self._data_of([*make, "--datadir={}"])
        common += [f"--datadir={data}", *([] if found.is_mariadb else ["--mysqlx=OFF"]), *self.options]
        own = [f"--socket={self.folder}/s", f"--port={self.port}", "--bind-address=127.0.0.1"]
        own += [f"--pid-file={self.folder}/pid", "--innodb-buffer-pool-size=64M"]
        return _begin([str(found.binary), *common, *own], self.folder)

    def _connect(self, database: str | None) -> Any:
        return pymysql.connect(
            unix_socket=str(self.folder / "s"),
            ssl_disabled=True,  # else the driver reads the machine's certificates for each connection
            user="root",
            database=database,
            autocommit=True,
        )

    def _let_app_in(self) -> None:
        password = PASSWORD.replace("'", "''")
        self.ask(
            f"CREATE USER 'app'@'%' IDENTIFIED BY '{password}'",
            f"CREATE DATABASE {self.made}",
            "GRANT ALL ON `load`.* TO 'app'@'%'",
        )

    def _show(self, name: str) -> str:
        return f"SHOW GLOBAL VARIABLES WHERE Variable_name = '{name}'"


class TheirMysql9(TheirMysql):
    basedir = Path(os.environ.get("DISKPROOF_TEST_MYSQL9_BASEDIR", "/nonexistent"))


class TheirMariadb11(TheirMysql):
    basedir = Path(os.environ.get("DISKPROOF_TEST_MARIADB11_BASEDIR", "/nonexistent"))


class TheirPostgresql(Theirs):
    scheme = "postgresql"
    made = "load OWNER app"

    def _start(self) -> subprocess.Popen[bytes]:
        programs = find_postgresql().programs
        as_user = ["runuser", "-u", SYSTEM_USER, "--"] if os.geteuid() == 0 else []
        if as_user:
            shutil.chown(self.folder, SYSTEM_USER)
        make = [*as_user, str(programs / "initdb"), "-D", "{}", "-U", "root", "--no-sync", "--locale=C"]
        data = self._data_of([*make, "--auth-local=trust", "--auth-host=scram-sha-256"])
        options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.folder}"]
        return _begin(
            [*as_user, str(programs / "postgres"), "-D", str(data), "-p", str(self.port), *options],
            self.folder,
        )

    def _ask_to_end(self) -> None:
        # runuser would wait for two seconds, and the server for its clients.
        os.kill(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGINT)

    def _connect(self, database: str | None) -> Any:
        return psycopg.connect(
            host=str(self.folder),
            port=self.port,
            user="root",
            dbname=database or "postgres",
            autocommit=True,
            client_encoding="utf8",
        )

    def _let_app_in(self) -> None:
        password = PASSWORD.replace("'", "''")
        self.ask(f"CREATE ROLE app LOGIN PASSWORD '{password}'", f"CREATE DATABASE {self.made}")

    def _show(self, name: str) -> str:
        return f"SHOW {name}"


KINDS: dict[str, type[Theirs]] = {"mariadb": TheirMysql, "mysql9": TheirMysql9, "postgresql": TheirPostgresql}
FURTHER: dict[str, type[Theirs]] = {"mariadb11": TheirMariadb11}


def write_password(folder: Path) -> Path:
    """Write the password of `app` to a file that its owner alone can read."""
    path = folder / "password"
    path.write_text(f"{PASSWORD}\n")
    path.chmod(0o600)
    return path


@contextmanager
def their_server(kind: str, *options: str) -> Iterator[Theirs]:
    """Start a server of a kind, one of MySQL's family with options; skip the test if this machine has none.

    Its folder is none of pytest's: another session of pytest would close that to PostgreSQL's user.
    """
    with tempfile.TemporaryDirectory(prefix=f"their-{kind}-") as folder:
        Path(folder).chmod(0o755)
        try:
            server = (KINDS | FURTHER)[kind](Path(folder), options)
        except (ServerNotFoundError, FileNotFoundError) as error:
            pytest.skip(f"no {kind} on this machine: {error}")
        try:
            yield server
        finally:
            server.stop()


def _begin(argv: list[str], folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(argv, stdout=log, stderr=log, cwd="/", start_new_session=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
