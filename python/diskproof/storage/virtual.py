"""Virtual disks as block devices: diskproof-disk serves a file, and a loop device lies on it."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Literal

from diskproof import disk
from diskproof.results.crash import Keep
from diskproof.results.machine import VirtualFacts
from diskproof.results.usage import DeviceUsage, Slowed, VirtualUse
from diskproof.storage import loops
from diskproof.storage.filesystem import LET_GO_S
from diskproof.storage.kinds.base import StorageError, first_free, patiently, unused
from diskproof.storage.waiting import compare
from diskproof.system.journal import Journal
from diskproof.system.loops import loops_on
from diskproof.system.processes import Starter
from diskproof.wording import numbers

FUSE = Path("/dev/fuse")
LOOP_CONTROL = Path("/dev/loop-control")

MOUNT = "fuse"
"""Name of the mount in a disk's folder."""

SOURCE = "diskproof"
"""Source of that mount, as the program reports it to the kernel."""

AS_IT_IS = "as-it-is"
"""Snapshot that a disk has only for a moment."""

_COUNTED = (
    *("seconds", "read", "write", "flush", "discard", "errors", "counters", "contents_bytes"),
    *("lateness_us", "lateness_share", "late"),
)
"""Fields that statistics and our record share."""

_DESCRIBED = (
    *("title", "size_bytes", "path_us", "floor_us", "label"),
    *("one_at_a_time", "turns_us", "fua", "survives_without_power"),
)
"""Fields that the program's description and our record share."""


@dataclass(frozen=True)
class Slowness:
    """Extra time of a disk for requests of one kind.

    A fixed time, not a multiple: then a request that waits behind fewer others is delayed just as much.
    """

    on: Literal["read", "flush"]
    add_us: float


@dataclass(frozen=True)
class PowerCut:
    """How the power of a disk fails."""

    seed: int
    """Decides what survives."""
    keep: Keep
    """What survives of the writes at risk; ``all``: only the operating system stops."""


@dataclass(frozen=True)
class Wanted:
    """A virtual disk to be attached."""

    device: str
    """Name of a device that comes with diskproof, or the path of a device file."""
    name: str | None = None
    """Its name; by default the device's. A run's second disk of a name gets a number."""
    size_bytes: int | None = None
    """None: as large as the device."""
    seed: int = 1
    dilation: int = 1
    """How many times slower its time passes than the machine's."""
    path_us: float | None = None
    """Cost of the path to the disk; None: the program measures its part of it."""
    below_floor: bool = False
    memory_limit_bytes: int | None = None
    """Limit of its contents; None: the program sets it as for the machine's only disk."""
    timing: bool = False
    """Whether answers take their modelled time from the start."""
    flushes: str | None = None
    """``ignored``: its flushes do nothing; None: as in its device file."""
    power_loss: str | None = None
    """``protected``: what it has answered survives a power cut; None: as in its device file."""
    options: tuple[str, ...] = ()
    """More options of `diskproof-disk serve`."""
    outlives: bool = False
    """Whether it stays when this process ends."""


