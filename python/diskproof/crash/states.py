"""The states in which a cut can leave a disk, from the log of its requests in one run.

A write is at risk from its arrival on, until a flush that was asked for after its answer has been answered.
This holds for any disk with a volatile cache, whatever its timing. On a disk without one a write is at risk
until its answer; on one that ignores flushes, until its model says that it is stable. Any of the writes at
risk may be missing, also a part of one.

The risk is greatest just before a flush is answered, so these are the moments that are tried: CrashMonkey
(OSDI 2018) and ALICE (OSDI 2014) do likewise.
"""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from diskproof.refusal import RefusalError

Safe = Literal["flush", "answered", "stable"]
"""What makes a write safe."""

MOST_OF_A_MOMENT = 4
"""Of one kind of state: a moment may have thousands of writes at risk."""

MOST_RANDOM = 3
"""Random subsets of a moment."""


@dataclass(frozen=True)
class Write:
    """A write or a discard, in order of arrival."""

    offset: int
    length: int
    at: int | None
    """Where the log has its bytes; None: it writes zeroes."""


@dataclass(frozen=True)
class Moment:
    """A moment at which the power may fail."""

    at_us: int
    arrived: int
    """How many writes had arrived."""
    risk: tuple[int, ...]
    """Those among them that were at risk."""


Part = tuple[int, int, int]
"""A write, and the sectors of it from the first on to before the last."""


@dataclass(frozen=True)
class State:
    """What a cut at a moment may leave: all but some parts of the writes at risk."""

    moment: Moment
    lost: tuple[Part, ...]

    def without(self, parts: Iterable[Part]) -> "State":
        """Return the same with only these parts lost."""
        return State(self.moment, tuple(sorted(parts)))


