"""`diskproof runs`: the runs that lie here, a line each."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from rich.table import Table

from diskproof.cli.screen import results, say
from diskproof.history.shelf import RUNS, Shelved, find, put_label, runs_in
from diskproof.refusal import RefusalError
from diskproof.results.summary import NEWEST, NOTE, write_mark
from diskproof.study.part import NAME_PATTERN
from diskproof.visible import visible
from diskproof.wording import numbers

MOST_SHOWN = 20

MOST_NOTE = 500
"""Characters."""


def runs(
    *word: str,
    label: str | None = None,
    note: str | None = None,
    all: bool = False,  # noqa: A002 - the option's own name
    out: Path = RUNS,
) -> None:
    """List the runs that lie here, a line each; give one a label or a note.

    Parameters
    ----------
    word
        Only runs in which each of these words is found: of a study, label, note, answer, server, level,
        outcome, machine or date.
    label
        Call this run so, by its folder, label or `newest`; a run that had the label loses it. An empty label
        takes it away.
    note
        Keep a sentence beside this run; an empty one takes it away.
    all
        List all of them; without it the newest 20.
    out
        Root of the run folders.

    """
    if label is not None or note is not None:
        _mark(word, label, note, out)
        return
    found = (one for one in runs_in(out) if one.has(word))
    shown = list(islice(found, None if all else MOST_SHOWN))
    if not shown:
        said = f"no run with {numbers.listed([f'`{one}`' for one in word])}" if word else "no runs"
        raise RefusalError(
            f"{out} has {said}: `diskproof run quickstart` makes one, --out names another root"
        )
    table = Table(box=None, show_header=False, pad_edge=False)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in shown:
        table.add_row(one.began, one.study, one.label, _came_to(one))
    results.print(table)
    if next(found, None) is not None:
        results.print("older runs: --all")


def _mark(words: Sequence[str], label: str | None, note: str | None, out: Path) -> None:
    if len(words) > 1:
        raise RefusalError("--label and --note are for one run: name its folder, its label or `newest`")
    word = words[0] if words else NEWEST
    run = find(word, out)
    if run is None:
        raise RefusalError(f"{out} has no run `{word}`: `diskproof runs` lists them")
    if label == NEWEST or (label and not NAME_PATTERN.fullmatch(label)):
        raise RefusalError(
            f"a label is not `{NEWEST}`, and has at most 40 letters, digits, dots, dashes and underscores"
        )
    if note and len(note) > MOST_NOTE:
        raise RefusalError(f"a note of {len(note)} characters: at most {MOST_NOTE}")
    if label is not None:
        put_label(run, label, out)
        say(f"{run}: {label or 'no label'}")
    if note is not None:
        write_mark(run, NOTE, note)
        say(f"{run}: {visible(note) or 'no note'}")


def _came_to(one: Shelved) -> str:
    answer = one.came_to or "no answer here: `diskproof report` has it"
    return visible(f"{answer} [{one.note}]" if one.note else answer)