@dataclass(eq=False)
class ServedDisk:
    """A running virtual disk."""

    served: disk.Served
    folder: Path
    """Its own folder: the socket, the FUSE mount, the program's log."""
    facts: VirtualFacts
    seed: int | None = field(default=None, kw_only=True)
    """Seed of its model from the next restore on; None: the seed at its start."""
    tracking: Path | None = field(default=None, kw_only=True)
    """File to be made for every request with its bytes, from the next restore on: it then accounts for what a
    power cut can take. None: it does not."""

    slowness: Slowness | None = field(default=None, kw_only=True)
    """Its extra time; None: none."""

    @property
    def control(self) -> disk.Control:
        """Its control socket: statistics and commands."""
        return self.served.control

    @property
    def block_name(self) -> str | None:
        """Kernel name of its loop device; None if it has none."""
        return None

    def snapshot(self, name: str) -> None:
        """Keep its present bytes under a name."""
        self.control.ask("snapshot", name=name)

    def restore(self, name: str) -> None:
        """Restore the bytes of that name while it is unmounted; its model starts fresh with its seed.

        If it is tracked, the account and its log begin with these bytes.
        """
        self.control.ask("restore", name=name, **({} if self.seed is None else {"seed": self.seed}))
        if self.tracking is not None:
            self.control.ask("track", on=True, log=str(self.tracking))

    def track_no_longer(self) -> None:
        """End the account of what a power cut can take: it costs copies of all writes."""
        if self.tracking is not None:
            self.tracking = None
            self.control.ask("track", on=False)

    def slow(self, how: Slowness | None) -> None:
        """Answer some requests later than its model from now on; None: as its model again."""
        schedule = [] if how is None else [{"fault": "slow", "on": how.on, "add_us": how.add_us}]
        self.befall(schedule)
        self.slowness = how

    def befall(self, schedule: Sequence[disk.Facts], seed: int = 0) -> None:
        """Have these faults from now on, in the disk's own time; none: as its model again."""
        self.control.ask("faults", schedule=list(schedule), seed=seed)

    def befallen(self) -> list[disk.Facts]:
        """Return what the present faults have hit: each the number of `requests`, and the `first` of them."""
        return list(self.control.ask("statistics")["faults"])

    def begin_anew(self) -> None:
        """Let its model start fresh with its seed while it is unmounted; its bytes stay."""
        self.snapshot(AS_IT_IS)
        self.restore(AS_IT_IS)
        self.control.ask("forget", name=AS_IT_IS)

    def count_anew(self) -> None:
        """Reset its statistics."""
        self.control.ask("reset")

    @property
    def loops(self) -> list[str]:
        """Kernel names of all loop devices on it, whole or on a part of it."""
        return []

    def use(self, devices: Mapping[str, DeviceUsage] | None = None) -> VirtualUse:
        """Return what it did since its statistics began.

        `devices`: what the kernel counted in that time, by kernel name; its own loop devices are looked up.
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

    @property
    def block_name(self) -> str:
        """Kernel name of its loop device."""
        return self.block.name

    @property
    def loops(self) -> list[str]:
        """Kernel names of all loop devices on it: its own, and those of a pool's parts."""
        return [device.name for device in loops_on(self.file)]

    @property
    def file(self) -> Path:
        """Its bytes as one file, below the loop device."""
        assert self.served.file is not None
        return self.served.file

    @property
    def sector_bytes(self) -> int:
        """Its sector, also of its loop device, so that nobody writes a part of one."""
        return int(self.served.ready["sector_bytes"])

    def power_returns(self) -> None:
        """Restore the power with what survived, while it is unmounted.

        It gets another loop device: the kernel drops all that it held of the disk with the old one.
        """
        # Once a file system that was detached has released it.
        patiently(lambda: loops.detach(self.block, self.file), LET_GO_S)
        self.control.ask("restore")
        self.block = loops.attach_again(self.file, sector_bytes=self.sector_bytes)
        _describe(self.block, self.served.ready)

    def detach(self) -> None:
        """Give it back while it is unmounted: first the loop device, then the program and its mount."""
        loops.detach(self.block, self.file)
        self.served.end()


def _slowed(how: Slowness, told: disk.Facts) -> Slowed:
    return Slowed(on=how.on, add_us=how.add_us, requests=sum(one["requests"] for one in told["faults"]))


def cut_at_once(cuts: Sequence[tuple[ServedDisk, PowerCut]]) -> list[disk.Facts]:
    """Cut the power of disks at once and return what each was doing: every later request fails.

    The cuts are as close together as the kernel allows: see `disk.ask_at_once`.
    """
    return disk.ask_at_once("cut", [(served.control, asdict(how)) for served, how in cuts])


def attach(wanted: Wanted, journal: Journal) -> VirtualDisk:
    """Serve a virtual disk and put a loop device on it; all of it is in the journal first.

    StorageError or DiskError says what failed; what was begun is then left to the journal.
    """
    folder, served = _serve(wanted, journal, [])
    assert served.file is not None
    block = loops.attach(served.file, journal, sector_bytes=served.ready["sector_bytes"])
    _describe(block, served.ready)
    return VirtualDisk(served, folder, _facts(wanted, served.ready, journal), block)


