"""Servers whose answers are too long, too slow or of another shape: each is a refusal in words, and soon."""

import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from diskproof.database import connection
from diskproof.database.asking import ask
from diskproof.families.address import parse
from diskproof.server import asked
from diskproof.server.base import ServerError
from diskproof.server.given import find_given, found
from diskproof.server.given.base import Given
from diskproof.study.servers import ServerChoice
from diskproof.visible import visible
from support import liars
from support.liars import MORE, OK, Wire, liar, message, packet, pg_end, pg_head, pg_row, pg_table, table

LIMIT_S = 0.6
LATE = "within 0.6 s|timed out"
MOST_BYTES = 24 * 2**20
KNOWN = table((b"8.0.36", b"MySQL"))
PG_KNOWN = pg_table((b"16.2", b""))


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CONNECT_LIMIT_S", LIMIT_S)
    monkeypatch.setattr(found, "ANSWER_LIMIT_S", LIMIT_S)
    monkeypatch.setattr(asked, "ANSWER_LIMIT_S", LIMIT_S)
    monkeypatch.setattr(Given, "most_bytes", MOST_BYTES)
    monkeypatch.setattr(ask, "__kwdefaults__", {"shape": None, "most_bytes": MOST_BYTES})
    monkeypatch.setenv("THEIR_PASSWORD", "geheim")


def for_ever(part: bytes, before: bytes = b"") -> Iterator[bytes]:
    yield before
    while True:
        yield part


def slowly(data: bytes) -> Iterator[bytes]:
    for at in range(len(data)):
        time.sleep(0.05)
        yield data[at : at + 1]


def numbered(body: bytes, number: int = 1, before: bytes = b"") -> Iterator[bytes]:
    yield before
    while True:
        yield b"".join(packet(number + at, body) for at in range(64))
        number += 64


def says(reply: bytes) -> Callable[[int, bytes], bytes]:
    return lambda _n, _sql: reply


def error(text: bytes) -> bytes:
    return packet(1, b"\xff\x15\x04#HY000" + text)


MYSQL: dict[str, tuple[Callable[[Wire], None], str]] = {
    "silent": (liars.mysql(hello=b""), LATE),
    "a greeting a byte at a time": (liars.mysql(hello=slowly(liars.greeting())), LATE),
    "a greeting without an end": (
        liars.mysql(hello=for_ever(b"8" * 2**16, b"\xff\xff\xff\0\x0a")),
        f"larger than|{LATE}|sequence",
    ),
    "no version": (liars.mysql(hello=liars.greeting(b"")), "malformed"),
    "a version of 60,000 digits": (liars.mysql(hello=liars.greeting(b"9" * 60_000)), "malformed"),
    "a greeting that breaks off": (liars.mysql(hello=packet(0, b"\x0a8.0\0")), "malformed"),
    "an old protocol": (liars.mysql(hello=packet(0, b"\x09" + bytes(4))), "cannot be reached"),
    "another server": (
        liars.mysql(says(table((b"8.0.11-TiDB-v8.5.1", b"TiDB Server")))),
        "is TiDB. It speaks as",
    ),
    "one column": (liars.mysql(says(table((b"1",)))), "1 columns instead of 2"),
    "10,000 columns": (liars.mysql(says(table((b"1",) * 10_000))), "10000 columns instead of 2"),
    "no row": (liars.mysql(says(table(columns=2))), "which is no number"),
    "no result": (liars.mysql(says(packet(1, OK))), "which is no number"),
    "NULL": (liars.mysql(says(table((None, b"MySQL")))), "NULL in place of a text"),
    "a version without a number": (liars.mysql(says(table((b"\x1b]0;me\x07", b"")))), "is no number"),
    "a version in digits of another script": (
        liars.mysql(says(table(("٣.٤".encode(), b"")))),
        "no number",
    ),
    "a huge text": (liars.mysql(says(table((b"8" * 200_000, b"")))), "in place of a text"),
    "endless rows": (
        liars.mysql(lambda _n, _sql: numbered(liars.text(b"x" * 1000) * 2, 5, liars.head(2))),
        f"larger than 24 MiB|{LATE}",
    ),
    "a huge row": (
        liars.mysql(lambda _n, _sql: for_ever(b"x" * 2**20, liars.head(2) + b"\xff\xff\xff\x05")),
        "larger than|malformed|sequence",
    ),
    "endless results": (liars.mysql(lambda _n, _sql: numbered(MORE)), LATE),
    "an answer a byte at a time": (liars.mysql(lambda _n, _sql: slowly(KNOWN)), LATE),
    "an answer that does not come": (liars.mysql(), LATE),
    "2^64 columns": (liars.mysql(says(packet(1, b"\xfe" + b"\xff" * 8))), f"{LATE}|malformed"),
    "a column of a broken form": (
        liars.mysql(says(packet(1, b"\1") + packet(2, b"\xfe\xff\xff"))),
        "malformed|cannot be reached",
    ),
    "a request for a file": (liars.mysql(says(packet(1, b"\xfb/etc/passwd"))), "malformed"),
    "a wrong sequence": (liars.mysql(says(packet(9, OK))), "sequence"),
    "an error with escapes": (liars.mysql(says(error(b"no\x1b]0;me\x07" + b"z" * 100_000))), "no"),
    "text that is not UTF-8": (liars.mysql(says(table((b"8.0\xff\xfe", b"")))), "malformed"),
    "a number that is none": (liars.mysql(says(table((b"eight", b"x"), kind=0x03))), "malformed"),
}

