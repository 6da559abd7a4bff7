"""The place that is measured: a file of ours in a directory, or a block device, read unless told so."""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.profile import ProfilePlace
from diskproof.results.record import format_bytes
from diskproof.storage.disks import check_disk, held
from diskproof.system.journal import Journal
from diskproof.system.mounts import block_device, describe, mount_of

FEWEST_BYTES = 16 * 2**20
"""Less than this fits into the smallest of drive caches."""

KEPT_FREE = 64 * 2**20
"""Left free on the file system, so that a profile never fills somebody's disk."""

FILE = "profile.dat"


WRITING = "--write"
REMEDY = "measure without --write, or, if nothing on it is wanted any more: wipefs --all {}"


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
    open: Callable[[Journal], AbstractContextManager[tuple[ProfilePlace, Path]]]
    """Makes what must be made, in the journal first, and holds what must be held while it is measured.

    Gives the place as it has shown itself by then, and what fio is to work on."""
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
        direct=False,  # until a file of ours has shown otherwise
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
    """Make a folder; it goes with the journal, whatever comes to lie in it."""
    own = journal.directory(folder / f"diskproof-{journal.mark}")
    yield place.model_copy(update={"direct": _takes_direct(own / "direct")}), own / FILE


def _block_device(path: Path, wanted: Wanted) -> Ready:
    real = path.resolve()
    if wanted.write not in (None, wanted.name) and Path(str(wanted.write)).expanduser().resolve() != real:
        raise PlaceError(
            f"--write names {wanted.write} and not {path}: nothing is written to a device unless "
            "it is named twice"
        )
    writable = wanted.write is not None
    if writable:
        check_disk(WRITING, real, overwrite=False, remedy=REMEDY.format(real))
    size = _size_of(real)
    if size < FEWEST_BYTES:
        raise PlaceError(f"{path} holds {format_bytes(size)}; a profile needs {format_bytes(FEWEST_BYTES)}")
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
    return Ready(place, lambda _journal: _held(place, real), makes_file=False)


@contextmanager
def _held(place: ProfilePlace, device: Path) -> Iterator[tuple[ProfilePlace, Path]]:
    """Hold a device that is written from a second look to the last cell: nobody can mount it meanwhile."""
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
    try:
        return os.lseek(descriptor, 0, os.SEEK_END)
    finally:
        os.close(descriptor)


def _whole_disk(device: Path) -> str:
    """Return the kernel name of the disk that a device is, or lies on as a partition."""
    number = device.stat().st_rdev
    folder = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    return folder.parent.name if (folder / "partition").exists() else folder.name


def _takes_direct(probe: Path) -> bool:
    """Try with a new file whether the file system takes I/O that passes the page cache by."""
    try:
        descriptor = os.open(probe, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
    except OSError:
        return False
    else:
        os.close(descriptor)
        return True
    finally:
        probe.unlink(missing_ok=True)
