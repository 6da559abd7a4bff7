"""What a format is, and how a reader refuses."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from diskproof.refusal import RefusalError
from diskproof.results.article import Article
from diskproof.results.imported import Counters, ImportedResult, Settings

Found = ImportedResult | Settings | Counters | Article


class ImportRefusedError(RefusalError):
    """A file that cannot be read as what it seems to be; the message names file, line and what to do."""


@dataclass(frozen=True)
class Text:
    """A file's text, ready to be recognised: decoded, with bounded lines."""

    file: str
    content: str
    sha256: str

    @property
    def lines(self) -> list[str]:
        """Return its lines without their ends, whatever these are."""
        return self.content.splitlines()


@dataclass(frozen=True)
class Format:
    """One format of another tool's output."""

    name: str
    """As a person knows it: ``sysbench 1.0 OLTP``."""
    recognises: Callable[[Text], bool]
    """Whether a text is of this format, by content alone; cheap, and never raises."""
    read: Callable[[Text], Iterator[Found]]
    """Everything of this format that the text holds (a file may hold many results, one after the other);
    ImportRefusedError if it is broken."""
