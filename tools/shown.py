"""The output of `diskproof` as pages show it: 100 columns, without colours."""

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
    """Return what the command line prints in a folder.

    It is called in this process, because starting Python takes longer than most commands.
    """
    out = io.StringIO()
    with patch.dict(os.environ, PLAIN), chdir(folder or Path.cwd()), redirect_stdout(out):
        call(arguments)
    return lines_of(out.getvalue())


def lines_of(text: str) -> list[str]:
    """Return the lines of an output without trailing spaces."""
    return [line.rstrip() for line in text.strip().splitlines()]
