"""Virtual disks in tests: who may attach them, what one counted, and what is left of them."""

from typing import Any

import pytest

from diskproof.results.machine import VirtualFacts
from diskproof.results.usage import RequestsServed, Spread, VirtualUse
from diskproof.storage.virtual import missing_means
from diskproof.study.storages import StorageChoice
from diskproof.system.loops import BLOCKS
from diskproof.system.mounts import mounts
from support.trials import change

VOLUME = """
title = "A volume for tests"
description = "Two milliseconds a request, as many at once as come."
[device.cloud]
capacity_bytes = { value = 1_073_741_824, source = "chosen" }
read_median_us = { value = 2000.0, source = "chosen" }
write_median_us = { value = 2000.0, source = "chosen" }
sigma = { value = 0.0, source = "chosen" }
concurrency = { value = 64, source = "chosen" }
iops = { fixed = { value = 100_000.0, source = "chosen" } }
mib_per_s = { value = 1000.0, source = "chosen" }
io_bytes = { value = 262_144, source = "chosen" }
"""
"""A device file: `virtual = "./volume.toml"`."""

VOLUME_US = 2000.0

needs_virtual_disks = pytest.mark.skipif(
    missing_means() is not None, reason=f"no virtual disk can be attached: {missing_means()}"
)


def storage(**fields: object) -> StorageChoice:
    """Return a storage on a disk that takes no time; `fields` are a study's keys."""
    return StorageChoice.model_validate({"virtual": "null", "size": "400 MiB", **fields})


def left_of(mark: str) -> list[str]:
    """Return what is still mounted, or looped, of the run with that mark."""
    mounted = [mount.mount_point for mount in mounts() if mark in mount.mount_point]
    files = [path.read_text().strip() for path in BLOCKS.glob("loop*/loop/backing_file")]
    return mounted + [file for file in files if mark in file]


def make_facts(**changes: Any) -> VirtualFacts:
    """Return the facts of a spinning disk that was attached."""
    facts = VirtualFacts(
        name="cheetah",
        device="cheetah",
        title="A disk of 15,000 rpm",
        model="spinning",
        size_bytes=73 * 10**9,
        path_us=48.0,
        floor_us=30.0,
    )
    return change(facts, **changes)


def make_use(**changes: Any) -> VirtualUse:
    """Return what a punctual disk counted of a minute of writes."""
    latency = Spread(mean=4000.0, p50=3900.0, p95=6000.0, p99=7000.0, max=9000.0)
    none = RequestsServed(requests=0, bytes=0, errors=0, latency_us=None)
    use = VirtualUse(
        name="cheetah",
        device="cheetah",
        block="loop7",
        seconds=60.0,
        read=none,
        write=RequestsServed(requests=10_000, bytes=163_840_000, errors=0, latency_us=latency),
        flush=RequestsServed(requests=5_000, bytes=0, errors=0, latency_us=latency),
        discard=none,
        queue_depth_mean=0.8,
        lateness_us=Spread(mean=2.0, p50=1.0, p95=5.0, p99=20.0, max=400.0),
        lateness_share=0.005,
        late=False,
        errors=0,
        contents_bytes=200 * 2**20,
        counters={"seeks": 12},
    )
    return change(use, **changes)