@dataclass
class Log:
    """The writes of a run, and the moments of its cuts."""

    file: Path
    sector_bytes: int
    writes: list[Write] = field(default_factory=list)
    moments: list[Moment] = field(default_factory=list)

    def sectors(self, write: int) -> int:
        """Return how many sectors a write has."""
        return -(-self.writes[write].length // self.sector_bytes)

    def whole(self, write: int) -> Part:
        """Return all of a write."""
        return write, 0, self.sectors(write)

    def place(self, part: Part) -> tuple[int, int]:
        """Return where a part of a write lies on the disk: offset and length."""
        write, first, end = part
        begin = first * self.sector_bytes
        length = min((end - first) * self.sector_bytes, self.writes[write].length - begin)
        return self.writes[write].offset + begin, length

    def patches(self, state: State) -> Iterator[tuple[int, bytes]]:
        """Yield what is written in a state, in order of arrival: offsets and bytes."""
        lost = _by_write(state.lost)
        with self.file.open("rb") as file:
            for number, write in enumerate(self.writes[: state.moment.arrived]):
                for first, end in _kept(self.sectors(number), lost.get(number, ())):
                    offset, length = self.place((number, first, end))
                    if write.at is None:
                        yield offset, bytes(length)
                    else:
                        file.seek(write.at + first * self.sector_bytes)
                        yield offset, file.read(length)


def read_log(path: Path, began_us: int, *, flushes_ignored: bool) -> Log:
    """Read a log that a disk has finished; the moments are those after the load began."""
    events: list[tuple[str, dict[str, Any], int]] = []
    with path.open("rb") as file:
        log = Log(path, json.loads(file.readline())["medium"]["sector_bytes"])
        for line in iter(file.readline, b""):
            [(verb, asked)] = json.loads(line).items()
            events.append((verb, asked, file.tell()))
            if verb == "write":
                file.seek(asked["length_bytes"], 1)
    if not events or events[-1][0] != "end":
        raise RefusalError(f"{path} is cut short: its disk ended before the power did")
    safe: Safe = "stable" if flushes_ignored else "flush" if _has_cache(events, began_us) else "answered"
    _replay(log, events, began_us, safe)
    return log


def _has_cache(events: Sequence[tuple[str, dict[str, Any], int]], began_us: int) -> bool:
    """Tell whether writes are answered before they are stable, while the disk takes its time."""
    stable: set[int] = set()
    for verb, asked, _ in events:
        if verb == "stable":
            stable.add(asked["number"])
        timed = verb == "answered" and asked["writes"] and asked["at_ns"] >= began_us * 1000
        if timed and asked["number"] not in stable:
            return True
    return False


def _replay(log: Log, events: Sequence[tuple[str, dict[str, Any], int]], began_us: int, safe: Safe) -> None:
    numbers: dict[int, int] = {}
    risk: dict[int, int | None] = {}  # by write: when it was answered
    flushes: dict[int, int] = {}

    def moment(at_ns: int) -> None:
        if at_ns >= began_us * 1000 and risk:
            log.moments.append(Moment(at_ns // 1000, len(log.writes), tuple(risk)))

    for order, (verb, asked, at) in enumerate(events):
        number = asked.get("number", -1)
        match verb:
            case "write" | "discard":
                numbers[number] = len(log.writes)
                risk[len(log.writes)] = None
                log.writes.append(
                    Write(asked["offset_bytes"], asked["length_bytes"], at if verb == "write" else None)
                )
            case "flush":
                flushes[number] = order
            case "answered" if number in flushes and safe == "flush":
                since = flushes.pop(number)
                moment(asked["at_ns"])
                for one, answered in list(risk.items()):
                    if answered is not None and answered < since:
                        del risk[one]
            case "answered" | "stable" if number in numbers:
                if verb == safe:
                    moment(asked["at_ns"])
                    risk.pop(numbers[number], None)
                elif verb == "answered" and numbers[number] in risk:
                    risk[numbers[number]] = order
            case "cut":
                moment(asked["at_ns"])
            case _:
                pass


def states_of(log: Log, seed: int, page_bytes: int) -> Iterator[State]:
    """Yield the states that are tried: by turns of each kind, at moments spread over the run.

    Torn pages of the database come first among torn writes. `page_bytes`: the size of a page.
    """
    draw = random.Random(seed)  # noqa: S311 - an order
    moments = list(log.moments)
    draw.shuffle(moments)
    torn = list(_torn(log, draw, page_bytes))
    kinds: list[Iterator[State]] = [
        (State(one, tuple(map(log.whole, one.risk))) for one in moments),
        iter(torn[::2]),
        (State(one, (log.whole(write),)) for one in moments for write in _some(one.risk, draw)),
        iter(torn[1::2]),
        (State(one, ()) for one in moments),
        (State(one, _all_but(log, one, {write})) for one in moments for write in _some(one.risk, draw)),
        (State(one, _after(log, one, write)) for one in moments for write in _some(one.risk, draw)),
        (State(one, _subset(log, one, draw)) for _ in range(MOST_RANDOM) for one in moments),
    ]
    for turn in zip_longest(*kinds):
        yield from (state for state in turn if state is not None)


def _torn(log: Log, draw: random.Random, page_bytes: int) -> Iterator[State]:
    """Yield each write of several sectors with its end lost, at a moment at which it was at risk."""
    at: dict[int, Moment] = {}
    for moment in log.moments:
        for write in moment.risk:
            if log.sectors(write) > 1 and log.writes[write].at is not None:
                at.setdefault(write, moment)
    order = list(at)
    draw.shuffle(order)
    for write in sorted(order, key=lambda one: log.writes[one].length % page_bytes != 0):
        sectors = log.sectors(write)
        page = min(max(page_bytes // log.sector_bytes, 2), sectors)
        # Within its first page: a multi-page write that is torn between pages tears none.
        yield State(at[write], ((write, draw.randrange(1, page), sectors),))


def _some(writes: Sequence[int], draw: random.Random) -> list[int]:
    return draw.sample(writes, MOST_OF_A_MOMENT) if len(writes) > MOST_OF_A_MOMENT else list(writes)


def _all_but(log: Log, moment: Moment, kept: set[int]) -> tuple[Part, ...]:
    return tuple(log.whole(one) for one in moment.risk if one not in kept)


def _after(log: Log, moment: Moment, last: int) -> tuple[Part, ...]:
    return tuple(log.whole(one) for one in moment.risk if one > last)


def _subset(log: Log, moment: Moment, draw: random.Random) -> tuple[Part, ...]:
    likely = draw.random()
    return tuple(log.whole(one) for one in moment.risk if draw.random() < likely)


class Digests:
    """What distinguishes states: the bytes of all that was written, as a sum over sectors."""

    def __init__(self, log: Log) -> None:
        """Go through the moments once, and keep what lies under the writes at risk."""
        self._log = log
        self._hashes: dict[int, list[int]] = {}
        self._sums: dict[Moment, int] = {}
        self._under: dict[Moment, dict[int, tuple[int, int]]] = {}
        top: dict[int, tuple[int, int]] = {}
        total, arrived, unsafe = 0, 0, set[int]()
        with log.file.open("rb") as self._file:
            for moment in log.moments:
                risk = set(moment.risk)
                unsafe |= set(range(arrived, moment.arrived))
                arrived = moment.arrived
                total += sum(self._apply(top, log.whole(write)) for write in unsafe - risk)
                unsafe &= risk
                self._sums[moment] = total
                sectors = {s for write in risk for s in self._sectors(log.whole(write))}
                self._under[moment] = {sector: top[sector] for sector in sectors if sector in top}

    def of(self, state: State) -> int:
        """Return the digest of a state; equal if the bytes are."""
        top = dict(self._under[state.moment])
        total = self._sums[state.moment]
        lost = _by_write(state.lost)
        with self._log.file.open("rb") as self._file:
            for write in sorted(state.moment.risk):
                for first, end in _kept(self._log.sectors(write), lost.get(write, ())):
                    total += self._apply(top, (write, first, end))
        return total

    def _sectors(self, part: Part) -> range:
        write, first, end = part
        begin = self._log.writes[write].offset // self._log.sector_bytes
        return range(begin + first, begin + end)

    def _apply(self, top: dict[int, tuple[int, int]], part: Part) -> int:
        """Put a part of a write over what was there before it; return by how much the sum changes."""
        write, first, _ = part
        hashes = self._of_write(write)
        change = 0
        for number, sector in enumerate(self._sectors(part), start=first):
            before, value = top.get(sector, (-1, 0))
            if write > before:
                top[sector] = (write, hash((sector, hashes[number])))
                change += top[sector][1] - value
        return change

    def _of_write(self, number: int) -> list[int]:
        if number not in self._hashes:
            write, size = self._log.writes[number], self._log.sector_bytes
            if write.at is None:
                self._hashes[number] = [hash(bytes(size))] * self._log.sectors(number)
            else:
                self._file.seek(write.at)
                bytes_ = self._file.read(write.length)
                self._hashes[number] = [hash(bytes_[at : at + size]) for at in range(0, len(bytes_), size)]
        return self._hashes[number]


def _by_write(lost: Iterable[Part]) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for write, first, end in lost:
        found.setdefault(write, []).append((first, end))
    return found


def _kept(sectors: int, lost: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a write's sectors that are not lost."""
    at = 0
    for first, end in sorted(lost):
        if first > at:
            yield at, first
        at = max(at, end)
    if at < sectors:
        yield at, sectors
