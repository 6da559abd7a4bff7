"""The tuning levels of a study file."""

from typing import Annotated, Literal

from pydantic import Field

from diskproof.families.facts import Level
from diskproof.results.record import Family
from diskproof.study.part import Distinct, Finite, KeptOptions, Name, OptionFile, Part
from diskproof.wording import Message, say

MOST_SHOWN = 3


class Tuning(Part):
    """A tuning level of the study's own: a named level and the server variables changed from it."""

    base: Level | Literal["as-it-is"] | None = Field(
        None,
        description="Level to start from; a tuning named like a level starts from that level. `as-it-is`: "
        "the settings of a server with a `url`",
    )
    variables: Annotated[dict[str, str | int | float | bool], Finite] = Field(
        {}, description="Server variables that differ from the base, by the server's own names"
    )
    my_cnf: OptionFile | None = Field(
        None,
        description="Option file of the MySQL family, with what it includes: each server gets the groups "
        "that it reads, and `variables` win. Memory, connections, paths and sockets in it are left out",
    )
    conf: OptionFile | None = Field(None, description="The same for PostgreSQL: a `postgresql.conf`")
    servers: Annotated[list[Name] | None, Distinct] = Field(
        None,
        min_length=1,
        description="Only these servers, if not every server has its variables; default: all",
    )
    storages: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Only on these storages; default: all"
    )

    @property
    def option_file(self) -> tuple[Family, KeptOptions] | None:
        """Its option file, and the family whose servers read such files."""
        if self.my_cnf is not None:
            return "mysql", self.my_cnf
        return None if self.conf is None else ("postgresql", self.conf)

    @property
    def changes(self) -> list[str]:
        """What it changes of the level that it starts from, in short."""
        kept = self.option_file
        changed = [f"{name}={value}" for name, value in self.variables_as_text().items()]
        more = len(changed) - MOST_SHOWN
        return [
            *([kept[1].path.name] if kept else []),
            *changed[:MOST_SHOWN],
            *([f"{more} more variables"] if more > 0 else []),
        ]

    def in_short(self, base: str) -> Message:
        """Return what it is: the level that it starts from, and what it changes."""
        return say("{base} with {changes}", base=base, changes=self.changes) if self.changes else say(base)

    def is_for(self, server: str, storage: str | None = None) -> bool:
        """Tell whether a server runs at it, on a storage if one is named."""
        on_storage = storage is None or self.storages is None or storage in self.storages
        return on_storage and (self.servers is None or server in self.servers)

    def variables_as_text(self) -> dict[str, str]:
        """Return the variables as a server's configuration writes them (booleans as ON and OFF)."""
        return {
            name: ("ON" if value else "OFF") if isinstance(value, bool) else str(value)
            for name, value in self.variables.items()
        }
