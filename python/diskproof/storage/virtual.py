"""Virtual disks as block devices: diskproof-disk serves a file, and a loop device lies on it."""

import math
import mmap
import os
import random
import shutil
import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, count
from pathlib import Path

from diskproof import disk
from diskproof.results.records import DeviceUsage, VirtualFacts, VirtualUse
from diskproof.storage import loops
from diskproof.storage.kinds.base import unused
from diskproof.storage.waiting import compare
from diskproof.system.journal import Journal
from diskproof.system.loops import loops_on
from diskproof.system.processes import Starter

FUSE = Path("/dev/fuse")
LOOP_CONTROL = Path("/dev/loop-control")

MOUNT = "fuse"
"""Name of the mount in a disk's folder."""

SOURCE = "diskproof"
"""Source of that mount, as the program tells it to the kernel."""

AS_IT_IS = "as-it-is"
"""Snapshot that a disk has for a moment only."""

PROBE = "probe"
PROBE_BYTES = 64 * 2**20
PROBE_BLOCK_BYTES = 4096
PROBE_S = 0.3
PROBE_ROUND = 20
"""Reads a round: less than a millisecond, so that many rounds go by undisturbed on a busy machine too."""

PROBE_TRIES = 6

PATIENT_TRIES = 18
"""So many where what was found cannot be: before a run is refused, a quiet moment is waited for."""

PLAUSIBLE = 3.0
"""A loop device less than trebles the way to the file below it. Where it seems to, other work was in the
way, and another try may find a quieter moment."""

LIKELY_US = 100.0
"""A way that is no longer than this is believed: six processes wake each other on it, each within 10 us or so
where cores are awake, and twice that where they sleep. A floor may have been measured in a luckier moment."""

LONGEST_US = 250.0
"""No machine at rest needs longer, whatever its floor was found to be: that had the same work in its way."""


_COUNTED = (
    *("seconds", "read", "write", "flush", "discard", "errors", "counters", "contents_bytes"),
    *("lateness_us", "lateness_share", "late"),
)
"""What statistics and our record call by the same name."""


@dataclass(frozen=True)
class Wanted:
    """A virtual disk to be attached."""

    device: str
    """Name of a device that comes with diskproof, or the path of a device file."""
    name: str | None = None
    """What it is called; its device's name where it is not said. A run's second of a name gets a number."""
    size_bytes: int | None = None
    """None: as large as the device."""
    seed: int = 1
    path_us: float | None = None
    """What the way to the disk costs; None: the program measures its part of it."""
    below_floor: bool = False
    memory_limit_bytes: int | None = None
    """What its contents may take; None: the program decides as if it were the machine's only disk."""
    timing: bool = False
    """Whether answers take their time from the start."""
    options: tuple[str, ...] = ()
    """Further options of `diskproof-disk serve`."""
    outlives: bool = False
    """Whether it stays when this process ends."""


@dataclass(eq=False)
class ServedDisk:
    """A virtual disk at work."""

    served: disk.Served
    folder: Path
    """Its own folder: the socket, the FUSE mount, the program's log."""
    facts: VirtualFacts
    seed: int | None = field(default=None, kw_only=True)
    """Seed of what its model draws from the next restore on; None: what it was attached with."""

    @property
    def control(self) -> disk.Control:
        """The way to ask it for statistics, and to steer it."""
        return self.served.control

    @property
    def block_name(self) -> str | None:
        """Kernel name of its loop device; None where it has none."""
        return None

    def snapshot(self, name: str) -> None:
        """Keep its bytes as they are under a name."""
        self.control.ask("snapshot", name=name)

    def restore(self, name: str) -> None:
        """Put back the bytes of that name, unmounted as it must be. Its model begins anew with its seed."""
        self.control.ask("restore", name=name, **({} if self.seed is None else {"seed": self.seed}))

    def begin_anew(self) -> None:
        """Let its model begin anew with its seed, unmounted as it must be, and its bytes stay."""
        self.snapshot(AS_IT_IS)
        self.restore(AS_IT_IS)
        self.control.ask("forget", name=AS_IT_IS)

    def count_anew(self) -> None:
        """Let its statistics begin now."""
        self.control.ask("reset")

    @property
    def loops(self) -> list[str]:
        """Kernel names of all loop devices that lie on it, whole or on a stretch of it."""
        return []

    def use(self, devices: Mapping[str, DeviceUsage] | None = None) -> VirtualUse:
        """Return what it did since its statistics began.

        `devices`: what the kernel counted meanwhile, by kernel name; its own loop devices are looked up.
        """
        told = self.control.ask("statistics")
        counted = [devices[name] for name in self.loops if name in devices] if devices else []
        depth = told["queue_depth"]
        return VirtualUse(
            name=self.facts.name,
            device=self.facts.device,
            block=self.block_name,
            seed=self.seed,
            queue_depth_mean=depth["mean"],
            queue_depth_max=depth["max"],
            waiting=compare(told, counted, self.facts.path_us),
            **{field: told[field] for field in _COUNTED},
        )

    def detach(self) -> None:
        """Give it back."""
        self.served.end()


