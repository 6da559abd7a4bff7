"""The way into a server for clients on other machines: one address, one account of the run, TLS alone.

Without an endpoint a server takes connections through its private socket alone.
"""

import base64
import hashlib
import hmac
import ipaddress
import os
import secrets
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from diskproof.families import of
from diskproof.families.address import ENCRYPTION
from diskproof.refusal import RefusalError
from diskproof.results.record import Family
from diskproof.system import programs

USER = "diskproof"

AUTHORITY = "{certificate}"
"""Stands in an endpoint's URL for the file that the load's machine keeps the certificate in."""

CERTIFICATE, KEY = "certificate.pem", "key.pem"

DAYS = "3650"
"""Nothing reads how long the certificate is valid: clients compare it with their copy."""

SCRAM_ROUNDS = 4096
"""PostgreSQL's own number (`scram_iterations`)."""


@dataclass(frozen=True)
class Endpoint:
    """The place where a server takes connections from other machines, and the machines that it admits."""

    address: str
    """The one address that it listens on."""
    port: int
    admitted: tuple[str, ...]
    """Addresses of the machines that may connect."""
    folder: Path
    """Has the certificate and its key, for this user alone."""
    password: str = field(repr=False)

    def url(self, family: Family, database: str) -> str:
        """Return where diskproof-load on another machine finds the database; the certificate is checked."""
        protocol = of(family).protocol
        assert protocol is not None  # a server without one has no endpoint
        mode, authority, choices = ENCRYPTION[protocol]
        strictest = next(name for name, check in choices.items() if check == "identity")
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{protocol}://{USER}@{host}:{self.port}/{database}?{mode}={strictest}&{authority}={AUTHORITY}"

    @property
    def certificate(self) -> str:
        """The certificate in PEM; it is no secret."""
        return (self.folder / CERTIFICATE).read_text()

    def lend(self, folder: Path) -> None:
        """Copy certificate and key to a server's private folder: it may run as another user."""
        for name in (CERTIFICATE, KEY):
            shutil.copy(self.folder / name, folder / name)


def make_door(folder: Path, address: str, port: int, admitted: Sequence[str]) -> Endpoint:
    """Make a password, and a certificate with its key, in an empty private folder.

    RefusalError if OpenSSL is missing or fails.
    """
    if programs.find_program("openssl") is None:
        raise RefusalError("openssl is missing, which makes the server's certificate: install openssl")
    name = "IP" if _is_number(address) else "DNS"
    argv = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    argv += ["-subj", "/CN=diskproof", "-addext", f"subjectAltName={name}:{address}", "-days", DAYS]
    before = os.umask(0o077)
    try:
        ended = programs.run([*argv, "-out", str(folder / CERTIFICATE), "-keyout", str(folder / KEY)])
    finally:
        os.umask(before)
    if ended.code:
        raise RefusalError(f"openssl made no certificate: {ended.complaint}")
    return Endpoint(address, port, tuple(admitted), folder, secrets.token_urlsafe(24))


def scram_verifier(password: str) -> str:
    """Return what PostgreSQL keeps of a password (RFC 5803): no statement and no log has the password."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, SCRAM_ROUNDS)
    client = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    of_salt, of_client, of_server = (base64.b64encode(one).decode() for one in (salt, client, server))
    return f"SCRAM-SHA-256${SCRAM_ROUNDS}:{of_salt}${of_client}:{of_server}"


def listens_on(pids: Sequence[int]) -> set[tuple[str, int]]:
    """Return the addresses and ports on which processes take TCP connections."""
    found: set[tuple[str, int]] = set()
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            for one in psutil.Process(pid).net_connections("tcp"):
                if one.status == psutil.CONN_LISTEN:
                    found.add((str(one.laddr.ip), int(one.laddr.port)))
    return found


def _is_number(address: str) -> bool:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True
