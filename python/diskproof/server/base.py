"""What every database under test can do: the same few verbs for each server.

A :class:`ServerKind` is one installation that was found; a :class:`Running` is one started server.
The rest of the lab uses no server's options, file names or counters: it asks here.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from diskproof.families import of
from diskproof.families.facts import FamilyFacts, Level
from diskproof.families.names import VARIABLE
from diskproof.families.samples import Samples, Status
from diskproof.families.values import same
from diskproof.refusal import RefusalError
from diskproof.results.machine import ServerFacts
from diskproof.results.record import ROLES, Role
from diskproof.results.trial import Setting, with_unit
from diskproof.results.usage import ServerAccount
from diskproof.server.endpoint import Endpoint
from diskproof.system.processes import Starter
from diskproof.wording import Message

DATABASE = "sbtest"
"""The one database that workloads use; ``initialise`` makes it."""

ANSWER_LIMIT_S = 30.0
"""How long a server may take to answer the lab; one under full load takes milliseconds."""

SETTLE_LIMIT_S = 4 * 3600.0
"""How long a step of `settle` may take: it may read and rewrite all data, 400 GB at 30 MB/s."""

CHECK_LIMIT_S = 600.0
"""How long a question after a crash may take: it may read a table of hundreds of MB from a slow disk.

Shorter than a step of `settle`, because a server that a crash has broken may never answer."""

RUN_PATH_LIMIT = 90
"""Longest path of ``Dirs.run`` in bytes: a socket's address holds 107 (unix(7)), and servers add a name."""


NO_PLACES: Mapping[str, str] = MappingProxyType({})


class ServerError(RefusalError):
    """A server that cannot be used. The message says what was wrong, where, and what to do next."""


class ServerNotFoundError(ServerError):
    """No server of that family in the place that was searched, or none that can be used here."""


class ServerFailedError(ServerError):
    """A server that failed at what was asked; the message ends with the last lines of its log."""

    complaints: Sequence[str] = ()
    """The lines of its log that report damage, as ``Running.complaints`` has them of a started server."""


class ServerTooSlowError(ServerFailedError):
    """A server that took longer than it was given: whether it would have succeeded is not known."""


@dataclass(frozen=True)
class Dirs:
    """Where a server's files lie: six distinct directories that exist and belong to us.

    ``data``, ``redo``, ``binlog`` and ``tmp`` are the four roles, empty or restored from a golden
    image. They may share a file system but never a directory.
    """

    data: Path
    redo: Path
    binlog: Path
    tmp: Path
    run: Path
    """Short private path (RUN_PATH_LIMIT) for the socket and the pid file."""
    log: Path
    """Kept with the results: the generated configuration and the error log."""

    @property
    def error_log(self) -> Path:
        """Where a server writes its messages."""
        return self.log / "error.log"

    def all(self) -> list[Path]:
        """Return all six."""
        return [self.data, self.redo, self.binlog, self.tmp, self.run, self.log]

    def of(self, role: Role) -> Path:
        """Return the directory of one role."""
        return {"data": self.data, "redo": self.redo, "binlog": self.binlog, "tmp": self.tmp}[role]

    def role_of(self, path: str, facts: FamilyFacts) -> Role | None:
        """Return the role of an open file by its name, then by its folder; None if it has no role.

        A redo log in the data directory is still a redo log: the caller finds that it is misplaced.
        """
        file = Path(path.removesuffix(" (deleted)"))
        for role, pattern in facts.file_roles.items():
            if re.fullmatch(pattern, file.name):
                return role
        return next((role for role in ROLES if file.is_relative_to(self.of(role).resolve())), None)


@dataclass(frozen=True)
class Settings:
    """What is asked of a server, as its own variables; every one of them is read back."""

    common: dict[str, str]
    """Equal at every level: derived from memory, clients and the place of each role."""
    level: dict[str, str]
    """The tuning level, and the user's own variables, which win."""
    kept: bool = False
    """True: the data outlive the server, so that a stop writes all of them back. A trial's are thrown
    away, and its stop only ends the server in good order."""
    notes: tuple[str, ...] = ()
    """What this place does not allow, in words: ``tmpfs takes no O_DIRECT …``."""
    endpoint: Endpoint | None = None
    """Where clients on other machines come in; None: none may."""

    def merged(self) -> dict[str, str]:
        """Return all variables; the level wins."""
        return self.common | self.level


Where = Literal["process", "load generator", "elsewhere"]
"""Where a database works: in processes that we started, inside the load generator, or in a server that was
there already. Of such a server only its own answers are known, even if it is on this machine."""


