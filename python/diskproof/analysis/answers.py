"""The shapes of an answer: what recorded trials say, ready to be shown."""

from typing import Literal

from pydantic import Field

from diskproof.analysis.dials import Curve
from diskproof.analysis.limits.records import Difference, Limits
from diskproof.analysis.prices.shapes import Prices
from diskproof.analysis.published.shapes import Beside
from diskproof.analysis.safety.shapes import CutComparison, Safety
from diskproof.audit.host import host_busy
from diskproof.results.dial import Mark
from diskproof.results.factor import Factor
from diskproof.results.machine import Machine, Place
from diskproof.results.plan import Cell, Metric, Plan
from diskproof.results.record import Record
from diskproof.results.trial import DataFacts, Finding, Setting
from diskproof.stats.intervals import Interval
from diskproof.wording import Message


class CellAnswer(Record):
    """One cell over all its valid trials."""

    cell: Cell
    valid: int
    """Trials that count."""
    total: int
    """Trials that were run."""
    metric: Metric
    """What a verdict on the cell is about."""
    figure: Interval | None
    """That metric in its own unit: geometric mean over blocks, t-interval on the logarithms."""
    extrapolated: bool = False
    """Whether a job's seconds hold some that are extrapolated, in one trial at least."""
    throughput_per_s: Interval | None
    """Transactions per second, in the same way; None for a job, and for bare files."""
    megabytes_per_s: Interval | None = None
    """Of a load on bare files: 10^6 bytes read and written a second."""
    rate_asked_per_s: float | None = None
    """The rate of its transactions; None in a closed loop."""
    rate_held: bool | None = None
    """Whether every valid trial held that rate. If one did not, no latency is an answer."""
    latency_mean_us: Interval | None
    latency_us: dict[str, Interval]
    """By percentile as text (``"95"``): geometric mean over blocks of each trial's percentile.

    Only percentiles with at least ten observations in their tail in every valid trial.
    """
    latency_at_least: list[str] = Field(default_factory=list)
    """Those of them that are lower bounds: they lie at the end of another tool's histogram."""
    block_speeds: dict[int, float] = Field(default_factory=dict)
    """How fast each valid trial was, by block: transactions per second; 1 over the seconds of a job, or
    over the mean latency at a set rate."""
    operations_run: list[str] = Field(default_factory=list)
    """Keys of a job's operations that every valid trial ran."""
    data: DataFacts | None = None
    """The data set, as the first valid trial had it."""
    sizes: dict[str, int] = Field(default_factory=dict)
    """How large its data and its work were to be, as the first valid trial had them, by what is counted."""
    settings: list[Setting] = Field(default_factory=list)
    """Every requested variable as the first valid trial read it back."""


Outcome = Literal["faster", "slower", "the same", "inconclusive", "not comparable"]


class Verdict(Record):
    """One level of one factor against another, everything else held equal.

    ``report.compose.verdict_words`` makes a sentence of it.
    """

    factor: Factor
    level: str
    baseline: str
    held: dict[Factor, str]
    """The levels of the factors that vary in the study but are equal on both sides."""
    cell: str
    baseline_cell: str
    ratio: Interval | None
    """Speed of ``level`` over speed of ``baseline``, paired by block: throughputs, or times turned over.

    Imported results are not paired, nor are two machines."""
    p_adjusted: float | None
    """Two-sided p of ratio = 1, after Holm over all verdicts of the run."""
    outcome: Outcome
    metric: Metric
    """What was compared: throughput, mean latency or seconds."""
    same_within: float
    """The study's band: two levels are the same if the whole interval lies within it."""
    common_operations: int | None = None
    """How many operations of a job were compared, if one side skipped some; None: all of them."""
    extrapolated: bool = False
    """Whether some of the seconds that were compared are extrapolated."""
    reasons: list[Message] = Field(default_factory=list)
    """Why it is inconclusive or not comparable, each with what would help."""
    blocks_needed: int | None = None
    """How many blocks would probably decide it; None: it is decided, or blocks hardly will."""
    difference: Difference | None = None
    """Where the difference lies in a transaction's time; None: not known, or there is none."""
    flush_spared: bool = False
    """Whether the baseline's commits wait for a disk's flush, and those of ``level`` do not."""


Placing = Literal["best", "slower", "the same", "inconclusive", "not comparable"]
"""``slower``: under one condition at least; ``the same``: under all."""


class Placed(Record):
    """One level among three or more."""

    level: str
    ratios: list[Interval]
    """Its speed over that of the best level, under each condition; empty for the best."""
    outcome: Placing


