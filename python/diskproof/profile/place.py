"""The place that is measured: a file of ours in a directory, or a block device, which is read by default."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from diskproof.reading import closed_at_end
from diskproof.refusal import RefusalError
from diskproof.results.profile import ProfilePlace
from diskproof.storage.disks import check_disk, held, use
from diskproof.storage.kinds.base import resolved
from diskproof.system.dilation import REAL, TrialTime
from diskproof.system.journal import Journal
from diskproof.system.mounts import block_device, describe, mount_of, number_text, takes_direct_io
from diskproof.system.own_folder import expanded
from diskproof.wording import numbers

FEWEST_BYTES = 16 * 2**20
"""Less than this fits into the smallest drive caches."""

KEPT_FREE = 64 * 2**20
"""Stays free on the file system, so that a profile never fills a disk."""

FILE = "profile.dat"


WRITING = "--write"
REMEDY = "measure without --write, or, if you need nothing on it any more: wipefs --all {}"


class PlaceError(RefusalError):
    """A place that cannot be measured as requested."""


@dataclass(frozen=True)
class Wanted:
    """A place as the user names it."""

    name: str
    size_bytes: int
    write: str | None = None
    """The block device's name again: it may be written."""
    at: Path | None = None
    """Where it lies, if the name is not its path."""
    virtual: str | None = None
    """The device model, if the place is a virtual disk of ours."""
    time: TrialTime = REAL
    """In which it answers."""


@dataclass(frozen=True)
class Ready:
    """A place that was checked and can be measured."""

    place: ProfilePlace
    open: Callable[[Journal], AbstractContextManager[tuple[ProfilePlace, Path]]]
    """Makes what is needed, in the journal first, and holds what must be held during the measurement.

    It yields the place as found by then, and the file for fio."""
    makes_file: bool
    """Whether that file does not exist yet."""


def look_at(wanted: Wanted) -> Ready:
    """Check a place and refuse what cannot be measured, before anything is made."""
    path = wanted.at or expanded(Path(wanted.name))
    if wanted.size_bytes < FEWEST_BYTES:
        raise PlaceError(f"a profile needs at least {numbers.size(FEWEST_BYTES)}; raise --size")
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise PlaceError(
            f"there is no {path}; name a directory, a block device or an attached virtual disk "
            "(`diskproof disk list` shows them, `diskproof disk attach NAME` makes one)"
        ) from None
    except OSError as error:
        raise PlaceError(f"{path} cannot be read: {error.strerror}") from None
    if stat.S_ISBLK(mode):
        return _block_device(path, wanted)
    if not stat.S_ISDIR(mode):
        raise PlaceError(f"{path} is neither a directory nor a block device; name the directory it lies in")
    if wanted.write:
        raise PlaceError("--write is for block devices; in a directory a profile writes its own file")
    return _directory(resolved(wanted.name, path), wanted)


def _directory(folder: Path, wanted: Wanted) -> Ready:
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise PlaceError(f"the file system of {folder} is read-only; mount it writable, or name another")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PlaceError(f"you may not write to {folder}; name another directory or change its owner")
    free = shutil.disk_usage(folder).free
    if free < wanted.size_bytes + KEPT_FREE:
        remedy = (
            "lower --size" if free >= FEWEST_BYTES + KEPT_FREE else "make room, or name another directory"
        )
        raise PlaceError(
            f"{folder} has {numbers.size(free)} free, but the file needs {numbers.size(wanted.size_bytes)} "
            f"and {numbers.size(KEPT_FREE)} must stay free; {remedy}"
        )
    mount = mount_of(folder)
    place = ProfilePlace(
        kind="virtual disk" if wanted.virtual else "directory",
        name=wanted.name,
        path=str(folder),
        size_bytes=wanted.size_bytes,
        writable=True,
        direct=False,  # until a file of ours shows otherwise
        filesystem=mount.filesystem,
        mount_point=mount.mount_point,
        mount_options=mount.options,
        device=block_device(mount),
        virtual=wanted.virtual,
    )
    return Ready(place, lambda journal: _in_a_folder_of_ours(place, folder, journal), makes_file=True)


@contextmanager
def _in_a_folder_of_ours(
    place: ProfilePlace, folder: Path, journal: Journal
) -> Iterator[tuple[ProfilePlace, Path]]:
    """Make a folder; it is removed with the journal, with all in it."""
    own = journal.directory(folder / f"diskproof-{journal.mark}")
    yield place.model_copy(update={"direct": takes_direct_io(own)}), own / FILE


def _block_device(path: Path, wanted: Wanted) -> Ready:
    real = path.resolve()
    if wanted.write not in (None, wanted.name) and expanded(Path(str(wanted.write))).resolve() != real:
        raise PlaceError(
            f"--write names {wanted.write}, not {path}: a device is written only if it is named twice"
        )
    writable = wanted.write is not None
    if writable:
        check_disk(WRITING, real, overwrite=False, remedy=REMEDY.format(real))
    size = _size_of(real)
    if size < FEWEST_BYTES:
        raise PlaceError(f"{path} has {numbers.size(size)}; a profile needs {numbers.size(FEWEST_BYTES)}")
    place = ProfilePlace(
        kind="virtual disk" if wanted.virtual else "block device",
        name=wanted.name,
        path=str(real),
        size_bytes=min(size, wanted.size_bytes),
        writable=writable,
        direct=True,
        used_by=None if writable or wanted.virtual else use(real),
        device=describe(_whole_disk(real)),
        virtual=wanted.virtual,
    )
    return Ready(place, lambda _journal: _held(place, real), makes_file=False)


@contextmanager
def _held(place: ProfilePlace, device: Path) -> Iterator[tuple[ProfilePlace, Path]]:
    """Hold a device that is written from a second check to the last cell, so that nobody can mount it."""
    with ExitStack() as stack:
        if place.writable:
            stack.enter_context(held(WRITING, device, overwrite=False, remedy=REMEDY.format(device)))
        yield place, device


def _size_of(device: Path) -> int:
    """Open a device as fio will to read it, and return its size."""
    try:
        descriptor = os.open(device, os.O_RDONLY)
    except OSError as error:
        raise PlaceError(
            f"{device} cannot be read: {error.strerror}; run as root, or name a directory on it"
        ) from None
    with closed_at_end(descriptor):
        return os.lseek(descriptor, 0, os.SEEK_END)


def _whole_disk(device: Path) -> str:
    """Return the kernel name of the disk that a device is, or lies on as a partition."""
    folder = Path(f"/sys/dev/block/{number_text(device.stat().st_rdev)}").resolve()
    return folder.parent.name if (folder / "partition").exists() else folder.name
