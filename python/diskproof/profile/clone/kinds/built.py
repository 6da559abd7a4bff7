"""Devices built of others: a USB bridge, an array, an SSD that caches a disk."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from diskproof.profile.clone.device import Parameter, Tree, Value
from diskproof.profile.clone.fit import Candidate, Knob, Setting
from diskproof.profile.clone.kinds import flash, spinning
from diskproof.profile.clone.sight import SMALL_BLOCK, Sight
from diskproof.results.profile import Pattern

MOST_GAIN = 1.25
"""A disk that answers more than this many times as much at depth has a queue."""

COMMAND_US = 60.0
"""Of a bridge. It cannot be told from the disk's own overhead, so it is assumed and the rest is fitted."""

RANDOM: frozenset[Pattern] = frozenset({"random-read", "random-write"})

BUS = Knob("bus_mb_per_s", spinning.SEQUENTIAL | RANDOM, 5.0, 5_000.0)

MORE_WRITES = 4.0
"""A cache takes more random writes than so many times the reads of the disk behind it. An arm does not."""

FRONT: frozenset[Pattern] = frozenset({"random-write", "synced-append", "synced-write", "fileio"})
BACK: frozenset[Pattern] = frozenset({"random-read", "sequential-read", "sequential-write", "synced-append"})
"""Appends are in both: the front takes the start of a stream, and the rest may go past it."""

LARGEST_FRONT_BYTES = 64 * 2**30

LARGEST_LOG_BYTES = 4 * 2**30

ONE_ARM_GAIN = 2.5
"""A disk with one arm answers hardly more than this many times as many reads at depth as one at a time."""

ARRAYS = ((1, 2, 1), (10, 4, 2), (0, 2, 2), (0, 4, 4))
"""Level, disks, and the disks whose size the array has."""

CACHE_KNOBS = (
    Knob("line_bytes", FRONT | RANDOM, choices=(4_096, 16_384, 65_536)),
    Knob("sequential_bypass_bytes", FRONT | spinning.SEQUENTIAL, choices=(0, 2**22)),
)


def bridges(sight: Sight) -> Iterator[Candidate]:
    """Yield bridges that pass one command at a time, if a queue gains nothing."""
    gain = sight.gain_by_depth("random-read")
    if gain is None or gain > MOST_GAIN:
        return
    inner = list(spinning.single(sight)) if spinning.is_possible(sight) else [flash.single(sight)]
    rate = sight.top_mb_per_s("sequential-read", "sequential-write") or 400.0
    for one in inner:
        yield replace(
            one,
            kind=f"bridge over {one.kind}",
            start={**one.start, "bus_mb_per_s": rate * 1.2},
            knobs=(BUS, *one.knobs),
            build=_Bridge(one),
        )


class _Bridge:
    def __init__(self, inner: Candidate) -> None:
        self._inner = inner

    def __call__(self, setting: Setting) -> Tree:
        # The bridge takes its part of what was measured, and the drive behind it the rest.
        before_us = COMMAND_US + SMALL_BLOCK / setting.number("bus_mb_per_s")
        inside = {
            name: max(float(value) - before_us, 1.0) if name in flash.TOTALS else value
            for name, value in setting.values.items()
        }
        return {
            "bridge": {
                "protocol": Parameter("bulk-only", "fitted to random-read: a queue gains nothing"),
                "command_us": Parameter(COMMAND_US, "assumed: part of the time of each command"),
                "bus_mb_per_s": setting.fitted("bus_mb_per_s"),
                "flush": Parameter("passed", "assumed: no measurement shows whether flushes reach the disk"),
                "disk": self._inner.build(replace(setting, values=inside)),
            }
        }


def arrays(sight: Sight) -> Iterator[Candidate]:
    """Yield arrays of equal disks, if more reads are answered at depth than one arm can."""
    gain = sight.gain_by_depth("random-read")
    if gain is None or gain < ONE_ARM_GAIN:
        return
    for level, disks, usable in ARRAYS:
        capacity = sight.capacity_bytes // usable
        for one in spinning.candidates(replace(sight, capacity_bytes=capacity)):
            rate = float(one.start["outer_mb_per_s"]) / usable
            yield replace(
                one,
                kind=f"RAID {level} of {disks} {one.kind}",
                start={**one.start, "outer_mb_per_s": rate},
                build=_Array(one, level, disks),
            )


