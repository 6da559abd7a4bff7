"""A server that is a process of its own: how it is started, asked, and what is common to its end."""

import re
from abc import abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, ClassVar

from diskproof.families import of
from diskproof.results.machine import ServerFacts
from diskproof.results.record import Family
from diskproof.server.asked import Asked, Connection
from diskproof.server.base import (
    CHECK_LIMIT_S,
    NO_PLACES,
    Dirs,
    ServerFailedError,
    ServerKind,
    Settings,
    user_variables,
)
from diskproof.server.endpoint import Endpoint, listens_on
from diskproof.server.lifecycle import (
    check_socket_folder,
    clear_run_folder,
    describe_death,
    describe_end,
    describe_silence,
    wait_for_end,
    wait_until,
)
from diskproof.server.log import ServerLog, complaints, refusal, refused_variables, why_not_started
from diskproof.system.containers import Contained, Image
from diskproof.system.processes import Starter
from diskproof.system.programs import Started
from diskproof.system.temporary import temporary_folder

INITIALISE_LIMIT_S = 300.0
"""How long an initialisation may take: a slow disk takes minutes over thousands of small synced writes."""


RECOVERY_LIMIT_S = 3600.0
"""How long the first start on copied data may take, which may be as a crash has left them."""

MOST_REFUSED = 40
"""Variables that are named at once: each may take a question to the program, of 0.1 s."""


class ServerProcess(Asked[Connection]):
    """A started server: a main process, its log, and connections of a driver to it."""

    def __init__(
        self,
        facts: ServerFacts,
        dirs: Dirs,
        settings: Settings,
        process: Started,
        log: ServerLog,
    ) -> None:
        """Hold a process that was just started."""
        super().__init__(facts, dirs, settings)
        self._process = process
        self._log = log

    @property
    def alive(self) -> bool:
        """False once the server's main process has ended; a busy child may outlive it by hours."""
        return self._process.poll() is None

    def _holds(self, name: str, value: str, found: str | None, unit: str) -> bool:
        """Return whether the server, which started with an option, has its value.

        An option without a variable cannot be read back, and -1 leaves a value to the server.
        """
        if found is None or value == "-1":
            return True
        return super()._holds(name, value, found, unit)

    def damage(self) -> list[str]:
        """Return what the server's own checks find wrong."""
        try:
            connection = self._connect(self.database, CHECK_LIMIT_S)
        except self.driver_error as error:
            return [f"{describe_death(self._process)}{self.database} cannot be opened: {error}"]
        with closing(connection):
            return self._damage(connection)

    def complaints(self) -> list[str]:
        """Return the lines of this start's log that report damage."""
        return complaints(self._log.said(), self._family)

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the error log."""
        return self._log.tail(lines)

    def open_endpoint(self) -> None:
        """Admit the account of the run, if clients come from other machines; ServerFailedError if it fails.

        Also if the server listens on anything but the endpoint.
        """
        endpoint = self._settings.endpoint
        if endpoint is None:
            return
        self._admit(endpoint)
        found = listens_on(self.pids)
        if found != {(endpoint.address, endpoint.port)}:
            listed = ", ".join(f"{address}:{port}" for address, port in sorted(found)) or "nothing"
            raise self._failed(
                f"should listen on {endpoint.address}:{endpoint.port} alone, and listens on {listed}"
            )

    @abstractmethod
    def _admit(self, endpoint: Endpoint) -> None:
        """Make the account that an endpoint is for."""

    @abstractmethod
    def _damage(self, connection: Connection) -> list[str]:
        """Return what the server's own checks find wrong, asked on one connection."""

    def _silence(self, waited_s: float, limit_s: float) -> str:
        return describe_silence(self._process, waited_s, limit_s)


