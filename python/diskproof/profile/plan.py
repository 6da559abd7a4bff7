"""The cells of a profile, and how long each is measured."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from diskproof.refusal import RefusalError
from diskproof.results.profile import Pattern, Probe

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
QUICK_DEPTHS = (1, 4, 32, 128)
"""Both ends, the full queue of a SATA disk (32), and one below."""

RANDOM_BLOCKS = (4 * 2**10, 16 * 2**10)
"""The block size of data sheets, and InnoDB's page."""

SEQUENTIAL_BLOCKS = (256 * 2**10, 2**20)

LOG_BLOCK = 4 * 2**10
FILEIO_BLOCK = 16 * 2**10
PASS_BLOCK = 2**20

THE_WRITING_PASS = Probe(pattern="pass-write", block_bytes=PASS_BLOCK)
"""In a directory it makes the file for all other cells."""

MIN_SECONDS, MAX_SECONDS = 0.01, 3600.0
"""Of a cell."""

OVERHEAD_S = 0.4
"""Time to start and end fio (measured with 3.33); for the remaining time only."""

ASSUMED_PASS_BYTES_PER_S = 200e6
"""For the remaining time only, until the first pass gives a better figure."""


@dataclass(frozen=True)
class Effort:
    """How thorough a profile is."""

    seconds: float
    """Measured time of each cell."""
    ramp_s: float
    """Unmeasured time before it: caches fill, queues form, a drive's write buffer fills up."""
    depths: Sequence[int]
    size_bytes: int
    """Bytes that are used, unless the user says otherwise."""
    quick: bool

    def lasting(self, seconds: float) -> "Effort":
        """Return the same with another time for each cell, and a ramp in proportion."""
        if not MIN_SECONDS <= seconds <= MAX_SECONDS:
            raise RefusalError(f"--seconds takes {MIN_SECONDS:g} to {MAX_SECONDS:g}, not {seconds:g}")
        return replace(self, seconds=seconds, ramp_s=self.ramp_s * seconds / self.seconds)

    def within(self, size_bytes: int) -> "Effort":
        """Return the same within so many bytes."""
        return replace(self, size_bytes=size_bytes)


FULL = Effort(seconds=5.0, ramp_s=1.0, depths=DEPTHS, size_bytes=2**30, quick=False)
QUICK = Effort(seconds=0.3, ramp_s=0.1, depths=QUICK_DEPTHS, size_bytes=256 * 2**20, quick=True)


def plan_cells(effort: Effort, *, writable: bool, only: Sequence[str] = ()) -> list[Probe]:
    """Return the probes in the order in which they run.

    The sequential pass that writes comes first. Random writes come last: a drive needs time to recover from
    them.
    """
    probes = [
        THE_WRITING_PASS,
        Probe(pattern="pass-read", block_bytes=PASS_BLOCK),
        *grid("sequential-read", SEQUENTIAL_BLOCKS, effort.depths),
        *grid("random-read", RANDOM_BLOCKS, effort.depths),
        *grid("sequential-write", SEQUENTIAL_BLOCKS, effort.depths),
        Probe(pattern="synced-append", block_bytes=LOG_BLOCK),
        Probe(pattern="dsync-append", block_bytes=LOG_BLOCK),
        Probe(pattern="synced-write", block_bytes=LOG_BLOCK),
        Probe(pattern="fileio", block_bytes=FILEIO_BLOCK),
        Probe(pattern="mixed", block_bytes=FILEIO_BLOCK),
        *grid("random-write", RANDOM_BLOCKS, effort.depths),
    ]
    possible = [probe for probe in probes if writable or not probe.writes]
    chosen = [probe for probe in possible if not only or any(text in probe.name for text in only)]
    if not chosen:
        names = "\n  ".join(probe.name for probe in possible)
        raise RefusalError(f"no cell matches {', '.join(only)}; the cells are:\n  {names}")
    return chosen


def estimated_s(probe: Probe, effort: Effort, size_bytes: int) -> float:
    """Estimate the time of a cell, with start and end of fio."""
    if probe.pattern.startswith("pass-"):
        return OVERHEAD_S + probe.span_of(size_bytes) / ASSUMED_PASS_BYTES_PER_S
    return OVERHEAD_S + effort.ramp_s + effort.seconds


def grid(pattern: Pattern, blocks: Sequence[int], depths: Sequence[int]) -> list[Probe]:
    """Return a probe for each size of blocks at each depth."""
    return [Probe(pattern=pattern, block_bytes=block, depth=depth) for block in blocks for depth in depths]
