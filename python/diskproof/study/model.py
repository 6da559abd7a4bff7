"""The study file's declaration. Each option's name, type, limits, default and meaning stand here once."""

from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import ByteSize, Field, field_validator, model_validator

from diskproof.results.records import ROLES, Factor, Role, format_bytes
from diskproof.study.loads import Workload
from diskproof.study.part import DAY_S, MAX_CLIENTS, Family, Name, Part, Size
from diskproof.study.placements import PLACEMENTS, Placement, expand
from diskproof.study.places import PLACE_KINDS, PlaceChoice, PlaceKeys
from diskproof.study.pools import PoolProperties

Level = Literal["safest", "fast", "unsafe"]
"""The tuning levels that every server family has."""

LEVELS: tuple[Level, ...] = get_args(Level)

MAX_BLOCKS = 1_000


class ServerChoice(Part):
    """A database server under test."""

    family: Family = Field(
        description="Server family: `mysql` (MariaDB, MySQL, Percona Server), `postgresql` or `sqlite`"
    )
    basedir: Path | None = Field(
        None, description="Folder of an unpacked server; without it the one installed on the machine is used"
    )


class StorageChoice(PlaceKeys):
    """A storage layout: one place for everything (its keys right here), or a place for each role."""

    data: PlaceChoice | None = Field(
        None, description="Tables and indexes; every role not named lies here too"
    )
    redo: PlaceChoice | None = Field(None, description="Redo log (InnoDB) or WAL (PostgreSQL)")
    binlog: PlaceChoice | None = Field(None, description="Binary log (MySQL family)")
    tmp: PlaceChoice | None = Field(None, description="Temporary files")
    placement: Placement | None = Field(
        None, description="An SSD's place beside a disk, by name; instead of `data`"
    )
    disk: PlaceChoice | None = Field(None, description="Of a `placement`: the disk")
    ssd: PlaceChoice | None = Field(None, description="Of a `placement`: the SSD")
    pool: PoolProperties | None = Field(
        None, description="Of the `placement` ssd-as-cache: properties of its ZFS pool"
    )

    @model_validator(mode="after")
    def _data_has_one_place(self) -> Self:
        kinds = self.kinds()
        if self.placement is not None:
            if kinds or self.data is not None:
                raise ValueError(f"`placement` says where the data lies: leave `{(*kinds, 'data')[0]}` out")
            self._placed()
            return self
        for key in ("disk", "ssd", "pool"):
            if key in self.model_fields_set:
                raise ValueError(f"`{key}` belongs to a `placement`: {', '.join(PLACEMENTS)}")
        if len(kinds) + (self.data is not None) != 1:
            listed = ", ".join(f"`{kind}`" for kind in PLACE_KINDS)
            raise ValueError(
                f"a storage says once where its data lies: {listed}, `data = {{ directory = … }}`, "
                "or a `placement`"
            )
        if kinds:
            self.check_keys(kinds[0])
        if not kinds and (given := [key for key in PlaceKeys.model_fields if key in self.model_fields_set]):
            raise ValueError(f"`{given[0]}` belongs to a place: write it within `data = {{ … }}`")
        return self

    def places(self) -> dict[Role, PlaceChoice]:
        """Return a place for every role; a role that is not named lies where the data lies."""
        places = self._placed()
        named = {"redo": self.redo, "binlog": self.binlog, "tmp": self.tmp}
        return {role: named.get(role) or places.get(role) or places["data"] for role in ROLES}

    def _placed(self) -> dict[Role, PlaceChoice]:
        """Return the data's place, and those of the roles that a placement names."""
        if self.placement is not None:
            return expand(self.placement, self.disk, self.ssd, self.pool)
        if self.data is not None:
            return {"data": self.data}
        given = set(PlaceKeys.model_fields) & self.model_fields_set
        return {"data": PlaceChoice(**{key: getattr(self, key) for key in given})}


class Tuning(Part):
    """A tuning level of the study's own: a named level and the server variables changed from it."""

    base: Level | None = Field(
        None, description="Level to start from; a tuning named like a level starts from that level"
    )
    variables: dict[str, str | int | float | bool] = Field(
        {}, description="Server variables on top of the base, as the server itself names them"
    )

    def variables_as_text(self) -> dict[str, str]:
        """Return the variables as a server's configuration writes them (booleans as ON and OFF)."""
        return {
            name: ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
            for name, value in self.variables.items()
        }


