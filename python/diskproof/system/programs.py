"""Finds the programs that were installed with this lab."""

import shutil
import sys
from pathlib import Path


def find_program(name: str) -> Path | None:
    """Return a program that lies beside this Python, or on PATH; None if there is none."""
    beside = Path(sys.executable).with_name(name)
    if beside.is_file():
        return beside
    elsewhere = shutil.which(name)
    return Path(elsewhere) if elsewhere else None
