"""Which methods of a log-in show the password, and to whom: everything a server may ask for."""

import hashlib
import shutil
import ssl
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from diskproof.database.asking import driver_errors
from diskproof.database.connection import connect
from diskproof.families.address import parse
from support import liars
from support.liars import OK, Wire, liar, message, packet

PASSWORD = "S3cret of the test"

SWITCHES = [
    *("mysql_clear_password", "dialog", "mysql_old_password", "sha256_password", "caching_sha2_password"),
    *(
        "authentication_ldap_simple_client",
        "authentication_pam",
        "auth_gssapi_client",
        "parsec",
        "unheard_of",
    ),
    *("authentication_kerberos_client", "authentication_oci_client", "authentication_webauthn_client"),
    *("authentication_openid_connect_client", "authentication_windows_client", "unheard_of", ""),
]
"""Every method of MySQL and MariaDB that is more than a digest of the password and a challenge."""

KEY = (
    b"\x01-----BEGIN PUBLIC KEY-----\nMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7vbqajDw4o6gJy8UtmIbkcpnk\n"
    b"O3Kwc4qsEnSZp/TR+fQi62F79RHWmwKOtFmwteURgLbj7D/WGuNLGOfa/2vse3G2\n"
    b"eHnHl5CB8ruRX9fBl/KgwCVr2JaEuUm66bBQeP5XeBotdR4cvX38uPYivCDdPjJ1\n"
    b"QWPdspTBKcxeFbccDwIDAQAB\n-----END PUBLIC KEY-----\n"
)


def switching(name: str) -> Callable[[Wire], None]:
    """Ask for a method, then for all of the password that it can be brought to give."""

    def login(wire: Wire) -> None:
        asked = packet(3 if isinstance(wire.stream, ssl.SSLSocket) else 2, b"")[3]
        begin = b"\x04Password: " if name == "dialog" else b"abcdefghijklmnopqrst\0"
        wire.send(packet(asked, b"\xfe" + name.encode() + b"\0" + begin))
        for more in (b"\x01\x04", KEY, OK):
            number, _ = liars.mysql_packet(wire)
            wire.send(packet(number + 1, more))

    return login


def heard(url: str, wires: list[Wire]) -> tuple[bytes, str]:
    """Log in; return all that the server heard, and what was said if it was refused."""
    said = ""
    try:
        closing(connect(parse(url), PASSWORD, 5))
    except driver_errors() as error:
        said = str(error)
    return b"".join(bytes(wire.heard) for wire in wires), said


@pytest.mark.parametrize("name", SWITCHES)
def test_no_method_of_mysql_shows_the_password_without_tls(name: str) -> None:
    with liar(liars.mysql(login=switching(name))) as (port, wires):
        found, said = heard(f"mysql://app@127.0.0.1:{port}/load", wires)
    assert PASSWORD.encode() not in found
    _log_in, *answers = sizes(found)
    assert not [size for size in answers if size >= 128]  # nor encrypted, for whoever sent a key
    assert said


def sizes(found: bytes) -> Iterator[int]:
    """Yield the sizes of packets."""
    while found:
        size = int.from_bytes(found[:3], "little")
        yield size
        found = found[4 + size :]


@pytest.mark.parametrize("plugin", [b"sha256_password", b"mysql_clear_password", b"dialog", b"unheard_of"])
def test_a_default_method_shows_nothing_either(plugin: bytes) -> None:
    def login(wire: Wire) -> None:
        wire.send(packet(2, KEY))
        liars.mysql_packet(wire)
        wire.send(packet(4, OK))

    with liar(liars.mysql(hello=liars.greeting(plugin=plugin), login=login)) as (port, wires):
        found, said = heard(f"mysql://app@127.0.0.1:{port}/load", wires)
    assert PASSWORD.encode() not in found
    assert said


@pytest.mark.parametrize("name", ["mysql_clear_password", "sha256_password", "caching_sha2_password"])
def test_a_socket_file_is_a_private_way(name: str, tmp_path: Path) -> None:
    with liar(liars.mysql(login=switching(name)), tmp_path / "s") as (_, wires):
        found, _ = heard(f"mysql://app@localhost/load?socket={tmp_path / 's'}", wires)
    assert PASSWORD.encode() + b"\0" in found