def _describe(block: Path, ready: disk.Facts) -> None:
    """Give a new loop device the properties of the disk that it stands for."""
    loops.set_largest_request(block)
    loops.set_rotational(block, turns=ready["rotational"])


def attach_directory(wanted: Wanted, journal: Journal) -> tuple[ServedDisk, Path]:
    """Serve a virtual disk as a directory, for users without loop devices; return it and its mount.

    The program's own file system places the files on the disk.
    """
    folder, served = _serve(wanted, journal, ["--as", "directory"])
    return ServedDisk(served, folder, _facts(wanted, served.ready, journal)), folder / MOUNT


def _serve(wanted: Wanted, journal: Journal, further: list[str]) -> tuple[Path, disk.Served]:
    # /tmp: a socket's path may have at most 107 bytes.
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


def size_here(
    what: str,
    device: str,
    size_bytes: int | None,
    *,
    block: bool = True,
    remedy: str = "lower `size` or leave it out",
) -> int:
    """Return how large a disk will be; StorageError if it cannot be attached here, or holds less."""
    if lacking := missing_means(block=block):
        raise StorageError(f"{what}no virtual disk can be attached here: {lacking}")
    try:
        capacity = int(disk.show(device)["capacity_bytes"])
    except disk.DiskError as error:
        raise StorageError(f"{what}{error}") from None
    size = size_bytes or capacity
    if size > capacity:
        raise StorageError(
            f"{what}`{device}` holds {numbers.size(capacity)}, not {numbers.size(size)}; {remedy}"
        )
    return size


def missing_means(*, block: bool = True) -> str | None:
    """Return what this machine lacks for virtual disks, and the remedy; None: nothing.

    `block`: as block devices. A directory needs less.
    """
    if not disk.is_installed():
        return "diskproof-disk is not installed: `make run` builds it"
    if not FUSE.exists():
        return (
            f"{FUSE} does not exist: load the kernel's module (`modprobe fuse`), "
            "or start the container with `--privileged`"
        )
    if not os.access(FUSE, os.R_OK | os.W_OK):
        return f"you may not use {FUSE}: run as root, or have root run `chmod a+rw {FUSE}`"
    if not block:
        return _missing_mounter()
    if os.geteuid() != 0:
        return (
            "loop devices and mounts need root: run as root, or serve it as a directory: "
            "`diskproof-disk serve NAME --as directory --mount DIRECTORY --socket FILE`"
        )
    if not LOOP_CONTROL.exists():
        return (
            f"{LOOP_CONTROL} does not exist: load the kernel's module (`modprobe loop`), "
            "or start the container with `--privileged`"
        )
    return None


def _missing_mounter() -> str | None:
    if os.geteuid() == 0 or any(shutil.which(name) for name in ("fusermount3", "fusermount")):
        return None
    return "an ordinary user mounts through fusermount3: install fuse3, or run as root"


def _options(wanted: Wanted) -> list[str]:
    values = {
        "seed": wanted.seed,
        "dilation": wanted.dilation,
        "timing": "on" if wanted.timing else "off",
        "size": wanted.size_bytes,
        "path-us": wanted.path_us,
        "memory-limit": wanted.memory_limit_bytes,
        "flushes": wanted.flushes,
        "power-loss": wanted.power_loss,
    }
    given = [(f"--{name}", str(value)) for name, value in values.items() if value is not None]
    return [*chain(*given), *(["--below-floor"] if wanted.below_floor else []), *wanted.options]


@cache
def _names(journal: Journal) -> set[str]:
    """Return the set of names that a run has given to its disks."""
    del journal
    return set()


def _name(wanted: Wanted, journal: Journal) -> str:
    """Return a name that no other disk of the run has."""
    taken = _names(journal)
    name = first_free(wanted.name or wanted.device, taken.__contains__)
    taken.add(name)
    return name


def _facts(wanted: Wanted, ready: disk.Facts, journal: Journal) -> VirtualFacts:
    return VirtualFacts(
        name=_name(wanted, journal),
        device=wanted.device,
        model=ready["kind"],
        flushes_ignored=wanted.flushes == "ignored",
        **{field: ready[field] for field in _DESCRIBED},
    )
