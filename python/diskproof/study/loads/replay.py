"""A load that was read from a server's log."""

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo

from diskproof.families import Family, of
from diskproof.reading import opened
from diskproof.results.plan import Metric
from diskproof.study.loads.base import Option
from diskproof.study.loads.described import described
from diskproof.study.loads.own_data import MAX_DUMP_BYTES, OwnData
from diskproof.study.part import MAX_CLIENTS, located
from diskproof.wording import Message, say

MARKS = b"diskproof load 3", b"diskproof load 2", b"diskproof load 1"
"""How a load begins and ends, now and once; before the end stands its contents' length in 8 bytes."""

TAIL_BYTES = 8 + len(MARKS[0])

MAX_CONTENTS_BYTES = 2**28


def contents_of(path: Path) -> dict[str, Any]:
    """Return what a load says of itself (`recording/` of diskproof-load); ValueError of any other file."""
    with opened(path, MAX_DUMP_BYTES) as file, closing(file):
        size_bytes = file.seek(0, 2)
        file.seek(max(size_bytes - TAIL_BYTES, 0))
        tail = file.read(TAIL_BYTES)
        length = int.from_bytes(tail[:8], "little")
        if tail[8:] not in MARKS or not 0 < length <= min(size_bytes - TAIL_BYTES, MAX_CONTENTS_BYTES):
            raise ValueError(
                f"{path} is no load: make one with `diskproof load import LOG -o {path.stem}.load`"
            )
        file.seek(size_bytes - TAIL_BYTES - length)
        contents = json.loads(file.read(length))
    if not isinstance(contents, dict) or not isinstance(contents.get("most_at_once"), int):
        raise ValueError(f"{path} is a damaged load: import the log again")  # noqa: TRY004 - of a study
    return contents


def _load_file(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str) or not value:
        raise ValueError("give the path of a load, such as `shop.load`")
    return located(value, info)


@described("replay", only=("begin", "end", "sessions", "copies", "only-reads", "explain"))
class Replay(OwnData):
    """A load that was read from a server's log (docs/replay.md)."""

    kind: Literal["replay"] = Field(description="Kind of workload")
    file: Annotated[Path, BeforeValidator(_load_file), Option(("run",), "FILE")] = Field(
        description="What `diskproof load import` made of the log. A relative path starts at the study "
        "file's folder"
    )
    database: Annotated[str | None, Option(("run",), "database")] = Field(
        None,
        min_length=1,
        description="The database of the log whose statements are sent, and in which they are; default: the "
        "one that has most, in a database of its own",
    )
    speed: Annotated[Annotated[float, Field(gt=0)] | Literal["max"], Option(("run",), "speed")] = Field(
        1.0,
        description="So many times as fast as the log; the verdict is then about the mean latency of "
        "statements. `max`: as fast as the order of commits allows",
    )
    takes_seed: ClassVar[bool] = False
    takes_clients: ClassVar[bool] = False
    sends_own_sql: ClassVar[bool] = True
    is_recorded: ClassVar[bool] = True
    prepared_as: ClassVar[str | None] = "script"
    _contents: dict[str, Any] = PrivateAttr(default_factory=dict)

    def _check_whole(self) -> None:
        super()._check_whole()
        self._contents.update(contents_of(self.file))
        if self.clients is not None:
            raise ValueError("a replay has the log's sessions: `sessions` and `copies` change them")
        at_once = self._contents["most_at_once"] * (self.copies or 1)
        # As the log says, not the study.
        object.__setattr__(self, "clients", [max(1, min(at_once, MAX_CLIENTS))])

    @property
    def lasts_s(self) -> float | None:
        """How long it takes; None: as long as the server needs."""
        if self.speed == "max":
            return None
        length_s = float(self._contents["length_us"]) / 1e6
        return max(min(self.end or length_s, length_s) - (self.begin or 0.0), 0.0) / self.speed

    def refusal(self, family: Family) -> str | None:
        """Return why it cannot run on a family of servers; None if it can."""
        spoken = self._contents["dialect"]
        if of(family).protocol != spoken:
            return f"{self.file.name} was read from a log of another family of servers"
        return super().refusal(family)

    @property
    def in_short(self) -> Message:
        """What its statements are."""
        return say("the statements of {file}", file=self.file.name)

    @property
    def metric(self) -> Metric:
        """What a verdict is about: at the log's own times the server decides only latency."""
        return "transactions_per_s" if self.speed == "max" else "latency_mean_us"

    @property
    def why_it_writes(self) -> str:
        """Return why it cannot run if the server refuses what writes; empty if it can."""
        return super().why_it_writes or ("" if self.only_reads else "its log may have writes (`only_reads`)")
