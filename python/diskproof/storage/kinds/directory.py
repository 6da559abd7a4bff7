"""A directory on the storage under test."""

import os
import shlex
from difflib import get_close_matches
from pathlib import Path

from diskproof.storage.attached import check_time
from diskproof.storage.kinds.base import (
    PlainPlace,
    StorageError,
    check_free,
    nearest,
    resolved,
    strangers_in,
    unused,
)
from diskproof.study.places import PlaceChoice, PlaceKind
from diskproof.system.journal import Journal
from diskproof.system.mounts import is_mounted, mount_of

FSTAB = Path("/etc/fstab")


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a directory that holds other files, or has too little space."""
    assert choice.directory is not None
    directory = resolved(f"storage `{name}`", choice.directory)
    existing = nearest(directory)
    if choice.directory.expanduser().is_absolute():
        _check_mounted(f"storage `{name}`", directory, existing)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise StorageError(
            f"storage `{name}`: you may not write to {existing}; choose another or change its owner"
        )
    if stranger := strangers_in(directory):
        raise StorageError(
            f"storage `{name}`: {directory} is not empty (it holds `{stranger}`); "
            "name an empty or new directory"
        )
    check_time(f"storage `{name}`", Path(mount_of(existing).mount_point))
    check_free(f"storage `{name}`", directory, need_bytes)


def _check_mounted(what: str, directory: Path, existing: Path) -> None:
    """Refuse a path that was probably to lie on another file system: mistyped, or not mounted."""
    mount = mount_of(existing)
    here = f"{directory} would lie on {mount.mount_point} ({mount.filesystem}, {mount.source})"
    for folder in (directory, *directory.parents):
        if str(folder) in _mount_points(FSTAB) and not is_mounted(folder):
            raise StorageError(f"{what}: {folder} is in {FSTAB} and not mounted, so {here}: `mount {folder}`")
    if not directory.parent.exists():
        near = get_close_matches(
            directory.relative_to(existing).parts[0], [one.name for one in existing.iterdir()], n=1
        )
        meant = f"; did you mean {existing / near[0]}?" if near else ""
        raise StorageError(
            f"{what}: {directory.parent} does not exist, so {here}: correct the path, or confirm it with "
            f"`mkdir -p {shlex.quote(str(directory.parent))}`{meant}"
        )


def _mount_points(fstab: Path) -> set[str]:
    """Return the mount points that the administrator has written down, without the root."""
    try:
        entries = [line.split() for line in fstab.read_text(errors="replace").splitlines()]
    except OSError:
        return set()
    return {entry[1] for entry in entries if len(entry) > 1 and not entry[0].startswith("#")} - {"/"}


def prepare(choice: PlaceChoice, journal: Journal) -> PlainPlace:
    """Make the run's own folder in the directory."""
    assert choice.directory is not None
    return make("directory", choice.directory, journal)


def make(kind: PlaceKind, directory: Path, journal: Journal) -> PlainPlace:
    """Make the run's own folder in a directory that was checked a while ago."""
    folder = unused(resolved("its directory", directory) / f"diskproof-{journal.mark}")
    journal.parents(folder)
    return PlainPlace(kind, journal.own_folder(folder))
