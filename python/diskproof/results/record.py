"""What every record of a run is: complete when it is made, and never changed.

Everything that a report or an audit says is derived from records. A figure that was not observed is
``None``, never 0.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, StringConstraints

from diskproof.wording import Message, as_message

Database = Literal["mysql", "postgresql", "sqlite"]
"""The server families. ``diskproof.families`` has what is known of each."""

Family = Database | Literal["program"]
"""The same, and any program of the user's own."""

Flavour = Literal["MySQL", "Percona Server", "MariaDB", "PostgreSQL"]
"""The servers whose versions are distinguished, as their own binaries call themselves."""

FAMILY_OF: Mapping[Flavour, Family] = {
    "MySQL": "mysql",
    "Percona Server": "mysql",
    "MariaDB": "mysql",
    "PostgreSQL": "postgresql",
}

Protocol = Literal["mysql", "postgresql"]
"""What a server and its clients speak over a connection."""

Role = Literal["data", "redo", "binlog", "tmp"]
"""What a server stores where; ``redo`` is PostgreSQL's WAL."""


StepId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
"""What a trial, a cut or a pair of trials is called, and with it files and folders of the run."""

ROLES: tuple[Role, ...] = ("data", "redo", "binlog", "tmp")


class Record(BaseModel):
    """A record is complete when it is made and never changes.

    What only another version of diskproof writes into it is passed over.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class NotRecordedError(Exception):
    """A figure that was asked for was not recorded, for example because another tool did not print it."""

    @property
    def what(self) -> Message:
        """The figure, in words that fit before "was not recorded": ``the number of clients``."""
        return as_message(self.args[0])

    def __str__(self) -> str:
        """Return the words, which most who catch it do not need."""
        return f"{self.what.text} was not recorded"


Told = TypeVar("Told")


def recorded(value: Told | None, what: str | Message) -> Told:
    """Return a figure; NotRecordedError names it if it was not recorded."""
    if value is None:
        raise NotRecordedError(what)
    return value
