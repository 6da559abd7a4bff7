"""How a password travels to a server: the rule that diskproof-load has, too.

Nobody is sent a readable password who could be somebody else. Without TLS it never leaves this machine.
"""

from collections.abc import Callable
from typing import Any

import pymysql
from pymysql import _auth

from diskproof.families.address import Address

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
