"""A running server's database as SQL, as it is at one moment, by that server's own client program."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from diskproof.families.address import Address
from diskproof.server.base import ServerError, ServerNotFoundError
from diskproof.system import programs

LIMIT_S = 24 * 3600.0
"""How long a dump may take: 400 GB at 5 MB/s."""

MODES = {"nothing": "REQUIRED", "authority": "VERIFY_CA", "identity": "VERIFY_IDENTITY"}

REFUSED = (
    "(?i)(access|command) denied|privilege|permission denied (for|to) |authentication failed|no password"
)
"""What the programs say of an account that may not: rights and passwords are a remedy for nothing else."""


def dump(
    address: Address, file: Path, *, only_tables: bool = False, watch: Callable[[], str | None] | None = None
) -> None:
    """Write the SQL that makes a database, `only_tables` without their rows; ServerError says why it cannot.

    `watch` is called now and then and returns a reason to stop, if any.
    The password is that of DISKPROOF_PASSWORD, or else of the program's own files: no argument has it.
    """
    is_mysql = address.protocol == "mysql"
    names = ("mysqldump", "mariadb-dump") if is_mysql else ("pg_dump",)
    found = next(filter(None, map(programs.find_program, names)), None)
    if found is None:
        raise ServerNotFoundError(
            f"{address} is dumped by {names[0]}, which is not on PATH: install that server's client programs"
        )
    password = os.environ.get(programs.NOT_INHERITED)
    env = {} if password is None else {"MYSQL_PWD" if is_mysql else "PGPASSWORD": password}
    if is_mysql:
        argv = [*_mysql(found, address), f"--result-file={file}"]
        argv += [*(["--no-data"] if only_tables else []), "--", address.database]
    else:
        # It loads a driver.
        from diskproof.database.connection import conninfo, postgresql_methods  # noqa: PLC0415

        env["PGREQUIREAUTH"] = postgresql_methods(address)  # a libpq before 16 takes it nowhere else
        argv = ["--no-owner", "--no-privileges", "--no-subscriptions", "--no-password", f"--file={file}"]
        argv += [f"--dbname={conninfo(address)}", *(["--schema-only"] if only_tables else [])]
    file.touch(mode=0o600)
    try:
        ended = programs.run([str(found), *argv], limit_s=LIMIT_S, env=env, watch=watch)
    except programs.TimedOut:
        raise ServerError(f"{address} was not dumped within {LIMIT_S / 3600:g} h") from None
    if ended.code:
        said = "; ".join(line for line in ended.complaint.splitlines() if "loose-" not in line)
        rights = "SELECT, SHOW VIEW, TRIGGER and, for routines, SHOW_ROUTINE (MySQL 8) or SELECT on *.*"
        needs = rights if is_mysql else "SELECT on all tables (pg_read_all_data)"
        remedy = f". The account needs {needs}; its password is read from {programs.NOT_INHERITED}, or where "
        remedy = f"{remedy}{found.name} itself looks for it" if re.search(REFUSED, said) else ""
        raise ServerError(f"{address} cannot be dumped: {said}{remedy}")


def _mysql(program: Path, address: Address) -> list[str]:
    """Return arguments that lock nothing; options that begin with `loose` may be unknown."""
    argv = ["--single-transaction", "--routines", "--no-tablespaces", f"--user={address.user}"]
    argv += ["--skip-dump-date", "--loose-column-statistics=0", "--loose-set-gtid-purged=OFF"]
    if address.socket is not None:
        return [*argv, f"--socket={address.socket}"]
    argv += [f"--host={address.host}", f"--port={address.port}", "--protocol=TCP"]
    argv += [f"--ssl-ca={address.authority}"] if address.authority else []
    if address.check is None:
        return [*argv, "--loose-skip-ssl-verify-server-cert"]
    if "MariaDB" not in programs.run([str(program), "--version"]).out:  # its name may be another's
        return [*argv, f"--ssl-mode={MODES[address.check]}"]
    return [*argv, "--ssl", f"--{'skip-' * (address.check == 'nothing')}ssl-verify-server-cert"]
