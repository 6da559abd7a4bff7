"""Damage that hypothesis draws and makes smaller again: to bytes, and to the values in JSON."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

TOKENS = (
    b"\x1b[2J",
    b"\x1b]0;owned\x07",
    b"\xc2\x9b31m",
    "\u202e\u2066".encode(),
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    "\u2028\x85".encode(),
    b"\r",
    b"\n",
    b"\t",
    b'"',
    b"'",
    b'"""',
    b"\\",
    b"#",
    b"=",
    b"{",
    b"}",
    b"[" * 600,
    b"]",
    b"[[",
    b"{" * 600,
    b"a." * 5_000,
    b"=" * 5_000,
    b" " * 20_000,
    b"a" * 20_000,
    b"-" * 5_000,
    b"nan",
    b"inf",
    b"-1",
    b"0",
    b"-0.0",
    b"1e400",
    b"9" * 30,
    b"9" * 5_000,
    b"0x" + b"f" * 5_000,
    b"1_0",
    "\u00bd\u0663".encode(),
    b"true",
    b"null",
    b"2026-01-01",
    b"../../../../etc/passwd",
    b"/dev/zero",
    b"/proc/self/mem",
    b"~nobody-here/x.toml",
    b"%s%n",
    b"{0}",
    b"{x.__class__}",
    b"<script>alert(1)</script>",
    b"|`*_[x](y)",
)
"""What files meet, and what means something to a terminal, a reader, a path or a page."""

VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1,
    0.5,
    -0.0,
    1e308,
    -1e308,
    10**400,
    2**63,
    "",
    "x",
    "\x1b[2J\u202e\x9b\x00",
    "9" * 5_000,
    "../../../../etc/passwd",
    "{",
    "{0}",
    "{x:999999999}",
    "{x.__class__}",
    "2026-99-99T99:99:99",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"form": "{x}", "values": {}},
    {"form": "{x:.999999999f}", "values": {"x": {"value": 1}}},
    {"form": "{}", "values": {"": "x"}},
    {"form": "{x!r:>{y}}", "values": {"x": "1", "y": "9"}},
)


@st.composite
def damaged_bytes(draw: st.DrawFn, contents: Sequence[bytes]) -> bytes:
    """Draw one of some contents, with a few changes to it."""
    content = draw(st.sampled_from(contents))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        to = min(at + draw(st.sampled_from((0, 1, 3, 30, 1_000))), len(content))
        kind = draw(st.sampled_from(("insert", "replace", "drop", "cut", "repeat", "flip", "figure", "line")))
        token = draw(st.sampled_from(TOKENS))
        match kind:
            case "insert":
                content = content[:at] + token + content[at:]
            case "replace":
                content = content[:at] + token + content[to:]
            case "drop":
                content = content[:at] + content[to:]
            case "cut":
                content = content[:at]
            case "repeat":
                content = content[:at] + content[at:to] * draw(st.sampled_from((2, 20, 200))) + content[to:]
            case "flip" if at < len(content):
                flipped = content[at] ^ 1 << draw(st.integers(0, 7))
                content = content[:at] + bytes([flipped]) + content[at + 1 :]
            case "figure":
                content = _with_figure(content, at, token)
            case _:
                lines = content.split(b"\n")
                lines[draw(st.integers(0, len(lines) - 1))] = token
                content = b"\n".join(lines)
    return content


def _with_figure(content: bytes, at: int, token: bytes) -> bytes:
    """Put a token in the place of the next figure, or of a value behind an equals sign."""
    start = next((here for here in range(at, len(content)) if content[here : here + 1].isdigit()), at)
    end = start
    while content[end : end + 1].isdigit() or content[end : end + 1] == b".":
        end += 1
    return content[:start] + token + content[end:]


@st.composite
def damaged_json(draw: st.DrawFn, contents: Sequence[str]) -> str:
    """Draw one of some JSON values, in which a few values, wherever they lie, are others."""
    value: object = json.loads(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 3))):
        value = _with_another(draw, value)
    return json.dumps(value)


def _with_another(draw: st.DrawFn, value: object) -> object:
    if isinstance(value, dict) and value and draw(st.integers(0, 6)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 9)) == 0:
            name = draw(st.sampled_from((key, "unknown", "\x1b[2J")))
            return {one: two for one, two in value.items() if one != key} | {name: value[key]}
        return value | {key: _with_another(draw, value[key])}
    if isinstance(value, list) and value and draw(st.integers(0, 6)):
        at = draw(st.integers(0, len(value) - 1))
        if draw(st.integers(0, 9)) == 0:
            return value[:at] + value[at:] * 2
        return [*value[:at], _with_another(draw, value[at]), *value[at + 1 :]]
    return draw(st.sampled_from(VALUES))
