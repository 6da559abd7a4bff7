"""One started PostgreSQL: asked, stopped and killed."""

import hashlib
import signal
from urllib.parse import quote

import psycopg

from diskproof.database.asking import ask
from diskproof.families.names import quoted
from diskproof.server.base import CHECK_LIMIT_S
from diskproof.server.endpoint import USER, Endpoint, scram_verifier
from diskproof.server.lifecycle import describe_death, kill_orphans, kill_tree, wait_for_end
from diskproof.server.postgresql import aftermath, cluster, options
from diskproof.server.postgresql.asked import Connection, PostgresqlAsked
from diskproof.server.process import ServerProcess
from diskproof.system.processes import children, number_inside
from diskproof.system.run_processes import processes_in
from diskproof.system.shared_memory import Owner, remove


class PostgresqlRunning(PostgresqlAsked, ServerProcess[Connection]):
    """A started PostgreSQL."""

    memory: Owner
    """Whose shared memory it leaves if it is killed."""

    @property
    def pids(self) -> list[int]:
        """The server's processes now: the first one, its helpers, one for each connection."""
        if self.alive:
            return [self._process.pid, *children(self._process.pid)]
        return [orphan.pid for orphan in processes_in([self._dirs.data])]

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database."""
        path = f"{quote(self.database)}?socket={quote(str(self._dirs.run))}"
        url = f"postgresql://{cluster.SUPERUSER}@localhost/{path}"
        return f"{url}&port={self._port}" if self._port else url  # the socket's name has it

    @property
    def _port(self) -> int | None:
        return self._settings.endpoint.port if self._settings.endpoint else None

    def refuses_connections(self) -> str:
        """Return why the server cannot be asked yet; empty if it can."""
        return super().refuses_connections() if self._says_ready() else "it has not reported that it is ready"

    def _admit(self, endpoint: Endpoint) -> None:
        """Make the account, which may do what the lab may with the workload's tables: they are the lab's."""
        kept = scram_verifier(endpoint.password) if self.version >= (10,) else _md5(endpoint.password)
        self._query(f"CREATE ROLE {USER} LOGIN PASSWORD '{kept}' IN ROLE {cluster.SUPERUSER}")

    def make_tablespace(self) -> None:
        """Make the tablespace for temporary files."""
        self._query(f"CREATE TABLESPACE {options.TMP_TABLESPACE} LOCATION '{self._dirs.tmp.resolve()}'")

    def make_database(self, name: str) -> None:
        """Make an empty database, and use it."""
        super().make_database(name)
        if not self._query("SELECT 1 FROM pg_database WHERE datname = %s", name):
            self._query(f"CREATE DATABASE {quoted('postgresql', name)}")

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Shut down with a checkpoint if the data are kept, and at once if they are thrown away."""
        self._disconnect()
        if self.alive:
            self._process.send_signal(signal.SIGINT if self._settings.kept else signal.SIGQUIT)
        ended = wait_for_end(self._process, deadline_s)
        ended = not kill_orphans(self._dirs.data) and ended
        remove(self.memory)  # nothing is left of it unless it had to be killed
        return ended

    def kill(self) -> None:
        """Kill every process of the server, and those that outlived their main process."""
        self._disconnect()
        kill_tree(self._process)
        kill_orphans(self._dirs.data)
        remove(self.memory)

    def _says_ready(self) -> bool:
        """Return whether the server's own pid file calls it ready (PostgreSQL 10 and later).

        Connecting before that would fill its log with refusals. The pid file of a killed server names
        another process.
        """
        if self.version < (10,):
            return True
        try:
            lines = (self._dirs.data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return (
            lines[:1] == [number_inside(self._process.pid)]
            and lines[7:] != []
            and lines[7].strip() == "ready"
        )

    def _connect(self, database: str | None, limit_s: float) -> Connection:
        del limit_s  # each answer has its own
        return psycopg.connect(
            host=str(self._dirs.run),
            port=self._port,
            user=cluster.SUPERUSER,
            dbname=database or "postgres",
            autocommit=True,
            connect_timeout=10,
        )

    def _damage(self, connection: Connection) -> list[str]:
        return aftermath.damage(
            lambda sql, *arguments: ask(connection, CHECK_LIMIT_S, sql, *arguments, most_bytes=None),
            lambda: describe_death(self._process),
        )


def _md5(password: str) -> str:
    """Return what PostgreSQL before 10 keeps of a password (its manual, pg_authid)."""
    return "md5" + hashlib.md5(f"{password}{USER}".encode(), usedforsecurity=False).hexdigest()