def test_a_digest_that_a_server_knows_needs_no_tls() -> None:
    def login(wire: Wire) -> None:
        wire.send(packet(2, b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0"))
        _, wire.digest = liars.mysql_packet(wire)  # type: ignore[attr-defined]
        wire.send(packet(4, b"\x01\x03") + packet(5, OK))

    with liar(liars.mysql(login=login)) as (port, wires):
        _, said = heard(f"mysql://app@127.0.0.1:{port}/load", wires)
    once = hashlib.sha256(PASSWORD.encode()).digest()
    challenge = hashlib.sha256(hashlib.sha256(once).digest() + b"abcdefghijklmnopqrst").digest()
    expected = bytes(a ^ b for a, b in zip(once, challenge, strict=True))
    assert (wires[0].digest, said) == (expected, "")  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is missing, which makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    asked = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key -out cert"
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*asked.split(), *names], cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert", folder / "key")
    return context, folder / "cert"


@pytest.mark.parametrize(
    ("name", "checks", "shown"),
    [
        ("mysql_clear_password", False, False),
        ("mysql_clear_password", True, True),
        ("dialog", True, False),
        ("caching_sha2_password", False, True),
        ("sha256_password", True, True),
    ],
)
def test_only_a_checked_server_gets_a_password_in_clear(
    name: str, checks: bool, shown: bool, certificate: tuple[ssl.SSLContext, Path]
) -> None:
    context, authority = certificate
    with liar(liars.mysql(login=switching(name), certificate=context)) as (port, wires):
        mode = f"verify-ca&ssl-ca={authority}" if checks else "required"
        found, _ = heard(f"mysql://app@127.0.0.1:{port}/load?ssl-mode={mode}", wires)
    assert (PASSWORD.encode() in found) is shown


# ---------------------------------------------------------------- PostgreSQL

REQUESTS = {
    "Kerberos 4": struct.pack(">I", 1),
    "Kerberos 5": struct.pack(">I", 2),
    "clear text": struct.pack(">I", 3),
    "crypt": struct.pack(">I", 4) + b"ab",
    "SCM": struct.pack(">I", 6),
    "GSSAPI": struct.pack(">I", 7),
    "GSSAPI goes on": struct.pack(">I", 8) + b"token",
    "SSPI": struct.pack(">I", 9),
    "SASL by a token": struct.pack(">I", 10) + b"OAUTHBEARER\0\0",
    "SASL in clear": struct.pack(">I", 10) + b"PLAIN\0\0",
    "unheard of": struct.pack(">I", 99),
}


@pytest.mark.parametrize("asked", REQUESTS)
def test_no_request_of_postgresql_shows_the_password_without_tls(asked: str) -> None:
    def login(wire: Wire) -> None:
        wire.send(message(b"R", REQUESTS[asked]))
        liars.pg_message(wire)

    with liar(liars.postgresql(login=login)) as (port, wires):
        found, said = heard(f"postgresql://app@127.0.0.1:{port}/load", wires)
    assert PASSWORD.encode() not in found
    assert said


def test_tls_and_a_socket_file_take_it(certificate: tuple[ssl.SSLContext, Path], tmp_path: Path) -> None:
    def login(wire: Wire) -> None:
        wire.send(message(b"R", REQUESTS["clear text"]))
        liars.pg_message(wire)

    with liar(liars.postgresql(login=login, certificate=certificate[0])) as (port, wires):
        found, _ = heard(f"postgresql://app@127.0.0.1:{port}/load?sslmode=require", wires)
        assert PASSWORD.encode() in found
    with liar(liars.postgresql(login=login), tmp_path / ".s.PGSQL.5432") as (_, wires):
        found, _ = heard(f"postgresql://app@localhost/load?socket={tmp_path}&port=5432", wires)
        assert PASSWORD.encode() in found
