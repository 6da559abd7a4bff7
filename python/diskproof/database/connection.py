"""Connections of the drivers to a server that is there already, encrypted as its URL says."""

import select
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql import _auth

from diskproof.database.asking import MOST_BYTES, bounded, resident_bytes
from diskproof.families.address import Address, Check

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow

CONNECT_LIMIT_S = 10
"""How long a server may take to accept a connection: with TLS across an ocean less than a second."""

_LIBPQ: Mapping[Check | None, str] = {
    None: "disable",
    "nothing": "require",
    "authority": "verify-ca",
    "identity": "verify-full",
}


GUARD = "SET SESSION TRANSACTION READ ONLY"
"""From MySQL 5.6 and MariaDB 10.0 on the server then refuses what writes."""


def connect(address: Address, password: str | None, limit_s: float) -> Any:  # noqa: ANN401 - of either driver
    """Connect with the driver of the server's protocol; one of `driver_errors` if that fails."""
    match address.protocol:
        case "mysql":
            return connect_mysql(address, password, limit_s)
        case "postgresql":
            return connect_postgresql(address, password)


def connect_mysql(
    address: Address,
    password: str | None,
    limit_s: float,
    charset: str = "utf8mb4",
    *,
    read_only: bool = False,
) -> "pymysql.Connection[Any]":
    """Connect to a server of the MySQL family; one that then says nothing for `limit_s` has failed.

    If the URL does not say how to encrypt, the connection is encrypted if the server can: the driver sends
    some kinds of password in no other way.
    """
    options: dict[str, Any] = {"unix_socket": address.socket} if address.socket else {}
    if address.check in (None, "nothing"):
        options["ssl"] = _unverified()
    else:
        options["ssl"] = {"ca": address.authority, "check_hostname": address.check == "identity"}
    try:
        connection = pymysql.connect(
            **options,
            host=address.host,
            port=address.port,
            user=address.user,
            password=(password or "").encode(),  # of a text it would take Latin-1 alone
            database=address.database,
            charset=charset,
            autocommit=True,
            init_command=GUARD if read_only else None,
            read_timeout=limit_s,
            write_timeout=limit_s,
            auth_plugin_map=mysql_methods(address),
            defer_connect=True,
        )
        route = _route(address)
    except OSError as error:  # an unreadable file
        raise pymysql.OperationalError(
            2003, f"Can't connect to MySQL server on {address} ({error})"
        ) from error
    if address.check is None:
        connection._ssl_required = False  # type: ignore[attr-defined]
    # PyMySQL only knows this of a socket file that it opened itself.
    connection._secure = address.socket is not None  # type: ignore[attr-defined]
    with bounded(route.fileno(), CONNECT_LIMIT_S):
        connection.connect(route)
    return connection


