"""A virtual disk of our own that takes two milliseconds for anything: slow enough for any machine."""

from pathlib import Path

COMMAND_US = 2000.0
SIZE_BYTES = 256 * 2**20

TEXT = f"""
title = "Slow"
description = "Two milliseconds for anything, one request at a time."

[device.bridge]
command_us = {{ value = {COMMAND_US}, source = "assumed: as it suits a test" }}
bus_mb_per_s = {{ value = 400.0, source = "chosen" }}

[device.bridge.disk.null]
capacity_bytes = {{ value = {SIZE_BYTES}, source = "chosen" }}

[[published]]
probe = {{ pattern = "random-read", block_bytes = 4096 }}
measure = {{ iops = 497.0 }}
source = "1 / (2 ms + 4 KiB / 400 MB/s)"
fitted = true

[[published]]
probe = {{ pattern = "random-read", block_bytes = 4096, depth = 4 }}
measure = {{ median_us = 2500.0 }}
source = "wrong on purpose: four wait for each other"
fitted = false

[[published]]
probe = {{ pattern = "synced-append", block_bytes = 4096 }}
measure = {{ flushes_per_s = 249.0 }}
source = "two commands each"
fitted = false
"""


def write_slow_disk(folder: Path) -> Path:
    """Write the device file to a folder."""
    path = folder / "slow.toml"
    path.write_text(TEXT)
    return path
