"""Logs that fio replays, request by request: for patterns that fio does not have."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

READS_PER_WRITE = 1.5
"""sysbench's default of --file-rw-ratio."""

HEADER = "fio version 2 iolog"


def log(files: Sequence[str], actions: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a log over some files, whose names must have no white space.

    fio replays a log once and ends, whatever time it was given: the log must be long enough.
    """
    yield HEADER
    for name in files:
        yield f"{name} add"
        yield f"{name} open"
    yield from actions
    for name in files:
        yield f"{name} close"


def reads_and_writes() -> Iterator[str]:
    """Yield sysbench's order of `rndrw`: a read while (reads + 1) / (writes + 1) is below the ratio.

    Source: sysbench 1.0, sb_fileio.c.
    """
    reads = writes = 0
    while True:
        reading = (reads + 1) / (writes + 1) < READS_PER_WRITE
        reads, writes = reads + reading, writes + (not reading)
        yield "read" if reading else "write"


def at_random(
    draw: random.Random, files: Sequence[str], blocks: int, block_bytes: int, verbs: Iterable[str]
) -> Iterator[str]:
    """Yield requests at uniform, aligned offsets over files of so many blocks each."""
    for verb in verbs:
        file, block = divmod(draw.randrange(len(files) * blocks), blocks)
        yield f"{files[file]} {verb} {block * block_bytes} {block_bytes}"


def in_sequence(files: Sequence[str], blocks: int, block_bytes: int, verb: str) -> Iterator[str]:
    """Yield the requests of endless passes over files of so many blocks each, one file after another."""
    while True:
        for name in files:
            for offset in range(0, blocks * block_bytes, block_bytes):
                yield f"{name} {verb} {offset} {block_bytes}"


def synced(requests: Iterator[str], every: int, files: Sequence[str]) -> Iterator[str]:
    """Yield requests, with a sync of each file after every so many of them; 0: no syncs."""
    if not every:
        yield from requests
        return
    syncs = [f"{name} sync 0 0" for name in files]
    while portion := list(islice(requests, every)):
        yield from portion
        yield from syncs
