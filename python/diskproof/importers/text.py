"""A user's file as text: bounded, decoded and cleaned."""

import hashlib
import re
from pathlib import Path

from diskproof.importers.base import ImportRefusedError, Text
from diskproof.reading import MIB, read_bytes
from diskproof.visible import visible

MOST_BYTES = 20 * MIB
"""No output of a tool that is read here is larger; a day of interval lines, one a second, takes 15 MB."""

MOST_LINES = 200_000
"""As many as interval lines of two days: what has more is a log of something else."""

LONGEST_LINE = 20_000
"""Characters: what a line has beyond them is left out. JSON may stand in one line and is kept whole."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
"""ECMA-48: control sequences, operating system commands, and escapes of two characters."""

_LOGGED = re.compile(
    r"^(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[ ]?[+-]\d\d:?\d\d)?\]?(?:\s?[|:])?\s?"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,64} [^\s:]{1,64}: ?"
    r"|[\w.-]{1,40}[_-]\d{1,3}\s{1,4}\| "
    r"|> ?"
    r")"
)
"""What a logger writes before a line: a time stamp (RFC 3339 and kin), syslog's head, a container's name, the
mark of a quotation."""

_MARKED = re.compile(r"\s*(`|\*\*)([^`*]{1,200})\1\s*")
"""A whole line that Markdown shows as code or in bold."""


def read_text(path: Path) -> tuple[Text, list[str]]:
    """Read and clean one file's text; return it with remarks about the reading."""
    return as_text(path, read_bytes(path, MOST_BYTES))


def as_text(path: Path, raw: bytes) -> tuple[Text, list[str]]:
    """Clean what a file holds; return it with remarks about the reading."""
    name = str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # JSON can hold no other
    if not raw.strip():
        raise ImportRefusedError(f"{name} is empty; give a file that holds a result")
    text, remarks = decoded(raw, name)
    content, cut = _cleaned(text, name)
    if cut:
        remarks.append(f"{cut} lines were longer than {LONGEST_LINE} characters and were cut")
    return Text(name, content, hashlib.sha256(raw).hexdigest()), remarks


def decoded(raw: bytes, name: str) -> tuple[str, list[str]]:
    """Return the text of some bytes, with remarks about it; ImportRefusedError if they are none."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if raw.startswith(mark):
            return raw[2:].decode(encoding, "replace"), []
    if b"\x00" in raw:
        raise ImportRefusedError(
            f"{name} is binary: byte {raw.index(0)} is zero; give the tool's output as text"
        )
    try:
        return raw.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        remark = f"it is not UTF-8 (byte {error.start}) and was read as Latin-1"
        return raw.decode("latin-1"), [remark]


def _cleaned(text: str, name: str) -> tuple[str, int]:
    """Return the text with plain lines, each in its place, and how many lines were cut."""
    if text.count("\n") > MOST_LINES:
        raise ImportRefusedError(
            f"{name} has more than {MOST_LINES} lines; cut the tool's own output out of it"
        )
    cut, lines = 0, []
    for raw_line in text.replace("\r\n", "\n").split("\n"):
        line = raw_line
        if len(line) > LONGEST_LINE and not line.lstrip().startswith(("{", "[")):
            cut, line = cut + 1, line[:LONGEST_LINE]
        lines.append(_plain(line))
    return "\n".join(lines), cut


def _plain(line: str) -> str:
    """Return a line as it would stand on a screen, without what a logger put before it."""
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if "\r" in line:  # a progress bar writes over itself: what was written last is seen
        line = next((part for part in reversed(line.split("\r")) if part.strip()), "")
    plain = _LOGGED.sub("", visible(line), count=1)
    marked = _MARKED.fullmatch(plain)
    return marked[2] if marked else plain
