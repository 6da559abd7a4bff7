"""Logs that fio replays, request by request: for what its own patterns do not know."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

READS_PER_WRITE = 1.5
"""sysbench's --file-rw-ratio, by its default."""

HEADER = "fio version 2 iolog"


def log(files: Sequence[str], actions: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a log over some files. fio cuts them at white space: names must have none.

    fio plays a log once and ends, whatever time it was given: it must be long enough.
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
    """Yield the requests of passes without end over files of so many blocks each, one file after another."""
    while True:
        for name in files:
            for offset in range(0, blocks * block_bytes, block_bytes):
                yield f"{name} {verb} {offset} {block_bytes}"


def synced(requests: Iterator[str], every: int, files: Sequence[str]) -> Iterator[str]:
    """Yield requests with a sync of each of the files after every so many of them; 0: with none."""
    if not every:
        yield from requests
        return
    syncs = [f"{name} sync 0 0" for name in files]
    while portion := list(islice(requests, every)):
        yield from portion
        yield from syncs
