"""The place that is measured: a file of ours in a directory, or a block device, read unless told so."""

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.profile import ProfilePlace
from diskproof.results.records import format_bytes
from diskproof.system.journal import Journal
from diskproof.system.mounts import block_device, describe, mount_of

FEWEST_BYTES = 16 * 2**20
"""Less than this fits into the smallest of drive caches."""

KEPT_FREE = 64 * 2**20
"""Left free on the file system, so that a profile never fills somebody's disk."""

FILE = "profile.dat"
SECTOR = 4096


class PlaceError(RefusalError):
    """A place that cannot be measured as asked."""


@dataclass(frozen=True)
class Wanted:
    """A place as the user names it."""

    name: str
    size_bytes: int
    write: str | None = None
    """The block device's name once more: it may be written."""
    at: Path | None = None
    """Where it lies, if the name is not its path."""
    virtual: str | None = None
    """The device model, where the place is a virtual disk of ours."""


@dataclass(frozen=True)
class Ready:
    """A place that has been looked at and can be measured."""

    place: ProfilePlace
    prepare: Callable[[Journal], Path]
    """Makes what must be made, in the journal first; returns what fio is to work on."""
    makes_file: bool
    """Whether that is a file which is not there yet."""


def look_at(wanted: Wanted) -> Ready:
    """Look at a place and refuse what cannot be measured, before anything is made."""
    path = wanted.at or Path(wanted.name).expanduser()
    if wanted.size_bytes < FEWEST_BYTES:
        raise PlaceError(f"a profile touches {format_bytes(FEWEST_BYTES)} at least; raise --size")
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise PlaceError(
            f"there is no {path}; name a directory, a block device or an attached virtual disk "
            "(`diskproof disk list` shows them, `diskproof disk attach NAME` makes one)"
        ) from None
    except OSError as error:
        raise PlaceError(f"{path} cannot be looked at: {error.strerror}") from None
    if stat.S_ISBLK(mode):
        return _block_device(path, wanted)
    if not stat.S_ISDIR(mode):
        raise PlaceError(f"{path} is neither a directory nor a block device; name the directory it lies in")
    if wanted.write:
        raise PlaceError("--write is for block devices; in a directory a profile writes a file of its own")
    return _directory(path.absolute(), wanted)


def _directory(folder: Path, wanted: Wanted) -> Ready:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PlaceError(f"{folder} is not writable for you; name another directory or change its owner")
    free = shutil.disk_usage(folder).free
    if free < wanted.size_bytes + KEPT_FREE:
        raise PlaceError(
            f"{folder} has {format_bytes(free)} free, and the profile's file takes "
            f"{format_bytes(wanted.size_bytes)} with {format_bytes(KEPT_FREE)} to be left; lower --size"
        )
    mount = mount_of(folder)
    place = ProfilePlace(
        kind="virtual disk" if wanted.virtual else "directory",
        name=wanted.name,
        path=str(folder),
        size_bytes=wanted.size_bytes,
        writable=True,
        direct=_takes_direct(folder),
        filesystem=mount.filesystem,
        mount_point=mount.mount_point,
        mount_options=mount.options,
        device=block_device(mount),
        virtual=wanted.virtual,
    )
    return Ready(place, lambda journal: journal.directory(folder / f"diskproof-{journal.mark}") / FILE, True)


def _block_device(path: Path, wanted: Wanted) -> Ready:
    real = path.resolve()
    if wanted.write not in (None, wanted.name) and Path(str(wanted.write)).expanduser().resolve() != real:
        raise PlaceError(
            f"--write names {wanted.write} and not {path}: nothing is written to a device unless "
            "it is named twice"
        )
    writable = wanted.write is not None
    size = _size_of(real, writable=writable)
    if size < FEWEST_BYTES:
        raise PlaceError(f"{path} holds {format_bytes(size)}; a profile needs {format_bytes(FEWEST_BYTES)}")
    if writable:
        _refuse_what_is_not_empty(real)
    place = ProfilePlace(
        kind="virtual disk" if wanted.virtual else "block device",
        name=wanted.name,
        path=str(real),
        size_bytes=min(size, wanted.size_bytes),
        writable=writable,
        direct=True,
        device=describe(_whole_disk(real)),
        virtual=wanted.virtual,
    )
    return Ready(place, lambda _journal: real, False)


def _size_of(device: Path, *, writable: bool) -> int:
    """Open a device as fio will, and return its size. O_EXCL refuses a device that something else uses."""
    flags = (os.O_RDWR | os.O_EXCL) if writable else os.O_RDONLY
    try:
        descriptor = os.open(device, flags)
    except OSError as error:
        why = (
            "it is mounted, or part of a volume, a pool or swap"
            if writable and error.errno == errno.EBUSY
            else error.strerror
        )
        raise PlaceError(f"{device} cannot be {'written' if writable else 'read'}: {why}") from None
    try:
        return os.lseek(descriptor, 0, os.SEEK_END)
    finally:
        os.close(descriptor)


def _refuse_what_is_not_empty(device: Path) -> None:
    """Refuse a device that holds a file system, a partition table or the label of a volume."""
    if shutil.which("wipefs") is None:
        raise PlaceError("wipefs is needed to see whether a device is empty: install util-linux")
    argv = ["wipefs", "--no-act", "--noheadings", "--output", "TYPE", str(device)]
    found = subprocess.run(argv, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise PlaceError(f"it cannot be seen whether {device} is empty: {found.stderr.strip()}")
    if kinds := ", ".join(dict.fromkeys(found.stdout.split())):
        raise PlaceError(
            f"{device} holds something ({kinds}), which the profile's writes would destroy; measure without "
            f"--write, or, if nothing on it is wanted any more: wipefs --all {device}"
        )


def _whole_disk(device: Path) -> str:
    """Return the kernel name of the disk that a device is, or lies on as a partition."""
    number = device.stat().st_rdev
    folder = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    return folder.parent.name if (folder / "partition").exists() else folder.name


def _takes_direct(folder: Path) -> bool:
    """Try whether the file system takes I/O that passes the page cache by."""
    probe = folder / f".diskproof-direct-{os.getpid()}"
    try:
        descriptor = os.open(probe, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
    except OSError:
        return False
    else:
        os.close(descriptor)
        return True
    finally:
        probe.unlink(missing_ok=True)