class Design(Part):
    """How the experiment is made."""

    blocks: int = Field(
        5, ge=1, le=MAX_BLOCKS, description="Passes over all cells, each in a fresh random order; 5 or more"
    )
    warm_up_s: float = Field(
        10, ge=0, le=DAY_S, description="Seconds of load before the measurement of a trial; jobs have none"
    )
    measure_s: float = Field(
        60, ge=0.5, le=DAY_S, description="Seconds measured in a trial; jobs end by themselves"
    )
    clients: list[Annotated[int, Field(ge=1, le=MAX_CLIENTS)]] = Field(
        [8], min_length=1, description="Concurrent clients, each a factor level"
    )
    memory: list[Annotated[Size, Field(ge=8 * 2**20)]] = Field(
        [ByteSize(256 * 2**20)],
        min_length=1,
        description="Buffer pool (shared buffers, page cache of SQLite), each a factor level",
    )
    same_within: float = Field(
        0.03, gt=0, lt=0.5, description='A ratio whose whole interval lies within this of 1 is "the same"'
    )
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of the random order, the data and the load")

    @field_validator("clients", "memory")
    @classmethod
    def _distinct(cls, values: list[int]) -> list[int]:
        shown = [format_bytes(value) for value in values]
        if len(set(values)) != len(values) or (max(values) >= 2**20 and len(set(shown)) != len(shown)):
            raise ValueError("a level stands here twice (sizes are told apart by four digits)")
        return values


class Threshold(Part):
    """A claim that the run must prove, or `diskproof run` ends with exit code 10."""

    factor: Factor = Field(description="Factor whose levels are compared")
    level: str = Field(description="Level that the claim is about")
    baseline: str = Field(description="Level it is compared with: the factor's first")
    at_least: float | None = Field(None, gt=0, description="The whole interval of the ratio is at least this")
    at_most: float | None = Field(None, gt=0, description="The whole interval of the ratio is at most this")

    @model_validator(mode="after")
    def _has_a_bound(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("a threshold needs `at_least` or `at_most`: without either it claims nothing")
        return self


class Study(Part):
    """A question, and the factors that vary."""

    question: str = Field(min_length=1, description="What the study asks, in a sentence")
    expectation: str = Field("", description="What its author expects, and why, written before it is run")
    analysis: str = Field("", description="What to make of the outcome; printed in the report")
    design: Design = Field(default_factory=Design, description="How the experiment is made")
    servers: dict[Name, ServerChoice] = Field(min_length=1, description="Servers under test, by name")
    storages: dict[Name, StorageChoice] = Field(min_length=1, description="Storage layouts, by name")
    tunings: dict[Name, Tuning] = Field(
        default={"safest": Tuning(base=None, variables={}), "fast": Tuning(base=None, variables={})},
        min_length=1,
        description="Tuning levels: `safest`, `fast`, `unsafe`, or your own",
    )
    workloads: dict[Name, Workload] = Field(min_length=1, description="Loads, by name")
    thresholds: list[Threshold] = Field([], description="Claims that the run must prove")

    @field_validator("tunings")
    @classmethod
    def _every_tuning_has_a_base(cls, tunings: dict[str, Tuning]) -> dict[str, Tuning]:
        for name, tuning in tunings.items():
            if tuning.base is None and name not in LEVELS:
                raise ValueError(
                    f"`{name}` is not one of {', '.join(LEVELS)}, so it needs `base`, one of them"
                )
        return tunings

    @model_validator(mode="after")
    def _thresholds_name_levels(self) -> Self:
        for number, claim in enumerate(self.thresholds, start=1):
            first, *others = self.levels(claim.factor)
            if claim.baseline != first or claim.level not in others:
                raise ValueError(
                    f"threshold {number}: {claim.factor} compares {', '.join(others) or 'nothing'} "
                    f"with `{first}`, not `{claim.level}` with `{claim.baseline}`"
                )
        return self

    @model_validator(mode="after")
    def _every_server_takes_every_workload(self) -> Self:
        for name, workload in self.workloads.items():
            for server, choice in self.servers.items():
                if reason := workload.refusal(choice.family):
                    raise ValueError(f"workload `{name}` cannot run on server `{server}`: {reason}")
        return self

    @model_validator(mode="after")
    def _a_job_has_no_measured_phase(self) -> Self:
        timed = [key for key in ("warm_up_s", "measure_s") if key in self.design.model_fields_set]
        if timed and all(workload.is_job for workload in self.workloads.values()):
            keys = " and ".join(f"`design.{key}`" for key in timed)
            raise ValueError(
                f"{keys}: every workload here is a job, which begins cold and ends by itself: leave it out"
            )
        return self

    def levels(self, factor: Factor) -> list[str]:
        """Return a factor's levels in the order in which the study names them."""
        return {
            "server": list(self.servers),
            "storage": list(self.storages),
            "tuning": list(self.tunings),
            "workload": list(self.workloads),
            "memory": [format_bytes(memory) for memory in self.design.memory],
            "clients": [str(clients) for clients in self.design.clients],
        }[factor]

    def tuning_level(self, name: str) -> Level:
        """Return the named level that a tuning starts from."""
        if base := self.tunings[name].base:
            return base
        return next(level for level in LEVELS if level == name)
