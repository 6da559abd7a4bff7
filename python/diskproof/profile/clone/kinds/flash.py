"""A flash drive: reads pass controller, dies and channels; writes pass a buffer."""

import math
from collections.abc import Iterator
from dataclasses import replace

from diskproof.profile.clone.device import Parameter, Tree
from diskproof.profile.clone.fit import Candidate, Knob, Setting
from diskproof.profile.clone.sight import LARGE_BLOCK, SMALL_BLOCK, Sight
from diskproof.results.profile import Pattern

READS: frozenset[Pattern] = frozenset({"random-read", "sequential-read", "mixed"})
RANDOM_READS: frozenset[Pattern] = frozenset({"random-read", "mixed"})
SUSTAINED: frozenset[Pattern] = frozenset({"random-write", "sequential-write"})
SYNCED: frozenset[Pattern] = frozenset({"synced-append", "synced-write", "fileio"})
WRITES: frozenset[Pattern] = SUSTAINED | SYNCED | frozenset({"mixed"})

SATA_MB_PER_S = 530.0
"""Of SATA at 6 Gb/s; what is faster is taken for PCI Express."""

READ_US, WRITE_US = 100.0, 50.0
"""Usual times of a drive behind SATA, for what was not measured."""

PAGE_US = 800.0
"""A die takes so long for a page: usual for MLC, between SLC's 250 and TLC's 1,500; a first guess."""

ERASE_US = 3_000.0
"""Usual."""

LEAST_PROGRAM_US = 20.0

MOST_DIES = 64
"""On a channel."""

TOTALS = ("read_total_us", "write_total_us")
"""Knobs that are the whole time of a request of 4 KiB, one at a time."""

NEARLY = 0.98
"""The controller is taken to pass few more requests than were measured, until a fit shows another bound."""

WORN_SPARE, WORN_FILLED = 0.3, 0.8
"""Of a drive in use: its flash beyond its size, and the share of its size that holds data."""

PAGES_PER_BLOCK = 64
MOST_UNITS = 2**31 / 3
"""Pieces that the model's page map holds, with room for any spare share."""

KNOBS = (
    Knob("read_total_us", READS, 2.0, 1e5),
    Knob("cells_share", RANDOM_READS, 0.05, 0.97),
    Knob("read_command_us", READS, 0.1, 1e4),
    Knob("channels", READS | WRITES, 1, 32, whole=True),
    Knob("page_us", READS | WRITES, LEAST_PROGRAM_US, 2e4),
    Knob("channel_mb_per_s", READS, 10.0, 1e4),
    Knob("interface_mb_per_s", READS | SUSTAINED, 10.0, 2e4),
    Knob("queue_depth", READS | SUSTAINED, choices=(1, 8, 32, 1024)),
    Knob("write_total_us", WRITES, 1.0, 1e5),
    Knob("write_command_us", WRITES, 0.1, 1e4),
    Knob("program_mb_per_s", READS | WRITES, 1.0, 2e4),
    Knob("page_bytes", WRITES | READS, choices=(4_096, 8_192, 16_384, 32_768, 65_536, 131_072)),
    Knob("write_buffer_bytes", SUSTAINED, choices=(2**20, 2**22, 2**24, 2**26)),
    Knob("mapping_bytes", SUSTAINED | READS, choices=(4_096, 8_192, 16_384)),
    Knob("spare", SUSTAINED, 0.05, 2.0),
    Knob("erase_us", SUSTAINED, 500.0, 1e4),
    Knob("synced_us", SYNCED, 1.0, 1e6),
)

WORN = ("spare", "erase_us")
"""Knobs that show only while garbage is collected."""

FASTEST_HONEST_US = 100.0
"""No flash that is sold is programmed faster than this, so a faster flush did not wait for it."""

ASSUMED_HONEST = "assumed: no measurement shows whether a flush reaches the flash"
ASSUMED_LYING = "assumed: a flush is faster than programming. Capacitors may make that safe; nothing shows it"


def candidates(sight: Sight) -> Iterator[Candidate]:
    """Yield a drive with room to write, and one that must collect garbage first."""
    yield _candidate(sight, worn=False)
    yield _candidate(sight, worn=True)


