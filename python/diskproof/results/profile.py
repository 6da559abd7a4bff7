"""What a profile of a disk leaves behind: the place, the instrument, and one record a cell."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from diskproof.results.durable import write_whole
from diskproof.results.machine import BlockDevice
from diskproof.results.record import Record
from diskproof.wording import Message

Pattern = Literal[
    "random-read",
    "random-write",
    "sequential-read",
    "sequential-write",
    "mixed",
    "fileio",
    "synced-write",
    "synced-append",
    "dsync-append",
    "pass-read",
    "pass-write",
]
"""What is done to a disk. The words of device files (docs/disk.md), and three that only a profile knows:
appends that are durable by themselves (O_DSYNC), and one pass through the page cache, as dd makes it."""


DOUBTFUL = "?"
"""Stands behind the figures of a cell that has a doubt."""


class Probe(Record):
    """A pattern in blocks of a size, so many under way at once, within the first bytes of the place."""

    pattern: Pattern
    block_bytes: int
    depth: int = 1
    span_bytes: int | None = None
    """None: all of the place."""

    @property
    def name(self) -> str:
        """Name the probe; unique among those of one span."""
        return f"{self.pattern}-{_size(self.block_bytes)}-qd{self.depth}"

    def span_of(self, size_bytes: int) -> int:
        """Return the bytes that it touches of a place."""
        return min(self.span_bytes or size_bytes, size_bytes)

    @property
    def writes(self) -> bool:
        """Whether it changes data on the disk."""
        return self.pattern not in ("random-read", "sequential-read", "pass-read")


class Stream(Record):
    """Requests of one kind in one cell, over its measured seconds."""

    requests: int
    bytes: int
    per_s: float
    megabytes_per_s: float
    """10^6 bytes a second."""
    mean_us: float
    max_us: float
    percentiles_us: dict[str, float]
    """By percentile (``"99.9"``), only those with ten or more observations beyond."""
    bins_us: list[tuple[float, int]] = Field(default_factory=list)
    """The histogram, kept for flushes and synced writes: upper end of a bin, observations in it."""


class ProfileCell(Record):
    """One probe, measured. A kind of request that the probe does not make is None."""

    probe: Probe
    job: str
    """fio's job file, which makes the same figures by hand."""
    seconds: float = 0.0
    requests: Stream | None = None
    """Reads and writes together, as a database waits for both; without flushes."""
    reads: Stream | None = None
    writes: Stream | None = None
    flushes: Stream | None = None
    cpu_share: float | None = None
    """CPU time of fio's one job by its wall time: near 1, the figure is the CPU's and not the disk's."""
    doubt: Message | None = None
    """Why its figures may show a moment rather than the disk, if they may."""
    error: str | None = None
    """Why it could not be measured."""


class ProfilePlace(Record):
    """What was measured, as the kernel reports it."""

    kind: Literal["directory", "block device", "virtual disk"]
    name: str
    """As the user named it."""
    path: str
    """The file or device that fio worked on."""
    size_bytes: int
    """Bytes that were touched at most."""
    writable: bool
    direct: bool
    """Whether the page cache was passed by (O_DIRECT)."""
    filesystem: str | None = None
    mount_point: str | None = None
    mount_options: str | None = None
    device: BlockDevice | None = None
    used_by: str | None = None
    """Who used the block device while it was only read; None if nobody did, or in a directory."""
    virtual: str | None = None
    """Name of the device model, if it is a virtual disk of ours."""


class ProfileMachine(Record):
    """The machine below, as far as it bears on a disk's figures."""

    host: str
    kernel: str
    distribution: str
    cpu_model: str
    cpus: int
    memory_bytes: int
    virtualised: str | None = None
    governor: str | None = None


class Profile(Record):
    """The measured behaviour of a disk, real or virtual."""

    diskproof_version: str
    fio_version: str
    engine: str
    """fio's engine if more than one request is under way."""
    started_at: str
    quick: bool
    seconds_per_cell: float
    ramp_s: float
    """Run before each cell and not measured; longer at depth if the disk is slow (see the cell's job)."""
    place: ProfilePlace
    machine: ProfileMachine
    cells: list[ProfileCell]
    notes: list[Message] = Field(default_factory=list)
    """Remarks that a reader must know before trusting the figures."""

    def cell(self, pattern: Pattern, block_bytes: int | None = None, depth: int = 1) -> ProfileCell | None:
        """Return one measured cell; None if it was not run, or failed."""
        return next((one for one in self.measured(pattern, block_bytes) if one.probe.depth == depth), None)

    def measured(self, pattern: Pattern, block_bytes: int | None = None) -> list[ProfileCell]:
        """Return the measured cells of a pattern, in the order of their depth."""
        found = [
            cell
            for cell in self.cells
            if cell.probe.pattern == pattern
            and cell.requests
            and block_bytes in (None, cell.probe.block_bytes)
        ]
        return sorted(found, key=lambda cell: (cell.probe.block_bytes, cell.probe.depth))


def write_profile(path: Path, profile: Profile) -> None:
    """Write a profile as JSON."""
    write_whole(path, profile.model_dump_json(indent=1) + "\n")


def _size(size_bytes: int) -> str:
    for unit, letter in ((2**20, "m"), (2**10, "k")):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit}{letter}"
    return f"{size_bytes}b"
