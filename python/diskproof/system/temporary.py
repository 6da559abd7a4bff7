"""Temporary folders: each is on record, so that the next command removes what a killed one has left."""

import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.system.journal import check_owner, state_folder, writing_in
from diskproof.system.own_folder import OwnFolder
from diskproof.system.undoing import Undone, remove_directory

SUFFIX = ".temporary"
"""Of the files in the state folder: one for each temporary folder, which its process keeps locked."""

LONGEST_PATH = 4096


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder, and remove it at the end."""
    remove_left()
    mark = secrets.token_hex(4)
    path = Path(tempfile.gettempdir()) / f"diskproof-{mark}"
    records = state_folder()
    record = records / f"{mark}{SUFFIX}"
    with ExitStack() as stack:
        with writing_in(records):
            records.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = stack.enter_context(record.open("x"))
            fcntl.flock(file, fcntl.LOCK_EX)
            while not os.fstat(file.fileno()).st_nlink:  # `remove_left` took it for an old one
                file = stack.enter_context(record.open("x"))
                fcntl.flock(file, fcntl.LOCK_EX)
            file.write(str(path))
            file.flush()
        folder = OwnFolder.make(path, mark)
        path.chmod(0o700)
        try:
            yield path
        finally:
            with suppress(OSError, RefusalError):  # it stays on record
                folder.remove()
                record.unlink()


def remove_left() -> list[Undone]:
    """Remove the temporary folders of processes that have ended."""
    undone: list[Undone] = []
    records = state_folder()
    found = sorted(records.glob(f"*{SUFFIX}"))
    if not found:
        return undone
    check_owner(f"{records}", records.stat(), "remove it")
    for record in found:
        with suppress(OSError), record.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its process is alive
            path = file.read(LONGEST_PATH)
            items = remove_directory(Path(path), record.stem) if path else []
            undone += items
            if all(item.done for item in items):
                record.unlink()
    return undone
