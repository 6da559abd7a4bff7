"""The runs below a folder: what each was of and came to, and which one a word means."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.summary import LABEL, NEWEST, NOTE, Summary, mark_of, summary_of, write_mark

RUNS = Path("runs")
"""Root of the runs of a working directory."""

RUN_NAME = re.compile(r"\d{8}-\d{6}")
"""A run's folder is called after its beginning, in UTC. A copy with another name would sort as the newest."""


@dataclass(frozen=True)
class Shelved:
    """A run that was found."""

    path: Path
    summary: Summary | None
    """None: it was not reported yet, by this version."""
    label: str = ""
    note: str = ""

    @property
    def study(self) -> str:
        """The study's name, as its folder has it."""
        return self.path.parent.name

    @property
    def began(self) -> str:
        """Return when it began."""
        return began(self.path)

    @property
    def came_to(self) -> str:
        """Return its answer, or what it asks; empty if it was not reported yet."""
        return (self.summary.answer or self.summary.question) if self.summary else ""

    def has(self, words: Iterable[str]) -> bool:
        """Return whether each word is found in what is known of it; case does not count."""
        facts = [self.summary.question, self.summary.answer, *self.summary.facts] if self.summary else []
        known = [self.study, self.path.name, self.began, self.label, self.note, *facts]
        text = "\n".join(known).casefold()
        return all(word.casefold() in text for word in words)

    def is_called(self, word: str) -> bool:
        """Return whether a word means it: its label, its study or its folder's own name."""
        return word in (self.label, self.study, self.path.name, f"{self.study}/{self.path.name}")


def began(run: Path) -> str:
    """Return when a run began, by the clock of UTC: its folder is called after that."""
    name = run.name
    return f"{name[:4]}-{name[4:6]}-{name[6:8]} {name[9:11]}:{name[11:13]}"


def folders(studies: Iterable[Path]) -> list[Path]:
    """Return the run folders below the folders of studies, the newest first."""
    plans = (plan for study in studies for plan in study.glob("*/plan.json"))
    runs = [plan.parent for plan in plans if RUN_NAME.fullmatch(plan.parent.name)]
    return sorted(runs, key=lambda run: run.name, reverse=True)


def runs_in(root: Path, within: Path | None = None) -> Iterator[Shelved]:
    """Yield the runs below a root, the newest first: ``ROOT/STUDY/TIME``.

    Of a run with links that lead out of `within` nothing is read.
    """
    for run in folders(root.glob("*")):
        with suppress(RefusalError, OSError):
            there = {one.name for one in run.iterdir()}  # most have no mark, and a failed opening takes long
            marks = (mark_of(run, kind, within) if kind in there else "" for kind in (LABEL, NOTE))
            yield Shelved(run, summary_of(run, within), *marks)


def find(word: str, root: Path = RUNS) -> Path | None:
    """Return the folder of the newest run that a word means, or None; `newest` means any.

    A label comes before a study of that name.
    """
    found = list(runs_in(root))
    labelled = (one.path for one in found if word and one.label == word)
    others = (one.path for one in found if word == NEWEST or one.is_called(word))
    return next(labelled, None) or next(others, None)


def named(word: str, root: Path = RUNS) -> Path:
    """Return the folder of that name, or of the run that the word means; RefusalError if there is none."""
    run = Path(word) if Path(word).exists() else find(word, root)
    if run is None:
        raise RefusalError(f"{root} has no run `{word}`: `diskproof runs` lists them")
    return run


def put_label(run: Path, label: str, root: Path) -> None:
    """Give a run a label, and take it from the one that had it."""
    for other in runs_in(root) if label else ():
        if other.label == label:
            write_mark(other.path, LABEL, "")
    write_mark(run, LABEL, label)
