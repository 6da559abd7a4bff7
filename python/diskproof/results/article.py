"""A published experiment: how it was made, its figures, and the conclusions.

The parts with descriptions are also the keys of an article's TOML file: one declaration serves both.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult, Settings, Source
from diskproof.results.published import PublishedMeasure
from diskproof.results.record import Record
from diskproof.results.size import Size

Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Clients = Annotated[int, Field(ge=1, le=1_000_000)]
Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Figure = Annotated[float, Field(gt=0, allow_inf_nan=False)]

MOST_ENTRIES = 500
"""Of each kind in one article: more is a mistake of the file, or meant to do harm."""


class Written(Record):
    """A part that a person writes: numbers in quotes are refused, and `true` for 1."""

    model_config = ConfigDict(strict=True)


class About(Written):
    """What an article is about."""

    question: str = Field("", max_length=2_000, description="What it asks")
    storage_under_test: bool = Field(
        True, description="Whether it is about storage: then a load that reaches none of it is a control"
    )
    asked_clients: list[Clients] = Field([], description="The numbers of clients that its question is about")
    pictured_clients: Clients | None = Field(
        None, description="The most clients of its pictures, if they have more than its tables"
    )
    tools: list[Words] = Field([], description="The load tools and their versions that it names")


class Procedure(Written):
    """How the figures were made; what is left out counts as not reported."""

    repeats: Annotated[int, Field(ge=1)] | None = Field(None, description="Runs of each cell")
    chosen: Literal["best", "mean", "median", "single"] | None = Field(
        None, description="What is printed of them"
    )
    spread_told: bool = Field(False, description="Whether their scatter is reported in any way")
    restart_between: bool | None = Field(
        None, description="Whether server and data were put back between runs"
    )
    one_start: bool | None = Field(
        None, description="Whether the runs of a cell were of one start of the server: a tool's iterations"
    )
    all_ran: bool | None = Field(
        None,
        description="Whether each test of its jobs ran, and to its end; `[[gaps]]` names those that did not",
    )
    randomised: bool | None = Field(None, description="Whether the order of the cells was random")
    warm_up_s: Seconds | None = Field(None, description="Seconds before it was measured")
    measured_s: Seconds | None = Field(None, description="Seconds of measurement")
    steps_s: dict[str, Figure] = Field(
        {}, description="Seconds between two times that a load's tool can print: `{ sql-bench = 1 }`"
    )
    place: str = Field("", description="Where it says so")


class Counts(Written):
    """Counts that a tool's report prints beside its rates; they must fit together."""

    tool: str = Field("", description="Whose report it is, as its form shows: `sysbench 0.4`")
    transactions: Count | None = Field(None, description="Transactions; of a load on files its requests")
    reads: Count | None = Field(None, description="Statements or requests that read")
    writes: Count | None = Field(None, description="Statements or requests that write")
    others: Count | None = Field(None, description="Others; of a load on files its syncs")
    total: Count | None = Field(None, description="Of reads, writes and others, as printed")
    seconds: Seconds | None = Field(None, description="How long it took")
    latency_sum_s: Seconds | None = Field(None, description="All latencies together")
    client_mean: Seconds | None = Field(
        None, description="Transactions or requests of a client on average (sysbench: threads fairness)"
    )
    client_stddev: Seconds | None = Field(None, description="Their standard deviation between clients")


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


class Control(Written):
    """Results that should not differ: controls, and levels that are equal by their making."""

    why: Words = Field(description="Why they should be the same")
    place: str = Field("", description="Where that can be seen")


class Alike(Control):
    """Those results, by their names."""

    results: list[list[str]]
    """Names of results, in groups; those of one group should be the same."""


class Gap(Written):
    """A test that was not run, or not to its end."""

    part: Words = Field(description="The test")
    kind: Literal["skipped", "extrapolated"] = Field(description="What became of it")
    why: Words = Field(description="Why it was left out, in your own words")
    matters: str = Field("", description="What of the question it would have answered")
    reported_run: Count | None = Field(
        None, description="How many tests the tool says it ran, this one included"
    )
    really_run: Count | None = Field(None, description="How many it ran")
    place: Words = Field(description="Where it stands")


class DataSize(Written):
    """How much data a load had, and the memory that could hold it."""

    workload: Words = Field(description="The load")
    data: Size = Field(description="Size of its data")
    memory: Size = Field(description="Size of the memory")
    of: Words = Field("memory", description="What that memory is: `the buffer pool`")
    derived: Words = Field(description="How the size of the data was found")
    place: Words = Field(description="Where it says so")


class Job(Written):
    """How many statements a job has: with its seconds, they give its rate."""

    workload: Words = Field(description="The load")
    clients: Clients = Field(description="Its clients")
    statements: Annotated[int, Field(ge=1)] = Field(description="Statements of all clients together")
    place: Words = Field(description="Where it says so")


class Peak(Written):
    """A raw figure of each device that is taken for what it can give."""

    workload: Words = Field(description="Name of the load in the tables")
    direction: Literal["read", "write"] | None = Field(None, description="Whether it read or wrote")
    order: Literal["random", "sequential"] | None = Field(None, description="Where its requests went")
    block: Size | None = Field(None, description="Bytes a request")
    direct: bool | None = Field(None, description="Whether it passed the page cache by")
    taken_for: Words = Field("the peak of each device", description="What it is taken for")
    load: Words | None = Field(None, description="The load that it should predict, if the article names one")
    place: Words = Field(description="Where it stands")


class Specified(Written):
    """The most that the maker of a device promises of it."""

    storage: Words = Field(description="The storage in the tables")
    workload: Words = Field(description="Name of the raw load in the tables")
    measure: PublishedMeasure = Field(description="Figure that it is about")
    most: Figure = Field(description="The most, in the unit of the measure")
    source: Words = Field(description="Who says so")


