"""The cells that a clone is made from: which are measured, and which of them are held back."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from diskproof import disk
from diskproof.profile.plan import (
    LOG_BLOCK,
    RANDOM_BLOCKS,
    SEQUENTIAL_BLOCKS,
    THE_WRITING_PASS,
    Effort,
    grid,
)
from diskproof.profile.simulated import MODELLED
from diskproof.results.modelled import MeasureName
from diskproof.results.profile import Pattern, Probe, ProfileCell, ProfilePlace

FULL = Effort(seconds=5.0, ramp_s=1.0, depths=(1, 2, 4, 8, 16, 32, 64, 128), size_bytes=2**30, quick=False)
QUICK = Effort(seconds=0.8, ramp_s=0.2, depths=(1, 4, 16, 32, 128), size_bytes=256 * 2**20, quick=True)

SEQUENTIAL_DEPTHS = (1, 2, 8, 32)
QUICK_SEQUENTIAL_DEPTHS = (1, 8)

PAGE = 16 * 2**10

ALWAYS_HELD: frozenset[Pattern] = frozenset({"mixed", "synced-write"})
"""Mixes of what other patterns do alone: a clone must predict them."""

SYNCED_BLOCK = 8 * 2**10
"""Synced writes of this block alone are fitted: they show the flush of a cache that appends go past."""

FEWEST_QUEUES = 5
"""Mean latencies in the time of a cell: the requests that its end cuts off are then a tenth of all."""

WIDE_SPANS = (1.0, 0.1)
"""Shares of a whole disk that an arm travels over, to learn how long its seeks take."""

WIDE_DEPTHS = (1, 8, 32)


@dataclass(frozen=True, eq=False)
class Observation:
    """A probe, and what somebody measured of it."""

    probe: Probe
    figures: Mapping[MeasureName, float]
    source: str
    seconds: float = 5.0
    """How long it was measured: a buffer that fills meanwhile must have that time in a simulation too."""
    fio_window_s: float = 0.0
    """The time that fio was given for a deep queue; 0 without fio, or if nobody knows it.

    At its end fio waits for the requests under way, takes all of them for answered with the last, and has
    their latencies in the percentiles: the 95th of a slow disk's deep queue is then 1.8 times too long. A
    model is asked to do so too.
    """
    held: bool = False
    """Whether it is held back: nothing is fitted to it, and no kind is chosen by it."""

    @property
    def requests(self) -> float:
        """How many requests it rests on."""
        return self.figures.get("iops", 0.0) * self.seconds


class Asked(NamedTuple):
    """A probe as a model is asked for it."""

    probe: Probe
    seconds: int
    requests: int
    """The most that are simulated."""
    fio_window_s: float

    @property
    def line(self) -> disk.Facts:
        """Return it as the program reads it."""
        return self._asdict() | {"probe": self.probe.model_dump()}


def plan(place: ProfilePlace, effort: Effort) -> list[Probe]:
    """Return the probes of a place, all within the same first bytes. Reads come first, then what writes."""
    span = min(effort.size_bytes, place.size_bytes)
    deep = QUICK_SEQUENTIAL_DEPTHS if effort.quick else SEQUENTIAL_DEPTHS
    blocks = (LOG_BLOCK, PAGE)
    probes = [
        THE_WRITING_PASS,
        *grid("random-read", RANDOM_BLOCKS, effort.depths),
        *grid("sequential-read", SEQUENTIAL_BLOCKS, deep),
        *grid("synced-append", blocks, (1,)),
        *grid("synced-write", (*blocks, SYNCED_BLOCK), (1,)),
        Probe(pattern="fileio", block_bytes=PAGE),
        *grid("mixed", (PAGE,), (1, 8)),
        *grid("sequential-write", SEQUENTIAL_BLOCKS, deep),
        *grid("random-write", RANDOM_BLOCKS, effort.depths),
    ]
    chosen = [probe for probe in probes if place.writable or not probe.writes]
    return [probe.model_copy(update={"span_bytes": span}) for probe in chosen]


def wide_plan(place: ProfilePlace) -> list[Probe]:
    """Return reads over a whole disk and a tenth of it, which show the seeks of an arm."""
    spans = [int(place.size_bytes * share) // 2**20 * 2**20 for share in WIDE_SPANS]
    depths = (WIDE_DEPTHS, (1,))
    return [
        Probe(pattern="random-read", block_bytes=4 * 2**10, depth=depth, span_bytes=span)
        for span, some in zip(spans, depths, strict=True)
        for depth in some
    ]


def observed(cells: Iterable[ProfileCell], source: str, window_s: float) -> list[Observation]:
    """Return what fio measured, as far as a model can be asked the same; a probe counts once.

    `window_s` is the time that fio was given for a cell.
    """
    found: dict[Probe, Observation] = {}
    for cell in cells:
        if cell.requests is None or cell.error or cell.probe.pattern not in MODELLED or is_too_short(cell):
            continue
        of_queue_s = window_s if cell.probe.depth > 1 else 0.0
        figures = figures_of(_per_s(cell, of_queue_s or cell.seconds), cell.requests.percentiles_us)
        found.setdefault(cell.probe, Observation(cell.probe, figures, source, cell.seconds, of_queue_s))
    return list(found.values())


def _per_s(cell: ProfileCell, window_s: float) -> float:
    """Return the rate within the window.

    fio's time has the wait for the requests under way at the end, but its count has not these requests: with
    128 of them, a disk that answers 435 a second seems to answer 325 in 0.8 s.
    """
    assert cell.requests
    return cell.requests.per_s * max(cell.seconds / window_s, 1.0)


def is_too_short(cell: ProfileCell) -> bool:
    """Return whether a cell ended before its queue was answered a few times over.

    Requests that are under way at its end are in no rate, so the rate of such a cell is too low.
    """
    return cell.requests is not None and cell.requests.mean_us / 1e6 * FEWEST_QUEUES > cell.seconds


def figures_of(per_s: float, percentiles_us: Mapping[str, float]) -> dict[MeasureName, float]:
    """Return rate, median and 99th percentile; with too few requests for that, the 95th."""
    figures: dict[MeasureName, float] = {"iops": per_s}
    tails: tuple[tuple[MeasureName, str], ...] = (("p99_us", "99"), ("p95_us", "95"))
    if "50" in percentiles_us:
        figures["median_us"] = percentiles_us["50"]
    tail = next((one for one in tails if one[1] in percentiles_us), None)
    return figures | ({tail[0]: percentiles_us[tail[1]]} if tail else {})


def split(observations: Sequence[Observation]) -> list[Observation]:
    """Hold back every second depth of each pattern, block and span, and the mixes but one.

    Both ends are fitted: a single request shows its time, the deepest queue the limits. The rule does not
    depend on the figures, so nobody can choose what is held back.
    """
    groups: dict[tuple[Pattern, int, int | None], list[Observation]] = defaultdict(list)
    for one in observations:
        groups[one.probe.pattern, one.probe.block_bytes, one.probe.span_bytes].append(one)
    held = [
        one.probe
        for group in groups.values()
        for number, one in enumerate(sorted(group, key=lambda one: one.probe.depth))
        if (number % 2 and number + 1 < len(group)) or _is_a_mix(one.probe)
    ]
    return [replace(one, held=one.probe in held) for one in observations]


def _is_a_mix(probe: Probe) -> bool:
    is_fitted = probe.pattern == "synced-write" and probe.block_bytes == SYNCED_BLOCK
    return probe.pattern in ALWAYS_HELD and not is_fitted
