"""One installation of the MySQL family: what it needs, made and started."""

import re
from collections.abc import Mapping
from pathlib import Path

from diskproof.results.machine import ServerFacts
from diskproof.server.base import Dirs, ServerFailedError, Settings
from diskproof.server.lifecycle import (
    ServerLog,
    check_socket_folder,
    clear_run_folder,
    wait_until,
    why_not_started,
)
from diskproof.server.mysql import bootstrap, options
from diskproof.server.mysql.installation import Installation
from diskproof.server.mysql.running import MysqlRunning
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
        return options.settings(
            self.installation,
            dirs,
            level=level,
            memory_bytes=memory_bytes,
            max_clients=max_clients,
            variables=variables,
            redo_bytes=redo_bytes or options.REDO_BYTES,
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
    ) -> MysqlRunning:
        """Start the server and wait until it takes connections."""
        self.check(dirs)
        clear_run_folder(dirs.run)
        log = ServerLog(options.error_log(dirs))
        process = starter.start(
            [str(self.installation.binary), f"--defaults-file={self._configure(dirs, settings)}"],
            log_file=log.path,
            cwd=dirs.data,
        )
        running = MysqlRunning(self.installation, self.facts, dirs, settings, process, log)

        def failure(what: str) -> ServerFailedError:
            error = why_not_started(self.facts, settings, _REFUSED, what, log)
            error.complaints = running.complaints()
            return error

        wait_until(running.takes_connections, process, deadline_s=deadline_s, failure=failure, log=log)
        return running

    def _configure(self, dirs: Dirs, settings: Settings) -> Path:
        """Write the one configuration file that the server reads."""
        dirs.run.chmod(0o700)  # root has no password: the folder of its socket is the lock
        path = dirs.log / "my.cnf"
        path.write_text(options.configuration(self.installation, dirs, settings.merged()))
        return path


_REFUSED = re.compile(
    r"unknown (?:variable|option) '(?:--)?([\w-]+)"
    r"|ambiguous option '(?:--)?([\w-]+)"
    r"|Error while setting value '[^']*' to '([\w-]+)'"
    r"|Unknown suffix '.' used for variable '([\w-]+)'"
    r"|option '([\w-]+)' (?:requires|cannot)",
)
"""How servers of all ages say that they do not take an option."""
