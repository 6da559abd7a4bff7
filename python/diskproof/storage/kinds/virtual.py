"""A virtual disk with a file system on it."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from diskproof import disk
from diskproof.results.machine import VirtualFacts
from diskproof.results.record import Role
from diskproof.storage.copy import fill
from diskproof.storage.filesystem import (
    blank_options,
    check_maker,
    check_size,
    forget_buffers,
    make_filesystem,
    mount,
    mount_again,
    unmount,
    unmount_dead,
)
from diskproof.storage.kinds.base import NO_LIMITS, MemoryLimits, Prepared, StorageError, command, unused
from diskproof.storage.path_cost import path_us
from diskproof.storage.virtual import (
    PowerCut,
    ServedDisk,
    VirtualDisk,
    Wanted,
    attach,
    attach_directory,
    cut_at_once,
    size_here,
)
from diskproof.study.places import PlaceChoice
from diskproof.system.journal import Journal

FILLER = "filler"
"""File that takes all room of a file system."""

EMPTY = "empty"
"""Snapshot of the disk with nothing but its new file system."""


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a disk that is not known, cannot be served here, or is too small."""
    assert choice.virtual is not None
    size = size_here(f"storage `{name}`: ", choice.virtual, choice.size, block=not as_directory())
    if as_directory():
        _check_directory_keys(name, choice)
    else:
        check_maker(name, choice.made_filesystem)
    check_size(name, choice.made_filesystem, size, need_bytes)


def as_directory() -> bool:
    """Whether virtual disks are directories here: an ordinary user has neither loop devices nor mounts."""
    return os.geteuid() != 0


def prepare(
    choice: PlaceChoice,
    journal: Journal,
    limits: MemoryLimits = NO_LIMITS,
    dilation: int = 1,
    *,
    called: str | None = None,
) -> Prepared:
    """Attach the disk, make its file system and mount it, all at memory speed.

    `called`: how it is called where the study gives it no label; its device's name elsewhere.
    """
    assert choice.virtual is not None
    wanted = Wanted(
        device=choice.virtual,
        name=choice.label or called,
        size_bytes=None if choice.size is None else int(choice.size),
        dilation=dilation,
        memory_limit_bytes=limits.get(choice.key),
        below_floor=choice.below_floor,
        flushes=choice.flushes,
        power_loss=choice.power_loss,
    )
    try:
        if as_directory():
            return VirtualDirectory(*attach_directory(wanted, journal))
        attached = attach(replace(wanted, path_us=path_us(journal, below_floor=choice.below_floor)), journal)
    except disk.TooFastError as error:
        raise StorageError(error.saying("`below_floor = true`")) from error
    except disk.DiskError as error:
        raise StorageError(str(error)) from error
    return VirtualPlace(attached, choice, journal)


class VirtualDiskPlace(Prepared):
    """A virtual disk, which keeps data sets as snapshots of itself."""

    def __init__(self, folder: Path, served: ServedDisk) -> None:
        super().__init__("virtual", folder)
        self.disks = (served,)
        self._kept = {EMPTY}

    @property
    def virtual(self) -> VirtualFacts:
        """The disk."""
        return self.disks[0].facts

    def keeps(self, name: str) -> bool:
        """Tell whether something is kept under a name."""
        return name in self._kept

    def clear(self, roles: Iterable[Role]) -> None:
        """Give up all that lies on the disk."""
        del roles
        self.put_back(EMPTY)

    def keep(self, name: str) -> None:
        """Keep the whole disk as it is now."""
        self._leave()
        self.disks[0].snapshot(name)
        self._kept.add(name)
        self._mount()

    def put_back(self, name: str) -> bool:
        """Put back the disk as it was kept, at memory speed; False where nothing was under that name."""
        self.disks[0].control.set_timing(on=False)
        if name not in self._kept:
            return False
        self._leave()
        self.disks[0].restore(name)
        self._mount()
        return True

    def close(self) -> None:
        """Detach; where that cannot be, the journal's undo goes further."""
        with suppress(StorageError, disk.DiskError, OSError):
            self._leave()
            self.disks[0].detach()

    def _leave(self) -> None:
        """Take the disk from the kernel, if it has mounted it."""

    def _mount(self) -> None:
        """Give it back to the kernel."""

    @property
    def filler(self) -> Path:
        """The file that fills the file system."""
        return self.folder / FILLER

    def make_room(self) -> None:
        """Remove what fills the file system; a sick one, which refuses even that, was not filled."""
        with suppress(OSError):
            self.filler.unlink()

    def remount(self) -> None:
        """Let nothing be left of what the kernel held of files, nor of an old error."""
        raise NotImplementedError