def single(sight: Sight) -> Candidate:
    """Return the drive that takes one command at a time, as behind a bridge: its queue is no question."""
    made = _candidate(sight, worn=False)
    knobs = tuple(knob for knob in made.knobs if knob.name not in ("queue_depth", "interface_mb_per_s"))
    fast = max(SATA_MB_PER_S, float(made.start["interface_mb_per_s"]) * 1.2)
    return replace(made, start={**made.start, "queue_depth": 32, "interface_mb_per_s": fast}, knobs=knobs)


def _candidate(sight: Sight, *, worn: bool) -> Candidate:
    read_us = sight.latency_us("random-read") or READ_US
    large_us = sight.latency_us("random-read", LARGE_BLOCK) or read_us
    interface = sight.top_mb_per_s(*(SUSTAINED | READS)) or 500.0
    more_us = large_us - read_us - (LARGE_BLOCK - SMALL_BLOCK) / interface
    channel = (LARGE_BLOCK - SMALL_BLOCK) / more_us if more_us > 1 else 400.0
    top_reads = sight.top_iops("random-read") or 1e6 / read_us
    top_writes = max(
        filter(None, (sight.top_iops("random-write"), sight.top_iops("sequential-write"))), default=2e4
    )
    sustained = sight.top_mb_per_s("sequential-write") or sight.top_mb_per_s("random-write") or interface / 2
    synced = sight.top_iops("synced-append")
    write_us = _buffered_us(sight)
    mapping = 16_384 if _writes_large_pieces(sight) else 4_096
    read_command_us = max(NEARLY * 1e6 / top_reads, 0.2)
    write_command_us = max(min(NEARLY * 1e6 / top_writes, write_us), 0.2)
    synced_us = max(1e6 / synced - write_us, 2.0) if synced else 1000.0
    start = {
        "read_total_us": read_us,
        "cells_share": 0.6,
        "read_command_us": read_command_us,
        "channels": 8,
        "page_us": PAGE_US,
        "channel_mb_per_s": min(max(channel, 20.0), 4000.0),
        "interface_mb_per_s": interface * 1.02,
        "queue_depth": 32,
        "write_total_us": write_us,
        # The dies of a worn drive are its limit, so its controller is taken to be as quick as for reads.
        "write_command_us": min(read_command_us, write_command_us) if worn else write_command_us,
        "program_mb_per_s": _programmed_mb_per_s(sight, mapping, sustained) if worn else sustained * 1.02,
        "page_bytes": 16_384,
        "write_buffer_bytes": 2**24,
        "mapping_bytes": mapping,
        "spare": WORN_SPARE,
        "erase_us": ERASE_US,
        "synced_us": synced_us,
        "flush": "ignored" if synced_us < FASTEST_HONEST_US else "honest",
    }
    knobs = tuple(knob for knob in KNOBS if worn or knob.name not in WORN)
    kind = "worn flash" if worn else "flash"
    return Candidate(kind, start, knobs, lambda setting: {"flash": _tree(setting, sight, worn=worn)})


def _programmed_mb_per_s(sight: Sight, mapping_bytes: int, sustained: float) -> float:
    """Return what a worn drive programs while it takes the random writes that were measured.

    Each piece written moves x / (1 - x) more. The block that is collected holds a share x of valid pieces,
    and (1 - x) / ln(1 / x) is their share in all blocks.
    """
    rates = [
        per_s * max(block, mapping_bytes) / 1e6
        for block in (SMALL_BLOCK, LARGE_BLOCK)
        if (per_s := sight.top_iops("random-write", block))
    ]
    valid, low, high = WORN_FILLED / (1 + WORN_SPARE), 1e-9, 1 - 1e-9
    for _ in range(50):
        middle = (low + high) / 2
        if (1 - middle) / -math.log(middle) < valid:
            low = middle
        else:
            high = middle
    return max([*rates, sustained * (1 - low)]) / (1 - low)


def _writes_large_pieces(sight: Sight) -> bool:
    """Return whether each small write may write a large piece.

    Then small writes are no faster than large ones, and these pieces are no more bytes than streams write.
    """
    small, large = (sight.top_iops("random-write", block) for block in (SMALL_BLOCK, LARGE_BLOCK))
    streamed = sight.top_mb_per_s("sequential-write")
    return (
        small is not None
        and large is not None
        and small < 1.3 * large
        and (streamed is None or small * LARGE_BLOCK / 1e6 <= streamed)
    )


