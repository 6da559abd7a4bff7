"""A cloud volume: a round trip behind limits of requests and bytes; and the disk of a virtual machine."""

import math
from dataclasses import replace

from diskproof.profile.clone.device import Parameter, Tree
from diskproof.profile.clone.fit import Candidate, Knob, Setting
from diskproof.profile.clone.sight import LARGE_BLOCK, Sight
from diskproof.results.modelled import MeasureName
from diskproof.results.profile import Pattern

MIB = 2**20

READS: frozenset[Pattern] = frozenset({"random-read", "sequential-read", "mixed"})
WRITES: frozenset[Pattern] = frozenset({"random-write", "sequential-write", "synced-append", "synced-write"})
SEQUENTIAL: frozenset[Pattern] = frozenset({"sequential-read", "sequential-write"})
RANDOM: frozenset[Pattern] = frozenset({"random-read", "random-write", "mixed"})
SYNCED: frozenset[Pattern] = frozenset({"synced-append", "synced-write"})

USUAL_US = 1000.0
SIGMAS: dict[MeasureName, float] = {"p99_us": 2.326, "p95_us": 1.645}
"""Standard deviations from the median to a percentile of a normal distribution."""

KNOBS = (
    Knob("read_us", READS, 1.0, 1e6),
    Knob("write_us", WRITES, 1.0, 1e6),
    Knob("sigma", READS | WRITES, 0.005, 2.0),
    Knob("iops", RANDOM | SEQUENTIAL | SYNCED, 1.0, 1e7),
    Knob("mib_per_s", RANDOM | SEQUENTIAL, 0.1, 1e5),
    Knob("concurrency", RANDOM | SEQUENTIAL, choices=(1, 2, 4, 8, 16, 32, 64, 128, 256)),
    Knob("io_bytes", SEQUENTIAL, choices=(16_384, 65_536, 262_144, 1_048_576)),
    Knob("flush_us", SYNCED, 0.0, 1e6),
)

READ_LIMITS = ("iops", "mib_per_s")
"""Knobs that concern reads alone if writes have their own."""

BATCH_KNOBS = (
    Knob("write_iops", WRITES, 1.0, 1e7),
    Knob("write_mib_per_s", WRITES, 0.1, 1e5),
)


def candidate(sight: Sight) -> Candidate:
    """Return a volume whose limits are the highest rates that were measured."""
    read_us = sight.latency_us("random-read") or sight.latency_us("random-read", LARGE_BLOCK)
    write_us = sight.latency_us("random-write") or sight.latency_us("sequential-write")
    iops = max(filter(None, (sight.top_iops("random-read"), sight.top_iops("random-write"))), default=3000.0)
    rate = sight.top_mb_per_s("sequential-read", "sequential-write", "random-read") or 125.0
    synced_us = sight.latency_us("synced-append")
    rates = [one.figures["iops"] for one in sight.only(("synced-append",)).observations]
    flush_us = 1e6 / max(rates) - synced_us if rates and synced_us and max(rates) else 0.0
    start = {
        "read_us": read_us or USUAL_US,
        "write_us": write_us or synced_us or read_us or USUAL_US,
        "sigma": _sigma(sight),
        "iops": iops,
        "mib_per_s": rate * 1e6 / MIB,
        "concurrency": 64,
        "io_bytes": 262_144,
        "flush_us": max(flush_us, 1.0),
    }
    return Candidate("cloud", start, KNOBS, lambda setting: {"cloud": _tree(setting, sight)})


def in_batches(sight: Sight) -> Candidate:
    """Return the disk of a virtual machine, whose host takes requests in batches.

    What one request more adds to a batch is seldom the same for reads and writes, so each has its own limits.
    """
    volume = candidate(sight)
    rate = sight.top_mb_per_s("sequential-write", "random-write")
    start = {
        **volume.start,
        "iops": sight.top_iops("random-read") or volume.start["iops"],
        "write_iops": sight.top_iops("random-write") or volume.start["iops"],
        "write_mib_per_s": rate * 1e6 / MIB if rate else volume.start["mib_per_s"],
    }

    def build(setting: Setting) -> Tree:
        own: Tree = {
            "batches": Parameter(True, "assumed: batches come nearer to the figures than single requests"),
            "write_iops": setting.fitted("write_iops"),
            "write_mib_per_s": setting.fitted("write_mib_per_s"),
        }
        return {"cloud": {**_tree(setting, sight), **own}}

    shared = (
        replace(one, patterns=one.patterns & READS) if one.name in READ_LIMITS else one for one in KNOBS
    )
    return replace(volume, kind="cloud, in batches", start=start, knobs=(*shared, *BATCH_KNOBS), build=build)


def _sigma(sight: Sight) -> float:
    for one in sight.only(("random-read",)).observations:
        median = one.figures.get("median_us")
        for measure, sigmas in SIGMAS.items():
            if one.probe.depth == 1 and median and (slow := one.figures.get(measure)):
                return min(max(math.log(slow / median) / sigmas, 0.01), 1.5)
    return 0.2


def _tree(setting: Setting, sight: Sight) -> Tree:
    fitted = setting.fitted
    return {
        "capacity_bytes": Parameter(sight.capacity_bytes // 512 * 512, sight.capacity_source),
        "read_median_us": fitted("read_us"),
        "write_median_us": fitted("write_us"),
        "sigma": fitted("sigma"),
        "flush_us": fitted("flush_us"),
        "concurrency": fitted("concurrency"),
        "mib_per_s": fitted("mib_per_s"),
        "io_bytes": fitted("io_bytes"),
        "iops": {"fixed": fitted("iops")},
    }
