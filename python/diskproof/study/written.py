"""TOML from values: for studies and device files that diskproof writes."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A key that needs no quotes."""


def toml_text(content: Mapping[str, Any]) -> str:
    """Return tables, lists and plain values as TOML; what is None is left out."""
    return "\n".join(_table(content, ())).lstrip("\n") + "\n"


def _table(content: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    content = {key: value for key, value in content.items() if value is not None}
    inner = {key: value for key, value in content.items() if isinstance(value, Mapping)}
    if path and (len(inner) < len(content) or not content):
        yield ""
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in content.items():
        if key not in inner:
            yield f"{_key(key)} = {_literal(value)}"
    for key, value in inner.items():
        yield from _table(value, (*path, key))


def _literal(value: object) -> str:
    match value:
        case str():
            return _quoted(value)
        case bool():
            return str(value).lower()
        case Mapping():
            pairs = (f"{_key(key)} = {_literal(one)}" for key, one in value.items() if one is not None)
            return f"{{ {', '.join(pairs)} }}"
        case Sequence():
            return f"[{', '.join(map(_literal, value))}]"
    return str(value)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", r"\u007f")
