"""Outputs of other tools, kept as files, and how to read one."""

from pathlib import Path

from diskproof.importers.base import Found, Text
from diskproof.importers.registry import FORMATS
from diskproof.results.imported import ImportedResult

SAMPLES = Path(__file__).parents[1] / "importers" / "samples"


def as_text(content: str, file: str = "old.txt") -> Text:
    return Text(file=file, content=content, sha256="0" * 64)


def found_in(content: str) -> list[Found]:
    """Read with the first format that takes the text for its own."""
    text = as_text(content)
    one = next(one for one in FORMATS if one.recognises(text))
    return list(one.read(text))


def results_of(content: str) -> list[ImportedResult]:
    """Read a text that holds results alone."""
    found = found_in(content)
    results = [one for one in found if isinstance(one, ImportedResult)]
    assert len(results) == len(found)
    return results


def results_in(sample: str) -> list[ImportedResult]:
    return results_of((SAMPLES / sample).read_text())