class Ranking(Record):
    """The levels of one factor, the fastest first by the geometric mean over all conditions.

    Levels that cannot be compared with the best are last, whatever their figures say.
    """

    factor: Factor
    conditions: int
    """Settings of the other factors, under all of which each level was measured."""
    placed: list[Placed]


class RunFinding(Record):
    """A finding with its trials and cells; equal findings of several trials are one."""

    finding: Finding
    trials: list[str]
    """Ids of the trials it concerns; empty: the whole run."""
    cells: list[str]


class OperationFigure(Record):
    """One operation of a job in one cell."""

    planned: int
    """Statements, or what else is counted; jobs of another scale have other numbers."""
    seconds: Interval | None
    """Geometric mean over the valid trials, extrapolated ones included; None if it was not run."""
    extrapolated: bool = False
    """In one trial at least."""
    skipped: str | None = None
    """Why it was not run."""


class OperationAnswer(Record):
    """One operation of the jobs in all their cells."""

    test: str
    name: str
    cells: dict[str, OperationFigure]
    """By the id of each cell that knows it."""
    ratio: Interval | None = None
    """Speed of the second cell over the first, paired by block, if exactly two cells are jobs of operations
    and both ran it."""


class TpccResponse(Record):
    """How soon one kind of TPC-C's transactions was answered."""

    name: str
    count: int
    """Over all valid trials."""
    mean_us: float | None
    p90_us: float | None
    """The longest of the trials."""
    limit_s: float
    kept: bool | None
    """Whether each trial kept the limit; None: not observed."""


class TpccAnswer(Record):
    """What the valid trials of a cell say of TPC-C."""

    cell: Cell
    warehouses: int
    new_orders_per_min: Interval | None
    responses: list[TpccResponse]
    checked: int
    """Trials after which the tables were checked."""
    consistent: int
    trials: int


class LevelDifference(Record):
    """A server variable in which two tuning levels of one server really differed, as read back."""

    server: str
    variable: str
    values: dict[str, str]
    """By tuning level; ``not set`` if the level leaves the variable to the server."""
    declared: bool
    """False: no level asked for this difference."""


class LevelRisk(Record):
    """What a power cut may take at a tuning level of one server, by the settings as read back."""

    server: str
    tuning: str
    losses: list[Message]
    """A loss each, with the variable that allows it; empty: every commit is kept, if the disk keeps it."""


class ReplayAnswer(Record):
    """How true a cell's replays of a log were: the least true of its trials in each respect."""

    cell: Cell
    speed: float | None
    """Times as fast as the log; None: as fast as the order of commits allows."""
    sent: float
    """Share of the statements that came to their turn."""
    prepared_as_text: int
    """Statements that only the log has prepared."""
    preparations: tuple[int, int]
    """Those of the replay, and of the log."""
    own_p99_us: float
    """Lateness by the load generator's own fault, and by the server's."""
    server_p99_us: float
    concurrency: float
    recorded_concurrency: float | None
    other_refusals: int
    """Refusals that only the log or only the replay has."""
    other_rows: float
    """Share of the replies whose rows the log has."""
    commits_overtook: int
    commits: int
    ordered: tuple[int, int] | None
    """The log's commits that have the binary log's order, of all."""
    explained: int
    """Statements whose plans are known."""


class StatementVerdict(Record):
    """One statement of a replay in one cell against another."""

    factor: Factor
    cell: Cell
    baseline: Cell
    statement: str
    """Without its values."""
    share: float
    """Of the baseline's time in statements."""
    ratio: Interval | None
    """Mean latency of the baseline over the cell's: above 1, it became faster. None: executed too rarely."""
    outcome: Outcome
    plans: tuple[str, str] | None = None
    """How the server would run it in baseline and cell, if these plans differ."""


