"""dd: what GNU and BusyBox print when a copy is done, in any language.

dd prints how much was copied and for how long. Only its arguments say which end of the copy was the disk.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from diskproof.importers.base import Format, Found, ImportRefusedError, Text, ending
from diskproof.importers.numbers import count, number
from diskproof.results.imported import ImportedResult
from diskproof.results.load import FileRequests, LoadResult
from diskproof.wording.numbers import size

_RECORDS = re.compile(r"\s*(\d{1,18})\+(\d{1,18}) \S+")
"""``160+0 records in``: whole and partial ones, in any language."""

_GNU = re.compile(
    r"\s*(?P<bytes>\d{1,18}) \w+ (?:\([^()]{1,60}\) )?\w[\w ]{0,20}, (?P<seconds>[\d.,e+-]{1,30}) ?\w{1,20}, "
    r"(?P<rate>[\d.,]{1,20} ?\S{1,8}/s)\s*"
)
"""GNU and BusyBox: ``10485760 bytes (10 MB, 10 MiB) copied, 0,0313 s, 334 MB/s``."""

_COMMAND = re.compile(r"(?:^|[\s;&|$#])dd((?:\s+[a-z]+=\S+)+)")

_WRONG = re.compile(r"(?:^|\s)dd: (\S.{1,200})")
"""What dd says went wrong, in any language: it prints nothing else that begins so."""

SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random")
SINKS = ("/dev/null",)

FEWEST_BYTES = 4096
"""One page. Who copies less writes a few bytes into a file, and measures nothing."""

WAITS = frozenset({"fsync", "fdatasync", "direct", "sync", "dsync"})
"""Values of `conv` and `oflag` that make dd wait for the disk, at the end or at each block."""


@dataclass(frozen=True)
class _Copy:
    """One copy: its summary, and what stands above it."""

    line: int
    told: re.Match[str]
    arguments: dict[str, str]
    records_out: tuple[int, int] | None
    errors: tuple[str, ...] = ()


def waits_for_the_disk(arguments: Mapping[str, str]) -> bool:
    """Tell whether a copy's time includes the disk's: it is flushed, or bypasses the page cache."""
    return bool(WAITS & set(f"{arguments.get('conv', '')},{arguments.get('oflag', '')}".split(",")))


def _is_dd(text: Text) -> bool:
    return any(map(_summary, text.lines))


def _summary(line: str) -> re.Match[str] | None:
    if "/s" not in line:
        return None
    return _GNU.fullmatch(line)


def _read(text: Text) -> Iterator[Found]:
    copies = [copy for copy in _copies(text) if int(copy.told["bytes"]) >= FEWEST_BYTES]
    if not copies:
        raise ImportRefusedError(
            f"{text.file}: dd copied less than {size(FEWEST_BYTES)}, too little to measure a disk; copy "
            "1 MiB or more"
        )
    for place, copy in enumerate(copies, start=1):
        yield _result(text, copy, place)


def _copies(text: Text) -> list[_Copy]:
    """Return the copies; a line of ``status=progress`` is none: no records stand above it, but below."""
    found: list[_Copy] = []
    arguments: dict[str, str] = {}
    records: list[tuple[int, int]] = []
    errors: list[str] = []
    for line, said in enumerate(text.lines, start=1):
        if command := _COMMAND.search(said):
            arguments = _arguments(command[1])
            records, errors = [], []
        elif wrong := _WRONG.search(said):
            errors.append(wrong[1])
        elif counted := _RECORDS.match(said):
            records.append((int(counted[1]), int(counted[2])))
        elif told := _summary(said):
            found.append(
                _Copy(line, told, arguments, records[-1] if len(records) >= 2 else None, tuple(errors))
            )
            if records:
                records, arguments, errors = [], {}, []
    counted_ones = [copy for copy in found if copy.records_out]
    return counted_ones or found


def _arguments(told: str) -> dict[str, str]:
    try:
        words = shlex.split(told)
    except ValueError:
        words = told.split()
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def _result(text: Text, copy: _Copy, place: int) -> ImportedResult:
    copied = count(text, copy.line, copy.told["bytes"], "the bytes copied")
    seconds = number(text, copy.line, copy.told["seconds"], "the time of the copy", decimal_comma=True)
    read, written = _directions(copy.arguments)
    block, requests, remarks = _requests(copy, copied)
    remarks.append(f"dd itself says {copy.told['rate'].strip()}")
    if not (read or written):
        remarks.append("which end of the copy was the disk is not known")
    flags = f"{copy.arguments.get('iflag', '')},{copy.arguments.get('oflag', '')}".split(",")
    return ImportedResult(
        source=text.source(copy.line, "dd"),
        name=f"dd {place}",
        levels={"workload": _what(copied, block)},
        load=LoadResult(
            workload="dd",
            mix=None if read == written else ("seqrd" if read else "seqwr"),
            clients=1,
            seconds=seconds or None,
            transactions=requests,
            transactions_per_s=requests / seconds if seconds else 0.0,
            derived=["transactions_per_s"],
            errors=ending("dd", copy.errors),
            statements=requests,
            reads=requests if read and not written else None,
            writes=requests if written and not read else None,
            file_requests=FileRequests(
                files=1,
                block_bytes=block,
                direct="direct" in flags if copy.arguments else None,
                sync_every=None,
                one_pass=True,
                read_bytes=copied if read else None,
                written_bytes=copied if written else None,
                copied_bytes=None if read or written else copied,
            ),
        ),
        asked=copy.arguments,
        remarks=remarks,
    )


def _what(copied: int, block: int | None) -> str:
    """Name a copy by its size: one of another size is no repeat of it."""
    return f"dd {size(copied)}" + (f" in {size(block)}" if block else "")


def _directions(arguments: dict[str, str]) -> tuple[bool, bool]:
    """Return whether the disk was read and whether it was written, as far as the arguments say."""
    source, sink = arguments.get("if", ""), arguments.get("of", "")
    if source in SOURCES and sink and sink not in SINKS:
        return False, True
    return bool(sink in SINKS and source and source not in SOURCES), False


def _requests(copy: _Copy, copied: int) -> tuple[int | None, int, list[str]]:
    """Return (bytes of a block, blocks, remarks); without its records the copy is one request."""
    if copy.records_out is None:
        return None, 1, ["its records are not printed: the whole copy counts as one request"]
    whole, partial = copy.records_out
    if not whole + partial:
        return None, 1, []
    block = copied // whole if whole and not partial and copied % whole == 0 else None
    return block or None, whole + partial, []


DD = Format("dd", _is_dd, _read)
