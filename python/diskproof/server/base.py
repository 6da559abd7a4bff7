"""What every database under test can do: the same few verbs, whatever the server.

A :class:`ServerKind` is one installation that was found; a :class:`Running` is one started server.
The rest of the lab knows no server's options, file names or counters: it asks here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from diskproof.refusal import RefusalError
from diskproof.results.machine import ServerFacts
from diskproof.results.record import Role
from diskproof.results.trial import Setting
from diskproof.results.usage import ServerAccount
from diskproof.server.samples import Samples, Status
from diskproof.study.model import Level
from diskproof.system.processes import Starter

DATABASE = "sbtest"
"""The one database that workloads use; ``initialise`` makes it."""

ANSWER_LIMIT_S = 30.0
"""How long a server may take over a question of the lab; one under full load takes milliseconds."""

SETTLE_LIMIT_S = 4 * 3600.0
"""How long a step of `settle` may take: it may read and rewrite all data, 400 GB at 30 MB/s."""

CHECK_LIMIT_S = 600.0
"""How long a question after a crash may take: it may read a whole table, of hundreds of MB, from a slow disk.

Shorter than for a step of `settle`: what a crash has broken may as well hang for ever."""

RUN_PATH_LIMIT = 90
"""Longest path of ``Dirs.run`` in bytes: a socket's address holds 107 (unix(7)), and servers add a name."""


class ServerError(RefusalError):
    """A server that cannot be used. The message says what was wrong, where, and what to do next."""


class ServerNotFoundError(ServerError):
    """No server of that family where it was looked for, or none that can be used here."""


class ServerFailedError(ServerError):
    """A server that did not do what was asked; the message ends with the last lines of its log."""

    complaints: Sequence[str] = ()
    """Lines of its log that tell of damage, as ``Running.complaints`` has them of a server that came up."""


class ServerTooSlowError(ServerFailedError):
    """A server that took longer than it was given: what would have come of it is not known."""


@dataclass(frozen=True)
class Dirs:
    """Where a server's files lie: six distinct directories that exist and are ours.

    ``data``, ``redo``, ``binlog`` and ``tmp`` are the four roles, empty or restored from a golden
    image; they may share a file system but never a directory.
    """

    data: Path
    redo: Path
    binlog: Path
    tmp: Path
    run: Path
    """Short private path (RUN_PATH_LIMIT) for the socket and the pid file."""
    log: Path
    """Kept with the results: the generated configuration and the error log."""

    def of(self, role: Role) -> Path:
        """Return the directory of one role."""
        return {"data": self.data, "redo": self.redo, "binlog": self.binlog, "tmp": self.tmp}[role]


@dataclass(frozen=True)
class Settings:
    """What is asked of a server, as its own variables; every one of them is read back."""

    common: dict[str, str]
    """Equal at every level: derived from memory, clients and the place of each role."""
    level: dict[str, str]
    """The tuning level, with the user's own variables on top."""
    kept: bool = False
    """True: the data outlive the server, so that a stop writes all of them back. A trial's are thrown
    away, and its stop only ends the server in good order."""
    notes: tuple[str, ...] = ()
    """What this place does not allow, in words: ``tmpfs takes no O_DIRECT …``."""

    def merged(self) -> dict[str, str]:
        """Return all variables; the level wins."""
        return self.common | self.level


