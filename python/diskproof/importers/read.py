"""Files from a user, read safely: bounded, decoded, cleaned, and recognised by content."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from diskproof.importers.assemble import clients_by_file
from diskproof.importers.base import Format, Found, ImportRefusedError, Text
from diskproof.importers.duplicates import without_copies
from diskproof.importers.heading import Headings
from diskproof.importers.registry import FORMATS
from diskproof.reading import MIB, read_bytes
from diskproof.refusal import RefusalError
from diskproof.results.imported import ImportedResult
from diskproof.wording.visible import visible

MOST_BYTES = 20 * MIB
"""No output of a tool that is read here is larger; a day of interval lines, one a second, takes 15 MB."""

MOST_LINES = 200_000
"""As many as interval lines of two days: what has more is a log of something else."""

MOST_RESULTS = 1_000
"""Of all files together: each goes through all checks, and beside all others."""

LONGEST_LINE = 20_000
"""Characters: what a line has beyond them is left out. JSON may stand in one line and is kept whole."""

_TABLE = re.compile(r"^\s*\[\[?[\w.\"-]+\]\]?\s*(?:#.*)?$", re.MULTILINE)
"""The heading of a table in TOML."""

_TERSE = re.compile(r"^\d;fio-\d", re.MULTILINE)

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


def read_files(paths: Sequence[Path]) -> tuple[list[Found], list[str]]:
    """Read everything that the files hold, each result once; return it and why other files were not read."""
    found: list[Found] = []
    refused: list[str] = []
    for path in paths:
        try:
            found += read_file(path)
        except RefusalError as refusal:
            refused.append(str(refusal))
        check_number_of_results(found, str(path))
    return without_copies(_by_clients(found)), refused


def _by_clients(found: Sequence[Found]) -> list[Found]:
    """Return the files of a sweep in the order of their clients: a shell sorts 128 before 16.

    Files of a sweep differ in the numbers of their paths alone. All others stay in their order.
    """
    results = [one for one in found if isinstance(one, ImportedResult)]
    clients = clients_by_file(results)
    shapes = {one.source.file: re.sub(r"\d+", "#", one.source.file) for one in found}
    places: dict[str, int] = {}
    for shape in shapes.values():
        places.setdefault(shape, len(places))
    whole = places.keys() - {shape for file, shape in shapes.items() if file not in clients}

    def place(one: Found) -> tuple[int, int]:
        shape = shapes[one.source.file]
        return places[shape], clients[one.source.file] if shape in whole else 0

    return sorted(found, key=place)


def read_file(path: Path) -> list[Found]:
    """Read everything that one file holds, in the order in which it stands there.

    A log or a post may hold the output of several tools. A format that finds nothing whole does not
    complain if another one finds something.
    """
    text, remarks = read_text(path)
    found: list[Found] = []
    refusals: list[ImportRefusedError] = []
    for form in FORMATS:
        if form.recognises(text):
            try:
                found += _all_of(form, text)
            except ImportRefusedError as refusal:
                refusals.append(refusal)
    if found:
        return list(_remarked(sorted(found, key=lambda one: one.source.line), text, remarks))
    if refusals:
        raise refusals[0]
    if text.file.endswith(".toml") and _TABLE.search(text.content):
        raise ImportRefusedError(
            f"{text.file} is TOML, such as a study; run it with `diskproof run`, and name its run folder"
        )
    if all(line.lstrip()[:1] in ("", "#", ";") for line in text.lines):
        raise ImportRefusedError(f"{text.file} holds comments alone, and sets nothing")
    if _TERSE.search(text.content):
        raise ImportRefusedError(
            f"{text.file} has fio's terse lines, which are not read; let fio write "
            "`--output-format=json`, or its output for people"
        )
    raise ImportRefusedError(
        f"{text.file} is recognised as nothing that diskproof reads; it reads {_known_formats()}: give the "
        "tool's output as it was printed"
    )


def check_number_of_results(found: Sequence[Found], file: str) -> None:
    """Refuse more results than are audited together."""
    if len(found) > MOST_RESULTS:
        raise ImportRefusedError(
            f"{file}: more than {MOST_RESULTS:,} results were read; audit some of them at a time"
        )


def read_text(path: Path) -> tuple[Text, list[str]]:
    """Read and clean one file's text; return it with remarks about the reading."""
    return as_text(path, read_bytes(path, MOST_BYTES))


def as_text(path: Path, raw: bytes) -> tuple[Text, list[str]]:
    """Clean what a file holds; return it with remarks about the reading."""
    name = str(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # JSON can hold no other
    if not raw.strip():
        raise ImportRefusedError(f"{name} is empty; give a file that holds a result")
    decoded, remarks = _decoded(raw, name)
    content, cut = _cleaned(decoded, name)
    if cut:
        remarks.append(f"{cut} lines were longer than {LONGEST_LINE} characters and were cut")
    return Text(name, content, hashlib.sha256(raw).hexdigest()), remarks


# ---------------------------------------------------------------- text


def _decoded(raw: bytes, name: str) -> tuple[str, list[str]]:
    """Return the text of some bytes, with remarks about it."""
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


def _cleaned(decoded: str, name: str) -> tuple[str, int]:
    """Return the text with plain lines, each in its place, and how many lines were cut."""
    if decoded.count("\n") > MOST_LINES:
        raise ImportRefusedError(
            f"{name} has more than {MOST_LINES} lines; cut the tool's own output out of it"
        )
    cut, lines = 0, []
    one_json = decoded.lstrip().startswith(("{", "["))
    for raw_line in decoded.replace("\r\n", "\n").split("\n"):
        line = raw_line
        if len(line) > LONGEST_LINE and not (one_json and line.lstrip().startswith(("{", "["))):
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


# ---------------------------------------------------------------- what is in it


def _all_of(form: Format, text: Text) -> list[Found]:
    found = list(islice(form.read(text), MOST_RESULTS + 1))
    check_number_of_results(found, text.file)
    if not found:
        raise ImportRefusedError(
            f"{text.file} looks like {form.name} and holds no result of it; give the whole output"
        )
    return found


def _remarked(found: Sequence[Found], text: Text, remarks: list[str]) -> Iterator[Found]:
    """Yield results with their headings and the remarks about their file; others have no place for them."""
    headings = Headings(text)
    for one in found:
        if isinstance(one, ImportedResult):
            heading = headings.above(one.source.line)
            told = {"heading": heading, "numbered": headings.numbered, "remarks": [*one.remarks, *remarks]}
            yield one.model_copy(update=told)
        else:
            yield one


def _known_formats() -> str:
    return ", ".join(dict.fromkeys(form.name for form in FORMATS))
