"""What `[crash]` declares: how often, in which ways and under what load the cells of a study are cut."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BeforeValidator, Discriminator, Field, Tag

from diskproof.results.crash import WAYS, CutLoad, Keep, Must, Says, Way
from diskproof.study.loads.base import Load
from diskproof.study.loads.ledger import Ledger
from diskproof.study.loads.replay import Replay
from diskproof.study.loads.tpcc import Tpcc
from diskproof.study.part import Distinct, Name, OfLevels, mistake
from diskproof.study.program import ProgramLoad

MAX_CUTS = 100_000

MOST_AT_ONCE = 16

LIST, TABLE = "[list]", "[table]"
"""They distinguish mistakes in the two forms of a key; no part of its name."""

LONGEST_LOAD_S = 3600.0

LINGER_S = 5.0
"""How much longer the load may run while the cut waits for activity."""


_SEVERAL = BeforeValidator(lambda given: [given] if isinstance(given, int) else given)
"""Lets a single number stand for a list."""


class OfCellsChoice(OfLevels):
    """Something that is said of some cells dying in some ways."""

    ways: Annotated[list[Way], Distinct] = Field(
        list(WAYS), min_length=1, description="Only these ways to die; default: all"
    )
    faults: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Only these faults, or `none`; default: all, and none"
    )


class ControlChoice(OfCellsChoice):
    """A certain outcome: without it the campaign is too weak, or the disk cannot be trusted."""

    must: Must = Field(
        description="`keep`: no cut loses an acknowledged commit; `lose`: at least one cut of each cell "
        "loses some, or damages the database; `break`: at least one cut of each cell damages the database"
    )


class DocumentedChoice(OfCellsChoice):
    """What a server's documentation says about some cells, to be compared with what was observed."""

    says: Says = Field(
        description="`kept`: no acknowledged commit is lost; `may lose`: some may be lost, and the rest is "
        "consistent; `may corrupt`: anything may happen"
    )
    within_s: float | None = Field(
        None, gt=0, le=86_400, description="The longest documented window of loss, in seconds"
    )
    source: str = Field("", description="Where it is documented")
    note: str = Field("", description="What explains it, or what else to know")

    def _check_whole(self) -> None:
        if self.within_s is not None and self.says == "kept":
            raise ValueError("`within_s` bounds a loss, but this says that nothing is lost: leave it out")


