"""A block device that the run formats and mounts."""

from contextlib import suppress
from pathlib import Path

from diskproof.storage.attached import check_time
from diskproof.storage.disks import check_disk, device_bytes, take
from diskproof.storage.filesystem import check_maker, check_size, make_filesystem, mount, unmount
from diskproof.storage.kinds.base import PlainPlace, StorageError, unused
from diskproof.study.places import PlaceChoice
from diskproof.system.journal import Journal
from diskproof.system.own_folder import OwnFolder


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a device that must not or cannot be formatted."""
    device = _device(choice)
    check_time(f"storage `{name}`", device.resolve())
    check_disk(f"storage `{name}`", device, overwrite=choice.overwrite)
    check_maker(name, choice.made_filesystem)
    check_size(name, choice.made_filesystem, device_bytes(device), need_bytes)


def prepare(choice: PlaceChoice, journal: Journal) -> "BlockPlace":
    """Format the device and mount it.

    At the end it keeps its file system, whose label says that a run of ours left it. A device is only written
    while it is mounted for a run.
    """
    device = _device(choice)
    take("after a second look", {device: choice.overwrite})  # time has passed
    make_filesystem(device, choice.made_filesystem, blank=False)
    mount_point = journal.directory(unused(Path("/tmp") / f"diskproof-{journal.mark}-block"))  # noqa: S108
    mount(device, mount_point, choice.mount_options, journal)
    return BlockPlace(OwnFolder.make(mount_point / "roles", journal.mark), device)


class BlockPlace(PlainPlace):
    """A mounted device."""

    def __init__(self, own: OwnFolder, device: Path) -> None:
        """Use a folder in a mount point that is in the journal."""
        super().__init__("block", own)
        self._device = device

    def close(self) -> None:
        """Unmount; if that fails, the journal's undo goes further."""
        with suppress(StorageError):
            unmount(self.folder.parent, self._device)


def _device(choice: PlaceChoice) -> Path:
    assert choice.block is not None
    return choice.block
