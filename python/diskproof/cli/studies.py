"""`diskproof studies`: what comes with diskproof and can be run by name."""

import tomllib
from pathlib import Path

from rich.table import Table

from diskproof.cli.screen import put, results
from diskproof.reading import read_text
from diskproof.refusal import RefusalError
from diskproof.study.mistakes import similar
from diskproof.study.read import MAX_STUDY_BYTES
from diskproof.study.shipped import shipped


def studies(name: str | None = None, /) -> None:
    """List the studies that come with diskproof; each runs by its name.

    Parameters
    ----------
    name
        Print this one, to make one of your own of it.

    """
    known = shipped()
    if name is not None:
        if name not in known:
            raise RefusalError(
                f"no study that comes with diskproof is called `{name}`{similar(name, list(known))}"
            )
        put(_text(known[name]))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for called, path in known.items():
        table.add_row(called, tomllib.loads(_text(path)).get("question", ""))
    results.print(table)
    results.print("`diskproof run NAME` runs one, `diskproof studies NAME` prints it")


def _text(path: Path) -> str:
    return read_text(path, MAX_STUDY_BYTES)