class CrashChoice(OfLevels):
    """How the cells of a study are cut."""

    cuts: int = Field(
        20,
        ge=1,
        le=MAX_CUTS,
        description="Cuts of each cell in each way; n cuts without a loss show that at most 3/n of cuts lose",
    )
    at_once: int | None = Field(
        None,
        ge=1,
        le=MOST_AT_ONCE,
        description="Cuts side by side, on own disks and shared CPUs; at most half of them, rounded up, are "
        "under load. Default: 3, fewer if memory is short; 2 with workloads; 1 with `within_s`, "
        "`[program]`, `states`, `dilation`, hosts, one CPU, or places not in memory",
    )
    ways: Annotated[
        Annotated[list[Way], Field(min_length=1), Distinct, Tag(LIST)]
        | Annotated[dict[Way, Annotated[list[Name], Distinct]], Field(min_length=1), Tag(TABLE)],
        Discriminator(lambda given: TABLE if isinstance(given, dict) else LIST),
    ] = Field(
        list[Way](["power"]),
        description="Ways to die: `kill` the server, `stop` the operating system, or cut the `power`; with a "
        "`restart` the server ends in good order. All but `kill` need virtual disks. As a table, each with "
        "its storages: "
        '`{ kill = ["ssd"], power = ["ssd", "disk"] }`',
    )
    load: CutLoad = Field(
        "ledger",
        description="What runs until the cut: `ledger` (transfers between accounts), `tpcc` (TPC-C's "
        "transactions; after each cut every acknowledged new order is looked up, and the twelve consistency "
        "conditions are checked), or `replay` (the study's workload of that kind: each of its transactions "
        "that writes gets a row in a table of ours, and is looked up by it)",
    )
    faults: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Only these of `[faults]`; default: all. Each cell also has `none`"
    )
    clients: Annotated[list[Annotated[int, Field(ge=1, le=1_000)]], _SEVERAL, Distinct] = Field(
        [8], min_length=1, description="Clients that run it until the cut, each a factor level"
    )
    warehouses: int = Field(1, ge=1, le=1_000, description="Warehouses of `tpcc`")
    accounts: int = Field(1_000, ge=2, le=10_000_000, description="Accounts between which they transfer")
    filler_bytes: int = Field(
        100, ge=0, le=4_000, description="Further bytes in each row: larger tables have more pages"
    )
    cut_after_s: float = Field(
        0.5, ge=0.05, le=LONGEST_LOAD_S, description="Seconds from the first answer to the earliest cut"
    )
    cut_before_s: float = Field(
        2.0,
        ge=0.05,
        le=LONGEST_LOAD_S,
        description="The same to the latest cut: each cut has its own random moment",
    )
    keep: Keep = Field(
        "random",
        description="What a power cut keeps of the writes that are not yet safe: `nothing`, `all`, a "
        "`subset`, or a `prefix` in time; `random` draws one of these for each cut",
    )
    states: int | None = Field(
        None,
        ge=1,
        le=MAX_CUTS,
        description="Instead of random moments: log the requests of one run, and check up to so many "
        "different states in which a cut before any of its flushes can leave the disk, until one does harm "
        "([safety.md](safety.md#every-state))",
    )
    controls: list[ControlChoice] = Field(
        [],
        description="Outcomes that are certain; if one fails, the report says that the campaign was too "
        "weak or that the disk loses what it must keep, and the exit code is 10",
    )
    documented: list[DocumentedChoice] = Field(
        [],
        description="What documentation says, to compare with what was observed; the first that fits counts",
    )

    def _check_whole(self) -> None:
        if self.cut_after_s > self.cut_before_s:
            raise ValueError("`cut_after_s` must not be later than `cut_before_s`")
        own = {"ledger": {"accounts", "filler_bytes", "clients"}, "tpcc": {"warehouses", "clients"}}
        others = set[str]().union(*own.values()) - own.get(self.load, set())
        if given := sorted(others & self.model_fields_set):
            raise ValueError(f'`{given[0]}` is no key of `load = "{self.load}"`: leave it out')

    def ways_on(self, storage: str) -> list[Way]:
        """Return the ways that are tried on a storage."""
        if isinstance(self.ways, dict):
            return [way for way, storages in self.ways.items() if storage in storages]
        return list(self.ways)

    def workload(self, replay: Load | None) -> Load:
        """Return the load that is cut, with the time that it may run; `replay` is the study's own."""
        load: Load
        match self.load:
            case "ledger":
                load = Ledger(kind="ledger", accounts=self.accounts, filler_bytes=self.filler_bytes)
            case "tpcc":
                load = Tpcc(kind="tpcc", warehouses=self.warehouses)
            case "replay":
                assert replay is not None  # `check_replay`
                load = replay
        return load.model_copy(update=self._lasting)

    def check_replay(self, workloads: Iterable[Load]) -> None:
        """Refuse a `replay` unless a study has just one, which writes, and lasts until the latest cut."""
        if self.load != "replay":
            return
        replays = [one for one in workloads if isinstance(one, Replay)]
        if len(replays) != 1:
            raise mistake(
                f'it takes the workload of `kind = "replay"`, and there are {len(replays)}', "crash", "load"
            )
        if replays[0].only_reads:
            raise mistake("its workload has `only_reads`: there is no commit to lose", "crash", "load")
        lasts_s = replays[0].lasts_s
        if lasts_s is not None and lasts_s <= self.cut_before_s:
            raise mistake(
                f"the replay lasts {lasts_s:.3g} s, and a cut must come before", "crash", "cut_before_s"
            )

    @property
    def own_load(self) -> ProgramLoad:
        """The load of a program, with the time that it may run."""
        return ProgramLoad().model_copy(update=self._lasting)

    @property
    def _lasting(self) -> dict[str, float]:
        return {"warm_up_s": 0.0, "measure_s": self.cut_before_s + LINGER_S}
