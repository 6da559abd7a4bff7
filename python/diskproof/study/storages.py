"""Storages in a study file: a place for every role, and what it is made of."""

from pydantic import Field

from diskproof.results.record import ROLES, Role
from diskproof.study.dials import device_of
from diskproof.study.part import Name
from diskproof.study.places import PLACE_KINDS, PlaceChoice, PlaceKeys

LASTING: tuple[Role, ...] = ("data", "redo", "binlog")
"""The roles that must survive a crash: temporary files need not."""


class StorageChoice(PlaceKeys):
    """A storage layout: one place for everything (its keys right here), or a place for each role."""

    data: PlaceChoice | None = Field(None, description="Tables and indexes, and every role that is not named")
    redo: PlaceChoice | None = Field(None, description="Redo log (InnoDB) or WAL (PostgreSQL)")
    binlog: PlaceChoice | None = Field(None, description="Binary log (MySQL family)")
    tmp: PlaceChoice | None = Field(None, description="Temporary files")
    vary: dict[str, list[float]] | None = Field(
        None,
        description="Of a `virtual` disk, one or two of its properties with their values, such as "
        '`{ flush_us = [100, "1 ms"] }`: a storage for each of them ([dial.md](dial.md))',
    )
    bought: list[Name] = Field(
        [],
        description="Its devices, by their names in `[prices]`: first the one that holds the data, for the "
        "price per GB; name two equal devices twice",
    )

    def _check_whole(self) -> None:
        kinds = self.kinds()
        if len(kinds) + (self.data is not None) != 1:
            listed = ", ".join(f"`{kind}`" for kind in PLACE_KINDS)
            raise ValueError(
                f"a storage needs exactly one place for its data: {listed} or `data = {{ directory = … }}`"
            )
        if kinds:
            self.check_keys(kinds[0])
        if not kinds and (given := [key for key in PlaceKeys.model_fields if key in self.model_fields_set]):
            raise ValueError(f"`{given[0]}` belongs to a place: write it within `data = {{ … }}`")

    def places(self) -> dict[Role, PlaceChoice]:
        """Return a place for every role; a role that is not named is where the data is."""
        data = self._data()
        named = {"redo": self.redo, "binlog": self.binlog, "tmp": self.tmp}
        return {role: named.get(role) or data for role in ROLES}

    def why_never_cut(self) -> str | None:
        """Say which place of what must outlive a cut has no power that can be cut; None: each has."""
        for role in LASTING:
            place = self.places()[role]
            if not place.can_be_cut:
                return (
                    f"its {role} is on a place that is `{place.kind}`, and only a virtual disk's power "
                    f'can be cut: give it `virtual = "NAME"` (`diskproof disk list`), or a clone of that disk'
                )
        return None

    def _data(self) -> PlaceChoice:
        if self.data is not None:
            return self.data
        given = set(PlaceKeys.model_fields) & self.model_fields_set
        keys = {key: getattr(self, key) for key in given}
        if self.virtual is not None:
            keys["virtual"] = device_of(self.virtual, self.vary)
        return PlaceChoice(**keys)