@dataclass(eq=False)
class VirtualDisk(ServedDisk):
    """A virtual disk that is attached as a block device."""

    block: Path
    """Its loop device."""

    @property
    def block_name(self) -> str:
        """Kernel name of its loop device."""
        return self.block.name

    @property
    def loops(self) -> list[str]:
        """Kernel names of all loop devices that lie on it: its own, and those of a pool's stretches."""
        return [device.name for device in loops_on(self.file)]

    @property
    def file(self) -> Path:
        """Its bytes as one file, below the loop device."""
        assert self.served.file is not None
        return self.served.file

    @property
    def sector_bytes(self) -> int:
        """What it reads and writes whole, of its loop device too: nobody then writes a part of one."""
        return int(self.served.ready["sector_bytes"])

    def detach(self) -> None:
        """Give it back, unmounted as it must be: first the loop device, then the program and its mount."""
        loops.detach(self.block, self.file)
        self.served.end()


def attach(wanted: Wanted, journal: Journal) -> VirtualDisk:
    """Serve a virtual disk and put a loop device on it; all of it stands in the journal first.

    StorageError or DiskError says what is in the way; what was begun is then left to the journal.
    """
    folder, served = _serve(wanted, journal, [])
    assert served.file is not None
    block = loops.attach(served.file, journal, sector_bytes=served.ready["sector_bytes"])
    loops.set_largest_request(block)
    loops.set_rotational(block, turns=_turns(disk.show(wanted.device)["device"]))
    return VirtualDisk(served, folder, _facts(wanted, served.ready, journal), block)


def attach_directory(wanted: Wanted, journal: Journal) -> tuple[ServedDisk, Path]:
    """Serve a virtual disk as a directory, for who may not have loop devices; return it and its mount.

    Files lie on the disk as a file system of the program's own puts them there.
    """
    folder, served = _serve(wanted, journal, ["--as", "directory"])
    return ServedDisk(served, folder, _facts(wanted, served.ready, journal)), folder / MOUNT


def _serve(wanted: Wanted, journal: Journal, further: list[str]) -> tuple[Path, disk.Served]:
    # /tmp: a socket's path may have no more than 107 bytes.
    folder = journal.directory(unused(Path("/tmp") / f"diskproof-{journal.mark}-disk"))  # noqa: S108
    folder.chmod(0o711)
    mount = folder / MOUNT
    mount.mkdir()
    journal.mounted(mount, SOURCE)
    served = disk.serve(
        Starter(journal),
        wanted.device,
        mount=mount,
        socket_file=folder / "control",
        options=[*_options(wanted), *further],
        outlives=wanted.outlives,
    )
    return folder, served


def missing_means(*, block: bool = True) -> str | None:
    """Say what this machine lacks for attaching virtual disks, and its remedy; None: it has all.

    `block`: as block devices. A directory needs less.
    """
    if not disk.is_installed():
        return "diskproof-disk is not installed: `make run` builds it"
    if not FUSE.exists():
        return (
            f"there is no {FUSE}: load the kernel's module (`modprobe fuse`), "
            "or give the container the device"
        )
    if not block:
        return _missing_mounter()
    if os.geteuid() != 0:
        return (
            "loop devices and mounts need root: run as root, or serve it as a directory: "
            "`diskproof-disk serve NAME --as directory --mount DIRECTORY --socket FILE`"
        )
    if not LOOP_CONTROL.exists():
        return (
            f"there is no {LOOP_CONTROL}: load the kernel's module (`modprobe loop`), "
            "or give the container the device"
        )
    return None


def _missing_mounter() -> str | None:
    if os.geteuid() == 0 or any(shutil.which(name) for name in ("fusermount3", "fusermount")):
        return None
    return "an ordinary user mounts through fusermount3: install fuse3, or run as root"


def path_us(journal: Journal, *, below_floor: bool = False) -> float:
    """Return what the way to a virtual disk costs here, in microseconds: measured once a run.

    DiskError where what was found cannot be: it would be taken off every latency. With `below_floor`, for who
    takes figures that are not the disk's own, no more than can be is taken off.
    """
    found_us, floor_us = _way(journal)
    if not below_floor:
        check_plausible(found_us, floor_us)
    return min(found_us, longest_us(floor_us))


