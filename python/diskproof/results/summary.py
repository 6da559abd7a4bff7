"""What a run came to, in a line: beside its reports, so that a list of runs need not analyse them."""

from pathlib import Path

from pydantic import ValidationError

from diskproof.reading import MissingFileError, read_bytes, read_text
from diskproof.results.durable import write_whole, writing
from diskproof.results.record import Record

SUMMARY, LABEL = "answer.json", "label"

NEWEST = "newest"

MOST_BYTES = 64 * 1024


class Summary(Record):
    """A run in a line."""

    question: str
    answer: str


def summary_of(run: Path, within: Path | None = None) -> Summary | None:
    """Read a run's summary; None if there is none, or another version's."""
    try:
        return Summary.model_validate_json(read_bytes(run / SUMMARY, MOST_BYTES, within))
    except (MissingFileError, ValidationError):
        return None


def write_label(run: Path, label: str) -> None:
    """Call a run so; an empty label takes its label away."""
    with writing(run / LABEL):
        write_whole(run / LABEL, label)


def label_of(run: Path, within: Path | None = None) -> str:
    """Read a run's label; empty if it has none."""
    try:
        return read_text(run / LABEL, MOST_BYTES, within).strip()
    except MissingFileError:
        return ""
