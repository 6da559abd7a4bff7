"""What was read from other tools' output: results, settings and articles, each with where it stands."""

from diskproof.results.factor import Factor
from diskproof.results.load import LoadResult
from diskproof.results.record import Record


class Source(Record):
    """Where an imported thing stands."""

    file: str
    """As it was named to us."""
    line: int = 1
    """Where in the file it begins, from 1."""
    format: str
    """What it was recognised as: ``sysbench 1.0 OLTP``."""
    tool: str | None = None
    """The program and its version, as the output itself tells: ``sysbench 1.0.17``."""
    sha256: str = ""
    """Of the whole file."""


class ImportedResult(Record):
    """One measured result of another tool. What its output does not tell is None, and never made up."""

    source: Source
    name: str
    """What tells it from the others that are read with it."""
    levels: dict[Factor, str] = {}
    """The levels of the factors that the file tells, clients apart (``load.clients``)."""
    load: LoadResult
    asked: dict[str, str] = {}
    """What it was asked for, as far as told: ``{"time": "150", "report-interval": "2"}``."""
    interval_s: float | None = None
    """Of the interval lines, where there are any."""
    intervals_per_s: list[float] = []
    """Transactions (or requests) a second of each interval."""
    intervals_latency_us: list[float] = []
    """The latency that each interval line tells, in the unit of `interval_percentile`."""
    interval_percentile: str | None = None
    """Which that is: ``"95"``, or ``"mean"``."""
    warm_up_s: float | None = None
    """None: nothing tells of a warm-up."""
    remarks: list[str] = []
    """What the tool itself said about the result, in short: estimated times, skipped tests, warnings."""


class SeriesOption(Record):
    """An option that servers of one series read, and others pass over: ``[mysqld-8.0]`` stands above it."""

    series: str
    """``8.0``."""
    name: str
    value: str | None
    line: int
    loose: bool = False


class Settings(Record):
    """Variables of a server: as a configuration file asks for them, or as a server answered."""

    source: Source
    observed: bool
    """True: what a server answered (SHOW VARIABLES); False: what an option file asks for."""
    values: dict[str, str | None]
    """By name, lower case, dashes as underscores; None of an option without a value."""
    lines: dict[str, int] = {}
    """Where each stands, from 1; of one that stands twice, the last."""
    repeated: list[str] = []
    """Options that are set more than once."""
    loose: list[str] = []
    """Options that a server may not know: it then passes them over (``loose_`` before their name)."""
    of_series: list[SeriesOption] = []
    """Options that stand beside these and hold on servers of one series alone, in their order."""
    version: str | None = None
    """The server's version, where the dump or the article tells."""


class Counters(Record):
    """SHOW GLOBAL STATUS: counters and levels of a server, since its start."""

    source: Source
    values: dict[str, str]


class Beside(Record):
    """What was given beside results of the server that one of them was measured on."""

    asked: Settings | None = None
    """What its option file asks for."""
    observed: Settings | None = None
    """What it answered to SHOW VARIABLES."""
    counters: list[Counters] = []
    """What it answered to SHOW GLOBAL STATUS, once or more."""
    why_not: str = ""
    """Where something was given and nothing tells that it is this server's: what is not known, in words that
    follow "was not recorded"."""

    @property
    def settings(self) -> Settings | None:
        """What was asked for, or else what was answered."""
        return self.asked or self.observed

    @property
    def files(self) -> list[str]:
        """The files that all of it stands in."""
        told = [one for one in (self.asked, self.observed, *self.counters) if one]
        return list(dict.fromkeys(one.source.file for one in told))
