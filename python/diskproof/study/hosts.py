"""The machines of a study over many hosts."""

from typing import Annotated, Literal

from pydantic import Field

from diskproof.study.part import Distinct, Name, Part, mistake

How = Literal["compare", "spread"]

DOOR_PORT = 26_408
"""Ray's processes use none of the two ports from here on, in the range that hosts open to each other."""


class HostsChoice(Part):
    """The machines that `--hosts` uses: as many that do the same, or one with the database and the load's."""

    how: How | None = Field(
        None,
        description="`compare`: each machine runs every cell, and the machine is a factor. `spread`: equal "
        "machines share the blocks, for the same answer sooner",
    )
    names: Annotated[list[Name] | None, Distinct] = Field(
        None,
        min_length=1,
        max_length=1_000,
        description="With `how`: the machines, as `--label` of `diskproof host join` called them; the first "
        "is the baseline",
    )
    database: Name | None = Field(
        None, description="Instead of `how`: the machine with the servers and their storages"
    )
    load: Annotated[list[Name] | None, Distinct] = Field(
        None,
        min_length=1,
        max_length=100,
        description="With `database`: the machines of diskproof-load, which share the clients",
    )
    port: int = Field(
        DOOR_PORT,
        ge=1024,
        le=65_534,
        description="With `database`: the port on which a server takes connections from the load's machines; "
        "clocks and network are measured through the next one",
    )

    @property
    def has_roles(self) -> bool:
        """Whether one machine has the database and others the load."""
        return self.database is not None

    @property
    def compared(self) -> list[str]:
        """The machines that are levels of a factor; empty if none are compared."""
        return list(self.names or ()) if self.how == "compare" else []

    @property
    def labs(self) -> list[str]:
        """The machines that run trials."""
        return [self.database] if self.database is not None else list(self.names or ())

    @property
    def loaders(self) -> list[str]:
        """The machines that run the load of another one's trials."""
        return list(self.load or ())

    def _check_whole(self) -> None:
        if self.database is None:
            if self.how is None or self.names is None:
                raise ValueError("it needs `how` and `names`, or `database` and `load`")
            self.leave_out("it belongs to `database`: leave it out, or name that machine", ("load", "port"))
            return
        self.leave_out("machines are compared, or have roles: leave this or `database` out", ("how", "names"))
        if self.load is None:
            raise mistake("`load` is missing: the machines of diskproof-load", "database")
        if self.database in self.load:
            raise mistake(f"`{self.database}` has the database: name other machines", "load")
