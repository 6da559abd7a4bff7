"""The runs below a folder: what each was of and came to, and which one a word means."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from diskproof.reading import UnreadableError
from diskproof.refusal import RefusalError
from diskproof.results.summary import NEWEST, Summary, label_of, summary_of, write_label

RUNS = Path("runs")
"""Root of the runs of a working directory."""


@dataclass(frozen=True)
class Shelved:
    """A run that was found."""

    path: Path
    summary: Summary | None
    """None: it was not reported yet, by this version."""
    label: str = ""

    @property
    def study(self) -> str:
        """The study's name, as its folder has it."""
        return self.path.parent.name

    def is_called(self, word: str) -> bool:
        """Return whether a word means it: its label, its study or its folder's own name."""
        return word in (self.label, self.study, self.path.name, f"{self.study}/{self.path.name}")


def runs_in(root: Path) -> Iterator[Shelved]:
    """Yield the runs below a root, the newest first: ``ROOT/STUDY/TIME``."""
    found = sorted(root.glob("*/*-*/plan.json"), key=lambda plan: plan.parent.name, reverse=True)
    for plan in found:
        with suppress(UnreadableError, RefusalError):
            yield Shelved(plan.parent, summary_of(plan.parent), label_of(plan.parent))


def find(word: str, root: Path = RUNS) -> Path | None:
    """Return the folder of the newest run that a word means, or None; `newest` means any."""
    return next((one.path for one in runs_in(root) if word == NEWEST or one.is_called(word)), None)


def put_label(run: Path, label: str, root: Path) -> None:
    """Give a run a label, and take it from the one that had it."""
    for other in runs_in(root):
        if other.label == label:
            write_label(other.path, "")
    write_label(run, label)
