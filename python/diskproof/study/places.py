"""Places as a study file declares them: every key once, and which keys belong to which kind."""

from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from diskproof.study.part import Name, Part, Size

FileSystem = Literal["ext4", "xfs", "btrfs"]

PlaceKind = Literal["directory", "ram", "virtual"]
"""The kinds of place; each is the key that names it."""

PLACE_KINDS: tuple[PlaceKind, ...] = get_args(PlaceKind)

KEYS_OF: dict[PlaceKind, tuple[str, ...]] = {
    "directory": (),
    "ram": (),
    "virtual": ("size", "filesystem", "mount_options", "label", "below_floor"),
}
"""The further keys that each kind takes."""


class PlaceKeys(Part):
    """All keys that any kind of place has; which go together is for those to say who hold them."""

    directory: Path | None = Field(
        None,
        description="A directory on the storage to test: absent, empty, or left by diskproof. "
        "A relative path starts at the working directory",
    )
    ram: Size | None = Field(
        None, ge=16 * 2**20, description="Main memory: a tmpfs of this size, such as `1 GiB`"
    )
    virtual: str | None = Field(
        None,
        min_length=1,
        description="A virtual disk with the timing of a published one: a name that "
        "`diskproof-disk list` shows, or the path of a device file that ends in `.toml`",
    )
    size: Size | None = Field(
        None, ge=32 * 2**20, description="Size of the virtual disk; without it as large as its device"
    )
    filesystem: FileSystem | None = Field(
        None, description="File system made on the disk; `ext4` where it is not said"
    )
    mount_options: str | None = Field(
        None, min_length=1, description="Options the file system is mounted with, such as `noatime`"
    )
    label: Name | None = Field(
        None,
        description="Tells two disks of one kind apart: places with the same keys are one and the same disk",
    )
    below_floor: bool = Field(
        False,
        description="Take a device that is faster than this machine can serve one; its figures are labelled",
    )

    def kinds(self) -> list[PlaceKind]:
        """Return the kinds that are named: of a place, exactly one."""
        return [kind for kind in PLACE_KINDS if getattr(self, kind) is not None]

    def strange_keys(self, kind: PlaceKind) -> list[str]:
        """Return the keys that were given and do not belong to a kind."""
        known = {kind, *KEYS_OF[kind]}
        return [key for key in PlaceKeys.model_fields if key in self.model_fields_set and key not in known]


class PlaceChoice(PlaceKeys):
    """Where bytes lie: exactly one kind of place."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = self.kinds()
        if len(kinds) != 1:
            listed = ", ".join(f"`{kind}`" for kind in PLACE_KINDS)
            raise ValueError(f"a place is of exactly one kind: {listed}")
        if strange := self.strange_keys(kinds[0]):
            raise ValueError(f"`{strange[0]}` is no key of a place that is `{kinds[0]}`")
        return self

    @property
    def kind(self) -> PlaceKind:
        """The kind of place."""
        return self.kinds()[0]

    @property
    def key(self) -> str:
        """The same for two choices that are one and the same place."""
        return self.model_dump_json(exclude_defaults=True)

    @property
    def in_memory(self) -> bool:
        """Whether what lies there takes the machine's memory and wears no disk."""
        return self.kind in ("ram", "virtual")
