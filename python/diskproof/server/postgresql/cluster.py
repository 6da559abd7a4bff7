"""The files of a cluster: made by initdb, and linked anew wherever a golden image was restored."""

import re
import shutil
import subprocess
from pathlib import Path

from diskproof.results.record import Role
from diskproof.server.account import give_to
from diskproof.server.base import Dirs, ServerError, ServerFailedError
from diskproof.server.lifecycle import describe_end, kill_tree, log_tail
from diskproof.server.postgresql.installation import Installation
from diskproof.system.journal import processes_in
from diskproof.system.processes import Starter

SUPERUSER = "postgres"

DEADLINE_S = 300.0
"""initdb writes some 40 MiB; a slow disk under load takes minutes over it."""


def error_log(dirs: Dirs) -> Path:
    """Return where the server's messages go."""
    return dirs.log / "error.log"


def make(server: Installation, dirs: Dirs, user: str | None, starter: Starter) -> None:
    """Run initdb: data and WAL apart, one locale for every machine, no password on the private socket."""
    if user:
        give_to(user, dirs.data, dirs.redo, dirs.tmp, dirs.run)
    log = error_log(dirs)
    command = [
        str(server.programs / "initdb"),
        f"--pgdata={dirs.data}",
        f"--waldir={dirs.redo}" if server.version[0] >= 10 else f"--xlogdir={dirs.redo}",
        f"--username={SUPERUSER}",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        "--no-sync",  # the lab syncs a finished golden image as a whole
        # Off by default until 17. Without them a page that a power cut has torn is read as if it were whole,
        # and what is wrong with it may never show. On in every image, so that a setting's speed and its
        # safety are those of one database, which pays for its checksums as InnoDB's does.
        "--data-checksums",
    ]
    process = starter.start(command, log_file=log, user=user, cwd=dirs.data)
    try:
        code = process.wait(DEADLINE_S)
    except subprocess.TimeoutExpired:
        kill_tree(process)
        code = process.returncode
    if code == 0:
        _link_temporary_files(dirs)
        if user:
            give_to(user, dirs.data, dirs.tmp)
    else:
        raise ServerFailedError(
            f"PostgreSQL {server.version_text} could not make a cluster in {dirs.data} "
            f"({describe_end(code)}); last lines of {log}:\n{log_tail(log)}"
        )


def place(server: Installation, dirs: Dirs, user: str | None) -> None:
    """Point the links of a restored cluster at this trial's directories, and give the files to the user.

    ``pg_wal``, the temporary tablespace and ``base/pgsql_tmp`` are links with absolute targets.
    """
    _link(dirs.data / ("pg_wal" if server.version[0] >= 10 else "pg_xlog"), dirs.redo)
    for tablespace in (dirs.data / "pg_tblspc").iterdir():
        _link(tablespace, dirs.tmp)
    version_folder = dirs.tmp / server.tablespace_folder(dirs.data)
    shutil.rmtree(version_folder, ignore_errors=True)
    version_folder.mkdir()
    _link_temporary_files(dirs)
    dirs.data.chmod(0o700)  # the server refuses a data directory that others may read
    if user:
        give_to(user, dirs.data, dirs.redo, dirs.tmp, dirs.run)


def remove_stale_pid_file(dirs: Dirs) -> None:
    """Remove the pid file that a killed server left in its data directory, as service managers do.

    A server refuses to start over one that a power cut has emptied, or whose pid is by now another's. Where
    somebody still works in the directory it stays, and the server refuses for good reason.
    """
    file = dirs.data / "postmaster.pid"
    if file.exists() and not any(processes_in([dirs.data])):
        file.unlink()


def lock_segment(dirs: Dirs) -> str | None:
    """Return the number of the System V shared memory by which a running server locks its directory.

    The seventh line of its pid file has the key and the number (miscadmin.h, LOCK_FILE_LINE_SHMEM_KEY).
    """
    try:
        words = (dirs.data / "postmaster.pid").read_text().splitlines()[6].split()
    except (OSError, IndexError):
        return None
    return words[1] if len(words) == 2 else None


def _link_temporary_files(dirs: Dirs) -> None:
    """Send the files of cursors that outlive their transaction to the tmp role too.

    They alone do not go to the temporary tablespace.
    """
    folder = dirs.tmp / "pgsql_tmp"
    folder.mkdir(exist_ok=True)
    _link(dirs.data / "base" / "pgsql_tmp", folder)


def _link(link: Path, target: Path) -> None:
    if link.is_symlink():
        link.unlink()
    elif link.exists():
        raise ServerError(
            f"{link} is a directory where a link to {target} belongs: "
            "the golden image was copied without its links; copy links as links"
        )
    link.symlink_to(target.resolve())


def role_of(path: str, dirs: Dirs) -> Role | None:
    """Return the role of an open file by its name, then by its folder; None where it is no role's."""
    file = Path(path.removesuffix(" (deleted)"))
    if re.fullmatch(r"[0-9A-F]{24}(\.partial)?|xlogtemp\.\d+", file.name):
        return "redo"
    if file.name.startswith("pgsql_tmp"):
        return "tmp"
    roles: tuple[Role, ...] = ("data", "redo", "tmp")
    return next((role for role in roles if file.is_relative_to(dirs.of(role).resolve())), None)
