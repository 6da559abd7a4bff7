"""The configuration of one server of the MySQL family: which options it gets, and why.

Options are chosen by what the binary itself lists, so that one file serves MySQL 5.1 and MySQL 9.
Places, memory and differences between versions that would blur a comparison are set. All else stays at the
server's default, performance_schema included: that is the server that people run.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from diskproof.families.mysql import MYSQL
from diskproof.families.values import same
from diskproof.server.base import Dirs, ServerError, connections
from diskproof.server.endpoint import CERTIFICATE, KEY, Endpoint
from diskproof.server.lifecycle import is_on_zfs
from diskproof.server.mysql.installation import LEAST_POOL_BYTES, Installation
from diskproof.system.mounts import takes_direct_io
from diskproof.wording import numbers

MIB = 2**20

REDO_BYTES = 96 * MIB
"""Size of the whole redo log: the default of MariaDB and, in two files, of MySQL before 8.0.30.

It does not follow from memory, which is a factor of its own. Every server writes the same amount before it
must write back pages.
"""

SEVERAL_POOLS_BYTES = 2**30
POOLS = 8
"""MySQL 5.6 to 8.0 split a buffer pool of 1 GiB and more into 8; set, because later defaults differ."""

PREPARED_STATEMENTS = 1_000_000
"""clients x tables x statements; the default of 16382 ends at 73 clients on 25 tables."""


def common(
    server: Installation, dirs: Dirs, memory_bytes: int, max_clients: int
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables that are equal at every level, and notes on what the place does not allow."""
    direct = takes_direct_io(dirs.data)
    notes = []
    if not direct:
        notes.append(f"{dirs.data} takes no O_DIRECT: InnoDB's files go through the page cache there")
    least = server.least_pool_bytes
    if LEAST_POOL_BYTES <= memory_bytes < least:
        notes.append(
            f"{server.flavour} {server.version_text} has a buffer pool of {numbers.size(least)}, its least, "
            f"instead of {numbers.size(memory_bytes)}"
        )
    wanted = {
        **_buffer_pool(server, memory_bytes),
        **redo_log(server, REDO_BYTES),
        "innodb_log_buffer_size": str(16 * MIB),
        "innodb_flush_method": "O_DIRECT" if direct else "fsync",
        "innodb_file_per_table": "ON",
        # The memory of an earlier start must not speed up this trial.
        "innodb_buffer_pool_dump_at_shutdown": "OFF",
        "innodb_buffer_pool_load_at_startup": "OFF",
        "max_connections": connections(max_clients),
        "max_prepared_stmt_count": str(PREPARED_STATEMENTS),
        # A repeated query must be run again, not looked up.
        "query_cache_type": "0",  # MySQL 5.1 does not take the word OFF
        "query_cache_size": "0",
        "event_scheduler": "OFF",
        "default_storage_engine": "InnoDB",
        **_character_set(server),
    }
    if is_on_zfs(dirs.data):
        # ZFS finishes an asynchronous request within its submission, so one thread would wait for one page
        # after the other. InnoDB's own I/O threads work side by side.
        wanted["innodb_use_native_aio"] = "OFF"
        notes.append(
            f"{dirs.data} lies on ZFS, where asynchronous I/O is synchronous: InnoDB's own threads do it "
            "(innodb_use_native_aio = OFF)"
        )
    if server.is_mariadb and dirs.redo.is_relative_to("/dev/shm"):  # noqa: S108 - named to be recognised
        # MariaDB treats a log there as persistent memory, maps it, and has no buffer of its own for it.
        del wanted["innodb_log_buffer_size"]
        notes.append(f"MariaDB maps a redo log in {dirs.redo} into memory: its writes need no system call")
    # fsync is the default of old servers, which do not know the word.
    if not direct and not server.is_mariadb and server.version < (5, 6, 0):
        del wanted["innodb_flush_method"]
    return {name: value for name, value in wanted.items() if name in server.known}, tuple(notes)


