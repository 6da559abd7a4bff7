"""`diskproof runs`: the runs that lie here, a line each."""

from pathlib import Path

from rich.table import Table

from diskproof.cli.screen import results, say
from diskproof.history.shelf import RUNS, Shelved, find, put_label, runs_in
from diskproof.refusal import RefusalError
from diskproof.results.summary import NEWEST
from diskproof.study.part import NAME_PATTERN
from diskproof.visible import visible
from diskproof.wording import numbers

MOST_SHOWN = 20


def runs(
    which: str | None = None,
    /,
    *,
    label: str | None = None,
    all: bool = False,  # noqa: A002 - the option's own name
    out: Path = RUNS,
) -> None:
    """List the runs that lie here, a line each; give one a label.

    Parameters
    ----------
    which
        Only runs of this study, or with this label.
    label
        Call the newest of these runs so; a run that had the label loses it. An empty label takes it away.
    all
        List all of them; without it the newest 20.
    out
        Root of the run folders.

    """
    if label is not None:
        run = find(which or NEWEST, out)
        if run is None:
            raise RefusalError(f"{out} has no run `{which or NEWEST}`: `diskproof runs` lists them")
        if label == NEWEST or (label and not NAME_PATTERN.fullmatch(label)):
            raise RefusalError(
                f"a label is not `{NEWEST}`, and has at most 40 letters, digits, dots, dashes and underscores"
            )
        put_label(run, label, out)
        say(f"{run}: {label or 'no label'}")
        return
    found = [one for one in runs_in(out) if which is None or one.is_called(which)]
    if not found:
        said = f"no run that `{which}` means" if which else "no runs"
        raise RefusalError(
            f"{out} has {said}: `diskproof run quickstart` makes one, --out names another root"
        )
    table = Table(box=None, show_header=False, pad_edge=False)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    shown = found if all else found[:MOST_SHOWN]
    for one in shown:
        table.add_row(_when(one), one.study, one.label, _came_to(one))
    results.print(table)
    if len(found) > len(shown):
        results.print(f"{numbers.count(len(found) - len(shown), 'older run')}: --all")


def _when(one: Shelved) -> str:
    """Return when it began: its folder is called after that, by the clock of UTC."""
    name = one.path.name
    return f"{name[:4]}-{name[4:6]}-{name[6:8]} {name[9:11]}:{name[11:13]}"


def _came_to(one: Shelved) -> str:
    if one.summary is None:
        return "no answer here: `diskproof report` has it"
    return visible(one.summary.answer or one.summary.question)
