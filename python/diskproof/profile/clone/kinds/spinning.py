"""A disk with an arm: rotation, seeks, zones and a write cache."""

from collections.abc import Iterator
from dataclasses import replace

from diskproof.profile.clone.device import Parameter, Tree
from diskproof.profile.clone.fit import Candidate, Knob, Setting
from diskproof.profile.clone.sight import Sight
from diskproof.results.profile import Pattern

READS: frozenset[Pattern] = frozenset({"random-read", "mixed", "fileio"})
WRITES: frozenset[Pattern] = frozenset({"random-write", "mixed", "fileio"})
SEQUENTIAL: frozenset[Pattern] = frozenset({"sequential-read", "sequential-write"})
SYNCED: frozenset[Pattern] = frozenset({"synced-append", "synced-write"})

SPEEDS = (4200, 5400, 5900, 7200, 10_000, 15_000)
"""Revolutions a minute of the disks that were sold."""

USUAL_SPEEDS = (5400, 7200, 10_000, 15_000)

OF_ITS_SPEED = 0.05
"""How near synced appends a second lie to revolutions a second if each waits for one."""

MORE_SPEEDS = 2
"""Speeds that are tried if synced appends do not show it."""

AVERAGE_SEEK_TURNS = 1.0
"""Mean seek in revolutions, for disks over which no arm was sent: 8.3 ms at 7200, 4 ms at 15,000. Usual."""

SLOWER_AT_FULL_STROKE = 1.9
"""Full stroke over mean seek, both beyond the seek to the next track; the model takes 1.4 to 3. Usual."""

FASTEST_US, SLOWEST_US = 1_500.0, 60_000.0
"""Random reads of a disk with an arm take this long."""

ALL = READS | WRITES | SEQUENTIAL | SYNCED

ROTATION_ONLY = "assumed: the inner rate is half of the outer; reads at the end of the disk would show it"

KNOBS = (
    Knob("average_seek_us", ALL, 100.0, 50_000.0, shown_by=READS),
    Knob("track_seek_us", ALL, 50.0, 10_000.0, shown_by=READS),
    Knob("outer_mb_per_s", ALL, 1.0, 1000.0),
    Knob("queue_depth", READS | WRITES, choices=(1, 4, 8, 16, 32, 64, 128)),
    Knob("ageing", READS | WRITES, 0.000_5, 1.0),
    Knob("write_cache", WRITES | SEQUENTIAL | SYNCED, choices=(True, False)),
    Knob("write_settle_us", WRITES | SYNCED, 50.0, 5_000.0),
    Knob("command_overhead_us", ALL, 5.0, 5_000.0),
    Knob("cache_bytes", ALL, choices=(2**21, 2**22, 2**23, 2**24, 2**25, 2**26, 2**27)),
    # After the times of a write: how many are sorted would make up for a wrong one.
    Knob("write_cache_commands", WRITES, 1, 1024, whole=True),
)


def is_possible(sight: Sight) -> bool:
    """Return whether random reads take as long as an arm needs."""
    read_us = sight.latency_us("random-read")
    return read_us is not None and FASTEST_US <= read_us <= SLOWEST_US


def candidates(sight: Sight) -> Iterator[Candidate]:
    """Yield a disk of each speed that the figures allow."""
    if is_possible(sight):
        for rpm in _speeds(sight):
            yield _candidate(sight, rpm)


def single(sight: Sight) -> Iterator[Candidate]:
    """Yield disks that take one command at a time, as behind a bridge."""
    for made in candidates(sight):
        knobs = tuple(knob for knob in made.knobs if knob.name not in ("queue_depth", "ageing"))
        yield replace(made, start={**made.start, "queue_depth": 1, "ageing": 0.005}, knobs=knobs)


def _speeds(sight: Sight) -> list[int]:
    per_s = sight.top_iops("synced-append")
    if per_s:
        near = [rpm for rpm in SPEEDS if abs(per_s * 60 / rpm - 1) <= OF_ITS_SPEED]
        if near:
            return near[:1]
    turn_us = _turn_us(sight)
    if turn_us is None:
        return list(USUAL_SPEEDS)
    return sorted(SPEEDS, key=lambda rpm: abs(60e6 / rpm - turn_us))[:MORE_SPEEDS]


