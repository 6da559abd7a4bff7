"""What a run came to, in a line: beside its reports, so that a list of runs need not analyse them."""

from pathlib import Path

from pydantic import ValidationError

from diskproof.reading import MissingFileError, read_bytes, read_text
from diskproof.results.durable import write_whole
from diskproof.results.record import Record

SUMMARY, LABEL, NOTE = "answer.json", "label", "note"

NEWEST = "newest"

MOST_BYTES = 64 * 1024


class Summary(Record):
    """A run in a line."""

    question: str
    answer: str
    facts: list[str] = []
    """What it can be found by besides: servers, machine, levels of the factors, outcomes of comparisons."""


def summary_of(run: Path, within: Path | None = None) -> Summary | None:
    """Read a run's summary; None if there is none, or another version's."""
    try:
        return Summary.model_validate_json(read_bytes(run / SUMMARY, MOST_BYTES, within))
    except (MissingFileError, ValidationError):
        return None


def write_mark(run: Path, kind: str, text: str) -> None:
    """Give a run its `LABEL` or `NOTE`; an empty one takes it away."""
    write_whole(run / kind, text)


def mark_of(run: Path, kind: str, within: Path | None = None) -> str:
    """Read a run's `LABEL` or `NOTE`; empty if it has none."""
    try:
        return read_text(run / kind, MOST_BYTES, within).strip()
    except MissingFileError:
        return ""
