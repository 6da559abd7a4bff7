"""What all workloads of a study share: their options on the command line, and their properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from diskproof.families import Family, of
from diskproof.results.plan import Metric
from diskproof.study.part import DAY_S, MAX_CLIENTS, Distinct, OfLevels
from diskproof.wording import Message, say

Verb = Literal["prepare", "check", "run"]

FIXED_BYTES = 200 * 2**20
"""What a server writes besides the rows: system tables, logs at their smallest."""


@dataclass(frozen=True)
class Option:
    """Marks a key as an option of diskproof-load: its own name with dashes, unless another is given.

    A name in capitals is that of a word without an option before it.
    """

    verbs: tuple[Verb, ...]
    name: str | None = None


RUN = Option(("run",))


class Load(OfLevels):
    """A load on the database. The load generator chooses the values of keys that are left out."""

    kind: str
    clients: Annotated[list[Annotated[int, Field(ge=1, le=MAX_CLIENTS)]] | None, Distinct] = Field(
        None, min_length=1, description="Concurrent clients, instead of the design's"
    )
    does: ClassVar[str] = "a workload of its own"
    """What it does, in a few words, if that is the same for each."""
    sized_by: ClassVar[tuple[str, ...]] = ()
    """What the name of its data set has of its sizes."""
    needs_server: ClassVar[bool] = True
    """False: it works on bare files of the storage."""
    takes_seed: ClassVar[bool] = True
    """Whether the clients' statements are random."""
    takes_clients: ClassVar[bool] = True
    """Whether the study says how many clients there are."""
    rehearses: ClassVar[bool] = True
    """Whether the null driver, which has no rows, can check it."""
    sends_own_sql: ClassVar[bool] = False
    """Whether its statements are the user's, and not diskproof's."""
    is_recorded: ClassVar[bool] = False
    """Whether its statements are a log's, which nobody has read: they never leave their database."""
    prepared_as: ClassVar[str | None] = None
    """The workload of diskproof-load whose `prepare` makes the data set; None: its own."""
    is_job: ClassVar[bool] = False
    """True: it ends by itself and is measured by its seconds; False: it is measured for `measure_s`."""

    if TYPE_CHECKING:

        def __getattr__(self, key: str) -> Any:  # noqa: ANN401 - the program says which options there are
            ...

    def for_clients(self, clients: int) -> Self:  # noqa: ARG002 - for those whose size depends on it
        """Return what that many clients run."""
        return self

    def options(self, verb: Verb) -> dict[str, object]:
        """Return the options of one verb that have a value, by their names on the command line."""
        options = {}
        for key, field in type(self).model_fields.items():
            value = getattr(self, key)
            for mark in field.metadata:
                if isinstance(mark, Option) and verb in mark.verbs and _is_given(value):
                    options[mark.name or key.replace("_", "-")] = value
        return options

    @property
    def in_short(self) -> Message:
        """What it does, in a few words."""
        return say(self.does)

    @property
    def prepares(self) -> bool:
        """Whether `prepare` makes a data set; else a trial begins with an empty database."""
        return not self.is_job

    @property
    def metric(self) -> Metric:
        """What a verdict is about."""
        return "seconds" if self.is_job else "transactions_per_s"

    @property
    def preloads(self) -> bool:
        """Whether the data are read into the server's memory before the clients come."""
        return False

    @property
    def uses_database(self) -> str | None:
        """The database that its statements are for; None: the lab's."""
        return None

    @property
    def own_data(self) -> Path | None:
        """The data directory of a stopped server that it runs on a copy of; None: it makes its tables."""
        return None

    @property
    def data_identity(self) -> list[str]:
        """Return what makes the data set differ from others beside the arguments of `prepare`."""
        return []

    @property
    def data_set(self) -> str:
        """What tells its data set from others in one database: equal if `prepare` makes the same."""
        if not self.prepares:
            return "empty"
        parts = [self.kind, *sorted(f"{name}={value}" for name, value in self.options("prepare").items())]
        return " ".join([*parts, *self.data_identity])

    @property
    def row_bytes(self) -> int:
        """Size of the rows that `prepare` makes, without logs: an estimate."""
        return max(self.data_bytes - FIXED_BYTES, 0) if self.prepares else 0

    @property
    def data_name(self) -> str:
        """A few words for the data set in file names: ``oltp-4x10000``."""
        sizes = "x".join(str(getattr(self, key)) for key in self.sized_by)
        return "-".join(filter(None, [self.kind, sizes])) if self.prepares else "empty"

    @property
    def total_rows(self) -> int | None:
        """Rows that `prepare` makes, all tables together; None if only the user's file knows."""
        return None

    @property
    def data_bytes(self) -> int:
        """Size of the data on disk, logs included, at its largest: an estimate."""
        return FIXED_BYTES

    @property
    def held_bytes(self) -> int:
        """What a virtual disk keeps of the data in memory."""
        return self.data_bytes

    @property
    def writes(self) -> bool:
        """Whether it changes data."""
        return True

    @property
    def why_it_writes(self) -> str:
        """Return why it cannot run if the server refuses what writes; empty if it can."""
        return "it makes its own tables"

    @property
    def declared_engine(self) -> str | None:
        """Storage engine that the prepared tables must have; None if there are none or any will do."""
        return getattr(self, "engine", None) if self.prepares else None

    @property
    def job_engine(self) -> str | None:
        """Storage engine of the tables that a job makes; None of other loads, or if any will do."""
        return getattr(self, "engine", None) if self.is_job else None

    @property
    def checked_by(self) -> list[str] | None:
        """The arguments of `check`, which holds the tables to the workload's rules; None: it has none."""
        return None

    @property
    def files_to_keep(self) -> Mapping[str, bytes]:
        """Contents of the files that the run must keep, by the name of the copy."""
        return {}

    @property
    def expected_s(self) -> float:
        """Seconds that a job takes, roughly: for the plan, until the first trial knows better."""
        return 0.0

    def refusal(self, family: Family) -> str | None:
        """Return why it cannot run on a family of servers; None if it can."""
        if not of(family).engine and getattr(self, "engine", None):
            return f"tables of {of(family).title} have no `engine`; leave it out, or make two studies"
        return None