def _turn_us(sight: Sight) -> float | None:
    """Estimate a revolution: reads wait for none of it to all of it, so the slowest wait half more."""
    read_us = sight.latency_us("random-read")
    for one in sight.only(("random-read",)).observations:
        median = one.figures.get("median_us")
        if one.probe.depth == 1 and median is not None and median == read_us:
            if slow := one.figures.get("p99_us"):
                return (slow - median) / 0.49
            if slow := one.figures.get("p95_us"):
                return (slow - median) / 0.45
    return None


def _candidate(sight: Sight, rpm: int) -> Candidate:
    turn_us = 60e6 / rpm
    read_us = sight.latency_us("random-read") or turn_us
    overhead_us = 150.0
    track_us = max(read_us - turn_us / 2 - overhead_us - 200.0, 200.0)
    wide_us = sight.latency_us("random-read", wide=True)
    average_us = (
        wide_us - turn_us / 2 - overhead_us
        if wide_us and wide_us > read_us * 1.05
        else AVERAGE_SEEK_TURNS * turn_us
    )
    rate = sight.top_mb_per_s("sequential-read", "sequential-write") or 100.0
    gain = sight.gain_by_depth("random-read") or 2.0
    writes, reads = sight.top_iops("random-write"), sight.top_iops("random-read")
    start = {
        "rpm": rpm,
        "average_seek_us": max(average_us, track_us * 1.2),
        "track_seek_us": track_us,
        "outer_mb_per_s": rate * 1.01,
        "queue_depth": 1 if gain < 1.1 else 32,
        "ageing": 0.005,
        "write_cache": not (writes and reads and writes < reads * 0.9),
        "write_cache_commands": 64,
        "write_settle_us": 500.0,
        "command_overhead_us": overhead_us,
        "cache_bytes": 2**24,
    }
    return Candidate("spinning", start, KNOBS, lambda setting: {"spinning": _tree(setting, sight)})


def _tree(setting: Setting, sight: Sight) -> Tree:
    number, fitted = setting.number, setting.fitted
    outer, track_us = number("outer_mb_per_s"), number("track_seek_us")
    average_us = max(number("average_seek_us"), track_us + 10.0)
    full_us = track_us + (average_us - track_us) * SLOWER_AT_FULL_STROKE
    cache = int(number("cache_bytes"))
    sector = sight.sector_bytes
    return {
        "capacity_bytes": Parameter(sight.capacity_bytes // sector * sector, sight.capacity_source),
        "sector_bytes": Parameter(sector, "measured: the kernel's sectors"),
        "rpm": Parameter(
            int(setting.values["rpm"]), "fitted to random-read, synced-append; the nearest that was sold"
        ),
        "track_to_track_seek_us": fitted("track_seek_us", track_us),
        "average_seek_us": fitted("average_seek_us", average_us),
        "full_stroke_seek_us": Parameter(full_us, f"assumed: {SLOWER_AT_FULL_STROKE:g} times the mean"),
        "write_settle_us": fitted("write_settle_us"),
        "outer_mb_per_s": fitted("outer_mb_per_s"),
        "inner_mb_per_s": Parameter(outer / 2, ROTATION_ONLY),
        "command_overhead_us": fitted("command_overhead_us"),
        "interface_mb_per_s": Parameter(max(300.0, outer), "assumed: faster than the platter"),
        "queue_depth": fitted("queue_depth", int(number("queue_depth")), "assumed: it is asked no more"),
        "ageing": fitted("ageing", number("ageing"), "assumed: the model's default"),
        "cache_bytes": fitted("cache_bytes", cache),
        "write_cache": fitted("write_cache"),
        "write_cache_bytes": Parameter(cache // 2, "assumed: half of the cache"),
        "write_cache_commands": fitted("write_cache_commands", int(number("write_cache_commands"))),
    }
