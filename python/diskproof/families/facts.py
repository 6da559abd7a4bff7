"""What is declared of each server family: the record that a family fills, and the records in it."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeGuard, get_args

from diskproof.families.options import Names, Number, Server
from diskproof.families.samples import Status
from diskproof.families.values import Values
from diskproof.results.limit import Limit
from diskproof.results.record import Family, Flavour, Protocol, Record, Role
from diskproof.wording import Message

Level = Literal["safest", "fast", "unsafe"]
"""The tuning levels that every server family has.

``safest``: every acknowledged commit survives a power cut on an honest disk, and so does the binary log;
except torn pages on MySQL from 8.0.20 on, see `innodb_doublewrite`. ``fast``: a crash of the operating system
or a power cut may lose the last moments; nothing is ever inconsistent. ``unsafe``: such a crash may leave a
database that cannot be used.

The levels are those of the Juju charm for MySQL (2015). What a level loses differs between servers, as the
reasons say: label a result by the measured loss, not by the name.
"""

LEVELS: tuple[Level, ...] = get_args(Level)


class Tuned(Record):
    """One server variable at the three levels; None leaves it to the common configuration."""

    name: str
    safest: str | None = None
    fast: str | None = None
    unsafe: str | None = None
    reason: str

    def at(self, level: Level) -> str | None:
        """Return the value at one level."""
        return {"safest": self.safest, "fast": self.fast, "unsafe": self.unsafe}[level]


@dataclass(frozen=True)
class Need:
    """What one variable must be for commits to be flushed, and to survive a power cut.

    Values are in lower case, as servers report them.
    """

    otherwise: str = ""
    """What a power cut may take if the value is none of `keeps`."""
    keeps: frozenset[str] | None = None
    """The values with which it takes nothing; None: the variable has no part in that."""
    log: Role | None = None
    """The log whose flush the variable decides about."""
    called: str = ""
    """What that log is called: ``redo log``."""
    waits: frozenset[str] = frozenset()
    """The values with which every commit waits for that flush."""
    never: frozenset[str] = frozenset()
    """The values with which no commit does; not asked for the family's first log."""


class FamilyFacts(Record):
    """One server family: data from its ``facts.toml``, and rules that are functions of settings.

    A family that speaks another's protocol copies that one's facts and replaces what differs.
    """

    name: Family
    title: str
    """As sentences name it: ``PostgreSQL``, ``the MySQL family``."""
    called: Names
    """What people call its servers in the names of files and levels, and by mistake in a study file."""
    protocol: Protocol | None = None
    """None: it runs inside its client."""
    flavours: dict[str, Flavour] = {}
    """Its servers, by words in what they say of their version; the first that fits."""
    others: dict[str, str] = {}
    """Servers of other families that speak its protocol, too, by such words."""
    page_bytes: int
    """Size of the pages that it reads and writes tables in."""
    tuning: tuple[Tuned, ...]

    option_file: str = ""
    """The usual name of its option file; empty: it has none."""
    asked_by: str = "SHOW VARIABLES"
    """The statement that the server answers with its variables."""
    memory_variable: str
    """The variable that a study's memory factor sets."""
    memory_unit_bytes: int = 1
    """What a bare number of that variable counts in."""

    log_roles: tuple[Role, ...]
    """Roles whose flush a commit waits for, in that order; recovery reads the first."""
    embedded: bool = False
    """Whether it runs inside the load generator: one writer at a time, and a cache for each client."""
    engine: str | None = None
    """The storage engine with durable commits; None: its tables have no engines."""
    sized_redo_log: bool = False
    """Whether a study can set the size of its redo log."""

    file_roles: dict[Role, str] = {}
    """Patterns of the file names that mean a role wherever the file lies."""
    damage: dict[str, str] = {}
    """Patterns of log lines that report damage, each with its meaning; upper and lower case are the same."""
    harmless: dict[str, str] = {}
    """Patterns of log lines that look like damage and are not."""
    waits: dict[Limit, Names] = {}
    """Waits of sessions, by the limit that they are evidence of; ``Lock:*`` means all of that type."""
    gauges: str = ""
    """A pattern of the server's own figures that are levels, and not counted from its start."""
    settings_formats: Names = ()
    """Formats of imported settings that only this family has."""
    groups_binlog_since: dict[Flavour, Number] = {}
    """From which version on commits share a flush of the binary log, by flavour."""
    group_delays: dict[str, str] = {}
    """Variables with which a commit waits a moment for others to share its flush, with their first server."""
    tools: Names = ()
    """Other load generators for this family alone, by the format of their output."""
    drivers: Names = ()
    """What other load generators call its driver."""
    places: Names = ()
    """Options that say where files lie: they belong to the storage layout, not to a tuning."""
    ours: str = "(?!)"
    """A pattern of other options of a file that the lab decides: connections, other servers, what the data
    were made with, and commands that write elsewhere."""
    adds_up: str = "(?!)"
    """A pattern of options that may stand several times, each line in addition to the others."""
    read_as: dict[str, str] = {}
    """Variables that tell the value of an option, on servers that have none of the option's name."""

    needs: Callable[[Values], Mapping[str, Need]]
    """What some settings need of each variable that bears on durability."""
    relaxed: Callable[[Values], dict[str, str]]
    """The variables with which no commit waits for a flush, while all else stays as it is."""
    defaults: Callable[[Values, Server], Mapping[str, str]] = lambda *_: {}
    """The defaults of such variables, beside some settings of a server of known version."""
    possible: tuple[Server, ...] = ()
    """One server for each set of those defaults. If the server is not known, what all of them do holds."""
    contradictions: Callable[[Values, Server], Iterable[Message]] = lambda *_: ()
    """Settings of durability that contradict each other."""

    @property
    def known(self) -> frozenset[str]:
        """The names of the variables that the rules here are about."""
        return frozenset(self.needs({})) | {tuned.name for tuned in self.tuning} | {self.memory_variable}

    def limit_of_wait(self, wait: str) -> Limit | None:
        """Return the limit that a session's wait is evidence of; None if it is of none."""
        names = {wait, f"{wait.partition(':')[0]}:*"}
        return next((limit for limit, waits in self.waits.items() if not names.isdisjoint(waits)), None)

    def status(self, figures: Iterable[tuple[str, object]]) -> Status:
        """Sort a server's own figures into counters and levels; what is no number is left out."""
        values = {name: float(value) for name, value in figures if is_number(value)}
        levels = {name for name in values if re.fullmatch(self.gauges, name)}
        return Status(
            counters={name: value for name, value in values.items() if name not in levels},
            gauges={name: value for name, value in values.items() if name in levels},
        )

    def has_commits(self, engine: str | None) -> bool:
        """Return whether tables of this engine have commits that the server logs; True if it is not known."""
        return self.engine is None or engine is None or engine.lower() == self.engine.lower()

    def tuned(self, level: Level) -> dict[str, str]:
        """Return the variables that a level sets."""
        values = {tuned.name: tuned.at(level) for tuned in self.tuning}
        return {name: value for name, value in values.items() if value is not None}


def is_number(value: object) -> TypeGuard[float | str]:
    """Return whether a figure is a number, or a text of one."""
    is_text = isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value) is not None
    return isinstance(value, int | float) or is_text


def read(family: Family) -> dict[str, Any]:
    """Return the data of a family's ``facts.toml``."""
    text = (files(__package__) / family / "facts.toml").read_text(encoding="utf-8")
    return {"name": family, **tomllib.loads(text)}