def _is_given(value: object) -> bool:
    return not (value is None or value is False or value in ([], {}))


class Timed(Load):
    """A load that runs until it has been measured."""

    warm_up_s: float | None = Field(
        None, ge=0, le=DAY_S, description="Seconds of warm-up, instead of the design's"
    )
    measure_s: float | None = Field(
        None, ge=0.5, le=DAY_S, description="Seconds that are measured, instead of the design's"
    )

    @property
    def begins_cold(self) -> bool:
        """Whether it has no warm-up, whatever the design says."""
        return False


class Steady(Timed):
    """Transactions of a database, as fast as they are answered or at a rate of their own."""

    rate: Annotated[float | None, RUN] = Field(
        None,
        gt=0,
        le=10_000_000,
        description="Transactions that begin each second, over all clients, however long they take (open "
        "loop); the verdict is then about mean latency. Default: every client begins its next transaction "
        "at once",
    )
    arrivals: Annotated[Literal["poisson", "even"] | None, RUN] = Field(
        None, description="How the transactions of `rate` arrive: `poisson` (at random) or `even`"
    )

    def _check_whole(self) -> None:
        if self.arrivals and self.rate is None:
            raise ValueError("`arrivals` needs `rate`: it says how the transactions of `rate` arrive")

    @property
    def metric(self) -> Metric:
        """What a verdict is about: if the study sets the rate, the server decides only latency."""
        return "latency_mean_us" if self.rate else "transactions_per_s"


class Preloaded(Steady):
    """Transactions on tables that can be read into the server's memory first."""

    preload: bool = Field(
        False,
        description="Read all tables and indexes into the server's memory before the clients start, as after "
        "hours of work. Default: a trial begins with an empty buffer pool. Virtual disks take no time "
        "for it; not for SQLite",
    )

    @property
    def preloads(self) -> bool:
        """Whether the data are read into the server's memory first."""
        return self.preload

    def refusal(self, family: Family) -> str | None:
        """Return why it cannot run on a family of servers; None if it can."""
        if self.preload and of(family).embedded:
            title = of(family).title
            return f"`preload` needs memory that all connections share, and {title} has none"
        return super().refusal(family)
