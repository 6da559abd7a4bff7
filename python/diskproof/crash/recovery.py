"""After the cut: mount, start the server again, and look at all that it has."""

import errno
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diskproof.crash.verify import Verified, verify
from diskproof.results.cut import Recovery
from diskproof.server.base import Running, ServerError, ServerFailedError, ServerTooSlowError
from diskproof.storage.filesystem import NotMountedError

RECOVERY_DEADLINE_S = 600.0
"""How long a server may take to come up again: on a slow disk recovery reads and writes for minutes."""

DAMAGED = {errno.EIO, errno.EUCLEAN, errno.EBADMSG, errno.EROFS}
"""What a file system says over its own damage: ext4 and xfs call it EUCLEAN, and bad checksums EBADMSG."""


@dataclass
class Recovered:
    """What came up again."""

    running: Running | None = None
    """None where no server did."""
    mount_s: float | None = None
    server_s: float | None = None
    refused: str | None = None
    complaints: Sequence[str] = ()
    """What a server that did not come up told of damage before it gave up."""


def recover(
    mount: Callable[[], None] | None, start: Callable[[float], Running], folders: Iterable[Path]
) -> Recovered:
    """Mount what was unmounted and start the server; what does not come up is an outcome, and no error.

    `start` gets the seconds that recovery may take; `folders` are those of the roles. What is no fault of the
    database or its file systems is raised: a missing program, a full disk of our own, a limit of time, unless
    the server has told of damage by then (MySQL 9 may wait for ever for a page that it cannot read).
    """
    done = Recovered()
    began = time.monotonic()
    try:
        if mount is not None:
            mount()
            done.mount_s = time.monotonic() - began
            began = time.monotonic()
        done.running = start(RECOVERY_DEADLINE_S)
        done.server_s = time.monotonic() - began
    except NotMountedError as error:
        done.refused = f"a file system could not be mounted: {error}"
    except ServerError as error:
        done.complaints = error.complaints if isinstance(error, ServerFailedError) else ()
        if isinstance(error, ServerTooSlowError) and not done.complaints:
            raise
        done.refused = f"the server did not start: {error}"
    except OSError as error:
        if not _is_of_damage(error, folders):
            raise
        done.refused = f"the server did not start: {error}"
    return done


def _is_of_damage(error: OSError, folders: Iterable[Path]) -> bool:
    """Tell whether it is a file of the database that cannot be worked on, or one of ours."""
    if error.filename is None:
        return error.errno in DAMAGED
    path = Path(os.fsdecode(error.filename))
    return any(path.is_relative_to(folder) for folder in folders)


def look(recovered: Recovered) -> tuple[Recovery, Verified]:
    """Look at all that there is after recovery, and return the record of it."""
    found = Verified() if recovered.running is None else verify(recovered.running)
    record = Recovery(
        mount_s=recovered.mount_s,
        server_s=recovered.server_s,
        refused=recovered.refused,
        complaints=[*recovered.complaints, *found.complaints],
        damaged_tables=found.damaged,
        binlog_only=found.binlog_only,
        engine_only=found.engine_only,
    )
    return record, found