class Running(ABC):
    """One started server, ready for connections. A family without a feature has the answer below."""

    database: str = DATABASE
    """The workload's database."""
    where: ClassVar[Where] = "process"
    """Where the database works, which decides what can be seen of it."""
    _dirs: Dirs

    def __init__(self, facts: ServerFacts, dirs: Dirs | None, settings: Settings) -> None:
        """Hold where the server's files lie, and what is asked of it. None: its files are out of reach."""
        self.facts = facts
        self._family = of(facts.family)
        self._settings = settings
        self.adjusted: list[Message] = []
        """What the server's program itself makes of variables that were asked for, once they were read."""
        if dirs is not None:
            self._dirs = dirs

    @property
    @abstractmethod
    def pids(self) -> list[int]:
        """All processes of the server now, also those that outlived its main process.

        Empty if it has none of its own here, as `where` says.
        """

    @property
    @abstractmethod
    def alive(self) -> bool:
        """False once the server has died or was stopped; an embedded one lives until it is stopped.

        Processes of a dead server may still be there (`pids`): `kill` ends them.
        """

    @property
    @abstractmethod
    def url(self) -> str:
        """Where diskproof-load finds the workload's database."""

    @property
    def password(self) -> str | None:
        """What diskproof-load must know to connect; None: the server asks for none."""
        return None

    def make_database(self, name: str) -> None:
        """Make an empty database beside the lab's, and use it."""
        self.database = name

    def read_settings(self) -> list[Setting]:
        """Read back every requested variable."""
        observed = self._observed()
        settings = []
        for name, value in self._settings.merged().items():
            found, unit = observed.get(name, (None, ""))
            settings.append(
                Setting(
                    name=name,
                    requested=value,
                    observed=None if found is None else with_unit(found, unit),
                    holds=self._holds(name, value, found, unit),
                    level=name in self._settings.level,
                )
            )
        return settings

    def _holds(self, name: str, value: str, found: str | None, unit: str) -> bool:
        """Return whether a variable has the value that was asked for."""
        del name
        return found is not None and same(value, found, unit=unit)

    @abstractmethod
    def _observed(self) -> Mapping[str, tuple[str, str]]:
        """Return the server's variables, each with the unit that a bare number counts in."""

    def status(self) -> Status:
        """Return the server's own counters and levels; empty if it keeps none."""
        return Status(counters={}, gauges={})

    def account(self, samples: Samples) -> ServerAccount | None:
        """Return what samples of `status` over a while say, in words that all families share."""
        del samples
        return None

    def waiting_sessions(self) -> dict[str, int] | None:
        """Return how many clients' sessions wait for what now, by the server's own names.

        Sessions that wait for their client are left out. It has a connection of its own, so that another
        thread may ask for anything else meanwhile. None if the server does not say.
        """
        return None

    def role_of(self, path: str) -> Role | None:
        """Return the role of a file that the server holds open; None if it has none, as a log or a socket."""
        return self._dirs.role_of(path, self._family)

    def engine(self) -> str | None:
        """Return the storage engines of the workload's tables, joined with commas; None if there are none."""
        return None

    @abstractmethod
    def settle(self) -> None:
        """Bring new tables to rest: statistics gathered, nothing left for the background.

        Otherwise the server would do it during a measurement.
        """

    @abstractmethod
    def preload(self) -> None:
        """Read all tables and indexes of the workload into the memory that clients share.

        ServerError if there is no such memory, or no means to fill it.
        """

    @abstractmethod
    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the answer to one question to the workload's database, within CHECK_LIMIT_S.

        ServerFailedError if the server does not answer, for example because it cannot read a page.
        """

    @abstractmethod
    def damage(self) -> list[str]:
        """Return what the server's own checks find wrong with the database's tables and indexes.

        One line a finding, the table first. A server that cannot be asked, or that dies of the question, is a
        finding too: ask for `rows` first.
        """

    def complaints(self) -> list[str]:
        """Return the lines of this start's log that report damage: corruption, torn pages, a missing log.

        The words of an ordinary crash recovery are not among them.
        """
        return []

    def logged_rows(self, table: str, columns: int) -> set[tuple[int, ...]] | None:
        """Return the rows that committed transactions inserted into a table, by the binary log.

        `table` is a pattern of names. Of each row the first `columns` columns, which must be integers. All
        files of the log are read, as far as they can be. None if there is no binary log, or no program beside
        the server that reads it.
        """
        del table, columns
        return None

    @abstractmethod
    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the server's error log, for messages."""

    @abstractmethod
    def stop(self, deadline_s: float = 60.0) -> bool:
        """End the server in good order; False if the deadline passed and it was killed instead.

        If ``Settings.kept`` is False, the next start recovers as after a crash.
        """

    @abstractmethod
    def kill(self) -> None:
        """Kill every process of the server at once (SIGKILL), and wait until all are gone.

        Also those that outlived its main process; nothing happens if none is left. A process that waits for a
        disk ends when the disk has answered or failed; ServerFailedError if it never does.
        """


