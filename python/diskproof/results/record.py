"""What every record of a run is: complete when it is made, and never changed.

Everything that a report or an audit says is derived from records. A figure that was not observed is
``None``, never 0.
"""

from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict

Role = Literal["data", "redo", "binlog", "tmp"]
"""What a server stores where; ``redo`` is PostgreSQL's WAL."""


ROLES: tuple[Role, ...] = ("data", "redo", "binlog", "tmp")


class Record(BaseModel):
    """A record is complete when it is made and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NotRecordedError(Exception):
    """A figure that was asked for was not recorded: an imported result did not tell it."""

    def __init__(self, what: str) -> None:
        """Name the figure in words that follow "was not recorded": ``the number of clients``."""
        super().__init__(f"{what} was not recorded")
        self.what = what


Told = TypeVar("Told")


def recorded(value: Told | None, what: str) -> Told:
    """Return a figure that must have been recorded; NotRecordedError names it where it was not."""
    if value is None:
        raise NotRecordedError(what)
    return value


def format_figure(value: float, digits: int = 4) -> str:
    """Return a figure with so many digits, and what has more whole with separators: never ``1.206e+04``."""
    whole = 10.0 ** (digits - 1) <= abs(value) < 1e15
    return f"{value:,.0f}" if whole else f"{value:.{digits}g}"


def format_printed(value: float) -> str:
    """Return a figure with the digits that it was printed with, and separators: ``1,156.24``."""
    return f"{value:,.10g}"


def format_bytes(size_bytes: float) -> str:
    """Return a size as people write it in a study file: ``256 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.4g} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.4g} TiB"
