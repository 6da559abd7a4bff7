"""Virtual disks that a user attached: they stay when the command has ended, until they are detached.

Each has its own journal and description, separate from those of runs. `diskproof clean` only removes those
whose program is gone.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from diskproof import disk
from diskproof.reading import MIB, UnreadableError, read_bytes
from diskproof.results.durable import write_whole
from diskproof.results.machine import VirtualFacts
from diskproof.storage import loops, path_cost, virtual
from diskproof.storage.filesystem import (
    blank_options,
    check_maker,
    check_size,
    make_filesystem,
    mount,
    unmount,
)
from diskproof.storage.kinds.base import StorageError, resolved
from diskproof.study.places import FileSystem
from diskproof.system.dilation import TrialTime
from diskproof.system.journal import Journal, state_folder, undo
from diskproof.system.loops import lies_on
from diskproof.system.mounts import is_mounted
from diskproof.system.run_processes import processes_of
from diskproof.system.undoing import Undone
from diskproof.wording import numbers

MOUNTS = Path("/run/diskproof")
"""Where disks are mounted if the user names no directory."""


class Attachment(BaseModel):
    """A disk that is attached, as it was when it was made."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    mark: str
    """Mark of its journal and of its program's environment."""
    facts: VirtualFacts
    block: Path
    """Its loop device."""
    file: Path
    """The same bytes as a file, in a FUSE mount."""
    socket: Path
    filesystem: FileSystem | None = None
    mount_point: Path | None = None
    dilation: int = 1
    warnings: tuple[str, ...] = ()
    """Warnings of the program at its start."""

    @property
    def control(self) -> disk.Control:
        """The control socket of the disk."""
        return disk.Control(self.socket)

    @property
    def time(self) -> TrialTime:
        """The time in which it answers."""
        return TrialTime(self.dilation, self.dilation)

    @property
    def alive(self) -> bool:
        """Whether its program runs: one that has ended shows no mark."""
        return any(processes_of(self.mark))


@dataclass(frozen=True)
class Wanted(virtual.Wanted):
    """A disk to be attached, as the user describes it."""

    name: str = ""
    filesystem: FileSystem | None = "ext4"
    """None: the bare block device."""
    mount_point: Path | None = None
    contents: Path | None = None
    """A sparse file that holds the bytes; None: main memory.

    The program makes the file and unlinks it at once: a later file of that name is not its own."""
    image: Path | None = None
    """A file with the bytes that the disk starts with; then no file system is made."""


def attachments() -> list[Attachment]:
    """Return the disks that are attached, or were until their program died, by name."""
    found = [_read(path) for path in _folder().glob("*.json")] if _folder().is_dir() else []
    return sorted((one for one in found if one), key=lambda one: one.name)


def find(name: str) -> Attachment | None:
    """Return the attached disk of a name."""
    return next((one for one in attachments() if one.name == name), None)


def check_time(what: str, place: Path) -> None:
    """Refuse a mount point or block device in slow time: that of a trial would be the machine's."""
    for one in attachments():
        if one.dilation > 1 and place in (one.mount_point, one.block):
            raise StorageError(
                f"{what}: the time of the attached disk `{one.name}` is {one.dilation} times slower: "
                f'leave it to the study, with `virtual = "{one.facts.device}"`, and `dilation` in [design]'
            )


def attach(wanted: Wanted, left_behind: Callable[[Undone], object]) -> Attachment:
    """Attach a disk that stays. If that fails, nothing of it is left but what `left_behind` receives."""
    _check(wanted)
    journal = Journal.outliving(_folder(), f"disk {wanted.name}")
    try:
        _check_name(wanted)
        attachment = _attach(wanted, journal)
        write_whole(_folder() / f"{journal.mark}.json", attachment.model_dump_json(indent=1))
    except BaseException:
        journal.finish_telling(left_behind)
        raise
    journal.leave()
    return attachment


def detach(attachment: Attachment, *, force: bool = False) -> list[Undone]:
    """Detach a disk; its contents are gone.

    StorageError if it is in use, unless `force`: its users then get errors.
    """
    if attachment.alive and not force:
        _leave(attachment)
    return _forget(_folder() / f"{attachment.mark}.jsonl")


def clean() -> list[Undone]:
    """Undo what is left of disks whose program is gone."""
    if not _folder().is_dir():
        return []
    with Journal.attaching(_folder()):  # a disk that is just being attached has no description yet
        living = {one.mark for one in attachments() if one.alive}
        dead = [path for path in sorted(_folder().glob("*.jsonl")) if path.stem not in living]
        return [undone for path in dead for undone in _forget(path)]


