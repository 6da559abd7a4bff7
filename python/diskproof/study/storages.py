"""Storages in a study file: a place for every role, and what it is made of."""

from typing import Self

from pydantic import Field, model_validator

from diskproof.results.record import ROLES, Role
from diskproof.study.part import Name
from diskproof.study.placements import PLACEMENTS, Placement, expand
from diskproof.study.places import PLACE_KINDS, PlaceChoice, PlaceKeys
from diskproof.study.pools import PoolProperties

LASTING: tuple[Role, ...] = ("data", "redo", "binlog")
"""The roles whose loss is a loss: temporary files are gone after a crash anyway."""


class StorageChoice(PlaceKeys):
    """A storage layout: one place for everything (its keys right here), or a place for each role."""

    data: PlaceChoice | None = Field(
        None, description="Tables and indexes; every role not named lies here too"
    )
    redo: PlaceChoice | None = Field(None, description="Redo log (InnoDB) or WAL (PostgreSQL)")
    binlog: PlaceChoice | None = Field(None, description="Binary log (MySQL family)")
    tmp: PlaceChoice | None = Field(None, description="Temporary files")
    placement: Placement | None = Field(
        None, description="An SSD's place beside a disk, by name; instead of `data`"
    )
    disk: PlaceChoice | None = Field(None, description="Of a `placement`: the disk")
    ssd: PlaceChoice | None = Field(None, description="Of a `placement`: the SSD")
    pool: PoolProperties | None = Field(
        None, description="Of the `placement` ssd-as-cache: properties of its ZFS pool"
    )
    bought: list[Name] = Field(
        [],
        description="Devices that it is made of, each by its name in `[prices]`: the one that holds the data "
        "first, for a price per GB; two alike are named twice",
    )

    @model_validator(mode="after")
    def _data_has_one_place(self) -> Self:
        kinds = self.kinds()
        if self.placement is not None:
            if kinds or self.data is not None:
                raise ValueError(f"`placement` says where the data lies: leave `{(*kinds, 'data')[0]}` out")
            self._placed()
            return self
        for key in ("disk", "ssd", "pool"):
            if key in self.model_fields_set:
                raise ValueError(f"`{key}` belongs to a `placement`: {', '.join(PLACEMENTS)}")
        if len(kinds) + (self.data is not None) != 1:
            listed = ", ".join(f"`{kind}`" for kind in PLACE_KINDS)
            raise ValueError(
                f"a storage says once where its data lies: {listed}, `data = {{ directory = … }}`, "
                "or a `placement`"
            )
        if kinds:
            self.check_keys(kinds[0])
        if not kinds and (given := [key for key in PlaceKeys.model_fields if key in self.model_fields_set]):
            raise ValueError(f"`{given[0]}` belongs to a place: write it within `data = {{ … }}`")
        return self

    def places(self) -> dict[Role, PlaceChoice]:
        """Return a place for every role; a role that is not named lies where the data lies."""
        places = self._placed()
        named = {"redo": self.redo, "binlog": self.binlog, "tmp": self.tmp}
        return {role: named.get(role) or places.get(role) or places["data"] for role in ROLES}

    def why_never_cut(self) -> str | None:
        """Say which place of what must outlive a cut has no power that can be cut; None: each has."""
        for role in LASTING:
            place = self.places()[role]
            if not place.can_be_cut:
                return (
                    f"its {role} lies on a place that is `{place.kind}`: only the power of a virtual disk "
                    "can be cut"
                )
        return None

    def _placed(self) -> dict[Role, PlaceChoice]:
        """Return the data's place, and those of the roles that a placement names."""
        if self.placement is not None:
            return expand(self.placement, self.disk, self.ssd, self.pool)
        if self.data is not None:
            return {"data": self.data}
        given = set(PlaceKeys.model_fields) & self.model_fields_set
        return {"data": PlaceChoice(**{key: getattr(self, key) for key in given})}
