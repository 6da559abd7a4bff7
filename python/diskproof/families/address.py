"""The URL of a server that is there already: the same words as diskproof-load has for it."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from diskproof.results.record import Protocol

SCHEMES: Mapping[str, Protocol] = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "postgresql": "postgresql",
    "postgres": "postgresql",
}

PORTS: Mapping[Protocol, int] = {"mysql": 3306, "postgresql": 5432}

Check = Literal["nothing", "authority", "identity"]
"""What is checked of a server's certificate."""

ENCRYPTION: Mapping[Protocol, tuple[str, str, Mapping[str, Check | None]]] = {
    "mysql": (
        "ssl-mode",
        "ssl-ca",
        {"disabled": None, "required": "nothing", "verify-ca": "authority", "verify-identity": "identity"},
    ),
    "postgresql": (
        "sslmode",
        "sslrootcert",
        {"disable": None, "require": "nothing", "verify-ca": "authority", "verify-full": "identity"},
    ),
}
"""The options for encryption, as each database's own clients name them: how, the authority, the choices."""

SOCKETS: Mapping[Protocol, str] = {
    "mysql": "socket=/run/mysqld/mysqld.sock",
    "postgresql": "host=/run/postgresql",
}
"""Where distributions have the socket, as a URL says it."""

FORMS = "mysql://USER@HOST/DATABASE, postgresql://USER@HOST/DATABASE or mysql://USER@localhost/DATABASE?socket=PATH"


@dataclass(frozen=True)
class Address:
    """A database of a server, and the account that is used there."""

    url: str
    """As diskproof-load takes it; it has no password."""
    protocol: Protocol
    user: str
    database: str
    host: str
    port: int
    socket: str | None
    """Path of a Unix socket, or the folder of PostgreSQL's; None: `host` and `port`."""
    check: Check | None
    """None: the connection is not encrypted."""
    authority: str | None
    """File of the certificates that are trusted."""

    @property
    def may_be_here(self) -> bool:
        """Whether the server may be on this machine: behind a socket or a loopback address.

        A tunnel has such an address, too.
        """
        if self.socket is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        """Return who is meant where, for people: ``app@db.example:3306/diskproof``."""
        return f"{self.user}@{self.socket or f'{self.host}:{self.port}'}/{self.database}"


def parse(url: str) -> Address:
    """Read a URL; ValueError says what is wrong with it, and never repeats a password."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(f"it is not a URL: write {FORMS}") from None
    if parts.scheme not in SCHEMES:
        raise ValueError(f"it begins with no known scheme: write {FORMS}")
    if parts.password is not None:
        raise ValueError(
            "leave the password out of the URL: name its file in `password_file`, or the environment "
            "variable that has it in `password_env`; for `prepare` that is DISKPROOF_PASSWORD"
        )
    if parts.fragment:
        raise ValueError("a # would begin a fragment, which no server has: write %23 for #")
    protocol = SCHEMES[parts.scheme]
    how, trusted, choices = ENCRYPTION[protocol]
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    socket = options.get("socket", options.get("host"))
    database = unquote(parts.path.lstrip("/"))
    for what, found in (("user", parts.username), ("database", database), ("host", socket or parts.hostname)):
        if not found:
            raise ValueError(f"it has no {what}: write {FORMS}")
    known = ["socket", "host", *(["port"] if protocol == "postgresql" else []), how, trusted]
    if unknown := [name for name in options if name not in known]:
        raise ValueError(f"its parameter {unknown[0]!r} is unknown: there are {', '.join(known)}")
    if not options.get("host", "/").startswith("/"):
        raise ValueError("its host= names no socket's directory, which begins with /")
    if not options.get("port", "0").isdecimal():
        raise ValueError(f"its port is no number: {options['port']!r}")
    mode, authority = options.get(how), options.get(trusted)
    if mode is not None and mode not in choices:
        raise ValueError(f"{how} is one of {', '.join(choices)}, not {mode!r}")
    check = choices[mode] if mode else None
    if (check in ("authority", "identity")) != (authority is not None):
        needs = [name for name, checks in choices.items() if checks in ("authority", "identity")]
        raise ValueError(f"{trusted}=FILE, the trusted certificate, goes with {how}={' or '.join(needs)}")
    return Address(
        url=url,
        protocol=protocol,
        user=unquote(parts.username or ""),
        database=database,
        host=parts.hostname or "localhost",
        port=port or int(options.get("port", PORTS[protocol])),
        socket=socket,
        check=check,
        authority=authority,
    )
