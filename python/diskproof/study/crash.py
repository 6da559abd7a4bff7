"""What `[crash]` declares: how often, in which ways and under what load the cells of a study are cut."""

from typing import Annotated, Self

from pydantic import Discriminator, Field, Tag, model_validator

from diskproof.results.crash_plan import WAYS, Keep, Must, Says, Way
from diskproof.study.loads.ledger import Ledger
from diskproof.study.part import Distinct, Name, Part

MAX_CUTS = 100_000

LIST, TABLE = "[list]", "[table]"
"""How mistakes in one or the other form of a key are told apart; no part of its name."""

LONGEST_LOAD_S = 3600.0


class OfCellsChoice(Part):
    """Something that is said of some cells dying in some ways."""

    ways: Annotated[list[Way], Distinct] = Field(
        list(WAYS), min_length=1, description="Ways to die that it speaks of; without it all"
    )
    servers: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Servers that it speaks of; without it all"
    )
    storages: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Storages that it speaks of; without it all"
    )
    tunings: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Tuning levels that it speaks of; without it all"
    )


class ControlChoice(OfCellsChoice):
    """What must come out; otherwise the campaign was too weak, or the disk is not to be trusted."""

    must: Must = Field(
        description="`keep`: no acknowledged commit is lost in any cut; `lose`: in at least one cut of "
        "each cell some is, or the database is damaged; `break`: in at least one cut of each cell the "
        "database is damaged, whatever is lost"
    )


class DocumentedChoice(OfCellsChoice):
    """What a server's documentation says of some cells, to stand beside what was observed."""

    says: Says = Field(
        description="`kept`: every acknowledged commit is there; `may lose`: some may be missing, what is "
        "there is consistent; `may corrupt`: anything"
    )
    within_s: float | None = Field(
        None, gt=0, le=86_400, description="The longest window of loss that is documented, in seconds"
    )
    source: str = Field("", description="Where it is documented")
    note: str = Field("", description="What explains it, or what to know beside it")

    @model_validator(mode="after")
    def _a_window_is_of_a_loss(self) -> Self:
        if self.within_s is not None and self.says == "kept":
            raise ValueError("`within_s` bounds a loss, and this says that nothing is lost")
        return self


class CrashChoice(Part):
    """How the cells of a study are cut."""

    cuts: int = Field(
        20,
        ge=1,
        le=MAX_CUTS,
        description="Cuts of each cell in each way; of n without a loss at most 3/n lose",
    )
    ways: Annotated[
        Annotated[list[Way], Field(min_length=1), Distinct, Tag(LIST)]
        | Annotated[dict[Way, Annotated[list[Name], Distinct]], Field(min_length=1), Tag(TABLE)],
        Discriminator(lambda given: TABLE if isinstance(given, dict) else LIST),
    ] = Field(
        list[Way](["power"]),
        description="Ways to die: `kill` the server, `stop` the operating system, or cut the `power`. "
        "The last two need virtual disks. As a table, each with the storages on which it is tried: "
        '`{ kill = ["ssd"], power = ["ssd", "disk"] }`',
    )
    servers: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Servers that are cut; without it all"
    )
    storages: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Storages that are cut; without it all"
    )
    tunings: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Tuning levels that are cut; without it all"
    )
    clients: int = Field(8, ge=1, le=1_000, description="Clients that transfer until the cut")
    accounts: int = Field(1_000, ge=2, le=10_000_000, description="Accounts that they transfer between")
    filler_bytes: int = Field(
        100, ge=0, le=4_000, description="Bytes beside the figures in each row: larger tables have more pages"
    )
    cut_after_s: float = Field(
        0.5, ge=0.05, le=LONGEST_LOAD_S, description="Seconds from the first answer to the earliest cut"
    )
    cut_before_s: float = Field(
        2.0,
        ge=0.05,
        le=LONGEST_LOAD_S,
        description="The same to the latest: each cut has a moment of its own",
    )
    keep: Keep = Field(
        "random",
        description="What a power cut leaves of writes that are not yet safe: `nothing`, `all`, a `subset`, "
        "a `prefix` in time; `random` draws one of these for each cut",
    )
    unreadable: bool = Field(
        False,
        description="Whether the sector under a spinning head may come to be unreadable; drives of today "
        "finish it with what their spindle still turns",
    )
    controls: list[ControlChoice] = Field(
        [],
        description="What must come out; where it does not, the report says that the campaign was too "
        "weak, or that the disk loses what it must not, and the exit code is 10",
    )
    documented: list[DocumentedChoice] = Field(
        [],
        description="What documentation says, to stand beside what was observed; the first that fits counts",
    )

    @model_validator(mode="after")
    def _the_moment_is_an_interval(self) -> Self:
        if self.cut_after_s > self.cut_before_s:
            raise ValueError("`cut_after_s` is the earliest moment of a cut, and later than `cut_before_s`")
        return self

    def ways_on(self, storage: str) -> list[Way]:
        """Return the ways that are tried on a storage."""
        if isinstance(self.ways, dict):
            return [way for way, storages in self.ways.items() if storage in storages]
        return list(self.ways)

    @property
    def ledger(self) -> Ledger:
        """The load that is cut."""
        return Ledger(kind="ledger", accounts=self.accounts, filler_bytes=self.filler_bytes)
