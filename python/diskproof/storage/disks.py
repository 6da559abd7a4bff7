"""Real block devices: what they hold, who uses them, and whether they may be taken."""

import fcntl
import json
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from diskproof.reading import closed_at_end
from diskproof.results.machine import BlockDevice
from diskproof.storage.filesystem import LABEL
from diskproof.storage.kinds.base import StorageError, command
from diskproof.system.loops import loops_on
from diskproof.system.mounts import describe, mounts, number_of_source, number_text

OUR_POOL = re.compile(r"diskproof-[0-9a-f]{8}(-\d+)?")
"""Names of the pools that runs make."""

SYS = Path("/sys/dev/block")

REMEDY = "name another device, or say `overwrite = true` beside `format`"
"""What a user may do about a device that is not empty."""

REREAD_PARTITIONS = 0x125F
"""BLKRRPART of linux/fs.h; the kernel allows it only to the holder of the device."""

LOOKS = 4
BETWEEN_LOOKS_S = 0.25


@dataclass(frozen=True)
class Signature:
    """Evidence that a device is used: a file system, a partition table, a pool."""

    device: str
    kind: str
    label: str | None

    @property
    def is_ours(self) -> bool:
        """Whether a run of ours left it."""
        if self.kind == "zfs_member":
            return OUR_POOL.fullmatch(self.label or "") is not None
        return self.label == LABEL

    def __str__(self) -> str:
        """Say what it is and where: ``ext4 "home" on /dev/sdb1``."""
        label = f' "{self.label}"' if self.label else ""
        return f"{self.kind}{label} on {self.device}"


def check_disk(what: str, path: Path, *, overwrite: bool, remedy: str = REMEDY) -> None:
    """Refuse a device that cannot or must not be formatted.

    A device in use is never taken. The contents of an unused device are overwritten only if the study says
    `overwrite = true`, or if a run of ours left them.
    """
    with held(what, path, overwrite=overwrite, remedy=remedy):
        pass


@contextmanager
def held(what: str, path: Path, *, overwrite: bool, remedy: str = REMEDY) -> Iterator[int]:
    """Hold a device that may be taken, and yield the descriptor; StorageError as from `check_disk`.

    While it is held, the kernel gives it to no mount, array or volume.
    """
    _check_kind(what, path)
    with ExitStack() as stack:
        used = _claimed(path)
        descriptor = -1
        if not used:
            try:
                descriptor = stack.enter_context(_exclusively(path))
            except OSError as error:
                used = _not_let_go(error)
        if used := used or _opener(path, but=descriptor):
            raise StorageError(f"{what}: {path} is in use ({used}); nothing in use is ever overwritten")
        strangers = [signature for signature in signatures(path) if not signature.is_ours]
        if strangers and not overwrite:
            what_it_holds = ", ".join(dict.fromkeys(str(signature) for signature in strangers))
            raise StorageError(
                f"{what}: {path} is not empty: it holds {what_it_holds}. All of it would be lost: {remedy}"
            )
        yield descriptor


def take(what: str, disks: Mapping[Path, bool]) -> None:
    """Check devices again, all of them before the first is wiped, and wipe them.

    The values say whether each may be overwritten. The devices are held meanwhile. When their next user
    claims them, their contents are gone, so nobody can mount or import them.
    """
    with ExitStack() as stack:
        descriptors = {
            path: stack.enter_context(held(what, path, overwrite=overwrite))
            for path, overwrite in disks.items()
        }
        for path, descriptor in descriptors.items():
            _wipe(path, descriptor)


def _wipe(path: Path, descriptor: int) -> None:
    """Remove every signature from a held device, its partitions' first."""
    partitions = _partitions(path)
    for member in (*partitions, path):
        command(
            ["wipefs", "--all", "--force", "--quiet", str(member)]
        )  # wipefs would claim the device itself
    if partitions:
        fcntl.ioctl(descriptor, REREAD_PARTITIONS)


def signatures(path: Path) -> list[Signature]:
    """Return what wipefs(8) finds on a device and on its partitions."""
    found = []
    for member in (path, *_partitions(path)):
        answer = command(["wipefs", "--no-act", "--json", str(member)]).strip()
        entries = json.loads(answer)["signatures"] if answer else []
        found += [Signature(str(member), entry["type"], entry["label"] or None) for entry in entries]
    return list(dict.fromkeys(found))


