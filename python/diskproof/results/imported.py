"""What was read from other tools' output: results and settings, each with its source."""

from typing import Literal

from diskproof.results.factor import Factor
from diskproof.results.load import LoadResult
from diskproof.results.record import Record
from diskproof.wording import Message, say

OF_CLIENTS = (
    *("threads", "num-threads", "clients", "number of clients", "number of threads", "terminals"),
    *("concurrency", "numjobs", "iodepth"),
)
"""Options that the number of clients is."""


class Source(Record):
    """The file and line of an imported thing."""

    file: str
    """As it was named to us."""
    line: int = 1
    """Its first line, from 1."""
    format: str
    """What it was recognised as: ``sysbench 1.0 OLTP``."""
    tool: str | None = None
    """The program and its version, as the output itself says: ``sysbench 1.0.17``."""
    sha256: str = ""
    """Of the whole file."""


class ImportedResult(Record):
    """One measured result of another tool. A figure that its output does not have is None, never made up."""

    source: Source
    name: str
    """A name that no other result read with it has."""
    levels: dict[Factor, str] = {}
    """The levels of the factors that the file names, except clients (``load.clients``)."""
    load: LoadResult
    asked: dict[str, str] = {}
    """What it was asked for, as far as told: ``{"time": "150", "report-interval": "2"}``."""
    interval_s: float | None = None
    """Of the interval lines, if there are any."""
    intervals_per_s: list[float] = []
    """Transactions (or requests) a second of each interval."""
    intervals_latency_us: list[float] = []
    """The latency of each interval line, in the unit of `interval_percentile`."""
    interval_percentile: str | None = None
    """Which that is: ``"95"``, or ``"mean"``."""
    warm_up_s: float | None = None
    """None: no warm-up is recorded."""
    heading: str = ""
    """The words that stand above the output in its file, if it is part of a post or of notes."""
    numbered: bool = False
    """Whether that heading numbers a repeat: ``Run 2``."""
    remarks: list[str] = []
    """What the tool itself said about the result, in short: estimated times, skipped tests, warnings."""


class AskedOption(Record):
    """One line of an option file."""

    name: str
    """Lower case, dashes as underscores, without ``loose_``."""
    value: str | None
    """None of an option without a value."""
    line: int
    file: str = ""
    """The included file that it stands in; empty: the option file itself."""
    group: str = ""
    """``mysqld-8.0`` of the MySQL family; empty if the file has no groups."""
    loose: bool = False
    """Whether a server passes it over if it does not know it (``loose_`` before its name)."""


class Settings(Record):
    """Variables of a server: as a configuration file asks for them, or as a server answered."""

    source: Source
    observed: bool
    """True: what a server answered (SHOW VARIABLES); False: what an option file asks for."""
    values: dict[str, str | None]
    """By name, lower case, dashes as underscores; None of an option without a value. Of an option file, what
    all servers of its family read."""
    options: list[AskedOption] = []
    """The lines of an option file in their order, also those that only some servers read."""
    included: list[str] = []
    """The files that were read because it includes them."""
    missing: list[str] = []
    """What it includes and could not be read; anything may stand there."""
    last_line: int = 0
    """The last line of the file that belongs to it."""
    version: str | None = None
    """The server's version, if the answer has it."""


Misfit = Literal["another kind", "another version", "whether", "which"]
"""Settings are of another kind or version of server, or it is open whether or which of them are its own."""

_MISSING: dict[Misfit, str] = {
    "another kind": "the server's settings (those given, {files}, are of another kind of server)",
    "another version": "the server's settings (those given, {files}, are of another version of it)",
    "whether": "whether the settings given ({files}) are this server's",
    "which": "which of the settings given ({files}) are this server's",
}


class Beside(Record):
    """What was given beside results of the server that one of them was measured on."""

    asked: Settings | None = None
    """What its option file asks for."""
    observed: Settings | None = None
    """What it answered to SHOW VARIABLES."""
    misfit: Misfit | None = None
    """Why what was given does not count as this server's."""
    given: list[str] = []
    """The files of what does not count."""

    def missing(self) -> Message:
        """Return what was not recorded: of what was given, why it does not count."""
        return say(_MISSING[self.misfit], files=self.given) if self.misfit else say("the server's settings")

    @property
    def settings(self) -> Settings | None:
        """What was asked for, or else what was answered."""
        return self.asked or self.observed

    @property
    def files(self) -> list[str]:
        """The files that all of it stands in."""
        told = [one for one in (self.asked, self.observed) if one]
        return list(dict.fromkeys(one.source.file for one in told))
