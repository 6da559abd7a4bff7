"""Files from a user, recognised by content."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from diskproof.importers.assemble import clients_by_file
from diskproof.importers.base import Format, Found, ImportRefusedError, Text
from diskproof.importers.heading import Headings
from diskproof.importers.registry import FORMATS
from diskproof.importers.text import read_text
from diskproof.refusal import RefusalError
from diskproof.results.imported import ImportedResult

MOST_RESULTS = 1_000
"""Of all files together: each goes through all checks, and beside all others."""

_TABLE = re.compile(r"^\s*\[\[?[\w.\"-]+\]\]?\s*(?:#.*)?$", re.MULTILINE)
"""The heading of a table in TOML."""


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
    return in_order(found), refused


def in_order(found: Sequence[Found]) -> list[Found]:
    """Return what several files hold, each result once, a sweep by its clients."""
    return without_copies(_by_clients(found))


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
    return read_content(*read_text(path))


def read_content(text: Text, remarks: list[str]) -> list[Found]:
    """Read everything that a text holds, as `read_file` does; `remarks` are about its file."""
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
    known = ", ".join(dict.fromkeys(form.name for form in FORMATS))
    raise ImportRefusedError(
        f"{text.file} is recognised as nothing that diskproof reads; it reads {known}: give the tool's "
        "output as it was printed"
    )


def check_number_of_results(found: Sequence[Found], file: str) -> None:
    """Refuse more results than are audited together."""
    if len(found) > MOST_RESULTS:
        raise ImportRefusedError(
            f"{file}: more than {MOST_RESULTS:,} results were read; audit some of them at a time"
        )


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


# ---------------------------------------------------------------- the same output read twice

FEWEST_COUNTED = 100
"""Transactions from which two runs do not agree in count, time and each latency by chance. A judgement."""

MOST_NAMED = 5


def without_copies(found: Sequence[Found]) -> list[Found]:
    """Return what was found without the copies of results; the first of each names them in a remark."""
    first: dict[object, int] = {}
    copies: dict[int, list[ImportedResult]] = {}
    kept: list[Found] = []
    for one in found:
        identities = _identities(one) if isinstance(one, ImportedResult) else []
        known = next((first[identity] for identity in identities if identity in first), None)
        if known is not None and isinstance(one, ImportedResult):
            copies.setdefault(known, []).append(one)
            continue
        first |= {identity: len(kept) for identity in identities}
        kept.append(one)
    return [
        one.model_copy(update={"remarks": [*one.remarks, _remark(copies[at])]})
        if at in copies and isinstance(one, ImportedResult)
        else one
        for at, one in enumerate(kept)
    ]


def _identities(result: ImportedResult) -> list[object]:
    """Return what no other measurement has in common with this one.

    It is the same place of a file with the same content, or figures that agree to the last digit. There must
    be enough of them: three figures of three digits each may agree by chance.
    """
    load, source = result.load, result.source
    figures = load.model_dump_json()
    identities: list[object] = []
    if source.sha256:  # one line may hold several
        identities.append((source.sha256, source.line, source.format, result.name, figures))
    if load.latency_us and (load.transactions or 0) >= FEWEST_COUNTED:
        identities.append((source.format, figures, tuple(result.intervals_per_s)))
    return identities


def _remark(copies: Sequence[ImportedResult]) -> str:
    places = list(dict.fromkeys(f"{one.source.file}, line {one.source.line}" for one in copies))
    more = f" and {len(places) - MOST_NAMED} more places" if len(places) > MOST_NAMED else ""
    return f"the same output stands in {'; '.join(places[:MOST_NAMED])}{more} again, and counts once"