def _buffer_pool(server: Installation, memory_bytes: int) -> dict[str, str]:
    """Return a pool of exactly this size.

    Servers round a pool up to whole chunks of 128 MiB in each instance. With a chunk as large as an
    instance there is nothing to round.
    """
    pools = POOLS if memory_bytes >= SEVERAL_POOLS_BYTES else 1
    unit = pools * MIB
    if memory_bytes < LEAST_POOL_BYTES:
        raise ServerError(
            f"a buffer pool of {numbers.size(memory_bytes)} is too small: InnoDB needs 5 MiB; "
            "give more memory"
        )
    size = max(memory_bytes // unit * unit, server.least_pool_bytes)
    wanted = {"innodb_buffer_pool_size": str(size)}
    if "innodb_buffer_pool_instances" in server.known:
        wanted["innodb_buffer_pool_instances"] = str(pools)
        wanted["innodb_buffer_pool_chunk_size"] = str(size // pools)
    elif server.is_mariadb and "innodb_buffer_pool_size_max" not in server.known:
        wanted["innodb_buffer_pool_chunk_size"] = str(size)
    return wanted


def redo_log(server: Installation, size_bytes: int) -> dict[str, str]:
    """Return the options for a redo log of this size."""
    if "innodb_redo_log_capacity" in server.known:
        return {"innodb_redo_log_capacity": str(size_bytes)}
    if "innodb_log_files_in_group" in server.known:
        return {"innodb_log_file_size": str(size_bytes // 2), "innodb_log_files_in_group": "2"}
    return {"innodb_log_file_size": str(size_bytes)}


def _character_set(server: Installation) -> dict[str, str]:
    """Return one character set and collation for all versions, because their defaults differ."""
    name = server.character_set
    return {"character_set_server": name, "collation_server": f"{name}_general_ci"}


# ---------------------------------------------------------------- the file


def configuration(
    server: Installation, dirs: Dirs, variables: Mapping[str, str], endpoint: Endpoint | None = None
) -> str:
    """Return the whole my.cnf: the only one that the server reads."""
    options = _places(server, dirs)
    given: dict[str, str] = {}
    for name, value in variables.items():
        if name == "log_bin":
            options.update(_binary_log(server, dirs, value))
        elif value == "ON" and name in server.names and name not in server.known:
            options[name] = ""  # it may take no value
        else:
            given[name] = _as_listed(value, server.known.get(name, ""))
    options |= {"skip_networking": ""} if endpoint is None else _endpoint(endpoint, dirs)
    lines = [
        f"{name} = {_quoted(value)}" if value else name
        for name, value in options.items()
        if name not in given
    ]
    for name, value in given.items():
        each = value.split("\n") if re.fullmatch(MYSQL.adds_up, name) else [value]
        lines += [f"{name} = {_quoted(one)}" for one in each]
    return "\n".join(["[mysqld]", *lines, ""])


def _as_listed(value: str, default: str) -> str:
    """Return a switch as the server's list of options writes one: MySQL before 5.5 reads ON as 0."""
    if default in {"TRUE", "FALSE"}:
        return "1" if same(value, "ON") else "0" if same(value, "OFF") else value
    return value


def _quoted(value: str) -> str:
    """Return a value as an option file takes it: # begins a comment there, a backslash an escape."""
    if not set(value) & set("#\\\n\"'"):
        return value
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'"{escaped}"'


def check_binary_log(value: str) -> None:
    """Refuse a path of the binary log, which is a role."""
    if not (is_on(value) or same(value, "OFF")):
        raise ServerError(
            f"variable log_bin is ON or OFF here, not {value!r}: "
            "the storage layout says where the binary log lies"
        )


def _binary_log(server: Installation, dirs: Dirs, value: str) -> dict[str, str]:
    if is_on(value):
        return {"log_bin": str(dirs.binlog / "binlog"), "log_bin_index": str(dirs.binlog / "binlog.index")}
    return {"skip_log_bin": ""} if server.mysql_since(8, 0, 0) else {}  # only MySQL 8 has it on by default


def _places(server: Installation, dirs: Dirs) -> dict[str, str]:
    """Return the options that say where files lie, and those that keep others out."""
    wanted: dict[str, str | Path | None] = {
        "basedir": server.basedir,
        "lc_messages_dir": server.share_folder() if server.basedir else None,
        "plugin_dir": server.plugin_folder(),
        "datadir": dirs.data,
        "innodb_data_home_dir": dirs.data,
        "innodb_log_group_home_dir": dirs.redo,
        "aria_log_dir_path": dirs.redo,  # the redo log of MariaDB's system tables
        "tmpdir": dirs.tmp,
        "innodb_temp_data_file_path": f"{os.path.relpath(dirs.tmp, dirs.data)}/ibtmp1:12M:autoextend",
        "innodb_temp_tablespaces_dir": dirs.tmp,
        # The compiled-in folder may not exist, and then MySQL refuses to start. NULL: no file imports.
        "secure_file_priv": "NULL" if server.mysql_since(5, 7, 6) else None,
        "log_error": dirs.error_log,
        "socket": socket(dirs),
        "pid_file": dirs.run / "mysqld.pid",
        "server_id": "1",
        "mysqlx": "0",  # a second protocol, on a port of its own
    }
    # The folder for half-loaded files of replication: unused here, but it must not be /tmp.
    load_tmpdir = "replica_load_tmpdir" if "replica_load_tmpdir" in server.known else "slave_load_tmpdir"
    wanted[load_tmpdir] = dirs.tmp
    known = {name: str(value) for name, value in wanted.items() if value is not None and name in server.known}
    if os.geteuid() == 0:
        known["user"] = "root"  # without it a server refuses to run as root
    return known | {"skip_name_resolve": ""}


def _endpoint(endpoint: Endpoint, dirs: Dirs) -> dict[str, str]:
    return {
        "bind_address": endpoint.address,
        "port": str(endpoint.port),
        "ssl_cert": str(dirs.run / CERTIFICATE),
        "ssl_key": str(dirs.run / KEY),
    }


def is_on(value: str) -> bool:
    """Return whether a switch is on."""
    return same(value, "ON")


def socket(dirs: Dirs) -> Path:
    """Return where the server takes connections."""
    return dirs.run / "mysqld.sock"