POSTGRESQL: dict[str, tuple[Callable[[Wire], None], str]] = {
    "silent after the log-in": (liars.postgresql(), LATE),
    "a log-in without an end": (
        liars.postgresql(entered=for_ever(message(b"N", b"SN\0\0"))),
        "log-in|reached",
    ),
    "endless parameters": (
        liars.postgresql(entered=for_ever(message(b"S", b"a\0" + b"b" * 900 + b"\0"), liars.GRANTED)),
        "log-in",
    ),
    "a log-in a byte at a time": (liars.postgresql(entered=slowly(liars.GRANTED)), "log-in"),
    "a request of a huge length": (
        liars.postgresql(entered=b"R" + struct.pack(">I", 2**31 - 1) + bytes(9)),
        "cannot be reached",
    ),
    "one column": (liars.postgresql(says(pg_table((b"1",)))), "1 columns instead of 2"),
    "1,600 columns": (liars.postgresql(says(pg_table((b"1",) * 1600))), "1600 columns instead of 2"),
    "no row": (liars.postgresql(says(pg_head(2) + pg_end())), "is no number"),
    "no result": (liars.postgresql(says(pg_end())), "is no number"),
    "NULL": (liars.postgresql(says(pg_table((None, b"")))), "NULL in place of a text"),
    "a column of a negative length": (
        liars.postgresql(says(pg_head(2) + message(b"D", b"\0\2" + struct.pack(">ii", -2, -2)) + pg_end())),
        "cannot be reached",
    ),
    "a column longer than its row": (
        liars.postgresql(says(pg_head(1) + message(b"D", b"\0\1" + struct.pack(">i", 2**31 - 1)) + pg_end())),
        "cannot be reached",
    ),
    "never ready": (liars.postgresql(says(pg_table((b"16.2", b""), end=b""))), LATE),
    "a copy": (liars.postgresql(says(message(b"H", b"\0\0\0"))), "cannot be reached"),
    "a copy to the server": (liars.postgresql(says(message(b"G", b"\0\0\0"))), "cannot be reached"),
    "endless rows": (
        liars.postgresql(lambda _n, _sql: for_ever(pg_row(b"x" * 1000, b"") * 64, pg_head(2))),
        f"larger than 24 MiB|{LATE}",
    ),
    "endless notices": (liars.postgresql(lambda _n, _sql: for_ever(message(b"N", b"SN\0Mx\0\0"))), "within"),
    "endless ends": (liars.postgresql(lambda _n, _sql: for_ever(pg_end(b"") * 64)), "within|larger"),
    "an answer a byte at a time": (liars.postgresql(lambda _n, _sql: slowly(PG_KNOWN)), LATE),
    "a number that is none": (liars.postgresql(says(pg_table((b"eight", b""), kind=23))), "malformed"),
    "another server": (
        liars.postgresql(says(pg_table((b"13.0.0", b"CockroachDB CCL v24.1.0")))),
        "is CockroachDB. It speaks as PostgreSQL does",
    ),
    "a date that is none": (liars.postgresql(says(pg_table((b"9999-99-99", b""), kind=1082))), "reached"),
    "a deep array": (liars.postgresql(says(pg_table((b"{" * 5000, b"{}"), kind=1009))), "nested too deeply"),
    "broken JSON": (liars.postgresql(says(pg_table((b"{", b""), kind=114))), "malformed"),
    "escapes": (liars.postgresql(says(pg_table((b"\x1b]0;me\x07", b"")))), "is no number"),
    "a version of 100,000 digits": (
        liars.postgresql(says(pg_table((b"9" * 100_000, b"")))),
        "place of a text",
    ),
    "another state of the transaction": (
        liars.postgresql(says(pg_end(message(b"Z", b"Q")))),
        "is no number|reached",
    ),
}

