"""ZFS pools as a study file declares them: the disks in each part of a pool, and its properties."""

from pathlib import Path
from typing import Literal

from pydantic import ByteSize, Field, field_validator

from diskproof.results.size import Size
from diskproof.study.part import Device, Location, Name, Part

MIB = 2**20

SMALLEST_VDEV_BYTES = 64 * MIB
"""The least that ZFS takes as a member of a pool (SPA_MINDEVSIZE)."""

Compression = Literal["off", "on", "lzjb", "gzip", "zle", "lz4", "zstd"]


class Disk(Part):
    """One whole disk: a virtual one, a block device that is named twice, or a file."""

    virtual: Device | None = Field(
        None,
        description="A virtual disk: its name in `diskproof disk list`, or a device file that ends in "
        "`.toml`; its relative path starts at the study file's folder",
    )
    label: Name | None = Field(None, description="Distinguishes two virtual disks of one kind")
    below_floor: bool = Field(
        False, description="Use a virtual disk even if it is faster than this machine can serve"
    )
    block: Location | None = Field(None, description="A block device, such as `/dev/sdb1`; root only")
    format: Location | None = Field(
        None, description="The same block device again, to confirm: everything on it is lost"
    )
    overwrite: bool = Field(
        False, description="Use the block device even if it holds something, such as a file system"
    )
    file: Location | None = Field(
        None, description="A file that diskproof makes, of `size`; it must not exist"
    )
    size: Size | None = Field(
        None,
        ge=SMALLEST_VDEV_BYTES,
        description="Size of the file, or of the virtual disk if it must be smaller than the real one",
    )

    def _check_whole(self) -> None:
        given = [key for key in ("virtual", "block", "file") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(
                'a disk is `{ virtual = "NAME" }`, `{ block = "/dev/…", format = "/dev/…" }` '
                'or `{ file = "PATH", size = "SIZE" }`'
            )
        takes = {
            "virtual": {"label", "size", "below_floor"},
            "block": {"format", "overwrite"},
            "file": {"size"},
        }[given[0]]
        known = {given[0], *takes}
        if strange := [key for key in type(self).model_fields if key in self.model_fields_set - known]:
            raise ValueError(f"`{strange[0]}` does not belong to a disk that is `{given[0]}`: leave it out")
        if self.block is not None:
            check_named_twice(self.block, self.format)
        if self.file is not None and self.size is None:
            raise ValueError("a file needs a `size`")

    @property
    def key(self) -> str:
        """Equal for two choices that are the same disk."""
        return self.model_dump_json(exclude_defaults=True)

    def __str__(self) -> str:
        """Return how a person calls it."""
        return self.virtual or str(self.block or self.file)


def check_named_twice(block: Path, named_again: Path | None) -> None:
    """Refuse a block device that is not named twice, alike: it will be formatted."""
    if named_again != block:
        raise ValueError(
            f"a block device is formatted, and everything on it is lost: to confirm, name it twice, "
            f'`block = "{block}"` and `format = "{block}"`'
        )


class Pool(Part):
    """A ZFS pool: OpenZFS or zfs-fuse, by the same commands."""

    data: list[Disk] = Field(min_length=1, description="Disks of the pool's data")
    log: list[Disk] = Field([], description="Log devices (ZIL, SLOG), which synchronous writes wait for")
    cache: list[Disk] = Field([], description="Cache devices (L2ARC): a second cache of reads below memory")
    record_size: Size | None = Field(
        None,
        ge=512,
        le=1024 * 1024,
        description="Largest record (`recordsize`), a power of two; default: the page of "
        "each trial's server, 128 KiB being ZFS's own default",
    )
    compression: Compression = Field("off", description="Compression of the data set")
    arc_size: Size | None = Field(
        None,
        ge=16 * MIB,
        le=16384 * MIB,
        description="Main memory for the pool's cache (ARC), only with zfs-fuse: OpenZFS has one cache "
        "for the whole machine",
    )

    @field_validator("record_size")
    @classmethod
    def _power_of_two(cls, value: ByteSize | None) -> ByteSize | None:
        if value is not None and value & (value - 1):
            raise ValueError("give a record size that is a power of two, such as `16 KiB`")
        return value

    def _check_whole(self) -> None:
        keys = [disk.key for part in (self.data, self.log, self.cache) for disk in part]
        if len(set(keys)) < len(keys):
            raise ValueError(
                "the pool names one disk twice: give two virtual disks of one kind different `label`s"
            )

    def disks(self) -> list[Disk]:
        """Return every disk, the data's first."""
        return [*self.data, *self.log, *self.cache]

    @property
    def virtual(self) -> list[Disk]:
        """The virtual ones among its disks."""
        return [disk for disk in self.disks() if disk.virtual is not None]