def _buffered_us(sight: Sight) -> float:
    """Return the time of a write that finds room in the buffer, as far as anything shows it."""
    latencies = (sight.latency_us(name) for name in ("synced-append", "synced-write", "random-write"))
    return min((one for one in latencies if one), default=WRITE_US)


def _tree(setting: Setting, sight: Sight, *, worn: bool) -> Tree:
    number, fitted = setting.number, setting.fitted
    interface, channel = number("interface_mb_per_s"), number("channel_mb_per_s")
    mapping = _mapping_bytes(int(number("mapping_bytes")), sight.capacity_bytes)
    page = max(int(number("page_bytes")), mapping)
    # A die takes a page and programs it. The rate and the time of that show how many dies there are.
    rate, channels = number("program_mb_per_s"), int(number("channels"))
    dies_per_channel = min(max(round(rate * number("page_us") / (page * channels)), 1), MOST_DIES)
    dies = channels * dies_per_channel
    page_us = dies * page / rate
    moving_us = SMALL_BLOCK / interface + SMALL_BLOCK / channel
    own_us = max(number("read_total_us") - moving_us, 1.0)
    cells_us = own_us * number("cells_share")
    row_bytes = dies * page * PAGES_PER_BLOCK
    while row_bytes * 8 > sight.capacity_bytes and row_bytes > dies * page:
        row_bytes //= 2
    worn_source = "assumed: a drive in use, which comes nearer to the figures than one with room"
    honest = setting.values["flush"] == "honest"
    flush_us = number("synced_us") - (page_us if honest else 0.0)
    return {
        "capacity_bytes": Parameter(sight.capacity_bytes // mapping * mapping, sight.capacity_source),
        "channels": fitted("channels"),
        "dies_per_channel": fitted("page_us", dies_per_channel),
        "page_bytes": fitted("page_bytes", page),
        "pages_per_block": Parameter(row_bytes // (dies * page), "assumed"),
        "mapping_bytes": fitted("mapping_bytes", mapping),
        "read_us": fitted("cells_share", cells_us),
        "program_us": fitted("page_us", max(page_us - page / channel, LEAST_PROGRAM_US)),
        "erase_us": fitted("erase_us") if worn else Parameter(ERASE_US, "assumed: usual"),
        "channel_mb_per_s": fitted("channel_mb_per_s"),
        "interface_mb_per_s": fitted("interface_mb_per_s"),
        "full_duplex": Parameter(interface > 1.2 * SATA_MB_PER_S, "assumed: faster than SATA is PCI Express"),
        "queue_depth": fitted("queue_depth", int(setting.values["queue_depth"]), "assumed"),
        "read_command_us": fitted("read_command_us"),
        "write_command_us": fitted("write_command_us"),
        "read_overhead_us": fitted("read_total_us", own_us - cells_us),
        "write_overhead_us": fitted(
            "write_total_us", max(number("write_total_us") - SMALL_BLOCK / interface, 0.0)
        ),
        "write_buffer_bytes": fitted("write_buffer_bytes", max(int(number("write_buffer_bytes")), page)),
        "flush_us": fitted("synced_us", max(flush_us, 1.0)),
        "flush": Parameter(setting.values["flush"], ASSUMED_HONEST if honest else ASSUMED_LYING),
        "flush_queued": Parameter(interface > 1.2 * SATA_MB_PER_S, "assumed: faster than SATA is NVMe"),
        "power_loss_protection": Parameter(False, "assumed: no measurement shows capacitors"),
        "over_provisioning": fitted("spare") if worn else Parameter(0.073, "assumed: usual"),
        "filled": Parameter(
            WORN_FILLED if worn else 0.5, worn_source if worn else "assumed: a drive in light use"
        ),
        "preconditioning": Parameter(
            "random" if worn else "sequential", worn_source if worn else "assumed: a drive in light use"
        ),
    }


def _mapping_bytes(wanted: int, capacity_bytes: int) -> int:
    while capacity_bytes / wanted > MOST_UNITS and wanted < 32_768:
        wanted *= 2
    return wanted
