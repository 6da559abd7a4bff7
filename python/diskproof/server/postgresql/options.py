"""The configuration of a PostgreSQL cluster: which parameters it gets, and why.

Places, memory and differences between versions that would blur a comparison are set. All else stays at the
server's default.
"""

import ipaddress
from collections.abc import Mapping

from diskproof.server.base import DATABASE, Dirs, ServerError, connections
from diskproof.server.endpoint import CERTIFICATE, KEY, USER, Endpoint
from diskproof.server.postgresql.installation import Installation
from diskproof.system.kernel import has_quick_clock
from diskproof.wording import numbers

KIB = 2**10
MIB = 2**20

ACCESS = "pg_hba.conf"

TMP_TABLESPACE = "diskproof_tmp"
"""Temporary tables and sort files go to this tablespace, which lies in the tmp role's directory."""


def common(server: Installation, memory_bytes: int, max_clients: int) -> dict[str, str]:
    """Return the variables that are equal at every level."""
    if memory_bytes < MIB:
        raise ServerError(
            f"shared_buffers of {numbers.size(memory_bytes)} is too small: PostgreSQL needs 1 MiB; "
            "give more memory"
        )
    common = {
        "shared_buffers": f"{memory_bytes // (8 * KIB) * 8}kB",
        "max_connections": connections(max_clients),
        # The server's own defaults: a checkpoint every 5 minutes or 1 GB of WAL.
        "checkpoint_timeout": "5min",
        "max_wal_size": "1GB",
        # As much ready-made WAL as InnoDB's redo log holds. It comes with the golden image, so that a short
        # trial does not measure how fast new WAL files are filled with zeros.
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

    pg_test_timing measured 57 ns for a reading of the clock. A read or a flush needs two, and takes at least
    microseconds. A clock that needs a system call may take a whole microsecond: then timing stays off.
    """
    if not has_quick_clock():
        return {}
    timings = {}
    if server.version >= (9, 2):
        timings["track_io_timing"] = "on"
    if server.version >= (14,):
        timings["track_wal_io_timing"] = "on"
    return timings


def configuration(dirs: Dirs, variables: Mapping[str, str], endpoint: Endpoint | None = None) -> str:
    """Return the whole postgresql.conf."""
    parameters = {**variables, "unix_socket_directories": str(dirs.run)}
    return conf_file(parameters | ({} if endpoint is None else _endpoint(endpoint, dirs)))


def _endpoint(endpoint: Endpoint, dirs: Dirs) -> dict[str, str]:
    return {
        "listen_addresses": endpoint.address,
        "port": str(endpoint.port),
        "ssl": "on",
        "ssl_cert_file": str(dirs.run / CERTIFICATE),
        "ssl_key_file": str(dirs.run / KEY),
        "hba_file": str(dirs.run / ACCESS),
    }


def access(server: Installation, endpoint: Endpoint) -> str:
    """Return the pg_hba.conf of a server with an endpoint: the lab by the socket, an account with TLS."""
    how = "scram-sha-256" if server.version >= (10,) else "md5"
    lines = ["local all all trust"]
    for address in endpoint.admitted:
        network = ipaddress.ip_network(address)
        lines.append(f"hostssl {DATABASE} {USER} {network} {how}")
    return "\n".join([*lines, ""])


def conf_file(parameters: Mapping[str, str]) -> str:
    """Return a postgresql.conf with these parameters."""
    lines = [f"{name} = {quoted(value)}" for name, value in parameters.items()]
    return "\n".join([*lines, ""])


def quoted(value: str) -> str:
    """Return a value as postgresql.conf takes any of them: in single quotes."""
    escaped = value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"'{escaped}'"