class _Array:
    def __init__(self, inner: Candidate, level: int, disks: int) -> None:
        self._inner, self._level, self._disks = inner, level, disks

    def __call__(self, setting: Setting) -> Tree:
        return {
            "raid": {
                "level": Parameter(self._level, "fitted to random-read: more than one arm answers"),
                "chunk_bytes": Parameter(524_288, "assumed: the default of mdadm"),
                "disks": [self._inner.build(setting)] * self._disks,
            }
        }


def caches(sight: Sight) -> Iterator[Candidate]:
    """Yield an SSD before a disk, if reads wait for an arm and writes do not."""
    reads, writes = sight.top_iops("random-read"), sight.top_iops("random-write")
    if not (reads and writes and writes > MORE_WRITES * reads and spinning.is_possible(sight)):
        return
    # Some appends wait for the front and others for the back, so their rate is no first guess of either.
    front = next(flash.candidates(sight.only(FRONT - {"synced-append"})))
    for back in spinning.candidates(sight.only(BACK - {"synced-append"})):
        yield _cache(sight, front, back)


def _cache(sight: Sight, front: Candidate, back: Candidate) -> Candidate:
    start, knobs = _together({"front": (front, FRONT), "back": (back, BACK)})

    def build(setting: Setting) -> Tree:
        inner = dict(front.build(_part(setting, "front")))
        flash_inside = inner["flash"]
        assert isinstance(flash_inside, Mapping)
        size = min(LARGEST_FRONT_BYTES, sight.capacity_bytes // 4) // 32_768 * 32_768
        small = Parameter(size, "assumed: more than was written")
        return {
            "cache": {
                "policy": Parameter("write-back", "fitted to random-write: faster than the disk behind"),
                "line_bytes": setting.fitted("line_bytes"),
                "sequential_bypass_bytes": setting.fitted("sequential_bypass_bytes"),
                "front": {"flash": {**flash_inside, "capacity_bytes": small}},
                "back": back.build(_part(setting, "back")),
            }
        }

    rules: dict[str, Value] = {"line_bytes": 16_384, "sequential_bypass_bytes": 2**22}
    return Candidate("cache", {**rules, **start}, (*CACHE_KNOBS, *knobs), build)


def logs(sight: Sight) -> Iterator[Candidate]:
    """Yield a disk that logs an SSD's writes, if only reads of what was written wait for an arm."""
    wide_us = sight.latency_us("random-read", wide=True)
    if wide_us is None or wide_us > spinning.FASTEST_US or not spinning.is_possible(sight):
        return
    span = min(one.probe.span_of(sight.capacity_bytes) for one in sight.observations)
    written = [one for one in sight.observations if one.probe.span_of(sight.capacity_bytes) == span]
    others = [one for one in sight.observations if one not in written]
    back = flash.read_alone(replace(sight, observations=others))
    for front in spinning.candidates(replace(sight, observations=written)):
        yield _log(sight, front, back)


def _log(sight: Sight, front: Candidate, back: Candidate) -> Candidate:
    start, knobs = _together({"front": (front, spinning.ALL), "back": (back, flash.RANDOM_READS)})

    def build(setting: Setting) -> Tree:
        size = min(LARGEST_LOG_BYTES, sight.capacity_bytes // 4) // 2**20 * 2**20
        return {
            "log": {
                "log_bytes": Parameter(size, "assumed"),
                "front": front.build(_part(setting, "front")),
                "back": back.build(_part(setting, "back")),
            }
        }

    return Candidate("log", start, knobs, build)


def _together(
    parts: Mapping[str, tuple[Candidate, frozenset[Pattern]]],
) -> tuple[dict[str, Value], tuple[Knob, ...]]:
    """Return first guesses and knobs of parts, each fitted to its own patterns, with its name before each."""
    start = {f"{name}.{key}": value for name, (part, _) in parts.items() for key, value in part.start.items()}
    knobs = (
        replace(
            knob,
            name=f"{name}.{knob.name}",
            patterns=knob.patterns & mine,
            shown_by=knob.shown_by & mine,
        )
        for name, (part, mine) in parts.items()
        for knob in part.knobs
        if knob.patterns & mine
    )
    return start, tuple(knobs)


def _part(setting: Setting, name: str) -> Setting:
    own = len(name) + 1
    values = {key[own:]: value for key, value in setting.values.items() if key.startswith(f"{name}.")}
    told = {key[own:]: words for key, words in setting.sources.items() if key.startswith(f"{name}.")}
    return Setting(values, told)
