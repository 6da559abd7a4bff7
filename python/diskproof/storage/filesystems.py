"""Making and mounting the file systems of a study's own block devices."""

import shutil
from pathlib import Path
from typing import Literal

from diskproof.storage.kinds.base import StorageError, command
from diskproof.system.journal import Journal

FileSystem = Literal["ext4", "xfs", "btrfs"]

LABEL = "diskproof"
"""Label of every file system that we make: what carries it is ours to overwrite."""

MAKE: dict[FileSystem, tuple[str, ...]] = {
    # Everything is written now, or the kernel would go on initialising during the measurement.
    "ext4": ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-L", LABEL),
    "xfs": ("mkfs.xfs", "-q", "-f", "-L", LABEL),
    "btrfs": ("mkfs.btrfs", "-q", "-f", "-L", LABEL),
}

PACKAGES: dict[FileSystem, str] = {"ext4": "e2fsprogs", "xfs": "xfsprogs", "btrfs": "btrfs-progs"}

LEAST_BYTES: dict[FileSystem, int] = {"ext4": 16 * 2**20, "xfs": 300 * 2**20, "btrfs": 128 * 2**20}
"""The smallest device on which each can be made: mkfs.xfs and mkfs.btrfs refuse smaller ones."""

USABLE_SHARE = 0.9
"""What of a device is left for files: a journal and inode tables take some, and ext4 keeps 5 % for root."""


def check_maker(what: str, filesystem: FileSystem) -> None:
    """Refuse a file system that this machine cannot make."""
    program = MAKE[filesystem][0]
    if not (shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")):
        raise StorageError(
            f"{what}: {program} is missing; install {PACKAGES[filesystem]}, or choose another `filesystem`"
        )


def make(filesystem: FileSystem, device: Path) -> None:
    """Make a file system on a device; all that lies on it is lost."""
    command([*MAKE[filesystem], str(device)])


def mount(device: Path, mount_point: Path, options: str | None, journal: Journal) -> None:
    """Mount a device; the journal has the mount point first."""
    journal.mounted(mount_point)
    command(["mount", *(["-o", options] if options else []), str(device), str(mount_point)])
