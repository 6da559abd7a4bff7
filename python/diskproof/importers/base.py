"""What a format is, and how a reader refuses."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from diskproof.refusal import RefusalError
from diskproof.results.imported import ImportedResult, Settings, Source
from diskproof.results.load import LoadError

Found = ImportedResult | Settings


class ImportRefusedError(RefusalError):
    """A file that cannot be read as what it seems to be; the message names file, line and what to do."""


@dataclass(frozen=True)
class Text:
    """A file's text, ready to be recognised: decoded, with bounded lines."""

    file: str
    content: str
    sha256: str

    @cached_property
    def lines(self) -> list[str]:
        """Return its lines without their ends, whatever these are."""
        return self.content.splitlines()

    def source(self, line: int, form: str, tool: str | None = None) -> Source:
        """Return the source of what begins at a line: `form` says as what it was read."""
        return Source(file=self.file, line=line, format=form, tool=tool, sha256=self.sha256)


MOST_OPTIONS = 10_000
"""Of one file: MariaDB with all its plugins has some 1,500, and each is compared with others."""


def check_number(text: Text, names: Collection[object]) -> None:
    """Refuse more options or variables than any server has."""
    if len(names) > MOST_OPTIONS:
        raise ImportRefusedError(
            f"{text.file} has {len(names):,} options or variables, and no server has {MOST_OPTIONS:,}; give "
            "the server's own file or answer"
        )


NO_SUMMARY = "it ended before its summary"
"""What a whole output shows that ends with interval lines: somebody interrupted it, or it was killed."""


def ending(code: str, said: Iterable[str]) -> list[LoadError]:
    """Return what a tool says ended its run, or one of its clients, before the time; each once."""
    return [
        LoadError(code=code, statement=None, message=one, transient=False, count=count, ended=True)
        for one, count in Counter(said).items()
    ]


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
