"""The file system and the block device that a path lies on."""

import os
from dataclasses import dataclass
from pathlib import Path

from diskproof.results.machine import BlockDevice
from diskproof.system.kernel import kernel_says

SYS = Path("/sys")

FLUSHES_FIELD = 15


@dataclass(frozen=True)
class Mount:
    """One line of /proc/self/mountinfo."""

    mount_point: str
    device_number: str
    filesystem: str
    options: str
    source: str


def device_number(path: Path) -> str:
    """Return ``major:minor`` of the file system that a path lies on; OSError if the path does not exist."""
    return number_text(path.stat().st_dev)


def number_text(device: int) -> str:
    """Return a device's number as the kernel writes it: ``major:minor``."""
    return f"{os.major(device)}:{os.minor(device)}"


def mounts() -> list[Mount]:
    """Return the mounts that this process sees, in the order they were made."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        _, _, number, _, mount_point, options, *_ = before.split(" ")
        filesystem, source, super_options = after.split(" ", 2)
        joined = ",".join(dict.fromkeys(f"{options},{super_options}".split(",")))
        found.append(Mount(_unescape(mount_point), number, filesystem, joined, _unescape(source)))
    return found


def is_mounted(path: Path) -> bool:
    """Return whether something is mounted exactly here.

    The kernel's table answers without the file system, whose program may be dead.
    """
    return bool(mounted_at(path))


def mounted_at(path: Path) -> list[Mount]:
    """Return what is mounted exactly here, one over another: the last is visible."""
    real = str(path.parent.resolve() / path.name)
    return [mount for mount in mounts() if mount.mount_point == real]


def is_mounted_from(path: Path, source: str) -> bool:
    """Return whether the visible mount exactly here comes from a source."""
    here = mounted_at(path)
    return bool(here) and comes_from(here[-1], source)


def comes_from(mount: Mount, source: str) -> bool:
    """Return whether a mount comes from a source: a name, a pool (or its data set), a block device."""
    if mount.source == source or mount.source.startswith(f"{source}/"):
        return True
    number = number_of_source(source)
    return number is not None and number in (mount.device_number, number_of_source(mount.source))


def mounts_within(folder: Path) -> list[str]:
    """Return the mount points at a folder and below it."""
    real = str(folder.parent.resolve() / folder.name)
    return [mount.mount_point for mount in mounts() if f"{mount.mount_point}/".startswith(f"{real}/")]


def mount_of(path: Path) -> Mount:
    """Return the mount that a path lies on: the longest mount point above it, the last made."""
    real = str(path.resolve())
    best: Mount | None = None
    for mount in mounts():
        prefix = mount.mount_point.rstrip("/")
        leads_to = real == prefix or real.startswith(prefix + "/")
        if leads_to and (best is None or len(mount.mount_point) >= len(best.mount_point)):
            best = mount
    if best is None:
        raise FileNotFoundError(f"no mount leads to {path}")
    return best


def block_device(mount: Mount) -> BlockDevice | None:
    """Return the whole disk below a mount.

    None if there is not exactly one: tmpfs, ZFS, overlay, a btrfs of several disks.
    """
    for number in (mount.device_number, number_of_source(mount.source)):
        folder = SYS / "dev/block" / number if number else None
        if folder and folder.exists():
            members = _btrfs_members(folder) if mount.filesystem == "btrfs" else [folder]
            disks = {_disk(member).name for member in members}
            return describe(disks.pop()) if len(disks) == 1 else None
    return None


def takes_direct_io(directory: Path) -> bool:
    """Return whether files in a directory can be opened with O_DIRECT (tmpfs before Linux 6.6 refuses)."""
    probe = directory / ".diskproof-o-direct"
    try:
        os.close(os.open(probe, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError:
        return False
    finally:
        probe.unlink(missing_ok=True)
    return True


def _btrfs_members(folder: Path) -> list[Path]:
    """Return all devices of the btrfs that one of them belongs to; the mount names only one."""
    real = folder.resolve()
    for filesystem in (SYS / "fs/btrfs").glob("*/devices"):
        members = [member.resolve() for member in filesystem.iterdir()]
        if real in members:
            return members
    return [folder]


def describe(name: str, sys: Path = SYS) -> BlockDevice:
    """Describe a disk or a volume by its kernel name, from /sys/block; what is not reported is None.

    A volume has no model of its own: it has those of its disks.
    """
    folder = sys / "block" / name
    leaves = _leaves(folder)
    models = [kernel_says(sys / "block" / leaf / "device/model") for leaf in leaves]
    sectors = kernel_says(folder / "size")
    rotational = kernel_says(folder / "queue/rotational")
    fua = kernel_says(folder / "queue/fua")
    logical = kernel_says(folder / "queue/logical_block_size")
    scheduler = kernel_says(folder / "queue/scheduler")
    return BlockDevice(
        name=name,
        model=" + ".join(dict.fromkeys(model for model in models if model)) or None,
        size_bytes=int(sectors) * 512 if sectors else None,
        rotational=None if rotational is None else rotational == "1",
        scheduler=scheduler.partition("[")[2].partition("]")[0] or scheduler if scheduler else None,
        write_cache=kernel_says(folder / "queue/write_cache"),
        fua=None if fua is None else fua == "1",
        logical_block_bytes=int(logical) if logical else None,
        leaves=[] if leaves == [name] else leaves,
        counts_flushes=all(_has_counted_flushes(sys / "block" / leaf) for leaf in leaves),
    )


def _leaves(folder: Path) -> list[str]:
    """Return the disks at the bottom of a device; the device itself if it is made of no other."""
    below = sorted(folder.glob("slaves/*"))
    found = [leaf for slave in below for leaf in _leaves(_disk(slave))]
    return list(dict.fromkeys(found)) or [folder.name]


def _disk(folder: Path) -> Path:
    """Return the folder in /sys of the whole disk that a device or a partition belongs to."""
    real = folder.resolve()
    return real.parent if (real / "partition").exists() else real


def _has_counted_flushes(folder: Path) -> bool:
    """Return whether the kernel has counted a flush since the disk appeared.

    The 16th field: Documentation/block/stat.rst of the Linux kernel, since 5.5. Volumes pass flushes on
    without counting them. A disk that got a file system has had some.
    """
    fields = (kernel_says(folder / "stat") or "").split()
    return len(fields) > FLUSHES_FIELD and int(fields[FLUSHES_FIELD]) > 0


def number_of_source(source: str) -> str | None:
    """Return the number of the block device that a mount comes from; None if it comes from none."""
    if not source.startswith("/dev/"):
        return None
    try:
        return number_text(Path(source).stat().st_rdev)
    except OSError:
        return None


def _unescape(text: str) -> str:
    """Undo the octal escapes of mountinfo for white space and the backslash."""
    for escaped, plain in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(escaped, plain)
    return text
