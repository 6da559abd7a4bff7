"""File systems on block devices: made, mounted, unmounted."""

import errno
import fcntl
import os
import platform
import re
import shutil
from pathlib import Path

from diskproof.reading import closed_at_end
from diskproof.storage.kinds.base import LESS_ROOM, CommandFailedError, StorageError, command, patiently
from diskproof.study.places import FileSystem
from diskproof.system.journal import Journal
from diskproof.system.mounts import is_mounted_from
from diskproof.wording import numbers

LABEL = "diskproof"
"""Label of every file system that we make: a labelled one may be overwritten."""

SPREAD = "hash_seed=6469736b-7072-4f6f-a066-000000000001"
"""Where ext4 puts the directories of its root follows from their names and this seed (fs/ext4/ialloc.c of the
kernel). mkfs draws it, and then the ways between data and log on a spinning disk differ from run to run: of
one cell of PostgreSQL we have seen 150 to 330 transactions a second."""

MAKE: dict[FileSystem, tuple[str, ...]] = {
    # Everything is written now, or the kernel would initialise during the measurement.
    "ext4": ("mkfs.ext4", "-q", "-F", "-L", LABEL, "-E", f"{SPREAD},lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-L", LABEL),
    "btrfs": ("mkfs.btrfs", "-q", "-f", "-L", LABEL),
}

UNAWARE_OF_MOUNTS = (
    *("unshare", "--mount"),
    *("sh", "-c", 'mount --bind /dev/null /proc/$$/mounts && exec "$@"', "sh"),
)
"""Comes before a program, which then finds no file system mounted.

mkfs.btrfs looks at the file below every mounted loop device of the machine, and gives up if one cannot be
read, as that of a virtual disk whose server was killed. It still cannot overwrite a device that is mounted:
it opens its devices with O_EXCL, which the kernel then refuses."""

MAKE_ON_BLANK: dict[FileSystem, tuple[str, ...]] = {
    "ext4": ("-E", f"{SPREAD},nodiscard,lazy_itable_init=1,lazy_journal_init=1"),
    "xfs": ("-K",),
    "btrfs": ("-K",),
}
"""More options for a device that reads as zeroes: nothing to discard, no zeroes to write."""

MOUNT_ON_BLANK: dict[FileSystem, tuple[str, ...]] = {"ext4": ("noinit_itable",), "xfs": (), "btrfs": ()}
"""Otherwise ext4 would write those zeroes in the background, during the measurement."""

QUIET_SINCE: dict[FileSystem, tuple[tuple[int, int], str]] = {
    "ext4": ((5, 13), "no_prefetch_block_bitmaps"),
}
"""Kernel from which on a file system needs an option to stay quiet after the mount, and the option.

ext4 reads the bitmaps of all its blocks ahead, some seconds after each mount. On 1 TB these are 467 reads,
which keep a disk of 5,400 rpm busy for five seconds of the measurement. A virtual disk is mounted before each
trial; on a computer that has run for an hour they have long been read. ("ext4: make prefetch_block_bitmaps
default", Linux 5.13; earlier kernels do not have the option.)"""

PACKAGES: dict[FileSystem, str] = {"ext4": "e2fsprogs", "xfs": "xfsprogs", "btrfs": "btrfs-progs"}

LEAST_BYTES: dict[FileSystem, int] = {"ext4": 16 * 2**20, "xfs": 300 * 2**20, "btrfs": 128 * 2**20}
"""The smallest device for each: mkfs.xfs and mkfs.btrfs refuse smaller ones."""

USABLE_SHARE = 0.9
"""Share of a device that is left for files: journal and inode tables take some, and ext4 keeps 5% for root.
"""

UNMOUNT_S = 5.0
"""How long to wait for a program that looks at every mount, as a desktop does."""

LET_GO_S = 20.0
"""How long others may take to leave a file system that was unmounted or whose disk is dead."""

MOUNT_FAILURE = 32
"""mount(8)'s exit code if the kernel refused the file system; lower ones are failures of mount itself."""

FLUSH_BUFFERS = 0x1261
"""BLKFLSBUF of linux/fs.h: write back and drop what the kernel holds of a block device."""


class NotMountedError(StorageError):
    """A file system that the kernel refuses to mount."""


def check_maker(name: str, filesystem: FileSystem) -> None:
    """Refuse a storage's file system that this machine cannot make."""
    if missing := maker_missing(filesystem):
        raise StorageError(f"storage `{name}`: {missing}, or choose another `filesystem`")


