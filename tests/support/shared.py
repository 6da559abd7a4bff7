"""What takes long to make and is never changed: made once for all workers of a session of pytest."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

FOLDER = "DISKPROOF_TEST_SHARED"
"""Names the session's folder, which tests/conftest.py makes and removes."""

ROOM_BYTES = 2 * 2**30
"""Golden images of four servers of up to 200 MB, the data of three more, and one restored one a worker."""


def memory_or_disk() -> Path:
    """Return /dev/shm where it is roomy: the tests ask what servers do, not how fast a disk is."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > ROOM_BYTES
    return memory if roomy else Path(tempfile.gettempdir())


def short_folder(parent: Path) -> Path:
    """Make a directory with a short name that every user may enter, as PostgreSQL's user must."""
    path = Path(tempfile.mkdtemp(prefix="dp-", dir=parent))
    path.chmod(0o755)
    return path


def once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of this name, which the first who asks makes empty and fills by `make`."""
    folder = Path(os.environ[FOLDER])
    made, partial = folder / name, folder / f"{name}.partial"
    with (folder / f"{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(partial, ignore_errors=True)  # of one who failed
            partial.mkdir()
            make(partial)
            partial.rename(made)  # whatever still points to the old place is now wrong
    return made
