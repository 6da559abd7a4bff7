"""Faults in a study file: what befalls the disks while clients commit, and when."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ByteSize, Field

from diskproof.results.crash import WAYS, Way
from diskproof.results.fault import Fault, FaultKind, OnRequest
from diskproof.results.size import Size
from diskproof.study.crash import CrashChoice
from diskproof.study.part import DAY_S, Distinct, OfLevels, mistake
from diskproof.study.storages import StorageChoice

MOST_REPEATS = 300
"""The disk takes a schedule in one line of 64 KiB, and one time may need 145 bytes of it."""

_SHARED = {"kind", "role", "ways", "after_s", *OfLevels.model_fields}
_BY_TIME = {"for_s", "every_s", "repeat"}
_BY_REQUEST = {"after_requests", "times", "chance"}

KEYS_OF: dict[FaultKind, set[str]] = {
    "stall": _BY_TIME,
    "slow": _BY_TIME | {"on", "factor", "add_ms"},
    "error": _BY_TIME | _BY_REQUEST | {"on"},
    "read-only": {"for_s"},
    "full": {"for_s", "leave"},
    "thin-full": {"for_s", "after_requests"},
    "flip": _BY_TIME | _BY_REQUEST | {"on"},
    "lost-write": _BY_TIME | _BY_REQUEST,
    "torn-write": _BY_TIME | _BY_REQUEST,
    "lying-flush": _BY_TIME | _BY_REQUEST,
}
"""The further keys that each kind takes."""


class FaultChoice(OfLevels):
    """One fault: a level beside `none`, without a fault, which is always there."""

    kind: FaultKind = Field(description="What the disk does: the [table of kinds](faults.md)")
    role: Literal["data", "redo", "binlog"] | None = Field(
        None, description="Only the disk with this role's files; give it a disk of its own. Default: all"
    )
    ways: Annotated[list[Way], Distinct] = Field(
        list(WAYS), min_length=1, description="Only before these ways to die; default: all"
    )
    on: OnRequest | None = Field(
        None, description="Only these requests. Default: all that can have it; of `flip` writes"
    )
    after_s: float = Field(1.0, ge=0, le=DAY_S, description="Seconds from the first commit to its beginning")
    for_s: float | None = Field(None, gt=0, le=DAY_S, description="How long it lasts; default: to the death")
    every_s: float | None = Field(None, gt=0, le=DAY_S, description="It comes again so often, `repeat` times")
    repeat: int = Field(1, ge=1, le=MOST_REPEATS, description="With `every_s`: how many times it comes")
    after_requests: int = Field(0, ge=0, le=10**9, description="Requests that are spared first")
    times: int | None = Field(None, ge=1, le=10**9, description="The most requests that it hits")
    chance: float = Field(1.0, gt=0, le=1, description="Share of the requests that it hits, by seed")
    factor: float | None = Field(
        None, ge=1, le=1e6, description="Of `slow`: how many times longer answers take"
    )
    add_ms: float | None = Field(None, gt=0, le=1e6, description="Of `slow`: what is added to each answer")
    leave: Annotated[Size, Field(ge=0)] = Field(ByteSize(0), description="Of `full`: room that is left")

    def check_crash(self, name: str, crash: CrashChoice, storages: Mapping[str, StorageChoice]) -> None:
        """Refuse cuts whose clients, moment or storages do not go with the fault."""
        if crash.load != "ledger":
            raise mistake("its clients end at the first error: leave `load` out", "crash", "load")
        if self.after_s >= crash.cut_after_s:
            raise mistake(
                f"it begins when the server may be dead already, after {crash.cut_after_s:g} s: "
                "raise `cut_after_s` of [crash]",
                *("faults", name, "after_s"),
            )
        for storage in crash.storages or storages:
            if self.is_for(storage=storage) and storages[storage].why_never_cut():
                why = (
                    f"only virtual disks have faults, and `{storage}` is none: give it `virtual`, or "
                    "this fault other `storages`"
                )
                raise mistake(why, "faults", name)

    def _check_whole(self) -> None:
        if others := self.model_fields_set - _SHARED - KEYS_OF[self.kind]:
            raise ValueError(f"`{min(others)}` is no key of a `{self.kind}`: leave it out")
        if self.kind == "stall" and self.for_s is None:
            raise ValueError("a `stall` needs `for_s`: an endless one would never let the server die")
        if self.kind == "slow" and self.factor is None and self.add_ms is None:
            raise ValueError("`slow` needs `factor` or `add_ms`")
        if self.kind == "flip" and self.on == "flush":
            raise ValueError("a flush has no bytes: a `flip` is `on` reads or writes")
        if (self.every_s is None) != (self.repeat == 1):
            raise ValueError("`every_s` and `repeat` (2 or more) belong together")
        if self.repeat > 1 and (self.times is not None or self.after_requests):
            raise ValueError("requests are counted anew each time: give `times` or `repeat`, not both")
        if self.every_s is not None and (self.for_s is None or self.for_s >= self.every_s):
            raise ValueError("what comes again needs a `for_s` that is shorter than `every_s`")

    def record(self) -> Fault:
        """Return what the plan has of it."""
        known = self.model_dump(include=set(Fault.model_fields))
        return Fault(**known, leave_bytes=int(self.leave))
