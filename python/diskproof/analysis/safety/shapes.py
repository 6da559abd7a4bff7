"""The shapes of what cuts say, ready to be shown."""

from typing import Literal

from pydantic import Field

from diskproof.results.crash import Keep, Must, Way
from diskproof.results.cut import StatesSeen
from diskproof.results.fault import Fault
from diskproof.results.plan import Cell, Control, Documented
from diskproof.results.record import Record
from diskproof.results.trial import Finding
from diskproof.stats.intervals import Interval
from diskproof.stats.proportions import Share
from diskproof.wording import Message


class Spread(Record):
    """A figure over several cuts."""

    median: float
    worst: float
    """The largest."""
    n: int


class Damage(Record):
    """Telling cuts after which the database was worse than incomplete, by kind; a cut may be of several."""

    refused: int = 0
    """A file system could not be mounted, or the server did not start."""
    complaints: int = 0
    """The server's log reported damage."""
    damaged_tables: int = 0
    """The server's own checks found it."""
    half_applied: int = 0
    """Accounts did not hold what the transactions that were there made of them, or their sum was off."""
    duplicated: int = 0
    never_sent: int = 0


class Binlog(Record):
    """The binary log held against the tables, over the telling cuts that could be asked."""

    asked: int
    cuts_binlog_only: int
    """Cuts after which the log held transactions that the tables had not."""
    worst_binlog_only: int
    cuts_engine_only: int
    """Cuts after which the tables held transactions that the log had not."""
    worst_engine_only: int


class Cause(Record):
    """Why some cuts prove nothing, or broke off."""

    why: Message
    cuts: int


class Gravest(Record):
    """The cut to look at first."""

    id: str
    evidence: str | None


class Faulted(Record):
    """What the telling tries of a cell with a fault, or without one beside such, met until the death."""

    hit: int | None
    """Tries in which the fault hit a request; None: it is none of a disk's."""
    unnoticed: int
    """Something was lost or wrong, and neither the server nor its checks said anything."""
    told: int
    """Clients were told errors."""
    logged: int
    """The server's log, or its own checks after recovery, reported damage."""
    errors: dict[str, int]
    """Transactions that failed, by the code that their clients were told."""
    stopped: int
    """The server had ended by itself."""
    read_only: int
    """A file system let nothing be written any more."""
    ended_serving: int
    """No commit was acknowledged any more, for at least `ENDED_S` before the death."""
    silent_s: Spread
    """The longest time without an acknowledged commit since the fault began."""
    commits_per_s: float
    """Since the fault began; of a cell without one, since then others had it."""
    bin_s: float
    course: list[float]
    """Commits a second in each bin since the first answer, the mean of the tries that lasted so long."""


class CutAnswer(Record):
    """One cell dying in one way, over all its cuts."""

    cell: Cell
    way: Way
    planned: int
    made: int
    telling: int
    """Cuts that are evidence; all other figures are of these."""
    silent: list[Cause] = Field(default_factory=list)
    """Why finished cuts prove nothing, the most frequent first."""
    unfinished: list[Cause] = Field(default_factory=list)
    """Why cuts broke off, the most frequent first."""
    with_loss: int
    """Cuts that took acknowledged transactions; all of them if the database is gone."""
    loss_share: Share | None
    gone: int
    """Those among them after which nothing could be read: no database came back, or its tables did not."""
    damaged: int
    damage: Damage
    damage_reports: list[Message] = Field(default_factory=list)
    """What each damaged cut reports first: a line of the log, a refusal or what a check found; each once."""
    harmed: int
    """Cuts with a loss, or damage, or both."""
    at_risk: int | None
    """Cuts in which it is known that there was something to take (``CutTrial.had_something_at_risk``). None
    for kills: no disk knows."""
    lost: Spread | None
    """Acknowledged transactions lost, 0 of cuts without a loss; None if no telling cut knows."""
    acknowledged: int
    """Transactions acknowledged in all telling cuts together."""
    commits_per_s: Interval | None = None
    """How fast they were acknowledged until the cut: geometric mean over the cuts. None of logged runs."""
    window_s: Spread | None
    """From the acknowledgement of the first that is lost to the cut; 0 of cuts without a loss."""
    open_windows: int = 0
    """Cuts after which nothing that was acknowledged was there: their windows end where the load began, so
    that the figures of `window_s` are lower bounds."""
    recovery_s: Spread | None
    """Mounting and the server's own recovery, of cuts after which it came up."""
    binlog: Binlog | None
    torn_writes: int
    """In all cuts together."""
    states: list[StatesSeen] = Field(default_factory=list)
    """What the logs of the telling cuts were searched for; empty: they were cut at random moments."""
    settings: dict[str, str] = Field(default_factory=dict)
    """The variables of its level, as the server reported them before a telling cut."""
    most_lost: int | None = None
    """Of the cuts after which the ledger could be read; None if none of them lost any."""
    faulted: Faulted | None = None
    """None in a study without faults."""
    gravest: Gravest | None = None
    """A lost database before a damaged one, and that before a loss; None if nothing was harmed."""

    @property
    def key(self) -> tuple[str, Way]:
        """Cell and way, which no other answer of a run has."""
        return self.cell.id, self.way

    @property
    def is_whole(self) -> bool:
        """Whether there is evidence, and all of it shows a database that kept its word."""
        return self.telling > 0 and not self.with_loss and not self.damaged


