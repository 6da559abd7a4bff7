"""Places as a study file declares them: every key once, and which keys belong to which kind."""

from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from diskproof.study.part import Part, Size

PlaceKind = Literal["directory", "ram"]
"""The kinds of place; each is the key that names it."""

PLACE_KINDS: tuple[PlaceKind, ...] = get_args(PlaceKind)

KEYS_OF: dict[PlaceKind, tuple[str, ...]] = {
    "directory": (),
    "ram": (),
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
        return self.kind == "ram"