def _attach(wanted: Wanted, journal: Journal) -> Attachment:
    path_us = path_cost.path_us(journal, below_floor=wanted.below_floor)
    order = replace(wanted, path_us=path_us, options=tuple(_options(wanted)), outlives=True)
    attached = virtual.attach(order, journal)
    mount_point = None
    if wanted.filesystem and not wanted.image:
        make_filesystem(attached.block, wanted.filesystem, blank=True)
    if wanted.filesystem:
        mount_point = _made(wanted.mount_point or MOUNTS / wanted.name, journal)
        mount(attached.block, mount_point, blank_options(wanted.filesystem, None, wanted.dilation), journal)
    attached.control.set_timing(on=True)
    attached.control.ask("reset")
    return Attachment(
        name=wanted.name,
        mark=journal.mark,
        facts=attached.facts,
        block=attached.block,
        file=attached.served.file,
        socket=attached.control.path,
        filesystem=wanted.filesystem,
        mount_point=mount_point,
        dilation=wanted.dilation,
        warnings=attached.served.warnings,
    )


def _options(wanted: Wanted) -> Iterator[str]:
    if wanted.contents:
        yield from ("--contents", str(wanted.contents.absolute()))
    if wanted.image:
        yield from ("--image", str(wanted.image.absolute()))


def _made(mount_point: Path, journal: Journal) -> Path:
    """Return the mount point, made if it does not exist; it is removed with the disk."""
    real = resolved("--mount", mount_point)
    try:
        journal.parents(real / "mounted here")
    except OSError as error:
        raise StorageError(
            f"{real} cannot be made ({error.strerror}); name another directory with --mount"
        ) from None
    return real


def _check(wanted: Wanted) -> None:
    """Refuse what cannot be attached, before anything is made."""
    size = virtual.size_here("", wanted.device, wanted.size_bytes, remedy="lower --size")
    _check_name(wanted)
    if wanted.filesystem:
        check_maker(wanted.name, wanted.filesystem)
        check_size(wanted.name, wanted.filesystem, size, 0)
        _check_mount_point(wanted.mount_point or MOUNTS / wanted.name)
    if wanted.contents:
        _check_contents(wanted.contents, wanted.size_bytes)
        return
    if wanted.memory_limit_bytes:
        _check_memory("--memory-limit", wanted.memory_limit_bytes)
    elif wanted.size_bytes:
        _check_memory("--size", wanted.size_bytes)


def _check_memory(option: str, size_bytes: int) -> None:
    free = psutil.virtual_memory().available
    if size_bytes > free:
        raise StorageError(
            f"{numbers.size(size_bytes)} are more than the free memory ({numbers.size(free)}); lower "
            f"{option}, or keep the bytes in a sparse file with --contents FILE"
        )


def _check_mount_point(path: Path) -> None:
    if is_mounted(path.absolute()):
        raise StorageError(f"{path} is a mount point already; name another directory with --mount")
    real = resolved("--mount", path)
    if real.exists() and any(real.iterdir()):
        raise StorageError(f"{path} is not an empty directory; name another with --mount")


def _check_contents(path: Path, size_bytes: int | None) -> None:
    if path.exists():
        raise StorageError(f"{path} exists already; name a new file with --contents")
    if not path.absolute().parent.is_dir():
        raise StorageError(f"there is no directory {path.absolute().parent} for {path.name}; make it first")
    free = shutil.disk_usage(path.absolute().parent).free
    if size_bytes and size_bytes > free:
        raise StorageError(
            f"{path.absolute().parent} has {numbers.size(free)} free, less than --size; lower it"
        )


def _check_name(wanted: Wanted) -> None:
    if find(wanted.name):
        raise StorageError(
            f"a disk `{wanted.name}` is attached already; give the new one another name with --as, or detach "
            f"the old one: diskproof disk detach {wanted.name}"
        )


def _leave(attachment: Attachment) -> None:
    attachment.control.set_timing(on=False)  # the remaining writes need not take their time
    try:
        if lies_on(attachment.block, attachment.file):  # its number may have been reused
            if attachment.mount_point:
                unmount(attachment.mount_point, attachment.block)
            loops.detach(attachment.block, attachment.file)
    except StorageError as error:
        attachment.control.set_timing(on=True)
        raise StorageError(
            f"disk `{attachment.name}` is in use ({error}); stop its users, or detach it with --force: they "
            "then get I/O errors"
        ) from None
    attachment.control.ask("detach")
    until = time.monotonic() + disk.END_S
    while attachment.alive and time.monotonic() < until:
        time.sleep(0.02)


def _forget(journal: Path) -> list[Undone]:
    """Undo a journal, and remove the description when nothing is left."""
    undone = undo(journal) if journal.is_file() else []
    if not journal.is_file():
        journal.with_suffix(".json").unlink(missing_ok=True)
    return undone


def _folder() -> Path:
    return state_folder() / "disks"


def _read(path: Path) -> Attachment | None:
    try:
        return Attachment.model_validate_json(read_bytes(path, MIB))
    except (UnreadableError, ValidationError):
        return None  # just detached, or of another version: its journal still undoes it