class ServerKind(ABC):
    """One installation of a server that was found, and how to use it."""

    facts: ServerFacts
    """What the server's own binary says it is."""

    @property
    def page_bytes(self) -> int:
        """The size of the pages that it reads and writes tables in."""
        return of(self.facts.family).page_bytes

    @abstractmethod
    def data_format(self) -> str:
        """Return what a golden image depends on: part of the image's key."""

    @abstractmethod
    def check(self, dirs: Dirs) -> None:
        """Refuse directories that this server cannot use, before anything is started (ServerError)."""

    def check_reach(self, directory: Path) -> None:  # noqa: B027 - most servers run as who we are
        """Refuse a directory that the server's user cannot reach, whether or not it exists yet."""

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
        """Return the variables for one trial. ``memory_bytes`` is the buffer pool (or cache) alone.

        ``redo_bytes`` is the size of the whole redo log; None: as every study has it. ServerError for a
        variable that is not the user's to set, and for the size of a log that has none.
        """
        family = of(self.facts.family)
        tuned = family.tuned(level) | user_variables(variables, family)
        made = self._settings(dirs, tuned, memory_bytes, max_clients)
        return made if redo_bytes is None else self._with_redo_log(made, redo_bytes)

    def _with_redo_log(self, settings: Settings, size_bytes: int) -> Settings:
        """Return settings with a redo log of that size."""
        del settings, size_bytes
        title = of(self.facts.family).title
        raise ServerError(f"the log of {title} has no set size: leave the redo log's size out")

    @abstractmethod
    def _settings(self, dirs: Dirs, tuned: dict[str, str], memory_bytes: int, max_clients: int) -> Settings:
        """Return the variables for one trial, given those of its tuning level."""

    def opened(self, settings: Settings, endpoint: Endpoint) -> Settings:
        """Return settings with which clients on other machines may connect."""
        return replace(settings, endpoint=endpoint)

    def keeping(self, settings: Settings) -> Settings:
        """Return settings with which a stop writes all data back, so that the next start recovers nothing."""
        return replace(settings, kept=True)

    def why_no_preload(self) -> str:
        """Return what is missing to read all tables into memory before a trial; empty if nothing is."""
        return ""

    @property
    def known(self) -> Collection[str]:
        """The names of the server's options, as far as its program lists them."""
        return ()

    def check_variables(self, variables: Mapping[str, str], places: Mapping[str, str] = NO_PLACES) -> None:
        """Ask the server itself, before it has data, whether it takes a study's variables (ServerError).

        `places` are the lines of option files that some of them stand in.
        """
        del places
        user_variables(variables, of(self.facts.family))

    @abstractmethod
    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the variables for filling a golden image: nothing synced, no binary log.

        The image must be complete after a clean stop; the caller syncs the files.
        """

    @abstractmethod
    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database ``sbtest`` on empty directories, and stop cleanly.

        A golden image is ``data`` and ``redo``, copied with symbolic links as links.
        """

    def check_data(self, data: Path) -> None:  # noqa: B027 - a study refuses it for an embedded one
        """Refuse a stopped server's own data directory that this server cannot use (ServerError)."""

    def adopt(self, dirs: Dirs, starter: Starter) -> None:  # noqa: B027
        """Make the copy of a checked data directory, which lies in ``data``, one of ours; stop cleanly."""

    def place(self, dirs: Dirs) -> None:
        """Make a restored golden image usable in these directories (links, owners)."""
        del dirs

    @abstractmethod
    def start(self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0) -> Running:
        """Start the server and wait until it takes connections.

        After a crash that includes its recovery, for which `deadline_s` must leave time. Pid files and
        sockets of a killed server do not hinder it. ServerFailedError at once if it dies at start-up or
        refuses a variable; ServerTooSlowError after the deadline.
        """


def connections(max_clients: int) -> str:
    """Return how many connections a server must take.

    Two for each client, because one may connect anew before the server has ended its last session. Ten more
    are for the lab, the server's reserve for its superuser, and a person who looks in.
    """
    return str(max_clients * 2 + 10)


def user_variables(variables: Mapping[str, str], family: FamilyFacts) -> dict[str, str]:
    """Return the user's own variables under the server's spelling of their names."""
    wanted = {}
    for given, value in variables.items():
        name = variable_name(given)
        if name in family.places:
            raise ServerError(
                f"variable {given} says where files lie: leave it out, "
                "and give the role a place in the study's storage layout"
            )
        if name == family.memory_variable:
            raise ServerError(f"variable {given} is the study's memory factor: set memory instead")
        wanted[name] = value
    return wanted


def variable_name(given: str) -> str:
    """Return the server's spelling of a variable's name; ServerError if it is none."""
    name = given.replace("-", "_").lower()
    if not VARIABLE.fullmatch(name):
        raise ServerError(f"{given!r} is not the name of a server variable; correct it in the study's tuning")
    return name
