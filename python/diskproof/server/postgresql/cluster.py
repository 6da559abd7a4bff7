"""The files of a cluster: made by initdb, and linked anew wherever a golden image was restored."""

import shutil
from contextlib import suppress
from pathlib import Path

from diskproof.reading import MIB, read_text
from diskproof.server.base import Dirs, ServerError
from diskproof.server.postgresql.installation import Installation
from diskproof.server.unprivileged import give_to
from diskproof.system.run_processes import processes_in

SUPERUSER = "postgres"


def initdb(server: Installation, dirs: Dirs) -> list[str]:
    """Return the command that makes a cluster: data and WAL apart, one locale for every machine.

    It needs no password, because its socket is private.
    """
    return [
        str(server.programs / "initdb"),
        f"--pgdata={dirs.data}",
        f"--waldir={dirs.redo}" if server.version[0] >= 10 else f"--xlogdir={dirs.redo}",
        f"--username={SUPERUSER}",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        "--no-sync",  # the lab syncs a finished golden image as a whole
        # Off by default until 17. Without them a torn page is read as if it were whole, and the damage may
        # never show. Every image has them, so that speed and safety are measured on one kind of database,
        # which pays for its checksums as InnoDB does.
        "--data-checksums",
    ]


FOREIGN = (
    *("postmaster.pid", "postmaster.opts", "postgresql.conf", "postgresql.auto.conf"),
    *("pg_hba.conf", "pg_ident.conf"),
)
"""Files of a copied cluster that are about where it ran; settings are the study's."""

OURS = "".join(
    f"{statement};\n"
    for statement in (
        f"CREATE ROLE {SUPERUSER}",
        f"ALTER ROLE {SUPERUSER} LOGIN SUPERUSER VALID UNTIL 'infinity'",
        "UPDATE pg_subscription SET subenabled = false",
    )
)
"""What makes a copied cluster ours: a superuser, and no subscription to a publisher."""


def check_data(server: Installation, data: Path) -> None:
    """Refuse a cluster of another version, of a standby, or with tablespaces elsewhere (ServerError)."""
    version = read_text(data / "PG_VERSION", MIB).strip()
    if version not in (str(server.version[0]), ".".join(map(str, server.version[:2]))):
        raise ServerError(
            f"{data} is of PostgreSQL {version}, and the server is {server.version_text}: name the `basedir` "
            "of that version, or upgrade a copy with pg_upgrade"
        )
    if any((data / file).exists() for file in ("standby.signal", "recovery.signal", "recovery.conf")):
        raise ServerError(f"{data} is of a standby: promote a copy of it first")
    if any((data / "pg_tblspc").iterdir()):
        raise ServerError(f"{data} has tablespaces, which lie elsewhere: make a dump of it")


def adopt(server: Installation, dirs: Dirs) -> list[str]:
    """Make the copy of a cluster fit for `place`; return the command that gives it our superuser."""
    data = dirs.data
    for name in FOREIGN:
        (data / name).unlink(missing_ok=True)
    (data / "pg_ident.conf").touch()
    (data / "postgresql.conf").write_text("")
    (data / "pg_hba.conf").write_text("local all all trust\n")
    shutil.rmtree(data / "base" / "pgsql_tmp", ignore_errors=True)
    for slot in (data / "pg_replslot").iterdir():
        shutil.rmtree(slot)
    log = data / ("pg_wal" if server.version[0] >= 10 else "pg_xlog")
    for file in log.iterdir():
        file.rename(dirs.redo / file.name)
    log.rmdir()
    _link(log, dirs.redo)
    return [str(server.binary), "--single", "-D", str(data), "template1"]


def place(server: Installation, dirs: Dirs, user: str | None) -> None:
    """Point the links of a restored cluster at this trial's directories, and give the files to the user.

    ``pg_wal``, the temporary tablespace and ``base/pgsql_tmp`` are links with absolute targets.
    """
    _link(dirs.data / ("pg_wal" if server.version[0] >= 10 else "pg_xlog"), dirs.redo)
    for tablespace in (dirs.data / "pg_tblspc").iterdir():
        _link(tablespace, dirs.tmp)
    version_folder = dirs.tmp / server.tablespace_folder(dirs.data)
    with suppress(FileNotFoundError):
        shutil.rmtree(version_folder)
    version_folder.mkdir()
    link_temporary_files(dirs)
    dirs.data.chmod(0o700)  # the server refuses a data directory that others may read
    give_to(user, dirs.data, dirs.redo, dirs.tmp, dirs.run)


def remove_stale_pid_file(dirs: Dirs) -> None:
    """Remove the pid file that a killed server left in its data directory, as service managers do.

    A server refuses to start over one that a power cut has emptied, or whose pid is now another process's.
    The file stays if a process still works in the directory: then the server refuses with good reason.
    """
    file = dirs.data / "postmaster.pid"
    if file.exists() and not any(processes_in([dirs.data])):
        file.unlink()


def link_temporary_files(dirs: Dirs) -> None:
    """Send the files of cursors that outlive their transaction to the tmp role.

    They are the only temporary files outside the temporary tablespace.
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
