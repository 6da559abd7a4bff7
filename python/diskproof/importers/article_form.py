"""The TOML form of a published experiment: one declaration of every key."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from diskproof.results.factor import Factor
from diskproof.results.published import PublishedMeasure
from diskproof.study.part import MAX_CLIENTS, Part, Size
from diskproof.study.published import Levels, PublishedTable

Words = Annotated[str, Field(min_length=1, max_length=2_000)]
Clients = Annotated[int, Field(ge=1, le=MAX_CLIENTS * 100, strict=True)]
Count = Annotated[int, Field(ge=0, strict=True)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

MOST_ENTRIES = 500
"""Of each kind in one article: more is a mistake of the file, or meant to do harm."""

Choice = str | Annotated[int, Field(strict=True)]
Chosen = dict[Factor, Choice | list[Choice]]
"""Levels of some factors; a list names several, each of which is meant."""

ClaimKind = Literal[
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
KINDS: tuple[ClaimKind, ...] = get_args(ClaimKind)

VALUED: tuple[ClaimKind, ...] = (
    "percent slower",
    "percent faster",
    "percent more",
    "percent of",
    "times as fast",
    "difference",
)
"""The kinds of claim that state a figure."""


class Head(Part):
    """What was published, and by whom. If a study repeats it, that study may hold title and tables."""

    title: Words | None = Field(None, description="Its title; by default the study's")
    by: Words | None = Field(None, description="Who published it, where and when; by default the study's")
    question: str = Field("", max_length=2_000, description="What it asks")
    storage_under_test: bool = Field(True, description="Whether it is about storage")
    asked_clients: list[Clients] = Field([], description="The numbers of clients that its question is about")
    tools: list[Words] = Field([], description="The load tools and their versions that it names")
    study: Words | None = Field(
        None, description="The study file that repeats it, from this file's folder: its tables are read there"
    )
    tables: list[Words] | None = Field(
        None, description="Titles of the study's tables that are meant; by default all"
    )
    names: dict[str, Words] = Field(
        {}, description="What the article calls levels that the study calls otherwise: `study = 'article'`"
    )


class ProcedureForm(Part):
    """How the figures were made; what is left out counts as not reported."""

    repeats: Annotated[int, Field(ge=1, strict=True)] | None = Field(None, description="Runs of each cell")
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
    place: str = Field("", description="Where it says so")


class ReportForm(Part):
    """Counts that a tool's report prints beside its rates; they must fit together."""

    at: Levels = Field(description="Levels of the result that it is of")
    place: Words = Field(description="Where it stands")
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


class RunForm(Part):
    """Single runs whose mean, best or median the tables have."""

    run: Annotated[int, Field(ge=1, strict=True)] = Field(description="Which run, from 1")
    table: PublishedTable = Field(description="Its figures")


class ConditionsForm(Part):
    """What one level of a factor was measured with; levels should be equal in all but what is under test."""

    factor: Factor = Field(description="Factor whose level it is")
    level: Words = Field(description="The level")
    facts: dict[str, str | list[str]] = Field(
        description="By what they are: `cpu`, `memory`, `memory limit`, `server version`, `bus` …; "
        "a list: one of these, and the article does not say which"
    )
    under_test: list[Words] = Field([], description="The facts that the comparison is about")
    place: str = Field("", description="Where it says so")


class SettingsForm(Part):
    """Settings of the server: an option file as it was printed, or single options of a level."""

    level: Words = Field(description="The level that they are of, or a name for them")
    server: str | None = Field(None, description="Server and version: `Percona Server 5.7.27-30`")
    text: str | None = Field(None, description="The option file as it was printed")
    options: dict[str, str | int | bool] = Field({}, description="Single options")
    place: Words = Field(description="Where they stand")


class ClaimForm(Part):
    """A statement about figures. It is about each pair of results that `at`, `of` and `than` select."""

    kind: ClaimKind = Field(description="What is claimed")
    says: Words = Field(description="The claim in your own words, not the article's")
    place: Words = Field(description="Where it stands")
    measure: PublishedMeasure = Field(description="Figures that it is about")
    at: Chosen = Field({}, description="Levels that both results have")
    part: str | list[str] | None = Field(None, description="Tests of a job that it is about; by default all")
    of: Chosen = Field({}, description="Levels of the result that it is about")
    than: Chosen = Field({}, description="Levels of the result that it is compared with")
    value: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
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


