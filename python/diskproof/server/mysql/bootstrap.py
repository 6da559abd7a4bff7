"""An empty database on empty directories, by the means of each server's time."""

import subprocess
from pathlib import Path

from diskproof.server.base import DATABASE, Dirs, ServerError, ServerFailedError
from diskproof.server.lifecycle import describe_end, kill_tree, log_tail
from diskproof.server.mysql.installation import Installation
from diskproof.system.processes import Starter

SYSTEM_TABLES = (
    ("mysql_system_tables.sql", "mariadb_system_tables.sql"),
    ("mysql_performance_tables.sql", "mariadb_performance_tables.sql"),
    ("mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"),
)
"""What a distribution's install script feeds to the server; help and time zones are left out."""

OPTIONAL = "performance_tables"
"""Came with MariaDB 10.1 as a file of its own; it is part of the first file elsewhere."""

DEADLINE_S = 300.0
"""A slow disk takes minutes over the thousands of small synced writes of an initialisation."""


def initialise(server: Installation, dirs: Dirs, configuration: Path, starter: Starter) -> None:
    """Make the system tables, a password-less root on the private socket, and an empty database."""
    create = f"CREATE DATABASE {DATABASE};\n"
    script = dirs.log / "initialise.sql"
    if server.mysql_since(5, 7, 6):
        script.write_text(create)
        options = ["--initialize-insecure", f"--init-file={script}"]
        _run(server, dirs, [f"--defaults-file={configuration}", *options], None, starter)
    else:
        script.write_text(_system_tables(server) + create)
        _run(server, dirs, [f"--defaults-file={configuration}", "--bootstrap"], script, starter)
    script.unlink()


def _system_tables(server: Installation) -> str:
    """Return the SQL of the system tables, from the installation's own share folder."""
    share = server.share_folder()
    if share is None:
        raise ServerError(
            f"the installation of {server.binary} is incomplete: no english/errmsg.sys in share, "
            "share/mysql or share/mariadb of its basedir; unpack all of it"
        )
    parts = ["CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"]
    for names in SYSTEM_TABLES:
        file = next((share / name for name in names if (share / name).is_file()), None)
        if file is not None:
            parts += _without_host_accounts(file.read_text(errors="replace"))
        elif OPTIONAL not in names[0]:
            raise ServerError(
                f"the installation of {server.binary} is incomplete: {share / names[0]} is missing"
            )
    return "".join(parts)


def _without_host_accounts(sql: str) -> list[str]:
    """Leave out the accounts of this machine's name, as the install scripts do for a foreign machine.

    With skip_name_resolve the server would only complain about them at each start.
    """
    return [line for line in sql.splitlines(keepends=True) if "@current_hostname" not in line]


def _run(
    server: Installation, dirs: Dirs, arguments: list[str], script: Path | None, starter: Starter
) -> None:
    log = dirs.log / "error.log"
    with (script or Path("/dev/null")).open("rb") as source:
        process = starter.start(
            [str(server.binary), *arguments], log_file=log, stdin=source.fileno(), cwd=dirs.data
        )
        try:
            code = process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            kill_tree(process)
            code = process.returncode
    if code != 0:
        raise ServerFailedError(
            f"{server.flavour} {server.version_text} could not make an empty database in {dirs.data} "
            f"({describe_end(code)}); last lines of {log}:\n{log_tail(log)}"
        )