class VirtualPlace(VirtualDiskPlace):
    """A mounted virtual disk.

    A loaded database is kept as a snapshot of the whole disk and put back in a moment, whatever its
    size. The file system is unmounted meanwhile: it must not see its disk change.
    """

    def __init__(self, attached: VirtualDisk, choice: PlaceChoice, journal: Journal) -> None:
        """Make a file system on an attached disk."""
        super().__init__(journal.directory(unused(Path(f"{attached.folder}-files"))), attached)
        self._disk = attached
        self._journal = journal
        self._mounted_from = attached.block
        self._mount_options = blank_options(
            choice.made_filesystem, choice.mount_options, attached.served.ready["dilation"]
        )
        make_filesystem(attached.block, choice.made_filesystem, blank=True)
        # Once, so that what a file system does at its first mount is done.
        mount(attached.block, self.folder, self._mount_options, journal)
        self.keep(EMPTY)

    def fresh(self, roles: Iterable[Role]) -> None:
        """Go back to the empty file system, and make an empty directory for every role."""
        self.put_back(EMPTY)
        for role in roles:
            (self.folder / role).mkdir()

    def clear(self, roles: Iterable[Role]) -> None:
        """Give up all that lies on the disk."""
        del roles
        self._leave()
        self._disk.restore(EMPTY)

    def power_returns(self) -> None:
        """Unmount while the disk is dead, then let its power return.

        In this order, and with the loop device gone in between: what the kernel had not written by the cut
        (dirty pages, the file system's journal in memory) fails against the dead disk and is dropped with the
        device. Nothing of it can reach the disk that comes back.
        """
        unmount_dead(self.folder, self._disk.block)
        self._disk.power_returns()

    def mount_again(self) -> None:
        """Mount the disk as it was left, without what filled it."""
        self._mount()
        self.make_room()

    def remount(self) -> None:
        """Unmount and mount again, as an administrator does after errors.

        The log of its requests, if there is one, ends in between, with a cut that takes nothing.
        """
        self._leave()
        if self._disk.tracking is not None:
            cut_at_once([(self._disk, PowerCut(seed=0, keep="all"))])
            self.power_returns()
            self._disk.track_no_longer()
        self.mount_again()

    def export(self, name: str, to: Path) -> None:
        """Copy the disk as it was kept under a name."""
        self._leave()
        self._disk.restore(name)
        command(["cp", "--sparse=always", str(self._disk.file), str(to)])

    def replay(self, image: Path, log: Path) -> None:
        """Give the disk these bytes, then what a logged cut made of them."""
        self.fill(image)
        self._disk.control.ask("replay", log=str(log))

    def fill(self, image: Path) -> None:
        """Give the disk the bytes of an image; it is unmounted."""
        self._leave()
        fill(self._disk.block, image)
        forget_buffers(self._disk.block)

    def write(self, patches: Iterable[tuple[int, bytes]], name: str | None = None) -> None:
        """Give the unmounted disk further bytes by their offsets, after those that were kept under a name."""
        self._leave()
        if name is not None:
            self._disk.restore(name)
        with self._disk.block.open("r+b", buffering=0) as block:
            for offset, piece in patches:
                os.pwrite(block.fileno(), piece, offset)
            os.fsync(block.fileno())
        forget_buffers(self._disk.block)

    def _leave(self) -> None:
        """Unmount, at memory speed, and have the kernel forget what it read from the disk."""
        self._disk.control.set_timing(on=False)
        unmount(self.folder, self._disk.block)
        forget_buffers(self._disk.block)

    def _mount(self) -> None:
        if self._disk.block == self._mounted_from:
            mount_again(self._disk.block, self.folder, self._mount_options)
        else:  # after a power cut it may have another loop device, which the journal is to know
            mount(self._disk.block, self.folder, self._mount_options, self._journal)
            self._mounted_from = self._disk.block


class VirtualDirectory(VirtualDiskPlace):
    """A virtual disk as a directory: files on it, but no file system of the kernel's and no loop device."""

    def __init__(self, served: ServedDisk, mount: Path) -> None:
        """Keep the new disk as it is: empty."""
        super().__init__(mount, served)
        self.keep(EMPTY)

    def remount(self) -> None:
        """Put everything back as it is on the disk: a restore makes the kernel forget all files."""
        self.make_room()
        with suppress(StorageError):  # it reports what could not be written before
            command(["sync", "--file-system", str(self.folder)])
        self.disks[0].control.set_timing(on=False)
        self.disks[0].begin_anew()


def _check_directory_keys(name: str, choice: PlaceChoice) -> None:
    for key in ("filesystem", "mount_options"):
        if getattr(choice, key) is not None:
            raise StorageError(
                f"storage `{name}`: `{key}` needs a loop device and a mount, which an ordinary user has not; "
                "run as root, or leave it out: the disk is then a directory"
            )