class AlikeForm(Part):
    """Results that should not differ: controls, and levels that are equal by their making."""

    factor: Factor = Field("storage", description="Factor whose levels should be the same")
    levels: list[Words] | None = Field(None, description="Those levels; by default all")
    at: Chosen = Field({}, description="Levels of the results that are meant")
    part: str | list[str] | None = Field(None, description="Tests of a job that are meant; by default all")
    why: Words = Field(description="Why they should be the same")
    place: str = Field("", description="Where that can be seen")


class GapForm(Part):
    """A test that was not run, or not to its end."""

    part: Words = Field(description="The test")
    kind: Literal["skipped", "extrapolated"] = Field(description="What became of it")
    why: Words = Field(description="Why")
    matters: str = Field("", description="What of the question it would have answered")
    reported_run: Count | None = Field(None, description="How many tests the tool says it ran")
    really_run: Count | None = Field(None, description="How many it ran")
    place: Words = Field(description="Where it stands")


class DataForm(Part):
    """How much data a load had, and the memory that could hold it."""

    workload: Words = Field(description="The load")
    data: Size = Field(description="Size of its data")
    memory: Size = Field(description="Size of the memory")
    of: Words = Field("memory", description="What that memory is: `the buffer pool`")
    derived: Words = Field(description="How the size of the data was found")
    place: Words = Field(description="Where it says so")


class PeakForm(Part):
    """A raw figure of each device that is taken for what it can give."""

    workload: Words = Field(description="Name of the load in the tables")
    direction: Literal["read", "write"] | None = Field(None, description="Whether it read or wrote")
    order: Literal["random", "sequential"] | None = Field(None, description="Where its requests went")
    block: Size | None = Field(None, description="Bytes a request")
    direct: bool | None = Field(None, description="Whether it passed the page cache by")
    taken_for: Words = Field("the peak of each device", description="What it is taken for")
    load: Words | None = Field(None, description="The load that it should predict, if the article names one")
    place: Words = Field(description="Where it stands")


class SpecifiedForm(Part):
    """The most that the maker of a device promises of it."""

    storage: Words = Field(description="The storage in the tables")
    workload: Words = Field(description="Name of the raw load in the tables")
    measure: PublishedMeasure = Field(description="Figure that it is about")
    most: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        description="The most, in the unit of the measure"
    )
    source: Words = Field(description="Who says so")


class UnreportedForm(Part):
    """What a reader needs and does not find."""

    what: Words = Field(description="What was not recorded")
    why: Words = Field(description="Why it matters here")


class ArticleForm(Part):
    """A published experiment, as a file."""

    article: Head = Field(description="What was published")
    procedure: ProcedureForm = Field(ProcedureForm(), description="How the figures came about")
    tables: list[PublishedTable] = Field(
        [], max_length=MOST_ENTRIES, description="Its tables, as in a study's `[published]`"
    )
    reports: list[ReportForm] = Field([], max_length=MOST_ENTRIES, description="Counts of tools' reports")
    runs: list[RunForm] = Field([], max_length=MOST_ENTRIES, description="Single runs")
    conditions: list[ConditionsForm] = Field(
        [], max_length=MOST_ENTRIES, description="What the levels were measured with"
    )
    settings: list[SettingsForm] = Field([], max_length=MOST_ENTRIES, description="Settings of the server")
    claims: list[ClaimForm] = Field([], max_length=MOST_ENTRIES, description="What is concluded")
    alike: list[AlikeForm] = Field([], max_length=MOST_ENTRIES, description="What should not differ")
    gaps: list[GapForm] = Field(
        [], max_length=MOST_ENTRIES, description="Tests that were not run to their end"
    )
    data: list[DataForm] = Field([], max_length=MOST_ENTRIES, description="Sizes of data")
    peaks: list[PeakForm] = Field([], max_length=MOST_ENTRIES, description="Raw figures of devices")
    specified: list[SpecifiedForm] = Field(
        [], max_length=MOST_ENTRIES, description="What makers promise of their devices"
    )
    unreported: list[UnreportedForm] = Field([], max_length=MOST_ENTRIES, description="What is not reported")
    devices: dict[str, Words] = Field(
        {}, description="Kind of device by storage: `spinning 7200`, `flash`, `memory`, `network`"
    )