def device_bytes(path: Path) -> int:
    """Return the size of a block device."""
    return int((sys_folder(path) / "size").read_text()) * 512


def describe_disk(path: Path) -> BlockDevice:
    """Describe a block device; a partition has its disk's properties, and its own counters."""
    folder = sys_folder(path).resolve()
    if not (folder / "partition").exists():
        return describe(folder.name)
    whole = describe(folder.parent.name)
    return whole.model_copy(update={"name": folder.name, "size_bytes": device_bytes(path), "leaves": []})


def _check_kind(what: str, path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise StorageError(f"{what}: there is no {path}; `lsblk` lists the block devices") from None
    if not stat.S_ISBLK(mode):
        raise StorageError(
            f"{what}: {path} is not a block device; `lsblk` lists them. For a folder, use `directory`"
        )
    if os.geteuid() != 0:
        raise StorageError(f"{what}: only root may overwrite {path}; run as root, or name a directory on it")
    if (sys_folder(path) / "ro").read_text().strip() == "1":
        raise StorageError(f"{what}: {path} is read-only; `blockdev --setrw {path}` may change that")


def use(path: Path) -> str | None:
    """Return who uses a device or one of its partitions; None if nobody does."""
    if found := _claimed(path):
        return found
    try:
        with _exclusively(path) as descriptor:
            return _opener(path, but=descriptor)
    except OSError as error:
        return _not_let_go(error)


def _claimed(path: Path) -> str | None:
    return next((found for member in (path, *_partitions(path)) for found in _users(member)), None)


def _exclusively(path: Path) -> AbstractContextManager[int]:
    """Open a device, or a disk with all its partitions, as the only claimant; OSError if it has one."""
    return closed_at_end(os.open(path, os.O_RDONLY | os.O_EXCL))


def _not_let_go(error: OSError) -> str:
    return f"the kernel does not release it: {error.strerror}"


def _opener(path: Path, but: int) -> str | None:
    """Return which processes have a device or its partition open: a virtual machine, a pool of zfs-fuse.

    Programs that look at every changed device, such as udev, close it a moment later. `but` is our own
    descriptor.
    """
    numbers = {member.stat().st_rdev for member in (path, *_partitions(path))}
    ours = Path(f"/proc/{os.getpid()}/fd/{but}")
    names: list[str] = []
    for look in range(LOOKS):
        if look:
            time.sleep(BETWEEN_LOOKS_S)
        names = [_name(process) for process in psutil.pids() if _has_open(process, numbers, ours)]
        if not names:
            return None
    return f"{' and '.join(names)} has {path} open"


def _name(process: int) -> str:
    with suppress(OSError):
        return f"process {process}, {Path(f'/proc/{process}/comm').read_text().strip()},"
    return f"process {process}"


def _has_open(process: int, numbers: set[int], ours: Path) -> bool:
    try:
        descriptors = list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return False
    for descriptor in descriptors:
        with suppress(OSError):
            # Only devices: a file may lie on a file system that hangs.
            name = str(descriptor.readlink())
            if name.startswith("/dev/") and descriptor != ours and descriptor.stat().st_rdev in numbers:
                return True
    return False


def _users(path: Path) -> Iterator[str]:
    number = number_text(path.stat().st_rdev)
    for mount in mounts():
        if number in (number_of_source(mount.source), mount.device_number):
            yield f"{path} is mounted at {mount.mount_point}"
    for line in Path("/proc/swaps").read_text().splitlines()[1:]:
        if number_of_source(line.split()[0]) == number:
            yield f"{path} is swap space"
    for loop in loops_on(path.resolve()):
        yield f"{loop} lies on {path}"
    for holder in (sys_folder(path) / "holders").glob("*"):
        yield f"{path} is part of {_name_of(holder)}"


def _name_of(holder: Path) -> str:
    """Return a volume's own name if it has one: ``dm-0 (vg0-home)``."""
    name = holder.resolve() / "dm/name"
    return f"{holder.name} ({name.read_text().strip()})" if name.exists() else holder.name


def _partitions(path: Path) -> list[Path]:
    return sorted(Path("/dev") / part.parent.name for part in sys_folder(path).resolve().glob("*/partition"))


def sys_folder(device: Path) -> Path:
    """Return the kernel's folder of a block device: a link, which leads to a partition's in its disk's."""
    return SYS / number_text(device.stat().st_rdev)