class Command(Written):
    """A tool's command beside its output: what was asked for, and what the output shows of it."""

    tool: Words = Field(description="The tool")
    asked: dict[str, Words] = Field(description="By option, what the command asks for")
    shown: dict[str, Words] = Field(description="By the same options, what the output shows")
    form: str = Field("", description="Whose output it is, as its form shows: `sysbench 0.4`")
    place: Words = Field(description="Where both stand")


class Axis(Written):
    """An axis of a picture."""

    workload: Words = Field(description="The load that it shows")
    measure: PublishedMeasure = Field(description="Figure that it shows")
    begins_at: Annotated[float, Field(allow_inf_nan=False)] = Field(
        description="Where it begins, in the unit of the measure"
    )
    place: Words = Field(description="The picture")


class Promised(Written):
    """Something that the article says it will measure or compute, and does not give."""

    what: Words = Field(description="What was promised")
    given: str = Field("", description="What is given of it, if anything")
    place: Words = Field(description="Where it was promised")


class Unreported(Written):
    """What a reader needs to judge the experiment, and does not find in it."""

    what: Words = Field(description="What was not recorded")
    why: Words = Field(description="Why it matters here")


class Conditions(Written):
    """What one level of a factor was measured with; levels should be equal in all but what is under test."""

    factor: Factor = Field(description="Factor whose level it is")
    level: Words = Field(description="The level")
    facts: dict[str, str | list[str]] = Field(
        description="By what they are: `cpu`, `memory`, `memory limit`, `server version`, `bus` …; "
        "a list: one of these, and the article does not say which"
    )
    under_test: list[Words] = Field([], description="The facts that the comparison is about")
    place: str = Field("", description="Where it says so")

    @property
    def told(self) -> dict[str, str]:
        """The facts that are certain."""
        return {name: fact for name, fact in self.facts.items() if isinstance(fact, str)}


class Statement(Written):
    """A statement about figures: never the article's own sentences."""

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
    ] = Field(description="What is claimed")
    says: Words = Field(description="The claim in your own words, not the article's")
    place: Words = Field(description="Where it stands")
    measure: PublishedMeasure = Field(description="Figures that it is about")
    value: Figure | None = Field(
        None,
        description="The stated figure: percent, times, or by how much `of` is above `than`, in the unit of "
        "the measure",
    )
    at_least: bool = Field(False, description='Whether it was said to be "more than" that')
    about: bool = Field(False, description='Whether it was said to be rough: "about", "almost"')
    most: bool = Field(
        False, description="Whether `faster` or `the same` was said of most of them, and not of all"
    )
    cause: str | None = Field(None, description="What is said to hold it back (`bound by`)")
    evidence: list[Words] = Field([], description="What was recorded that supports the cause")
    implied: bool = Field(False, description="Whether the article implies it without saying so")
    printed: bool = Field(True, description="Whether figures of it were printed")
    beside: Words | None = Field(
        None, description="The load that the text speaks of there, if the figure is another load's"
    )


class Claim(Statement):
    """A statement about two results, or about one.

    A statement about several pairs is as many claims, with the same `says` and `place`.
    """

    of: str
    """Name of the result that it is about."""
    than: str | None = None
    """Name of the result that it is compared with."""


class Parts(Written):
    """The parts of an article that are kept as they are written."""

    # Without a check, whose schema each command would build at its start.
    procedure: Procedure = Field(Procedure.model_construct(), description="How the figures came about")
    conditions: list[Conditions] = Field(
        [], max_length=MOST_ENTRIES, description="What the levels were measured with"
    )
    commands: list[Command] = Field([], max_length=MOST_ENTRIES, description="Commands beside their output")
    jobs: list[Job] = Field([], max_length=MOST_ENTRIES, description="Statements of jobs")
    gaps: list[Gap] = Field([], max_length=MOST_ENTRIES, description="Tests that were not run to their end")
    data: list[DataSize] = Field([], max_length=MOST_ENTRIES, description="Sizes of data")
    peaks: list[Peak] = Field([], max_length=MOST_ENTRIES, description="Raw figures of devices")
    specified: list[Specified] = Field(
        [], max_length=MOST_ENTRIES, description="What makers promise of their devices"
    )
    axes: list[Axis] = Field([], max_length=MOST_ENTRIES, description="Axes of pictures")
    promised: list[Promised] = Field(
        [], max_length=MOST_ENTRIES, description="What the article promises and does not give"
    )
    unreported: list[Unreported] = Field([], max_length=MOST_ENTRIES, description="What is not reported")
    devices: dict[str, Words] = Field(
        {}, description="Kind of device by storage: `spinning 7200`, `flash`, `memory`, `network`"
    )


class Article(Parts, About):
    """A published experiment: a file of ``studies/published/``, or a user's own."""

    source: Source
    title: str
    by: str
    """Who published it, where and when."""
    settings: list[Settings] = []
    """Option files and levels as published; `Settings.source.format` names the level."""
    stated: list[Stated] = []
    """Everything that it prints; claims and checks of articles speak of these, by their names."""
    results: list[ImportedResult] = []
    """Those that are a rate or a job's seconds once more as results, so that they are audited and reported
    like those read from a tool's own output."""
    claims: list[Claim] = []
    alike: list[Alike] = []

    @property
    def cells(self) -> list[Stated]:
        """What is printed of each cell, without its single runs."""
        return [one for one in self.stated if one.run is None]

    def find(self, name: str) -> Stated | None:
        """Return what is printed under a name; None if nothing is."""
        return next((one for one in self.stated if one.name == name), None)
