"""One installation of PostgreSQL: what it needs, made and started."""

import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from diskproof.families.postgresql import POSTGRESQL
from diskproof.server.base import DATABASE, Dirs, ServerError, Settings
from diskproof.server.endpoint import Endpoint
from diskproof.server.lifecycle import answer_once, complaint_of, is_on_zfs
from diskproof.server.log import ServerLog
from diskproof.server.postgresql import cluster, options
from diskproof.server.postgresql.installation import Installation
from diskproof.server.postgresql.running import PostgresqlRunning
from diskproof.server.process import RECOVERY_LIMIT_S, ServerProcess, ServerProgram
from diskproof.server.unprivileged import check_reach, give_to, unprivileged_user
from diskproof.system.processes import Starter
from diskproof.system.programs import Started
from diskproof.system.shared_memory import Owner
from diskproof.system.temporary import temporary_folder

INITIAL_MEMORY_BYTES = 16 * 2**20

LIBRARIES = ("shared_preload_libraries", "session_preload_libraries", "local_preload_libraries")
"""Parameters that name libraries; a server does not start, or takes no connection, without one of them."""


class PostgresqlServer(ServerProgram):
    """A found PostgreSQL."""

    logs_progress = False
    refusals = re.compile(
        r'unrecognized configuration parameter "([\w.]+)"'
        r'|invalid value for parameter "([\w.]+)"'
        r'|outside the valid range for parameter "([\w.]+)"'
        r'|parameter "([\w.]+)" (?:cannot|requires)'
    )

    def __init__(self, installation: Installation, name: str) -> None:
        """Name an installation as the study does."""
        version, binary = installation.version_text, installation.binary
        super().__init__("postgresql", name, "PostgreSQL", version, binary, installation.image)
        self.installation = installation

    def data_format(self) -> str:
        """Return what a golden image depends on."""
        inside = f", image {self._image.short_id}" if self._image else ""
        return f"PostgreSQL {self.installation.version_text}, C.UTF-8, data checksums{inside}"

    def check(self, dirs: Dirs) -> None:
        """Refuse directories that the server's user cannot reach, and too long a socket folder."""
        super().check(dirs)
        for directory in (dirs.data, dirs.redo, dirs.tmp, dirs.run):
            self.check_reach(directory)

    def check_reach(self, directory: Path) -> None:
        """Refuse a directory that the server's user cannot reach."""
        if (user := self._user()) and self._image is None:
            check_reach(user, directory)

    def _user(self) -> str | None:
        return unprivileged_user()

    def _settings(self, dirs: Dirs, tuned: dict[str, str], memory_bytes: int, max_clients: int) -> Settings:
        common = options.common(self.installation, memory_bytes, max_clients)
        if not is_on_zfs(dirs.redo) or self.installation.version < (12,):
            return Settings(common, tuned)
        # ZFS writes a file anew even if it was filled with zeros or renamed to be used again.
        common |= {"wal_init_zero": "off", "wal_recycle": "off"}
        note = f"{dirs.redo} lies on ZFS, which never writes in place: old WAL files are not used again"
        return Settings(common, tuned, notes=(f"{note} (wal_recycle = off, wal_init_zero = off)",))

    def opened(self, settings: Settings, endpoint: Endpoint) -> Settings:
        """Return the settings of a server with an endpoint, which is not closed as the others' is."""
        common = {**settings.common, "listen_addresses": endpoint.address}
        return replace(settings, common=common, endpoint=endpoint)

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the variables for filling a golden image: the unsafe level."""
        del dirs
        common = options.common(self.installation, memory_bytes, max_clients)
        # The lab settles the tables when all rows are there; an earlier vacuum would be done again.
        common |= {"autovacuum": "off", "maintenance_work_mem": "128MB"}
        return Settings(common, POSTGRESQL.tuned("unsafe"), kept=True)

    def _answer_to(self, variables: Mapping[str, str], folder: Path) -> str:
        (folder / "postgresql.conf").write_text(options.conf_file(variables))
        # `-C` reads the whole configuration and starts nothing, so root may ask, too.
        asked = ("-C", "fsync", "-D", str(folder))
        said = complaint_of(self.installation.binary, *asked, image=self._image, folders=[folder])
        # Libraries are loaded at a start only.
        named, folder = (
            [(name, variables.get(name, "")) for name in LIBRARIES],
            self.installation.programs.parent,
        )
        return said + "".join(
            f'invalid value for parameter "{name}": {folder} has no library {one}\n'
            for name, value in named
            for one in map(str.strip, value.replace('"', "").split(","))
            if not self.installation.has_library(one)
        )

    def why_no_preload(self) -> str:
        """Return the extension that is missing to preload."""
        missing = not self.installation.has_library("pg_prewarm")
        return "it lacks the extension pg_prewarm (postgresql-contrib)" if missing else ""

    @property
    def known(self) -> Collection[str]:
        """The names of the parameters that the program lists."""
        listed = answer_once(self.installation.binary, "--describe-config", image=self._image)
        return [line.partition("\t")[0].lower() for line in listed.splitlines()]

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database on empty directories."""
        self.check(dirs)
        give_to(self._user(), dirs.data, dirs.redo, dirs.tmp, dirs.run)
        starter.shares_memory(dirs.data)
        self._make(cluster.initdb(self.installation, dirs), dirs, starter)
        self._make_ours(dirs, starter)

    def check_data(self, data: Path) -> None:
        """Refuse a cluster that this server cannot use."""
        cluster.check_data(self.installation, data)

    def adopt(self, dirs: Dirs, starter: Starter) -> None:
        """Make a copied cluster ours: its log on the redo role, a superuser, a database."""
        command = cluster.adopt(self.installation, dirs)
        give_to(self._user(), dirs.data, dirs.redo, dirs.tmp, dirs.run)
        with temporary_folder() as folder:
            script = folder / "ours.sql"
            script.write_text(cluster.OURS)
            self._make(command, dirs, starter, stdin=script, limit_s=RECOVERY_LIMIT_S)
        self._make_ours(dirs, starter)

    def _make_ours(self, dirs: Dirs, starter: Starter) -> None:
        cluster.link_temporary_files(dirs)
        give_to(self._user(), dirs.data, dirs.tmp)
        settings = self.loading_settings(dirs, memory_bytes=INITIAL_MEMORY_BYTES, max_clients=1)
        running = self.start(dirs, settings, starter)
        assert isinstance(running, PostgresqlRunning)
        try:
            running.make_tablespace()
            running.make_database(DATABASE)
        finally:
            stopped = running.stop()
        if not stopped:
            raise ServerError(f"the server did not stop in {dirs.data}, so its data cannot be trusted")

    def place(self, dirs: Dirs) -> None:
        """Point the links of a restored cluster at these directories and give the files to its user."""
        cluster.place(self.installation, dirs, self._user())

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> ServerProcess[Any]:
        """Start the server and wait until it takes connections."""
        starter.shares_memory(dirs.data)
        return super().start(dirs, settings, starter, deadline_s=deadline_s)

    def _configured(self, dirs: Dirs, settings: Settings) -> list[str]:
        cluster.remove_stale_pid_file(dirs)
        written = dirs.log / "postgresql.conf"  # kept with the results
        written.write_text(options.configuration(dirs, settings.merged(), settings.endpoint))
        if settings.endpoint is not None:
            (dirs.run / options.ACCESS).write_text(options.access(self.installation, settings.endpoint))
        shutil.copyfile(written, dirs.data / "postgresql.conf")
        give_to(self._user(), dirs.run)
        return [str(self.installation.binary), "-D", str(dirs.data)]

    def _running(self, dirs: Dirs, settings: Settings, process: Started, log: ServerLog) -> PostgresqlRunning:
        running = PostgresqlRunning(self.facts, dirs, settings, process, log)
        running.version = self.installation.version
        running.memory = Owner.of(dirs.data)
        return running
