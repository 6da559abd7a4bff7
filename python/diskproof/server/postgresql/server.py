"""One installation of PostgreSQL: what it needs, made and started."""

import re
import shutil
from collections.abc import Mapping

from diskproof.results.machine import ServerFacts
from diskproof.server.account import check_reach, give_to, unprivileged_user
from diskproof.server.base import Dirs, ServerError, ServerFailedError, Settings
from diskproof.server.lifecycle import (
    ServerLog,
    check_socket_folder,
    clear_run_folder,
    wait_until,
    why_not_started,
)
from diskproof.server.postgresql import cluster, options
from diskproof.server.postgresql.installation import Installation
from diskproof.server.postgresql.running import PostgresqlRunning
from diskproof.study.model import Level
from diskproof.system.processes import Starter

INITIAL_MEMORY_BYTES = 16 * 2**20


class PostgresqlServer:
    """A found PostgreSQL."""

    def __init__(self, installation: Installation, name: str) -> None:
        """Name an installation as the study does."""
        self.installation = installation
        self.facts = ServerFacts(
            name=name,
            family="postgresql",
            flavour="PostgreSQL",
            version=installation.version_text,
            binary=str(installation.binary),
        )

    page_bytes = options.PAGE_BYTES

    def data_format(self) -> str:
        """Return what a golden image depends on."""
        return f"PostgreSQL {self.installation.version_text}, C.UTF-8, data checksums"

    def check(self, dirs: Dirs) -> None:
        """Refuse directories that the server's user cannot reach, and too long a socket folder."""
        check_socket_folder(dirs.run)
        user = unprivileged_user()
        if user:
            check_reach(user, dirs)

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
        """Return the variables for one trial."""
        if redo_bytes is not None:
            raise ServerError("PostgreSQL's WAL has no set size: set `max_wal_size` in the study's tuning")
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
        del dirs
        return options.loading_settings(self.installation, memory_bytes=memory_bytes, max_clients=max_clients)

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database on empty directories."""
        self.check(dirs)
        cluster.make(self.installation, dirs, unprivileged_user(), starter)
        settings = self.loading_settings(dirs, memory_bytes=INITIAL_MEMORY_BYTES, max_clients=1)
        running = self.start(dirs, settings, starter)
        try:
            running.make_database()
        finally:
            running.stop()

    def place(self, dirs: Dirs) -> None:
        """Point the links of a restored cluster at these directories and give the files to its user."""
        cluster.place(self.installation, dirs, unprivileged_user())

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> PostgresqlRunning:
        """Start the server and wait until it takes connections."""
        self.check(dirs)
        user = unprivileged_user()
        clear_run_folder(dirs.run)
        cluster.remove_stale_pid_file(dirs)
        self._configure(dirs, settings, user)
        log = ServerLog(cluster.error_log(dirs))
        process = starter.start(
            [str(self.installation.binary), "-D", str(dirs.data)],
            log_file=log.path,
            user=user,
            cwd=dirs.data,
        )
        running = PostgresqlRunning(self.installation, dirs, settings, process, log)

        def failure(what: str) -> ServerFailedError:
            error = why_not_started(self.facts, settings, _REFUSED, what, log)
            error.complaints = running.complaints()
            return error

        wait_until(running.takes_connections, process, deadline_s=deadline_s, failure=failure)
        for segment in running.shared_memory():
            starter.adopt(segment, handles=options.SHARED_MEMORY.name)
        return running

    def _configure(self, dirs: Dirs, settings: Settings, user: str | None) -> None:
        """Write the cluster's one configuration file, and keep a copy with the results."""
        dirs.run.chmod(0o700)  # the superuser has no password: the folder of its socket is the lock
        written = dirs.log / "postgresql.conf"
        written.write_text(options.configuration(dirs, settings.merged()))
        shutil.copyfile(written, dirs.data / "postgresql.conf")
        if user:
            give_to(user, dirs.run)


_REFUSED = re.compile(
    r'unrecognized configuration parameter "([\w.]+)"'
    r'|invalid value for parameter "([\w.]+)"'
    r'|outside the valid range for parameter "([\w.]+)"'
    r'|parameter "([\w.]+)" (?:cannot|requires)'
)
"""How PostgreSQL says that it does not take a parameter."""