class ServerProgram(ServerKind):
    """An installation whose server is a program that is started."""

    refusals: ClassVar[re.Pattern[str]]
    """How the server says that it does not take a variable; one of its groups is the name."""
    logs_progress: ClassVar[bool]
    """Whether it logs how far a slow recovery is, so that one that is silent after damage is stuck."""

    def __init__(
        self, family: Family, name: str, flavour: str, version: str, binary: Path, image: Image | None
    ) -> None:
        """Name an installation as the study does; `image`: what has it, if this machine has it not."""
        self._image = image
        self.facts = ServerFacts(
            name=name,
            family=family,
            flavour=flavour,
            version=version,
            binary=str(binary),
            image=f"{image.name} ({image.engine}, {image.short_id})" if image else None,
        )

    def check(self, dirs: Dirs) -> None:
        """Refuse a socket folder with too long a name."""
        check_socket_folder(dirs.run)

    def start(
        self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0
    ) -> ServerProcess[Any]:
        """Start the server and wait until it takes connections."""
        self.check(dirs)
        clear_run_folder(dirs.run)
        dirs.run.chmod(0o700)  # the superuser has no password: the folder of its socket is the lock
        if settings.endpoint is not None:
            settings.endpoint.lend(dirs.run)
        command = self._configured(dirs, settings)
        log = ServerLog(dirs.error_log)
        process = self._launch(command, dirs, starter)
        running = self._running(dirs, settings, process, log)

        def failure(what: str) -> ServerFailedError:
            error = why_not_started(self.facts, settings, self.refusals, what, log)
            error.complaints = running.complaints()
            return error

        with ExitStack() as undoing:
            undoing.callback(running.kill)
            wait_until(
                running.refuses_connections,
                process,
                deadline_s=deadline_s,
                failure=failure,
                log=log if self.logs_progress else None,
            )
            if isinstance(process, Contained) and not process.is_seen:
                raise failure("runs in a machine of the engine's own, whose processes diskproof does not see")
            running.open_endpoint()
            undoing.pop_all()
        return running

    def check_variables(self, variables: Mapping[str, str], places: Mapping[str, str] = NO_PLACES) -> None:
        """Let the server's program read a configuration of these alone, without a start.

        A program may end at the first one that it refuses: it is asked again without it.
        """
        wanted = user_variables(variables, of(self.facts.family))
        refused: list[str] = []
        while wanted and len(refused) < MOST_REFUSED:
            with temporary_folder() as folder:
                said = self._answer_to(wanted, folder)
            found = refused_variables(said, self.refusals, wanted)
            if not found:
                break
            for name, words in found.items():
                value = wanted.pop(name)
                refused.append(refusal(self.facts, name, value, words, self.known, places.get(name)))
        if refused:
            several = [f"{len(refused)} variables are refused"] if len(refused) > 1 else []
            raise ServerFailedError("\n  ".join([*several, *refused]))

    @abstractmethod
    def _answer_to(self, variables: Mapping[str, str], folder: Path) -> str:
        """Return what the program says to a configuration, written to an empty folder."""

    @abstractmethod
    def _configured(self, dirs: Dirs, settings: Settings) -> list[str]:
        """Write the configuration that the server reads, and return the command that starts it."""

    @abstractmethod
    def _running(
        self, dirs: Dirs, settings: Settings, process: Started, log: ServerLog
    ) -> ServerProcess[Any]:
        """Return the server of a process that was just started."""

    def _user(self) -> str | None:
        """Return the user that the server runs as; None: as we do."""
        return None

    def _launch(self, command: list[str], dirs: Dirs, starter: Starter, stdin: int | None = None) -> Started:
        """Start a program of the installation in the data directory, with its words in the error log."""
        log, user = dirs.error_log, self._user()
        if self._image is None:
            return starter.start(command, log_file=log, user=user, stdin=stdin, cwd=dirs.data)
        return starter.start_in(
            self._image, command, dirs.all(), log_file=log, user=user, stdin=stdin, cwd=dirs.data
        )

    def _make(
        self,
        command: list[str],
        dirs: Dirs,
        starter: Starter,
        stdin: Path | None = None,
        limit_s: float = INITIALISE_LIMIT_S,
    ) -> None:
        """Run a program that makes a database; ServerFailedError with the end of its log."""
        with (stdin or Path("/dev/null")).open("rb") as source:
            process = self._launch(command, dirs, starter, source.fileno())
            if not wait_for_end(process, limit_s) or process.returncode:
                raise ServerFailedError(
                    f"{self.facts.flavour} {self.facts.version} could not make a database in "
                    f"{dirs.data} ({describe_end(process.returncode)}); last lines of {dirs.error_log}:\n"
                    f"{ServerLog(dirs.error_log).tail()}"
                )
