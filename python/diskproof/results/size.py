"""A size as people write it."""

import re
from typing import Annotated

from pydantic import BeforeValidator, ByteSize, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticCustomError

IN_THOUSANDS = "in thousands"
"""Key of that context: a list that collects the sizes whose unit has no `i`."""


def _whole_size(value: object) -> object:
    """Refuse text that ByteSize would read in part, and `true`, which it reads as a byte."""
    if isinstance(value, bool):
        raise PydanticCustomError("byte_size", "no size")
    if isinstance(value, str) and not re.fullmatch(r"\s*\d*\.?\d+\s*[A-Za-z]*\s*", value):
        raise ValueError("a size is a number and a unit, such as `256 MiB`")
    return value


def _noted(value: object, info: ValidationInfo) -> object:
    if isinstance(value, str) and re.fullmatch(r".*\d\s*[kmgtpe]b?\s*", value, re.IGNORECASE):
        (info.context or {}).get(IN_THOUSANDS, []).append(value.strip())
    return value


SoldSize = Annotated[
    ByteSize,
    BeforeValidator(_whole_size),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}], "format": "size"}),
]
"""The size of a disk as a shop names it, which counts in thousands: ``72 GB``."""

Size = Annotated[SoldSize, BeforeValidator(_noted)]
"""A size in bytes, written as people do: ``256 MiB``, ``1 GiB``."""
