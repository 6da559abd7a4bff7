"""Virtual disks as block devices: diskproof-disk serves a file, and a loop device lies on it."""

import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal

from diskproof import disk
from diskproof.results.crash_plan import Keep
from diskproof.results.machine import VirtualFacts
from diskproof.results.usage import DeviceUsage, Slowed, VirtualUse
from diskproof.storage import loops
from diskproof.storage.kinds.base import StorageError, unused
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

LET_GO_S = 20.0
"""How long processes that were killed may take to leave a file system whose disk is dead."""

_COUNTED = (
    *("seconds", "read", "write", "flush", "discard", "errors", "counters", "contents_bytes"),
    *("lateness_us", "lateness_share", "late"),
)
"""What statistics and our record call by the same name."""


@dataclass(frozen=True)
class Tracking:
    """How a disk keeps account of what a power cut can take."""

    log: Path | None
    """File to be made, of every request with its bytes; None: no log."""


@dataclass(frozen=True)
class Slowness:
    """What a disk takes over requests of one kind beyond what its model says.

    A fixed time, not a multiple: a request that waits in line behind fewer others is then no less delayed.
    """

    on: Literal["read", "flush"]
    add_us: float


@dataclass(frozen=True)
class PowerCut:
    """How the power of a disk fails."""

    seed: int
    """Of what survives."""
    keep: Keep
    """What does of that which a cut can take; ``all``: only the operating system stops."""
    unreadable: bool = False
    """Whether the sector under a spinning head may come to be unreadable."""


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
    flushes: str | None = None
    """``ignored``: its flushes do nothing; None: as its device file says."""
    power_loss: str | None = None
    """``protected``: what it has answered survives a power cut; None: as its device file says."""
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
    tracking: Tracking | None = field(default=None, kw_only=True)
    """How it keeps account, from the next restore on, of what a power cut can take; None: it does not."""

    slowness: Slowness | None = field(default=None, kw_only=True)
    """What it takes beyond what its model says; None: nothing."""

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
        """Put back the bytes of that name, unmounted as it must be. Its model begins anew with its seed.

        Where it is tracked it is so from these very bytes on: with its log they are what a cut left.
        """
        self.control.ask("restore", name=name, **({} if self.seed is None else {"seed": self.seed}))
        if self.tracking is not None:
            log = {} if self.tracking.log is None else {"log": str(self.tracking.log)}
            self.control.ask("track", on=True, **log)

    def track_no_longer(self) -> None:
        """End the account of what a power cut can take: it costs copies of all that is written."""
        if self.tracking is not None:
            self.tracking = None
            self.control.ask("track", on=False)

    @property
    def can_be_slowed(self) -> bool:
        """Whether faults can befall it: none can befall a directory."""
        return self.block_name is not None

    def slow(self, how: Slowness | None) -> None:
        """Answer some requests later than its model says, from now on; None: as it says again."""
        schedule = [] if how is None else [{"fault": "slow", "on": how.on, "add_us": how.add_us}]
        self.control.ask("faults", schedule=schedule)
        self.slowness = how

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
            slowed=None if self.slowness is None else _slowed(self.slowness, told),
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
    turns: bool = False
    """Whether it is made of spinning disks and nothing faster."""

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

    def power_returns(self) -> None:
        """Let the power return with what survived, unmounted as it must be.

        Its loop device is another: with the old one the kernel has forgotten all that it held of the disk.
        """
        _let_go(self.block, self.file)
        self.control.ask("restore")
        self.block = loops.attach_again(self.file, sector_bytes=self.sector_bytes)
        _describe(self.block, turns=self.turns)

    def detach(self) -> None:
        """Give it back, unmounted as it must be: first the loop device, then the program and its mount."""
        loops.detach(self.block, self.file)
        self.served.end()


def _slowed(how: Slowness, told: disk.Facts) -> Slowed:
    return Slowed(on=how.on, add_us=how.add_us, requests=sum(one["requests"] for one in told["faults"]))


def cut_at_once(cuts: Sequence[tuple[ServedDisk, PowerCut]]) -> list[disk.Facts]:
    """Cut the power of disks at one instant and return what each was doing: every request fails from then on.

    As near to one instant as the kernel lets us: see `disk.ask_at_once`.
    """
    return disk.ask_at_once("cut", [(served.control, asdict(how)) for served, how in cuts])


def attach(wanted: Wanted, journal: Journal) -> VirtualDisk:
    """Serve a virtual disk and put a loop device on it; all of it stands in the journal first.

    StorageError or DiskError says what is in the way; what was begun is then left to the journal.
    """
    folder, served = _serve(wanted, journal, [])
    assert served.file is not None
    block = loops.attach(served.file, journal, sector_bytes=served.ready["sector_bytes"])
    turns = _turns(disk.show(wanted.device)["device"])
    _describe(block, turns=turns)
    return VirtualDisk(served, folder, _facts(wanted, served.ready, journal), block, turns)


def _describe(block: Path, *, turns: bool) -> None:
    """Let a new loop device be like the disk that it stands for."""
    loops.set_largest_request(block)
    loops.set_rotational(block, turns=turns)


def _let_go(block: Path, file: Path) -> None:
    """Take the loop device off a dead disk, once a file system that went from sight has let go of it."""
    until = time.monotonic() + LET_GO_S
    while True:
        try:
            return loops.detach(block, file)
        except StorageError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


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
    if not os.access(FUSE, os.R_OK | os.W_OK):
        return f"you may not use {FUSE}: run as root, or have root do `chmod a+rw {FUSE}`, as most systems do"
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


def _turns(device: object) -> bool:
    """Tell whether a device is made of spinning disks and nothing faster, as its file describes it."""
    kinds = {kind for kind, _ in _parts(device)}
    return "spinning" in kinds and "flash" not in kinds


def serves_one_at_a_time(device: disk.Facts) -> bool:
    """Tell whether a device serves one request at a time: one arm, or what a bulk-only bridge leads to."""
    [(kind, model)] = device.items()
    if kind == "bridge":
        return model["protocol"]["value"] == "bulk-only" or serves_one_at_a_time(model["disk"])
    return kind == "spinning"


def turns_us(device: disk.Facts) -> list[float]:
    """Return what a turn of a device's platters takes, each speed once; empty where nothing turns."""
    speeds = {model["rpm"]["value"] for kind, model in _parts(device) if kind == "spinning"}
    return sorted(60e6 / rpm for rpm in speeds)


def _parts(device: object) -> Iterator[tuple[str, Any]]:
    """Yield whatever a device's file describes, by name, with all that it is made of."""
    if isinstance(device, dict):
        for key, value in device.items():
            yield key, value
            yield from _parts(value)
    elif isinstance(device, list):
        for value in device:
            yield from _parts(value)


def _options(wanted: Wanted) -> list[str]:
    options = ["--seed", str(wanted.seed), "--timing", "on" if wanted.timing else "off", *wanted.options]
    if wanted.size_bytes is not None:
        options += ["--size", str(wanted.size_bytes)]
    if wanted.path_us is not None:
        options += ["--path-us", str(wanted.path_us)]
    if wanted.memory_limit_bytes is not None:
        options += ["--memory-limit", str(wanted.memory_limit_bytes)]
    if wanted.flushes is not None:
        options += ["--flushes", wanted.flushes]
    if wanted.power_loss is not None:
        options += ["--power-loss", wanted.power_loss]
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
        one_at_a_time=serves_one_at_a_time(shown["device"]),
        turns_us=turns_us(shown["device"]),
    )
