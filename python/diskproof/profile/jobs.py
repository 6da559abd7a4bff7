"""fio's job files: one per cell, complete in itself, so that anybody can repeat the figure by hand."""

import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from diskproof.fio import replay
from diskproof.fio.program import escaped
from diskproof.results.profile import Probe

FILEIO_REQUESTS_PER_SYNC = 100
FILEIO_FILES = 128
"""Defaults of sysbench's fileio: --file-fsync-freq and --file-num."""

READ_PERCENT = 60
"""sysbench's ratio of 1.5 reads per write, for the mix without syncs."""

FILEIO_MOST_ROUNDS = 5_000
"""Rounds of 100 requests in the log that fio replays once. A round has 228 requests, so this lasts ten
seconds on a device that answers each in 10 us."""

FILEIO_REQUESTS_PER_S = 20_000
"""Pace that a log is long enough for, in requests a second without the syncs."""


@dataclass(frozen=True)
class Target:
    """What fio works on."""

    file: Path
    size_bytes: int
    direct: bool
    engine: str
    """Engine for more than one request at a time."""


@dataclass(frozen=True)
class Length:
    """How long a cell runs."""

    seconds: float
    ramp_s: float
    rounds: int | None = None
    """Rounds of fileio, each with all its syncs; None: as many as the seconds hold. Seconds are the limit."""


_KINDS = {
    "random-read": ("rw=randread",),
    "random-write": ("rw=randwrite",),
    "sequential-read": ("rw=read",),
    "sequential-write": ("rw=write",),
    "mixed": ("rw=randrw", f"rwmixread={READ_PERCENT}"),
    "synced-write": ("rw=randwrite", "fdatasync=1"),
    "synced-append": ("rw=write", "fdatasync=1"),
    "dsync-append": ("rw=write", "sync=dsync"),
    "pass-read": ("rw=read",),
    "pass-write": ("rw=write", "end_fsync=1", "fallocate=none", "overwrite=0"),
}

_ONE_AT_A_TIME = ("synced-write", "synced-append", "dsync-append", "fileio", "pass-read", "pass-write")


def job_text(probe: Probe, target: Target, length: Length, log: Path | None = None) -> str:
    """Return the job file of a probe. `log` is where :func:`fileio_log` was written, for that pattern."""
    lines = [f"[{probe.name}]", f"filename={escaped(target.file)}", f"size={_span(probe, target)}"]
    lines.append(f"bs={probe.block_bytes}")
    if probe.pattern == "fileio":
        lines += [f"read_iolog={escaped(log or Path('fileio.log'))}", "replay_no_stall=1"]
    else:
        lines += _KINDS[probe.pattern]
    if probe.pattern in _ONE_AT_A_TIME:
        lines.append("ioengine=psync")
    else:
        lines += [f"ioengine={target.engine}", f"iodepth={probe.depth}"]
    if probe.pattern.startswith("pass-"):
        lines.append("direct=0")  # as dd does it
    else:
        lines += [f"direct={int(target.direct)}", f"runtime={_ms(length.seconds)}"]
        lines += [] if length.rounds else ["time_based"]
        lines += [f"ramp_time={_ms(length.ramp_s)}"] if length.ramp_s else []
    if "rand" in _KINDS.get(probe.pattern, ("",))[0]:
        # Each cell has its own seed, so that no cache is warm from the cell before. Blocks may repeat.
        lines += ["norandommap", f"randseed={_seed(probe)}"]
    return "\n".join([*lines, "lat_percentiles=1", "clat_percentiles=0"]) + "\n"


def fileio_log(target: Target, probe: Probe, length: Length) -> Iterator[str]:
    """Yield the lines of a log that fio replays: sysbench's fileio `rndrw`, request by request.

    It reads while (reads + 1) / (writes + 1) is below the ratio, at uniform, aligned offsets. After every
    hundred requests it syncs each of the 128 files (sysbench 1.0, sb_fileio.c). Here all files are one file
    or device that is synced 128 times: for a disk both are 128 flushes.
    """
    draw = random.Random(_seed(probe))  # noqa: S311 - a workload, no secret
    blocks, name = max(1, _span(probe, target) // probe.block_bytes), str(target.file)
    verbs = islice(replay.reads_and_writes(), _rounds(length) * FILEIO_REQUESTS_PER_SYNC)
    requests = replay.at_random(draw, [name], blocks, probe.block_bytes, verbs)
    yield from replay.log([name], replay.synced(requests, FILEIO_REQUESTS_PER_SYNC, [name] * FILEIO_FILES))


def _rounds(length: Length) -> int:
    if length.rounds:
        return length.rounds
    needed = (length.seconds + length.ramp_s) * FILEIO_REQUESTS_PER_S / FILEIO_REQUESTS_PER_SYNC
    return max(1, min(FILEIO_MOST_ROUNDS, round(needed)))


def _span(probe: Probe, target: Target) -> int:
    """Return the bytes that a probe touches: whole blocks, at least one."""
    span = probe.span_of(target.size_bytes)
    return max(probe.block_bytes, span // probe.block_bytes * probe.block_bytes)


def _ms(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"


def _seed(probe: Probe) -> int:
    return zlib.crc32(probe.name.encode())
