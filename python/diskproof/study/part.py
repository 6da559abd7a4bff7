"""What every part of a study file is made of: keys that must be known, names, sizes, limits."""

import re
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Strict,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

NAME_PATTERN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN.pattern)]
"""A name is part of cell ids and file names: letters, digits, dot, dash, underscore; at most 40."""


def _whole_size(value: object) -> object:
    """Refuse what ByteSize would read only the beginning of, and `true`, of which it makes a byte."""
    if isinstance(value, bool):
        raise PydanticCustomError("byte_size", "no size")
    if isinstance(value, str) and not re.fullmatch(r"\s*\d*\.?\d+\s*[A-Za-z]*\s*", value):
        raise ValueError("a size is a number and a unit, such as `256 MiB`")
    return value


Size = Annotated[
    ByteSize,
    BeforeValidator(_whole_size),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}], "format": "size"}),
]
"""A size in bytes, written as people do: ``256 MiB``, ``1 GiB``."""

Location = Annotated[Path, Strict(False)]
"""A path, written as text."""

FOLDER = "folder"
"""Key of the context in which a study is checked: the folder its file lies in."""


def _beside_the_study(device: str, info: ValidationInfo) -> str:
    folder = (info.context or {}).get(FOLDER)
    if folder is None or not device.endswith(".toml"):
        return device
    return str((folder / Path(device).expanduser()).absolute())


Device = Annotated[str, StringConstraints(min_length=1), AfterValidator(_beside_the_study)]
"""A virtual disk: a name, or a device file, whose relative path starts at the study file's folder."""


def mistake(message: str, *keys: str | int) -> PydanticCustomError:
    """Return a mistake at keys below the part that raises it, for what only a whole part can find."""
    return PydanticCustomError("mistake", "{message}", {"message": message, "keys": list(keys)})


DEFAULT_TUNINGS = ("safest", "fast")
"""Tuning levels of a study whose file names none."""

Family = Literal["mysql", "postgresql", "sqlite"]

Flavour = Literal["MariaDB", "MySQL", "Percona Server"]
"""The servers of the MySQL family, as their own binaries call themselves."""

MAX_CLIENTS = 10_000
DAY_S = 86_400.0


Item = TypeVar("Item", str, int)


def _distinct(values: list[Item] | None) -> list[Item] | None:
    for value in values or []:
        if (values or []).count(value) > 1:
            raise ValueError(f"`{value}` stands here twice")
    return values


Distinct = AfterValidator(_distinct)
"""Of a list: nothing may stand in it twice."""


class Part(BaseModel):
    """A part of a study file: unknown keys are refused, and numbers in quotes, or `true` for 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
