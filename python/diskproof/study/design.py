"""How a study file designs its experiment: the blocks, the lengths of trials, and what ends the run."""

from typing import Annotated, Literal, get_args

from pydantic import ByteSize, Field, field_validator

from diskproof.results.size import Size
from diskproof.study.part import DAY_S, MAX_CLIENTS, Part, Percentage, mistake
from diskproof.wording import numbers

MAX_BLOCKS = 1_000

AT_MOST_S = 1200.0
"""Twenty minutes: as long as one waits for an answer."""


Dilation = Literal[1, 2, 4, 8, 16, 32, 64, "auto"]
DILATIONS: list[int] = [one for one in get_args(Dilation) if one != "auto"]


class Design(Part):
    """How the experiment is made."""

    blocks: int = Field(
        5, ge=1, le=MAX_BLOCKS, description="Passes over all cells, each in a fresh random order; 5 or more"
    )
    warm_up_s: float = Field(
        10, ge=0, le=DAY_S, description="Seconds of load before a trial is measured; jobs have none"
    )
    measure_s: float = Field(
        60, ge=0.5, le=DAY_S, description="Seconds measured in a trial; jobs end by themselves"
    )
    until: Literal["decided"] | None = Field(
        None,
        description="`decided`: after `blocks`, further blocks follow until each verdict is decided. They "
        "hold only the cells of open verdicts. Default: `blocks` and no more",
    )
    precision: Annotated[Percentage, Field(gt=0, lt=0.5)] | None = Field(
        None,
        description="Such as `3 %`: the run goes on until each ratio is known so well, up or down. Instead "
        "of `until`",
    )
    at_most_s: float | None = Field(
        None,
        gt=0,
        le=DAY_S,
        description="With `until` or `precision`: seconds that the trials may take; verdicts that are open "
        f"then stay so. Default: {AT_MOST_S:.0f}",
    )
    clients: list[Annotated[int, Field(ge=1, le=MAX_CLIENTS)]] = Field(
        [8], min_length=1, description="Concurrent clients, each a factor level"
    )
    memory: list[Annotated[Size, Field(ge=8 * 2**20)]] = Field(
        [ByteSize(256 * 2**20)],
        min_length=1,
        description="Buffer pool (shared buffers, page cache of SQLite), each a factor level",
    )
    redo_log: Annotated[Size, Field(ge=8 * 2**20)] | None = Field(
        None,
        description="Size of InnoDB's whole redo log, set by the right variable of each server of the MySQL "
        "family; default: 96 MiB. Only for studies of that family",
    )
    same_within: float = Field(
        0.03, gt=0, lt=0.5, description='A ratio is "the same" if its whole interval is within this of 1'
    )
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of the random order, the data and the load")
    cpus: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="CPUs that the server and its load share, each a core of its own if there are enough "
        "cores. Virtual disks and diskproof use the other CPUs, if there are any; the kernel's own threads "
        "(loop devices, file systems) run on any. Default: all CPUs that the run may use",
    )

    dilation: Dilation = Field(
        1,
        description="How many times slower time passes in a trial, for its virtual disks, server and load: "
        "so this machine answers in time for disks that are too fast for it. All figures are in the trial's "
        "own time. `auto`: the least that the disks need here",
    )
    cpus_count: int | None = Field(
        None,
        ge=1,
        le=64,
        description="With `dilation`: each CPU counts so many times for server and load, which get that "
        "share of its time. Default: as many times as time is slower",
    )
    repeat_disturbed: bool = Field(
        True,
        description="Run a trial once more from which other work took CPU time. `false`: the other work is "
        "part of the question",
    )
    cores_awake: bool = Field(
        True,
        description="Keep idle CPU cores out of deep sleep during the run (`/dev/cpu_dma_latency`, if "
        "permitted), so that they wake at once in each trial. `false`: they sleep as the system lets them",
    )

    @property
    def slower(self) -> int:
        """How many times slower time passes in a trial; 1 as long as nobody has chosen for `auto`."""
        return 1 if self.dilation == "auto" else self.dilation

    @property
    def decided_within_s(self) -> float | None:
        """How long the run may go on until verdicts are decided or precise; None: its blocks are fixed."""
        return None if self.until is None and self.precision is None else self.at_most_s or AT_MOST_S

    def _check_whole(self) -> None:
        if self.until is not None and self.precision is not None:
            raise mistake("`until` says when the run ends: leave one of the two out", "precision")
        if self.at_most_s is not None and self.decided_within_s is None:
            raise mistake('it needs `until = "decided"` or `precision`', "at_most_s")
        if self.cpus_count is not None and self.dilation == 1:
            raise mistake("time passes as it does: it needs `dilation`", "cpus_count")
        if self.cpus_count is not None and self.dilation != "auto" and self.cpus_count > self.dilation:
            raise mistake(f"a CPU cannot count more often than `dilation`, {self.dilation}", "cpus_count")

    @field_validator("clients", "memory")
    @classmethod
    def _distinct(cls, values: list[int]) -> list[int]:
        shown = [numbers.size(value) for value in values]
        if len(set(values)) != len(values) or (max(values) >= 2**20 and len(set(shown)) != len(shown)):
            raise ValueError("a level is here twice (sizes with the same four digits are equal)")
        return values
