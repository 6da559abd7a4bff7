"""After a crash a server starts again, and says what it has and what is wrong with it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from diskproof.database.asking import AnswerError
from diskproof.server.base import Dirs, Running, ServerFailedError, ServerKind
from diskproof.server.mysql import running as mysql
from diskproof.server.postgresql import aftermath
from diskproof.system.processes import Starter
from support.servers import Images, connect, make_dirs, start

KILLS = 2
WRITERS = 3
COMMITS = 60
"""Of all writers together, before each kill."""


@contextmanager
def writers(running: Running, first: int) -> Iterator[list[int]]:
    """Insert rows into sbtest1 from several connections until the server dies; yield the acknowledged."""
    acknowledged: list[int] = []

    def write(client_number: int) -> None:
        try:
            with connect(running) as client:
                for row in range(first + client_number, first + 1_000_000, WRITERS):
                    client.run(f"INSERT INTO sbtest1 VALUES ({row}, 'late')")
                    acknowledged.append(row)
        except Exception:  # noqa: BLE001 - each driver has its own error for a server that is gone
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    yield acknowledged
    running.kill()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_a_server_that_is_killed_again_and_again_starts_whole(
    process_kind: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    dirs = images.restore(process_kind, root)
    running = start(process_kind, dirs, starter)
    acknowledged: list[int] = []
    for kill in range(KILLS):
        left = {file.name for file in dirs.run.iterdir()}
        with writers(running, first=(kill + 1) * 10_000_000) as late:
            while len(late) < COMMITS:
                time.sleep(0.005)
            running.kill()
        acknowledged += late
        assert running.pids == []
        assert {file.name for file in dirs.run.iterdir()} == left, "SIGKILL leaves pid files and sockets"
        for file in [*dirs.run.iterdir(), *dirs.data.glob("postmaster.pid")]:
            file.unlink()
            file.write_text("")  # as a power cut leaves a file that nobody flushed; it hinders no start
        running = start(process_kind, make_dirs(root, log=f"after-{kill}"), starter)
        there = {row for (row,) in running.rows("SELECT id FROM sbtest1 WHERE c LIKE 'late%'")}
        assert there >= set(acknowledged)
        assert len(there) <= len(acknowledged) + WRITERS * (kill + 1), "those whose answers were on the way"
        assert running.damage() == []
        assert running.complaints() == [], "the ordinary words of a recovery"
    running.kill()


def file_of_table(kind: ServerKind, running: Running, dirs: Dirs, table: str) -> Path:
    match kind.facts.family:
        case "mysql":
            return dirs.data / "sbtest" / f"{table}.ibd"
        case "postgresql":
            ((path,),) = running.rows(f"SELECT pg_relation_filepath('{table}')")
            return dirs.data / str(path)
    return dirs.data / "sbtest.db"


def flip_bytes(file: Path, page_bytes: int, first_page: int) -> None:
    """Change a few bytes in the middle of every page from `first_page` on: no page is as it was written."""
    contents = bytearray(file.read_bytes())
    for page in range(first_page, len(contents) // page_bytes):
        middle = page * page_bytes + page_bytes // 2
        if any(contents[page * page_bytes : (page + 1) * page_bytes]):
            contents[middle : middle + 64] = bytes(byte ^ 0x5A for byte in contents[middle : middle + 64])
    file.write_bytes(contents)


def test_an_answer_that_the_driver_cannot_read_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a catalogue has it whose names are torn."""

    def garbled(sql: str) -> list[tuple[Any, ...]]:
        if sql.startswith(("SELECT count(*) FROM ONLY", "CHECK TABLE")):
            raise AnswerError("its answer is malformed")
        if "information_schema" in sql:
            return [("torn",)]
        return [(1, "torn", "r", "")] if "pg_class" in sql else []

    found = ["torn: its answer is malformed"]
    assert aftermath.damage(lambda sql, *_: garbled(sql), str) == found
    monkeypatch.setattr(mysql, "ask", lambda _connection, _limit_s, sql, *_, **__: garbled(sql))
    connection: Any = None
    assert mysql.damage(connection, str) == found


def test_torn_pages_of_a_table_are_found(
    process_kind: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    dirs = images.restore(process_kind, root)
    running = start(process_kind, dirs, starter)
    file = file_of_table(process_kind, running, dirs, "sbtest2")
    assert running.damage() == []
    running.kill()

    first_page = 4 if process_kind.facts.family == "mysql" else 1
    flip_bytes(file, process_kind.page_bytes, first_page)
    again = start(process_kind, make_dirs(root, log="again"), starter)
    assert again.rows("SELECT COUNT(*) FROM sbtest1") == [(images.ROWS,)]
    found = again.damage()
    assert found
    assert all("sbtest2" in line for line in found), found
    assert again.complaints()
    if again.alive:
        with pytest.raises(ServerFailedError, match="did not answer"):
            again.rows("SELECT SUM(LENGTH(c)) FROM sbtest2")
    else:
        assert "the server died (" in found[0]
    again.kill()