ControlOutcome = Literal["holds", "failed", "too weak", "not tried"]


class Rarer(Record):
    """What more cuts would show."""

    share: float
    """Of cuts: so rare a loss would be seen with a probability of 95 %."""
    more_cuts: int


class ControlAnswer(Record):
    """A cell that must keep all, or must lose something, and whether it did."""

    cell: str
    ways: list[Way]
    must: Must
    outcome: ControlOutcome
    rarer: Rarer | None = None
    """What would make a campaign that is too weak stronger; None: more cuts would hardly help."""


Agreement = Literal["agrees", "contradicts", "not seen", "not tried"]


class DocumentedAnswer(Record):
    """What documentation says of a cell that dies in a way, beside what was observed."""

    cell: Cell
    way: Way
    documented: Documented
    outcome: Agreement
    allowed_s: float | None = None
    """The longest window that does not contradict the documented one."""


class SpeedBeside(Record):
    """The speed of a cell whose server, storage and tuning were cut as well."""

    cell: Cell
    crash_cell: str
    throughput_per_s: Interval | None
    """None: no valid trial."""


class CutFinding(Record):
    """A finding together with the cuts in which it arose."""

    finding: Finding
    cuts: list[str]
    cells: list[str]


class Safety(Record):
    """Everything that the cuts of a run say."""

    made: int
    planned: int
    telling: int
    answers: list[CutAnswer]
    """By way and cell, in the order of the plan: the power cut first, and the kill last."""
    controls: list[ControlAnswer]
    unasked: list[Control]
    """Controls of the study that fit no cell and way of the campaign."""
    documented: list[DocumentedAnswer]
    speeds: list[SpeedBeside]
    findings: list[CutFinding]
    keep: Keep
    faults: dict[str, Fault] = Field(default_factory=dict)
    """The levels of that factor, but for the one without a fault."""
    unverified: dict[str, str]
    """Why servers could only be killed, by the storages where that is so."""

    @property
    def complete(self) -> bool:
        """Whether every planned cut was made."""
        return self.made >= self.planned

    def answer(self, cell: str, way: Way) -> CutAnswer | None:
        """Return what the cuts of a cell in a way say; None if it is not cut so."""
        return next((one for one in self.answers if one.key == (cell, way)), None)


LossOutcome = Literal[
    "damaged more often",
    "damaged less often",
    "suffers more often",
    "suffers less often",
    "no difference seen",
    "not comparable",
]
"""Of the second run against the first; to suffer is to lose something or to be damaged."""


class CutComparison(Record):
    """One cell and way in two runs."""

    cell: Cell
    way: Way
    a: CutAnswer
    b: CutAnswer
    p_adjusted: float | None
    """Two-sided p of "as many cuts do" by Fisher's exact test, after Holm, of the outcome; the smallest of
    the row where no difference is seen; None: not comparable."""
    outcome: LossOutcome
    reasons: list[Message] = Field(default_factory=list)
    """Why the two are not comparable."""
