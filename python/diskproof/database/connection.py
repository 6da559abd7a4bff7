"""Connections of the drivers to a server that is there already, encrypted as its URL says."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql

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


def driver_errors() -> tuple[type[Exception], ...]:
    """Return what the drivers raise."""
    import psycopg  # noqa: PLC0415 - a sixth of the start of most commands, which ask no PostgreSQL

    return pymysql.Error, psycopg.Error


def connect(address: Address, password: str | None, limit_s: float) -> Any:  # noqa: ANN401 - of either driver
    """Connect with the driver of the server's family; one of `driver_errors` if that fails."""
    if address.family == "mysql":
        return connect_mysql(address, password, limit_s)
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
    if address.check == "nothing":
        options["ssl"] = {"verify_mode": "none"}
    elif address.check is not None:
        options["ssl"] = {"ca": address.authority, "check_hostname": address.check == "identity"}
    try:
        connection: pymysql.Connection[Any] = pymysql.connect(
            **options,
            host=address.host,
            port=address.port,
            user=address.user,
            password=password or "",
            database=address.database,
            charset=charset,
            autocommit=True,
            init_command=GUARD if read_only else None,
            connect_timeout=CONNECT_LIMIT_S,
            read_timeout=limit_s,
            write_timeout=limit_s,
        )
    except (RuntimeError, OSError) as error:  # no library for a password without TLS; an unreadable file
        raise pymysql.OperationalError(str(error)) from error
    return connection


def connect_postgresql(
    address: Address, password: str | None, *, read_only: bool = False
) -> "psycopg.Connection[TupleRow]":
    """Connect to PostgreSQL."""
    import psycopg  # noqa: PLC0415

    host, port = address.host, address.port
    if address.socket is not None:
        folder = Path(address.socket)
        host = str(folder)
        if folder.name.startswith(".s.PGSQL."):  # diskproof-load takes the file, too
            host, port = str(folder.parent), int(folder.suffix[1:])
    return psycopg.connect(
        host=host,
        port=port,
        user=address.user,
        password=password,
        dbname=address.database,
        sslmode=_LIBPQ[address.check] if address.socket is None else "disable",
        sslrootcert=address.authority,
        autocommit=True,
        connect_timeout=CONNECT_LIMIT_S,
        application_name="diskproof",
        options="-c default_transaction_read_only=on" if read_only else None,
        client_encoding="utf8",  # a database in SQL_ASCII would answer in bytes
    )
