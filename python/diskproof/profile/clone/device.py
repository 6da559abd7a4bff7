"""A device file as values: a tree of parameters, each with its source, and its text in TOML."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import tomlkit

from diskproof.results.modelled import ModelledFigure

Value = float | int | str | bool


@dataclass(frozen=True)
class Parameter:
    """One value of a device, and where it comes from."""

    value: Value
    source: str


Tree = Mapping[str, "Parameter | Tree"]
"""A device: the name of its kind above its parameters, as `[device.KIND]` has them."""


def device_text(title: str, description: str, tree: Tree, published: Sequence[ModelledFigure] = ()) -> str:
    """Return the text of a device file.

    Only strings are left to tomlkit: a fit writes thousands of these files, and a document of tomlkit's takes
    longer to make than most probes to simulate.
    """
    said = tomlkit.string(f"{_printable(description.strip())}\n", multiline=True)
    lines = [f"title = {_text(title)}", f"description = {said.as_string()}"]
    if published:
        lines += ["published = [", *(f"    {_published(one)}," for one in published), "]"]
    return "\n".join([*lines, *_tables("device", tree), ""])


def _published(one: ModelledFigure) -> str:
    asked = one.probe
    span = "" if asked.span_bytes is None else f", span_bytes = {asked.span_bytes}"
    probe = f"pattern = {_text(asked.pattern)}, block_bytes = {asked.block_bytes}, depth = {asked.depth}"
    measure = f"{one.measure} = {_text(float(one.published))}"
    told = f"source = {_text(one.source)}, fitted = {_text(one.fitted)}"
    return f"{{probe = {{{probe}{span}}}, measure = {{{measure}}}, {told}}}"


def _tables(name: str, tree: Tree) -> Iterator[str]:
    """Yield the lines of a table, and of those inside it: a table's own parameters stand before them."""
    own = {key: one for key, one in tree.items() if isinstance(one, Parameter)}
    if own:
        yield from ("", f"[{name}]")
    for key, one in own.items():
        yield f"{key} = {{value = {_text(one.value)}, source = {_text(one.source)}}}"
    for key, inner in tree.items():
        if isinstance(inner, Mapping):
            yield from _tables(f"{name}.{key}", inner)


@lru_cache(maxsize=1024, typed=True)
def _text(value: Value) -> str:
    """Return a value as a reader likes it: `1_000_000`, six digits of a float and no exponent."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    if isinstance(value, float):
        text = f"{float(f'{value:.6g}'):f}".rstrip("0")
        return f"{text}0" if text.endswith(".") else text
    return tomlkit.item(value).as_string()


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in text)