def maker_missing(filesystem: FileSystem) -> str | None:
    """Return how to install the program that makes a file system; None if it is there."""
    program = MAKE[filesystem][0]
    if shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin"):
        return None
    return f"{program} is missing; install {PACKAGES[filesystem]}"


def check_size(name: str, filesystem: FileSystem, size_bytes: int, need_bytes: int) -> None:
    """Refuse a device that is too small for its file system, or for what a storage will hold."""
    if size_bytes < (least := LEAST_BYTES[filesystem]):
        raise StorageError(
            f"storage `{name}`: {filesystem} needs at least {numbers.size(least)}, but the device has "
            f"{numbers.size(size_bytes)}; use a larger device or another `filesystem`"
        )
    if size_bytes * USABLE_SHARE < need_bytes:
        raise StorageError(
            f"storage `{name}`: data set and load need about {numbers.size(need_bytes)}, but a file system "
            f"on {numbers.size(size_bytes)} leaves less; use a larger device, or {LESS_ROOM}"
        )


def make_filesystem(device: Path, filesystem: FileSystem, *, blank: bool = False) -> None:
    """Make a file system on a device; everything on the device is lost.

    `blank` means that the device reads as zeroes throughout: the later of two equal options counts.
    """
    argv = [*MAKE[filesystem], *(MAKE_ON_BLANK[filesystem] if blank else ()), str(device)]
    command([*UNAWARE_OF_MOUNTS, *argv] if filesystem == "btrfs" else argv)


COMMIT_S: dict[FileSystem, int] = {"ext4": 5, "btrfs": 30}
"""How often a file system commits its journal (ext4(5), btrfs(5)); xfs takes no such option."""


def blank_options(filesystem: FileSystem, options: str | None, dilation: int = 1) -> str | None:
    """Return the mount options of a file system on a blank device, with the user's own.

    Its journal is committed as often as it would be, if time passes `dilation` times slower.
    """
    known = [*MOUNT_ON_BLANK[filesystem], *_quietness(filesystem, platform.release())]
    if dilation > 1 and filesystem in COMMIT_S:
        known.append(f"commit={COMMIT_S[filesystem] * dilation}")
    return ",".join([*known, *([options] if options else [])]) or None


def _quietness(filesystem: FileSystem, kernel: str) -> list[str]:
    """Return the option that keeps a file system quiet, if it needs one on this kernel."""
    since, option = QUIET_SINCE.get(filesystem, (None, ""))
    release = re.match(r"(\d+)\.(\d+)", kernel)
    if since is None or release is None:
        return []
    return [option] if (int(release[1]), int(release[2])) >= since else []


def mount(device: Path, mount_point: Path, options: str | None, journal: Journal) -> None:
    """Mount a device; the journal has the mount point first."""
    journal.mounted(mount_point, str(device))
    mount_again(device, mount_point, options)


def mount_again(device: Path, mount_point: Path, options: str | None) -> None:
    """Mount a device whose mount point is in the journal already.

    NotMountedError if the kernel refuses the file system.
    """
    try:
        command(["mount", *(["-o", options] if options else []), str(device), str(mount_point)])
    except CommandFailedError as error:
        if error.code == MOUNT_FAILURE:
            raise NotMountedError(str(error)) from error
        raise


def unmount(mount_point: Path, device: Path) -> None:
    """Unmount a device; StorageError if it stays in use. Other mounts at the same place stay."""
    while is_mounted_from(mount_point, str(device)):
        patiently(lambda: command(["umount", str(mount_point)]), UNMOUNT_S)


def unmount_dead(mount_point: Path, device: Path) -> None:
    """Unmount a file system whose disk fails every request, so that it can write nothing any more.

    If somebody still uses it (a killed process that is not gone yet), it is detached at once and released
    when they leave; the device is freed only then.
    """
    try:
        unmount(mount_point, device)
    except StorageError:
        command(["umount", "--lazy", str(mount_point)])


def forget_buffers(device: Path) -> None:
    """Drop what the kernel holds of an unmounted device, whose bytes are about to change below it.

    A process that was given mounts of its own meanwhile, as a container is, has a copy of ours. The file
    system then lives on, and would be mounted again with what it knew of the bytes before. StorageError if it
    stays.
    """
    with closed_at_end(patiently(lambda: _open_alone(device), LET_GO_S)) as descriptor:
        fcntl.ioctl(descriptor, FLUSH_BUFFERS, 0)


def _open_alone(device: Path) -> int:
    try:
        return os.open(device, os.O_RDONLY | os.O_EXCL)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        raise StorageError(
            f"{device} was unmounted and is still in use: a process with mounts of its own, as a container "
            "is, began while it was mounted; wait for its end"
        ) from None
