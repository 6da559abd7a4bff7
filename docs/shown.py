"""What `diskproof` says, as the pages show it: in 100 columns and without colours."""

import io
import os
from contextlib import chdir, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from diskproof.cli import call

COLUMNS = 100

PLAIN = {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "TERM": "dumb"}
"""For this process and for the programs that it asks."""


def by_the_lab(*arguments: str, folder: Path | None = None) -> list[str]:
    """Return what the command line prints, started in a folder.

    It is called here, not started: Python's own start takes longer than most of what pages ask.
    """
    out = io.StringIO()
    with patch.dict(os.environ, PLAIN), chdir(folder or Path.cwd()), redirect_stdout(out):
        call(arguments)
    return lines_of(out.getvalue())


def lines_of(text: str) -> list[str]:
    """Return the lines of an output, without what stands invisibly at their ends."""
    return [line.rstrip() for line in text.strip().splitlines()]
