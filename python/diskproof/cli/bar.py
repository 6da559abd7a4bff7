"""The bar that every verb shows on a terminal while it works."""

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from diskproof.cli.screen import messages


def progress_bar() -> Progress:
    """Return a bar on stderr with what is under way and the time left; a task gives `left`, a text."""
    return Progress(
        SpinnerColumn(),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
        console=messages,
        transient=True,
    )