@cache
def _way(journal: Journal) -> tuple[float, float]:
    """Return what the way to a virtual disk was found to cost, and the program's part of it.

    The median of 4 KiB reads at depth 1 through the loop device of a disk that takes no time itself. Of
    many short rounds, one of the quickest: other work slows a round down, and never speeds one up.
    """
    probe = Wanted("null", PROBE, size_bytes=PROBE_BYTES, path_us=0.0, below_floor=True, timing=True)
    attached = attach(probe, journal)
    try:
        floor_us = float(attached.served.ready["floor_us"])
        found = math.inf
        for tried in range(PATIENT_TRIES):
            found = min(found, _read_us(attached.block))
            enough = PLAUSIBLE * floor_us if tried < PROBE_TRIES - 1 else longest_us(floor_us)
            if found <= enough:
                break
        return found, floor_us
    finally:
        attached.detach()


def longest_us(floor_us: float) -> float:
    """Return the longest way that is believed where the program's part of it was found to be `floor_us`."""
    return min(max(PLAUSIBLE * floor_us, LIKELY_US), LONGEST_US)


def check_plausible(found_us: float, floor_us: float) -> None:
    """Refuse a measured way that a machine at rest cannot have; DiskError says what to do."""
    if found_us > longest_us(floor_us):
        raise disk.DiskError(
            f"the way to a virtual disk seems to take {found_us:.0f} us here, and no more than "
            f"{longest_us(floor_us):.0f} us are believed: other work was in the way for as long as it was "
            "measured, and what was found would be taken off every latency; end what keeps this machine busy "
            "(see `uptime`), and try again"
        )


def _read_us(block: Path) -> float:
    """Return the first decile of the rounds' medians, in microseconds."""
    medians: list[float] = []
    descriptor = os.open(block, os.O_RDONLY | os.O_DIRECT)
    try:
        until = time.perf_counter() + PROBE_S
        while not medians or time.perf_counter() < until:
            medians.append(statistics.median(_reads_ns(descriptor)))
    finally:
        os.close(descriptor)
    return round(sorted(medians)[len(medians) // 10] / 1000, 1)


def _reads_ns(descriptor: int) -> list[int]:
    """Return what the random reads of a round took, one after the other."""
    buffer = mmap.mmap(-1, PROBE_BLOCK_BYTES)  # on a page of its own, as direct I/O asks
    draw = random.Random(1)  # noqa: S311 - offsets of a probe
    taken = []
    for _ in range(PROBE_ROUND):
        offset = draw.randrange(PROBE_BYTES // PROBE_BLOCK_BYTES) * PROBE_BLOCK_BYTES
        began = time.perf_counter_ns()
        os.preadv(descriptor, [buffer], offset)
        taken.append(time.perf_counter_ns() - began)
    return taken


def _turns(device: object) -> bool:
    """Tell whether a device is made of spinning disks and nothing faster, as its file describes it."""
    kinds = set(_keys(device))
    return "spinning" in kinds and "flash" not in kinds


def _keys(device: object) -> Iterator[str]:
    if isinstance(device, dict):
        for key, value in device.items():
            yield key
            yield from _keys(value)
    elif isinstance(device, list):
        for value in device:
            yield from _keys(value)


def _options(wanted: Wanted) -> list[str]:
    options = ["--seed", str(wanted.seed), "--timing", "on" if wanted.timing else "off", *wanted.options]
    if wanted.size_bytes is not None:
        options += ["--size", str(wanted.size_bytes)]
    if wanted.path_us is not None:
        options += ["--path-us", str(wanted.path_us)]
    if wanted.memory_limit_bytes is not None:
        options += ["--memory-limit", str(wanted.memory_limit_bytes)]
    if wanted.below_floor:
        options.append("--below-floor")
    return options


@cache
def _names(journal: Journal) -> set[str]:
    """Return the names that a run has given to its disks, for more to be added."""
    del journal
    return set()


def _name(wanted: Wanted, journal: Journal) -> str:
    """Give a disk a name that no other of its run has: places differ by more than a device and a label."""
    taken = _names(journal)
    called = wanted.name or wanted.device
    numbered = (f"{called}-{number}" for number in count(2))
    name = next(name for name in chain([called], numbered) if name not in taken)
    taken.add(name)
    return name


def _facts(wanted: Wanted, ready: disk.Facts, journal: Journal) -> VirtualFacts:
    shown = disk.show(wanted.device)
    return VirtualFacts(
        name=_name(wanted, journal),
        device=wanted.device,
        title=shown["title"],
        model=next(iter(shown["device"])),
        size_bytes=ready["size_bytes"],
        path_us=ready.get("path_us"),
        floor_us=ready.get("floor_us"),
        label=ready.get("label"),
    )
