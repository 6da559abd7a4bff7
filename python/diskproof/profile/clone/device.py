"""A device file as values: a tree of parameters, each with its source, and its text in TOML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Item, Table

Value = float | int | str | bool


@dataclass(frozen=True)
class Parameter:
    """One value of a device, and where it comes from."""

    value: Value
    source: str


Tree = Mapping[str, "Parameter | Tree | Sequence[Tree]"]
"""A device: the name of its kind above its parameters, as `[device.KIND]` has them. A list holds the disks
of an array."""


@dataclass(frozen=True)
class Published:
    """One figure for the file's list: what `diskproof disk verify` compares."""

    pattern: str
    block_bytes: int
    depth: int
    span_bytes: int | None
    measure: str
    value: float
    source: str
    fitted: bool


def device_text(title: str, description: str, tree: Tree, published: Sequence[Published] = ()) -> str:
    """Return the text of a device file."""
    file = tomlkit.document()
    file["title"] = title
    file["description"] = tomlkit.string(f"{_printable(description.strip())}\n", multiline=True)
    if published:
        file["published"] = tomlkit.array().multiline(multiline=True)
        file["published"].extend(map(_published, published))
    file["device"] = _table(tree)
    return tomlkit.dumps(file)


def _published(one: Published) -> InlineTable:
    probe: dict[str, Any] = {"pattern": one.pattern, "block_bytes": one.block_bytes, "depth": one.depth}
    probe |= {} if one.span_bytes is None else {"span_bytes": one.span_bytes}
    measure = _in_line({one.measure: _item(float(one.value))})
    return _in_line(
        {"probe": _in_line(probe), "measure": measure, "source": one.source, "fitted": one.fitted}
    )


def _table(tree: Tree) -> Table:
    made = tomlkit.table(is_super_table=not any(isinstance(one, Parameter) for one in tree.values()))
    for key, one in tree.items():
        if isinstance(one, Parameter):
            made[key] = _in_line({"value": _item(one.value), "source": one.source})
        elif isinstance(one, Mapping):
            made[key] = _table(one)
        else:
            made[key] = tomlkit.aot()
            made[key].extend(map(_table, one))
    return made


def _in_line(values: Mapping[str, Any]) -> InlineTable:
    made = tomlkit.inline_table()
    made.update(values)
    return made


def _item(value: Value) -> Item:
    """Return a value as a reader likes it: `1_000_000`, six digits of a float and no exponent."""
    if isinstance(value, int) and not isinstance(value, bool):
        return tomlkit.value(f"{value:_}")
    if isinstance(value, float):
        text = f"{float(f'{value:.6g}'):f}".rstrip("0")
        return tomlkit.value(f"{text}0" if text.endswith(".") else text)
    return tomlkit.item(value)


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
