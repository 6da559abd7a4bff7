"""Values of foreign files as JSON: a process in the fence says them, and the one outside reads them.

A file a kind, because each is a program that imports no more than it reads.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from diskproof.refusal import RefusalError


def answer(said: Callable[..., bytes]) -> None:
    """Say what is read of the paths that the command line names; a refusal becomes its last words."""
    try:
        sys.stdout.buffer.write(said(*map(Path, sys.argv[1:])))
    except RefusalError as refusal:
        sys.exit(str(refusal))