class Running(Protocol):
    """One started server, ready for connections."""

    @property
    def pids(self) -> list[int]:
        """All processes of the server at this moment; empty for an embedded one.

        Those that have outlived its main process are among them.
        """

    @property
    def alive(self) -> bool:
        """False once the server has died or was stopped. An embedded one lives until it is stopped.

        Processes of a dead server may still be there (`pids`): `kill` ends them.
        """

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database ``sbtest``."""

    def read_settings(self) -> list[Setting]:
        """Read back every requested variable."""

    def status(self) -> Status:
        """Return the server's own counters and levels; empty where it keeps none."""

    def account(self, told: Samples) -> ServerAccount | None:
        """Return what its statuses of a while say, in words that all families share.

        None where it keeps no account.
        """

    def waiting_sessions(self) -> dict[str, int] | None:
        """Return how many clients' sessions wait for what at this moment, by the server's own names.

        Not those that wait for their client. Asked on a connection of its own, so that another thread may
        ask meanwhile for anything else; None where it does not tell.
        """

    def role_of(self, path: str) -> Role | None:
        """Return the role of a file that the server holds open, by its name first, then its place.

        A redo log in the data directory is still a redo log: the caller finds that it lies wrong.
        None: the file is no role's (error log, pid file, socket, a program's own library).
        """

    def engine(self) -> str | None:
        """Return the storage engine that the server reports for the workload's tables.

        Several engines are joined with commas; None where there are no tables or no engines.
        """

    def settle(self) -> None:
        """Bring freshly loaded tables to rest: statistics gathered, nothing left for the background.

        Without this a server would do it during somebody's measurement.
        """

    def preload(self) -> None:
        """Read all tables and indexes of the workload into the server's memory.

        ServerError where the server has no memory that its clients share, or no means to fill it.
        """

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what one question to the workload's database brings (CHECK_LIMIT_S).

        ServerFailedError where the server does not answer it, as over a page that cannot be read.
        """

    def damage(self) -> list[str]:
        """Return what the server's own checks find wrong with the database's tables and indexes.

        Empty: nothing. One line a finding, the table first; a server that cannot be asked, or that dies of
        the question, is a finding: ask it for `rows` first.
        """

    def complaints(self) -> list[str]:
        """Return the lines of this start's log that tell of damage: corruption, torn pages, a missing log.

        The words of an ordinary crash recovery are not among them. Empty where a server keeps no log.
        """

    def logged_rows(self, table: str, columns: int) -> set[tuple[int, ...]] | None:
        """Return what committed transactions inserted into a table, as the binary log has it.

        Of each row the first `columns` columns, which must be integers; from all files of the log up to where
        it can be read. None where there is no binary log, or no program beside the server that reads it.
        """

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of the server's error log, for messages."""

    def stop(self, deadline_s: float = 60.0) -> bool:
        """End the server in good order; False where the deadline passed and it was killed instead.

        Where ``Settings.kept`` is False the next start of a server recovers as after a crash.
        """

    def kill(self) -> None:
        """Kill every process of the server at once (SIGKILL) and wait until all are gone.

        Also those that have outlived its main process; nothing happens where none is left. One that waits
        for a disk ends when that has answered or failed; ServerFailedError where it never does.
        """


class ServerKind(Protocol):
    """One installation of a server that was found, and how to use it."""

    @property
    def facts(self) -> ServerFacts:
        """What the server's own binary says it is."""

    @property
    def page_bytes(self) -> int:
        """The size of the pages that it reads and writes its tables in."""

    def data_format(self) -> str:
        """Return what a golden image depends on: part of the image's key."""

    def check(self, dirs: Dirs) -> None:
        """Refuse directories that this server cannot use, before anything is started (ServerError)."""

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

        ``redo_bytes`` is the size of the whole redo log; None: as every study has it. ServerError where the
        server has no log of a set size.
        """

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the variables for filling a golden image: nothing synced, no binary log.

        The image must be complete after a clean stop; the caller syncs the files.
        """

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make an empty database ``sbtest`` on empty directories, and stop cleanly.

        A golden image is ``data`` and ``redo``, copied with symbolic links as links.
        """

    def place(self, dirs: Dirs) -> None:
        """Make a restored golden image usable in these directories (links, owners)."""

    def start(self, dirs: Dirs, settings: Settings, starter: Starter, *, deadline_s: float = 60.0) -> Running:
        """Start the server and wait until it takes connections.

        After a crash that includes its recovery, for which `deadline_s` must leave time; what the killed
        server left to mark its place (pid files, sockets) is no hindrance. ServerFailedError, at once, where
        it dies at start-up or refuses a variable; ServerTooSlowError after the deadline.
        """
