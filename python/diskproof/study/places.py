"""Places as a study file declares them: every key once, and which keys belong to which kind."""

import re
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from diskproof.results.size import Size
from diskproof.study.part import Device, Location, Name, Part
from diskproof.study.pools import Pool, check_named_twice

FileSystem = Literal["ext4", "xfs", "btrfs"]

DEFAULT_FILESYSTEM: FileSystem = "ext4"

PlaceKind = Literal["directory", "ram", "virtual", "composed", "block", "zpool"]
"""The kinds of place; each is the key that names it."""

PLACE_KINDS: tuple[PlaceKind, ...] = get_args(PlaceKind)

KEYS_OF: dict[PlaceKind, tuple[str, ...]] = {
    "directory": (),
    "ram": (),
    "virtual": ("size", "filesystem", "mount_options", "label", "below_floor", "flushes", "power_loss"),
    "composed": ("size", "filesystem", "mount_options", "label", "below_floor", "flushes", "power_loss"),
    "block": ("format", "overwrite", "filesystem", "mount_options"),
    "zpool": (),
}
"""The further keys that each kind takes."""


LONGEST_PART = 60
"""Of a composed disk's name, each half: a file's name has no more than 255 bytes."""


class Composed(Part):
    """A virtual disk made of two others, one in front of the other."""

    how: Literal["block-cache", "write-cache"] = Field(
        description="`block-cache`: the front caches the back, write-back; "
        "`write-cache`: the front takes the back's writes, and the back answers reads"
    )
    front: Device = Field(description="Virtual disk in front: its name, or a device file, as for `virtual`")
    back: Device = Field(description="Virtual disk behind it, as large as the whole")

    @property
    def name(self) -> str:
        """How a person calls the whole, fit for a file's name whatever its parts are called."""
        return "-".join([self.how, _plain(self.front), "before", _plain(self.back)])


def _plain(device: str) -> str:
    stem = Path(device).stem if device.endswith(".toml") else device
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem)[:LONGEST_PART]


class PlaceKeys(Part):
    """All keys of all kinds of place; `check_keys` says which go together."""

    directory: Location | None = Field(
        None,
        description="A directory on the storage to test: absent, empty, or left by diskproof. "
        "A relative path starts at the working directory; the parent of an absolute one must exist",
    )
    ram: Size | None = Field(
        None, ge=16 * 2**20, description="Main memory: a tmpfs of this size, such as `1 GiB`"
    )
    virtual: Device | None = Field(
        None,
        description="A virtual disk with the timing of a published one: a name that "
        "`diskproof-disk list` shows, or the path of a device file that ends in `.toml`; "
        "a relative path starts at the study file's folder",
    )
    size: Size | None = Field(
        None, ge=32 * 2**20, description="Size of the virtual disk; default: as large as its device"
    )
    filesystem: FileSystem | None = Field(None, description="File system made on the disk; default: `ext4`")
    mount_options: str | None = Field(
        None, min_length=1, description="Mount options of the file system, such as `noatime`"
    )
    label: Name | None = Field(
        None,
        description="Distinguishes two disks of one kind: places with the same keys are the same disk",
    )
    below_floor: bool = Field(
        False,
        description="Use a device even if it is faster than this machine can serve; its figures are labelled",
    )
    flushes: Literal["ignored"] | None = Field(
        None,
        description="`ignored`: the virtual disk answers each flush at once and does nothing; default: as "
        "its device file says",
    )
    power_loss: Literal["protected"] | None = Field(
        None,
        description="`protected`: what the virtual disk has answered survives a power cut, so a flush has "
        "nothing to do; default: as its device file says",
    )

    composed: Composed | None = Field(
        None, description="A virtual disk made of two: one in front of the other"
    )
    block: Location | None = Field(
        None,
        description="A block device or partition, such as `/dev/sdb1`, that is formatted and mounted; "
        "root only",
    )
    format: Location | None = Field(
        None,
        description="The same block device again, to confirm: everything on it is lost",
    )
    overwrite: bool = Field(
        False,
        description="Format the block device even if it holds something, such as a file system; a "
        "device in use is always refused",
    )
    zpool: Pool | None = Field(
        None, description="A ZFS pool made for the run: its disks, log and cache devices"
    )

    def kinds(self) -> list[PlaceKind]:
        """Return the kinds that are named: of a place, exactly one."""
        return [kind for kind in PLACE_KINDS if getattr(self, kind) is not None]

    def strange_keys(self, kind: PlaceKind) -> list[str]:
        """Return the keys that were given and do not belong to a kind."""
        known = {kind, *KEYS_OF[kind]}
        return [key for key in PlaceKeys.model_fields if key in self.model_fields_set and key not in known]

    def check_keys(self, kind: PlaceKind) -> None:
        """Refuse keys that do not go together; ValueError says which."""
        if strange := self.strange_keys(kind):
            raise ValueError(f"`{strange[0]}` does not belong to a place that is `{kind}`: leave it out")
        if self.flushes and self.power_loss:
            raise ValueError(
                "`flushes` and `power_loss`: a protected disk has no flush to ignore; leave one out"
            )
        if self.block is not None:
            check_named_twice(self.block, self.format)


class PlaceChoice(PlaceKeys):
    """Where bytes lie: exactly one kind of place."""

    def _check_whole(self) -> None:
        kinds = self.kinds()
        if len(kinds) != 1:
            listed = ", ".join(f"`{kind}`" for kind in PLACE_KINDS)
            raise ValueError(f"a place has exactly one kind: {listed}")
        self.check_keys(kinds[0])

    @property
    def kind(self) -> PlaceKind:
        """The kind of place."""
        return self.kinds()[0]

    @property
    def key(self) -> str:
        """Equal for two choices that are the same place."""
        return self.model_dump_json(exclude_defaults=True)

    @property
    def made_filesystem(self) -> FileSystem:
        """The file system that is made on a disk."""
        return self.filesystem or DEFAULT_FILESYSTEM

    @property
    def in_memory(self) -> bool:
        """Whether its data takes the machine's memory and wears no disk."""
        if self.zpool is not None:
            return all(disk.virtual is not None for disk in self.zpool.data)
        return self.kind in ("ram", "virtual", "composed")

    @property
    def keeps_data_sets(self) -> bool:
        """Whether it keeps a loaded database and restores it without copying."""
        return self.kind in ("virtual", "composed", "zpool")

    @property
    def virtual_disks(self) -> list[str]:
        """The device of each virtual disk that takes part in it: a name, or a file."""
        if self.zpool is not None:
            return [str(disk.virtual) for disk in self.zpool.virtual]
        if self.composed is not None:
            return [self.composed.front, self.composed.back]
        return [self.virtual] if self.virtual is not None else []

    @property
    def disk_keys(self) -> list[str]:
        """A key for each virtual disk that is attached for it: a composed one is attached as one."""
        if self.zpool is not None:
            return [f"{self.key} {disk.key}" for disk in self.zpool.virtual]
        return [self.key] if self.has_virtual_disks else []

    @property
    def can_be_cut(self) -> bool:
        """Whether its power can be cut: it is one virtual disk, attached as a block device."""
        return self.kind in ("virtual", "composed")

    @property
    def has_virtual_disks(self) -> bool:
        """Whether a virtual disk takes part in it."""
        return bool(self.virtual_disks)
