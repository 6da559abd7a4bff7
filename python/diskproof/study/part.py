"""What every part of a study file is made of: keys that must be known, names, sizes, limits."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from diskproof.reading import MissingFileError, UnreadableError, read_bytes
from diskproof.results.imported import AskedOption

NAME_PATTERN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN.pattern)]
"""A name is part of cell ids and file names: letters, digits, dot, dash, underscore; at most 40."""


def _home(path: Path) -> Path:
    """Return a path with the home folder that `~` or `~user` means; ValueError if nobody has it."""
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError(f"{path.parts[0]} is nobody's home: give the whole path") from None


def _checked_home(path: Path) -> Path:
    _home(path)
    return path


Location = Annotated[Path, Strict(False), AfterValidator(_checked_home)]
"""A path, written as text."""

FOLDER = "folder"
"""Key of the context in which a study is checked: the folder of its file."""


@dataclass(frozen=True)
class KeptFile:
    """A file that a study names: the run works with copies of it."""

    path: Path
    content: bytes
    """As it was when the study was read."""


@dataclass(frozen=True)
class KeptOptions(KeptFile):
    """A server's option file."""

    asked: tuple[AskedOption, ...] = ()
    """Its options, once it was read, and those of the files that it includes."""


def located(name: str, info: ValidationInfo) -> Path:
    """Return where a file is that a study names."""
    folder: Path = (info.context or {}).get(FOLDER, Path())
    return (folder / _home(Path(name))).absolute()


def kept_file(name: object, info: ValidationInfo, most_bytes: int, what: str) -> KeptFile:
    """Read a file from the study file's own folder; ValueError if it cannot be read.

    A study in a run folder finds the copy there if the file itself is gone.
    """
    if not isinstance(name, str) or not name:
        raise ValueError(f"give the path of {what}")
    folder = (info.context or {}).get(FOLDER, Path())
    path = located(name, info)
    copies = [] if path.exists() else list((folder / "scripts").glob(f"*/{path.name}"))
    try:
        return KeptFile(path, read_bytes(copies[0] if len(copies) == 1 else path, most_bytes))
    except MissingFileError as missing:
        raise ValueError(f"{missing} (a relative path starts at the study file's folder)") from None
    except UnreadableError as unreadable:
        raise ValueError(str(unreadable)) from None


MAX_OPTION_FILE_BYTES = 2**20


def _option_file(value: object, info: ValidationInfo) -> KeptOptions:
    kept = kept_file(value, info, MAX_OPTION_FILE_BYTES, "a server's option file")
    return KeptOptions(kept.path, kept.content)


def _percentage(value: object) -> object:
    written = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s*%\s*", value) if isinstance(value, str) else None
    if isinstance(value, str) and written is None:
        raise ValueError("give a percentage as a number and `%`, such as `3 %`")
    return value if written is None else float(written[1]) / 100


Percentage = Annotated[
    float,
    BeforeValidator(_percentage),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]}),
]
"""A share, written as people do: ``3 %``, or ``0.03``."""

PATH = WithJsonSchema({"type": "string", "format": "path"})
"""How an editor that knows the study's schema sees the path of a file."""

OptionFile = Annotated[KeptOptions, BeforeValidator(_option_file), PATH]
"""A server's option file: my.cnf, postgresql.conf."""


def _beside_the_study(device: str, info: ValidationInfo) -> str:
    folder = (info.context or {}).get(FOLDER)
    file, changes, values = device.partition("?")
    if folder is None or not file.endswith(".toml"):
        return device
    return str((folder / _home(Path(file))).absolute()) + changes + values


Device = Annotated[str, StringConstraints(min_length=1), AfterValidator(_beside_the_study)]
"""A virtual disk: a name, or a device file, whose relative path starts at the study file's folder."""


def changed(device: str, changes: Sequence[str]) -> str:
    """Return a virtual disk with other values of its properties, beside those that its name changes."""
    before = "&" if "?" in device else "?"
    return f"{device}{before}{'&'.join(changes)}" if changes else device


def mistake(message: str, *keys: str | int) -> PydanticCustomError:
    """Return a mistake at keys below the part that raises it."""
    return PydanticCustomError("mistake", "{message}", {"message": message, "keys": list(keys)})


Given = TypeVar("Given")


def _finite(values: dict[str, Given]) -> dict[str, Given]:
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise mistake(f"give a number that is finite, not {value}", name)
    return values


Finite = AfterValidator(_finite)
"""A table of values without `nan` and `inf`, which no server takes."""

DEFAULT_TUNINGS = ("safest", "fast")
"""Tuning levels of a study that names none."""

AS_IT_IS = "as-it-is"
"""Tuning level of a server that is there already: it keeps its settings."""

MAX_CLIENTS = 10_000
DAY_S = 86_400.0


Item = TypeVar("Item", str, int)


def _distinct(values: list[Item] | None) -> list[Item] | None:
    for value, times in Counter(values).items():
        if times > 1:
            raise ValueError(f"`{value}` is here twice")
    return values


Distinct = AfterValidator(_distinct)
"""A list without repeated values."""


class Part(BaseModel):
    """A part of a study file: unknown keys are refused, and numbers in quotes, or `true` for 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    @field_validator("*")
    @classmethod
    def _has_no_nul(cls, value: object) -> object:
        """Refuse text that no path and no command can have."""
        if isinstance(value, str | Path) and "\0" in str(value):
            raise ValueError("it has a NUL character (`\\u0000`); leave it out")
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        self._check_whole()
        return self

    def _check_whole(self) -> None:
        """Refuse keys that do not go together, by a ValueError or a `mistake`."""

    def leave_out(self, why: str, keys: Iterable[str], *above: str) -> None:
        """Refuse keys that are given; `above` leads to this part from the one that asks."""
        for key in keys:
            if key in self.model_fields_set:
                raise mistake(why, *above, key)


class OfLevels(Part):
    """A part that applies to some levels only."""

    servers: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Only these servers; default: all"
    )
    storages: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Only these storages; default: all"
    )
    tunings: Annotated[list[Name] | None, Distinct] = Field(
        None, min_length=1, description="Only these tuning levels; default: all"
    )

    def is_for(
        self, server: str | None = None, storage: str | None = None, tuning: str | None = None
    ) -> bool:
        """Tell whether it applies to these levels; of one that is not named, to any."""
        asked = ((self.servers, server), (self.storages, storage), (self.tunings, tuning))
        return all(only is None or level is None or level in only for only, level in asked)