class Analysis(Record):
    """Everything that a report shows, derived from the run folder alone."""

    plan: Plan
    machine: Machine | None
    started_at: str | None = None
    """When the first trial or cut began, by ISO 8601 in UTC; None: there is none, or nobody recorded it."""
    complete: bool
    """Whether every planned trial was run, and every planned cut made."""
    whole_by: str | None = None
    """The option that runs the whole study, of a run at a smaller scale: ``--scale full``; empty: it needs
    none. None: the run was of the whole study, or nothing is known of another scale."""
    trials_run: int
    trials_valid: int
    varying: list[Factor]
    """The factors with more than one level, in the order of FACTORS."""
    cells: list[CellAnswer]
    verdicts: list[Verdict]
    rankings: list[Ranking] = Field(default_factory=list)
    """Of the factors with three levels or more."""
    curves: list[Curve] = Field(default_factory=list)
    """Throughput over a property of a disk, if the study varies one."""
    marks: list[Mark] = Field(default_factory=list)
    """Disks whose place on such a curve is known."""
    findings: list[RunFinding]
    operations: list[OperationAnswer] = Field(default_factory=list)
    """The operations of jobs, in the order in which they were run."""
    level_differences: list[LevelDifference]
    level_risks: list[LevelRisk] = Field(default_factory=list)
    """Of the levels whose settings tell."""
    beside: Beside | None = None
    """The figures that the study's experiment published, with what was measured; None: it has none."""
    tpcc: list[TpccAnswer] = Field(default_factory=list)
    """Of the cells that TPC-C was run on."""
    replays: list[ReplayAnswer] = Field(default_factory=list)
    """Of the cells on which a log was replayed."""
    statements: list[StatementVerdict] = Field(default_factory=list)
    """Of replays, the statements that took most first."""
    prices: Prices | None = None
    """What the storages and their speed cost to buy; None if the study gives no prices."""
    safety: Safety | None = None
    """What the cuts say; None if the study asks for none."""
    limits: Limits | None = None
    """What holds the cells back; None if nothing was counted while they were measured."""

    @property
    def disturbances(self) -> list[RunFinding]:
        """What took CPU time from the trials: it weakens every verdict."""
        return [one for one in self.findings if one.finding.check == host_busy.name]

    @property
    def virtual(self) -> set[str]:
        """The storages with a virtual disk."""
        return {one.storage for one in self._places() if one.virtual}

    @property
    def ignoring_flushes(self) -> set[str]:
        """The storages with a virtual disk that only says that it flushes."""
        return {one.storage for one in self._places() if one.virtual and one.virtual.flushes_ignored}

    def _places(self) -> list[Place]:
        return self.machine.places if self.machine else []


class FactDifference(Record):
    """Something besides the storage, the tuning and so on in which two runs differ."""

    fact: str
    """As a person names it: ``kernel``, ``version of mariadb``."""
    a: Message
    b: Message


class CellComparison(Record):
    """One cell in two runs."""

    cell: Cell
    a: Interval | None
    """The cell's figure in the first run, in the unit of its metric; None: no valid trial."""
    b: Interval | None
    ratio: Interval | None
    """Speed of ``b`` over speed of ``a``, unpaired; ``n`` is the smaller side's trials."""
    a_extrapolated: bool = False
    b_extrapolated: bool = False
    """Whether a side's seconds are extrapolated in part."""
    p_adjusted: float | None
    """Two-sided p of ratio = 1, after Holm over all cells compared."""
    outcome: Outcome
    """``faster``: the second run is."""
    metric: Metric
    reasons: list[Message] = Field(default_factory=list)
    """Why it is not comparable."""
    settings: list[Message] = Field(default_factory=list)
    """The server variables that had another value in the second run."""
    difference: Difference | None = None
    """Where the difference lies in a transaction's time, without intervals; None: not known, or none."""


class ComparedRun(Record):
    """One of two runs that are compared."""

    label: str
    """A short name: the user's own, or what tells the two apart."""
    study: str
    host: str | None
    started_at: str | None
    """By ISO 8601 in UTC."""
    disturbances: list[RunFinding]
    """What took CPU time from the trials of the cells that are compared."""


Unkept = Literal[
    "beyond", "not comparable", "not observed", "no such cell", "suffers more often", "damaged more often"
]
"""Why a condition is not kept; ``beyond``: by the figure that was found."""


class FailedCondition(Record):
    """A condition of the user's, and a cell that does not keep to it."""

    condition: str
    cell: str | None
    why: Unkept
    found: Interval | None = None
    """The ratio or figure of the cell."""


class Comparison(Record):
    """The same cells of two runs, the second held against the first."""

    a: ComparedRun
    """The first run, the baseline."""
    b: ComparedRun
    same_within: float
    """The band of the first run's study."""
    varying: list[Factor]
    """The factors with more than one level in the first run."""
    cells: list[CellComparison]
    only_a: list[str]
    """Ids of the cells that only the first run has."""
    only_b: list[str]
    cuts: list[CutComparison] = Field(default_factory=list)
    """Every cell and way that was cut in both runs."""
    differences: list[FactDifference]
    """What else changed between the runs: each may be the cause of a difference in speed."""
    conditions: list[str] = Field(default_factory=list)
    """The user's conditions, as they were given."""
    failed: list[FailedCondition] = Field(default_factory=list)
