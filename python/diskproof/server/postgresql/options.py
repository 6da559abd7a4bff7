"""The configuration of a PostgreSQL cluster: which parameters it gets, and why.

What is neither a place, nor memory, nor a difference between versions that would blur a comparison
stays at the server's default.
"""

from collections.abc import Mapping
from pathlib import Path

from diskproof.results.record import format_bytes
from diskproof.server.base import Dirs, ServerError, Settings
from diskproof.server.lifecycle import is_on_zfs
from diskproof.server.postgresql.installation import Installation
from diskproof.server.tuning import tuned_variables, user_variables
from diskproof.study.model import Level
from diskproof.system.clock import has_quick_clock

KIB = 2**10
MIB = 2**20

SESSIONS_PER_CLIENT = 2
"""A client that connects anew does so before the server has done with its last session."""

RESERVED_CONNECTIONS = 10
"""Beside the clients: the lab's own, the server's reserve for its superuser, and a person who looks in."""

PAGE_BYTES = 8 * KIB
"""The block size that PostgreSQL is built with, but for its developers' experiments."""

TMP_TABLESPACE = "diskproof_tmp"
"""Temporary tables and sort files go to this tablespace, which lies in the tmp role's directory."""

SHARED_MEMORY = Path("/dev/shm/PostgreSQL.")  # noqa: S108 - named to be recognised
"""How the names of its segments of shared memory begin (src/backend/storage/ipc/dsm_impl.c).

A number follows. The main process has one from its start, which lists the numbers of all others (dsm.c).

``dynamic_shared_memory_type = mmap`` would keep them in the data directory, where they are written to
the device under test.
"""

PLACES = {
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "log_directory",
    "port",
    "temp_tablespaces",
    "unix_socket_directories",
}
"""Parameters that decide where things lie: the storage layout's business, not a tuning variable."""


def settings(
    server: Installation,
    dirs: Dirs,
    *,
    level: Level,
    memory_bytes: int,
    max_clients: int,
    variables: Mapping[str, str],
) -> Settings:
    """Return the variables for one trial; ServerError for one that is not the user's to set."""
    own = user_variables(variables, places=PLACES, memory="shared_buffers")
    tuned = tuned_variables("postgresql", level) | own
    common = _common(server, memory_bytes, max_clients)
    if not is_on_zfs(dirs.redo) or server.version < (12,):
        return Settings(common, tuned)
    # A file that is filled with zeros, or renamed to be written again, is written anew all the same.
    common |= {"wal_init_zero": "off", "wal_recycle": "off"}
    note = f"{dirs.redo} lies on ZFS, which never writes in place: old WAL files are not used again"
    return Settings(common, tuned, notes=(f"{note} (wal_recycle = off, wal_init_zero = off)",))


def loading_settings(server: Installation, *, memory_bytes: int, max_clients: int) -> Settings:
    """Return the variables for filling a golden image: the unsafe level."""
    common = _common(server, memory_bytes, max_clients)
    # The lab settles the tables itself when all rows are there; a vacuum half-way would be done again.
    common["autovacuum"] = "off"
    common["maintenance_work_mem"] = "128MB"
    return Settings(common, tuned_variables("postgresql", "unsafe"), kept=True)


def _common(server: Installation, memory_bytes: int, max_clients: int) -> dict[str, str]:
    if memory_bytes < MIB:
        raise ServerError(
            f"shared_buffers of {format_bytes(memory_bytes)} is too small: PostgreSQL needs 1 MiB; "
            "give more memory"
        )
    common = {
        "shared_buffers": f"{memory_bytes // (8 * KIB) * 8}kB",
        "max_connections": str(max_clients * SESSIONS_PER_CLIENT + RESERVED_CONNECTIONS),
        # The server's own defaults, stated: a checkpoint every 5 minutes or 1 GB of WAL.
        "checkpoint_timeout": "5min",
        "max_wal_size": "1GB",
        # As much ready-made WAL as InnoDB's redo log holds: it comes with the golden image, so that a
        # short trial does not measure how fast new WAL files are filled with zeros.
        "min_wal_size": "96MB",
        # The socket's folder is the lock, and the lab reads the log.
        "listen_addresses": "",
        "temp_tablespaces": TMP_TABLESPACE,
        **_timings(server),
        # Messages that the lab can search, whatever the machine's language.
        "lc_messages": "C",
    }
    if server.version >= (9, 3):
        common["unix_socket_permissions"] = "0700"
    return common


def _timings(server: Installation) -> dict[str, str]:
    """Return the parameters that let the server measure how long its own input and output take.

    Measured with pg_test_timing: 57 ns a reading of the clock, two of which go with a read or a flush that
    takes microseconds at the least. Where the clock is read by a system call it may be a whole microsecond:
    there it stays off.
    """
    if not has_quick_clock():
        return {}
    timings = {}
    if server.version >= (9, 2):
        timings["track_io_timing"] = "on"
    if server.version >= (14,):
        timings["track_wal_io_timing"] = "on"
    return timings


def configuration(dirs: Dirs, variables: Mapping[str, str]) -> str:
    """Return the whole postgresql.conf."""
    parameters = {**variables, "unix_socket_directories": str(dirs.run)}
    lines = [f"{name} = {quoted(value)}" for name, value in parameters.items()]
    return "\n".join([*lines, ""])


def quoted(value: str) -> str:
    """Return a value as postgresql.conf takes any of them: in single quotes."""
    escaped = value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"'{escaped}'"
