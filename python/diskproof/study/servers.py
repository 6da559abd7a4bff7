"""Servers in a study file: the family of each, and where it is found."""

from typing import Self

from pydantic import Field, model_validator

from diskproof.families import FAMILIES, Family, of
from diskproof.families.options import FAMILY_OF, Flavour
from diskproof.study.part import Location, Part


class ServerChoice(Part):
    """A database server under test."""

    family: Family = Field(
        description="Server family: " + "; ".join(f"`{family}`, {of(family).title}" for family in FAMILIES)
    )
    flavour: Flavour | None = Field(None, description="Server of the family that it must be; default: any")
    basedir: Location | None = Field(
        None,
        description="Folder of an unpacked server; default: the installed one. "
        "`--basedir NAME=DIR` names it for one run, so that a study needs no machine's paths",
    )
    optional: bool = Field(
        False,
        description="Leave it out if the machine has no such server, and with it every workload that no "
        "other server runs",
    )

    @model_validator(mode="after")
    def _the_flavour_is_of_the_family(self) -> Self:
        if self.flavour is not None and FAMILY_OF[self.flavour] != self.family:
            raise ValueError(
                f"`{self.flavour}` is of family `{FAMILY_OF[self.flavour]}`; "
                f"leave `flavour` out for `{self.family}`"
            )
        return self
