"""A published experiment: how it was made, its figures, and the conclusions."""

from typing import Literal

from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult, Settings, Source
from diskproof.results.published import PublishedMeasure
from diskproof.results.record import Record


class Procedure(Record):
    """How its figures were made; None: the article does not say."""

    repeats: int | None = None
    """Runs of each cell."""
    chosen: Literal["best", "mean", "median", "single"] | None = None
    """What is printed of them."""
    spread_told: bool = False
    """Whether their scatter is told in any way."""
    restart_between: bool | None = None
    """Whether server and data were put back between runs."""
    one_start: bool | None = None
    """Whether the runs of a cell were of one start of the server, such as a tool's iterations."""
    all_ran: bool | None = None
    """Whether each test of its jobs ran, and to its end."""
    randomised: bool | None = None
    """Whether the order of the cells was random."""
    warm_up_s: float | None = None
    measured_s: float | None = None
    tools: list[str] = []
    """The load tools and their versions that it names: ``sysbench 1.0.17``."""
    asked_clients: list[int] = []
    """The numbers of clients that its question is about, if it says them."""
    place: str = ""
    """Where it says so."""


class Counts(Record):
    """What a tool's report prints beside its rates."""

    transactions: int | None = None
    """Of a load on files: its requests."""
    reads: int | None = None
    writes: int | None = None
    others: int | None = None
    """Of a load on files: its syncs."""
    total: int | None = None
    """Of reads, writes and others, as printed."""
    seconds: float | None = None
    latency_sum_s: float | None = None
    """Of all latencies together, as printed."""
    client_mean: float | None = None
    """Transactions or requests of a client, on average, as printed (sysbench: threads fairness)."""
    client_stddev: float | None = None
    """Their standard deviation between clients, as printed."""
    tool: str = ""
    """Whose report it is, as its form shows: ``sysbench 0.4``."""


class Stated(Record):
    """What an article prints of one thing that was measured, in the unit of each measure."""

    name: str
    """Its unique name: its levels, in their order."""
    levels: dict[Factor, str]
    part: str | None = None
    """Of a job of several tests: the test."""
    run: int | None = None
    """Which of several runs it is; None: what is told of all together."""
    table: str
    place: str
    figures: dict[PublishedMeasure, float] = {}
    counts: Counts | None = None

    @property
    def clients(self) -> int | None:
        """How many clients it was measured with; None if it is not told."""
        told = self.levels.get("clients")
        return int(told) if told else None


class Alike(Record):
    """Results that should be the same: controls, and equals by their making."""

    results: list[list[str]]
    """Names of results, in groups; those of one group should be the same."""
    why: str
    place: str = ""


class Gap(Record):
    """A part of a job that was not run, or not to its end."""

    part: str
    kind: Literal["skipped", "extrapolated"]
    why: str
    """Why it was left out, in our own words."""
    matters: str = ""
    """What of the question it would have answered."""
    reported_run: int | None = None
    """How many parts the tool says it ran, this one among them."""
    really_run: int | None = None
    place: str = ""


class DataSize(Record):
    """How much data a load had, against the memory that could hold it."""

    workload: str
    data_bytes: int
    memory_bytes: int
    of: str
    """What that memory is: ``the buffer pool``."""
    derived: str
    """How the size of the data was found."""
    place: str = ""


class Peak(Record):
    """A raw figure of a device that is taken as what the device can give."""

    workload: str
    direction: Literal["read", "write"] | None = None
    order: Literal["random", "sequential"] | None = None
    block_bytes: int | None = None
    direct: bool | None = None
    """Whether it passed the page cache by."""
    taken_for: str = "the peak of each device"
    """What it is taken for."""
    load: str | None = None
    """The load that it should predict, if the article names one."""
    place: str = ""


class Specified(Record):
    """The most that a device's maker promises."""

    storage: str
    workload: str
    """The raw load in the tables that it is about."""
    measure: PublishedMeasure
    most: float
    source: str


class Unreported(Record):
    """What a reader needs to judge the experiment, and does not find in it."""

    what: str
    why: str


class Conditions(Record):
    """What one level of a factor was measured with: all that may differ between levels, as far as told."""

    factor: Factor
    level: str
    facts: dict[str, str]
    """By what they are: ``cpu``, ``cpus``, ``memory``, ``server version``, ``engine``, ``disk``,
    ``file system``, ``memory limit`` … Two levels that are compared should be equal in all but the factor
    itself (named in `under_test`)."""
    open_facts: dict[str, list[str]] = {}
    """What was one of several, and it is not told which."""
    under_test: list[str] = []
    """The facts that the comparison is about."""
    place: str = ""


class Claim(Record):
    """A statement about two results, or about one, as figures: never the article's own sentences."""

    kind: Literal[
        "percent slower",
        "percent faster",
        "percent more",
        "percent of",
        "times as fast",
        "difference",
        "faster",
        "the same",
        "bound by",
    ]
    """``percent slower``: a is p % slower than b. ``percent more``: an increase by p % from b to a.
    ``difference``: a - b, in the unit of the measure. ``faster`` and ``the same`` have no value.
    ``bound by``: what is said to hold a back (`cause`)."""
    says: str
    """The claim in our own words."""
    place: str
    """Its place in the publication."""
    measure: PublishedMeasure
    of: str
    """Name of the result that it is about."""
    than: str | None = None
    """Name of the result that it is compared with.

    A statement about several pairs is as many claims, with the same `says` and `place`.
    """
    value: float | None = None
    at_least: bool = False
    """Whether it was said to be "more than" that."""
    about: bool = False
    """Whether it was said to be rough ("~27", "almost 575")."""
    most: bool = False
    """Whether it was said of most of them, and not of all."""
    cause: str | None = None
    evidence: list[str] = []
    """What was recorded that supports the cause."""
    implied: bool = False
    """Whether it follows from what the article is about, without being said in so many words."""
    printed: bool = True
    """Whether figures of it were printed at all; False: it was a picture, or a sentence alone."""


class Article(Record):
    """A published experiment: a file of ``studies/published/``, or a user's own."""

    source: Source
    title: str
    by: str
    """Who published it, where and when."""
    question: str = ""
    storage_under_test: bool = True
    """Whether it is about storage: then a load that reaches none of it is a control."""
    procedure: Procedure = Procedure()
    conditions: list[Conditions] = []
    settings: list[Settings] = []
    """Option files and levels as published; `Settings.source.format` names the level."""
    stated: list[Stated] = []
    """Everything that it prints; claims and checks of articles speak of these, by their names."""
    results: list[ImportedResult] = []
    """Those that are a rate or a job's seconds once more as results, so that they are audited and reported
    like those read from a tool's own output."""
    claims: list[Claim] = []
    alike: list[Alike] = []
    gaps: list[Gap] = []
    data: list[DataSize] = []
    peaks: list[Peak] = []
    specified: list[Specified] = []
    unreported: list[Unreported] = []
    devices: dict[str, str] = {}
    """Kind of device behind each storage: ``spinning 7200``, ``flash``, ``memory``, ``network``; what physics
    allows follows from it."""

    @property
    def cells(self) -> list[Stated]:
        """What is printed of each cell, without its single runs."""
        return [one for one in self.stated if one.run is None]

    def find(self, name: str) -> Stated | None:
        """Return what is printed under a name; None if nothing is."""
        return next((one for one in self.stated if one.name == name), None)