ALL = [("mysql", name) for name in MYSQL] + [("postgresql", name) for name in POSTGRESQL]


@pytest.mark.parametrize(("family", "name"), ALL, ids=lambda value: value.replace(" ", "-"))
def test_a_lie_ends_in_words(family: str, name: str) -> None:
    talk, said = (MYSQL if family == "mysql" else POSTGRESQL)[name]
    with liar(talk) as (port, wires):
        url = f"{family}://app@127.0.0.1:{port}/load"
        begun = time.monotonic()
        with pytest.raises(ServerError, match=said) as refused:
            find_given("p", ServerChoice.model_validate({"url": url, "password_env": "THEIR_PASSWORD"}))
        assert time.monotonic() - begun < 20 * LIMIT_S
        assert len(visible(str(refused.value))) < 2000
        assert "geheim" not in str(refused.value)
        assert not [wire for wire in wires if b"root:" in wire.heard]


def one_cell(cell: bytes | None) -> Callable[[int, bytes], bytes]:
    """Answer the question of the version truly, and all others with one cell."""
    return lambda _n, sql: KNOWN if b"VERSION()" in sql else table((cell,))


def pg_cell(cell: bytes | None) -> Callable[[int, bytes], bytes]:
    return lambda _n, sql: PG_KNOWN if b"server_version'" in sql else pg_table((cell,))


QUESTIONS: list[Callable[[Given[Any]], object]] = [
    lambda given: given.data_bytes(),
    lambda given: given.contents(),
    lambda given: given.has_mark() and given.mark(),
    lambda given: [*given.lacking(), given.why_no_tables()],
    lambda given: given.rights(),
    lambda given: given.guard(),
    lambda given: given.lock(),
    lambda given: given.status(),
    lambda given: given.read_settings(),
    lambda given: given.engine(),
    lambda given: given.waiting_sessions(),
    lambda given: given.other_databases(),
]


@pytest.mark.parametrize("cell", [None, b"-1", b"x\x1b[2J", b"9" * 30, b""], ids=repr)
@pytest.mark.parametrize("family", ["mysql", "postgresql"])
def test_a_known_server_that_lies_later_is_refused_or_read(family: str, cell: bytes | None) -> None:
    talk = liars.mysql(one_cell(cell)) if family == "mysql" else liars.postgresql(pg_cell(cell))
    with liar(talk) as (port, _):
        url = f"{family}://app@127.0.0.1:{port}/load"
        server = find_given("p", ServerChoice.model_validate({"url": url, "password_env": "THEIR_PASSWORD"}))
        refused = 0
        for question in QUESTIONS:
            try:
                given = server.open()
            except ServerError:
                refused += 1
                continue
            try:
                question(given)
            except ServerError:
                refused += 1
            given.stop()
        assert refused >= 4
        with pytest.raises(ServerError):
            server.check({"sync_binlog": "7"})


def test_a_true_answer_has_its_types() -> None:
    with liar(liars.postgresql(says(pg_table((b"7", b"x"))))) as (port, _):
        given = connection.connect_postgresql(parse(f"postgresql://app@127.0.0.1:{port}/load"), None)
        assert ask(given, 5, "SELECT 7, 'x'", shape=(int, str)) == [(7, "x")]
        given.close()
