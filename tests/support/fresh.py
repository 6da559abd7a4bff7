"""Empty databases for runs: each server makes its own once for all workers, then it is copied.

tests/server asks how servers make them.
"""

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

from diskproof.server.base import Dirs
from diskproof.server.mysql import MysqlServer
from diskproof.server.postgresql import PostgresqlServer
from diskproof.server.process import ServerProgram
from diskproof.system.processes import Starter
from support.servers import make_dirs
from support.shared import once

MAKERS: dict[type[ServerProgram], Callable[..., None]] = {
    MysqlServer: MysqlServer.initialise,
    PostgresqlServer: PostgresqlServer.initialise,
}


def initialise(self: ServerProgram, dirs: Dirs, starter: Starter) -> None:
    """Stand in for a server's method of this name."""
    make = MAKERS[type(self)]
    if self._image is not None:  # what is in a container is for that container
        make(self, dirs, starter)
        return

    def once_for_all(folder: Path) -> None:
        folder.chmod(0o755)
        make(self, make_dirs(folder), starter)

    self.check(dirs)
    made = once(f"fresh-{hashlib.sha256(self.data_format().encode()).hexdigest()[:8]}", once_for_all)
    dirs.run.chmod(0o700)
    for role in ("data", "redo"):
        # Most of a fresh redo log is zeros.
        copy = ["cp", "--archive", "--sparse=always", f"{made / role}/.", str(dirs.of(role))]
        subprocess.run(copy, check=True)
    self.place(dirs)