@cache
def _unverified() -> ssl.SSLContext:
    """Return what encrypts and asks for no certificate: the driver would read the machine's each time."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _route(address: Address) -> socket.socket:
    """Open the way to a server of the MySQL family."""
    if address.socket is not None:
        return through_file(address.socket)
    route = socket.create_connection((address.host, address.port), CONNECT_LIMIT_S)
    route.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    route.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return route


def through_file(path: str) -> socket.socket:
    """Open the way through a server's socket file.

    PyMySQL leaves one that fails to the garbage collector: hundreds, while a server starts.
    """
    route = socket.socket(socket.AF_UNIX)
    try:
        route.settimeout(CONNECT_LIMIT_S)
        route.connect(path)
    except OSError:
        route.close()
        raise
    return route


def conninfo(address: Address, **further: str | None) -> str:
    """Return how libpq reaches a database, without the password."""
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415

    host, port = address.host, address.port
    if address.socket is not None:
        folder = Path(address.socket)
        host = str(folder)
        if folder.name.startswith(".s.PGSQL."):  # diskproof-load takes the file, too
            host, port = str(folder.parent), int(folder.suffix[1:])
    return make_conninfo(
        "",
        host=host,
        port=port,
        user=address.user,
        dbname=address.database,
        sslmode=_LIBPQ[address.check] if address.socket is None else "disable",
        sslrootcert=address.authority,
        gssencmode="disable",
        application_name="diskproof",
        client_encoding="utf8",  # a database in SQL_ASCII would answer in bytes
        **further,
    )


def connect_postgresql(
    address: Address, password: str | None, *, read_only: bool = False
) -> "psycopg.Connection[TupleRow]":
    """Connect to PostgreSQL."""
    import psycopg  # noqa: PLC0415
    from psycopg import pq  # noqa: PLC0415

    read = "-c default_transaction_read_only=on" if read_only else None
    wanted = conninfo(address, password=password, require_auth=postgresql_methods(address), options=read)
    begun = pq.PGconn.connect_start(wanted.encode())
    end, before = time.monotonic() + CONNECT_LIMIT_S, resident_bytes()
    waits: int = pq.PollingStatus.WRITING
    while begun.status != pq.ConnStatus.BAD and waits != pq.PollingStatus.OK:
        ready = select.poll()
        ready.register(begun.socket, select.POLLIN if waits == pq.PollingStatus.READING else select.POLLOUT)
        if not ready.poll(max(end - time.monotonic(), 0) * 1000) or time.monotonic() > end:
            raise psycopg.OperationalError(f"the log-in has not ended within {CONNECT_LIMIT_S} s")
        waits = begun.connect_poll()
        if resident_bytes() - before > MOST_BYTES:
            raise psycopg.OperationalError("the log-in has no end")
    if begun.status == pq.ConnStatus.BAD:
        raise psycopg.OperationalError(f"connection failed: {begun.get_error_message()}")
    begun.nonblocking = 1
    connection = psycopg.Connection(begun)
    connection.autocommit = True
    return connection


# ---------------------------------------------------------------- how a password travels
# The rule that diskproof-load has, too: nobody is sent a readable password who could be somebody else.
# Without TLS it never leaves this machine.

METHODS: Any = _auth
"""The driver's own, without types."""

NEEDS_TLS = (
    "the server asks for the password itself, and the connection is not encrypted: add ssl-mode=required "
    "to `url`"
)


class _Encrypted:
    """`sha256_password`: the password goes through TLS or a socket file, never by a key from the network."""

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - the driver's, with what it keeps private
        self._connection = connection

    def authenticate(self, packet: Any) -> Any:  # noqa: ANN401
        if not self._connection._secure:
            raise pymysql.OperationalError(NEEDS_TLS)
        return METHODS.sha256_password_auth(self._connection, packet)


class _Cached(_Encrypted):
    """`caching_sha2_password`: without TLS only by the digest that a server keeps of known accounts."""

    def authenticate(self, packet: Any) -> Any:  # noqa: ANN401
        connection = self._connection
        if connection._secure or not connection.password:
            return METHODS.caching_sha2_password_auth(connection, packet)
        if packet.is_auth_switch_request():
            salt = packet.read_all().removesuffix(b"\0")
            connection.write_packet(METHODS.scramble_caching_sha2(connection.password, salt))
            packet = connection._read_packet()
        if packet.get_all_data() == b"\x01\x03":
            return connection._read_packet()
        if packet.is_extra_auth_data():
            raise pymysql.OperationalError(NEEDS_TLS)
        return packet


class _Refused(_Encrypted):
    """A method that shows a server the password, or that anybody can undo."""

    def authenticate(self, packet: Any) -> Any:  # noqa: ANN401, ARG002
        raise pymysql.OperationalError(
            "the server asks for the password in a form that it could use elsewhere: give the account "
            "mysql_native_password, caching_sha2_password or ed25519"
        )


class _Clear(_Encrypted):
    """`mysql_clear_password`: only for a server that is certain to be the one that the URL names."""

    def authenticate(self, packet: Any) -> Any:  # noqa: ANN401, ARG002
        self._connection.write_packet(self._connection.password + b"\0")
        return self._connection._read_packet()


def mysql_methods(address: Address) -> dict[str, Callable[[Any], Any]]:
    """Return what PyMySQL does not do by itself; it refuses methods that it does not know."""
    certain = address.socket is not None or address.check in ("authority", "identity")
    return {
        "sha256_password": _Encrypted,
        "caching_sha2_password": _Cached,
        "mysql_clear_password": _Clear if certain else _Refused,
        "mysql_old_password": _Refused,
        "dialog": _Refused,
    }


def postgresql_methods(address: Address) -> str:
    """Return what libpq may be asked for (`require_auth`); the password itself by TLS or a socket file."""
    readable = ["password"] if address.socket is not None or address.check is not None else []
    return ",".join(["scram-sha-256", "md5", "none", *readable])
