"""A device file as values: a tree of parameters, each with its source, and its text in TOML."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    lines = [f"title = {_quoted(title)}", 'description = """', _plain(description.strip()), '"""']
    if published:
        lines += ["", "published = [", *(f"    {_published(one)}," for one in published), "]"]
    return "\n".join([*lines, *_table("device", tree)]) + "\n"


def _published(one: Published) -> str:
    probe = [f'pattern = "{one.pattern}"', f"block_bytes = {one.block_bytes}", f"depth = {one.depth}"]
    probe += [] if one.span_bytes is None else [f"span_bytes = {one.span_bytes}"]
    measure = f"{one.measure} = {_literal(float(one.value))}"
    rest = f"source = {_quoted(one.source)}, fitted = {_literal(one.fitted)}"
    return f"{{ probe = {{ {', '.join(probe)} }}, measure = {{ {measure} }}, {rest} }}"


def _table(name: str, tree: Tree) -> Iterator[str]:
    own = {key: one for key, one in tree.items() if isinstance(one, Parameter)}
    if own:
        yield from ("", f"[{name}]")
        for key, parameter in own.items():
            yield f"{key} = {{ value = {_literal(parameter.value)}, source = {_quoted(parameter.source)} }}"
    for key, one in tree.items():
        if isinstance(one, Mapping):
            yield from _table(f"{name}.{key}", one)
        elif not isinstance(one, Parameter):
            for each in one:
                yield from ("", f"[[{name}.{key}]]", *_table(f"{name}.{key}", each))


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:_}"
    if isinstance(value, float):
        text = f"{float(f'{value:.6g}'):f}".rstrip("0")
        return f"{text}0" if text.endswith(".") else text
    return _quoted(value)


def _plain(text: str) -> str:
    """Return lines for a string of several lines, without what would end it or begin an escape."""
    told = text.replace("\\", "/").replace('"', "'")
    return "".join(one if one.isprintable() or one == "\n" else "?" for one in told)


def _quoted(text: str) -> str:
    """Return a basic string of TOML: JSON's escapes are among its own."""
    return json.dumps(text, ensure_ascii=True)
