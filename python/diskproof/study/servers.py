"""Servers in a study file: which kind of each is under test, and where it is found."""

from typing import Self

from pydantic import Field, model_validator

from diskproof.study.part import Family, Flavour, Location, Part


class ServerChoice(Part):
    """A database server under test."""

    family: Family = Field(
        description="Server family: `mysql` (MariaDB, MySQL, Percona Server), `postgresql` or `sqlite`"
    )
    flavour: Flavour | None = Field(
        None, description="Which of the `mysql` family it must be; without it whichever there is"
    )
    basedir: Location | None = Field(
        None,
        description="Folder of an unpacked server; without it the one installed on the machine is used. "
        "`--basedir NAME=DIR` names it for one run, so that a study says nothing of a machine's paths",
    )
    optional: bool = Field(
        False,
        description="Leave it out, with a word, where the machine has no such server, and with it every "
        "workload that no other server runs",
    )

    @model_validator(mode="after")
    def _a_flavour_is_of_the_mysql_family(self) -> Self:
        if self.flavour is not None and self.family != "mysql":
            raise ValueError(f"`flavour` is the MySQL family's; leave it out for `{self.family}`")
        return self
