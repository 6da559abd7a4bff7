import importlib.util
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.server.base import ServerKind, ServerNotFoundError
from diskproof.server.mysql import MysqlServer, find_mysql
from diskproof.server.postgresql import PostgresqlServer, find_postgresql
from diskproof.server.postgresql.installation import WHEEL
from diskproof.server.sqlite import SqliteServer
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter
from diskproof.system.run_processes import processes_of
from support.servers import Images
from support.shared import memory_or_disk, short_folder

FETCHED = {
    "mysql-5.6": "DISKPROOF_TEST_MYSQL56_BASEDIR",
    "mysql-9": "DISKPROOF_TEST_MYSQL9_BASEDIR",
    "mariadb-11": "DISKPROOF_TEST_MARIADB11_BASEDIR",
}
"""Servers that tests/servers/fetch.sh brings."""


def find_for_test(name: str) -> ServerKind:
    """Find one of the servers that the tests know, or skip with the reason."""
    try:
        match name:
            case "mariadb":
                return MysqlServer(find_mysql(), name)
            case "postgresql":
                return PostgresqlServer(find_postgresql(), name)
            case "postgresql-18":
                wheel = importlib.util.find_spec(WHEEL)
                assert wheel and wheel.origin
                return PostgresqlServer(find_postgresql(Path(wheel.origin).parent / "pginstall"), name)
            case "sqlite":
                return SqliteServer(name, "unknown")
    except ServerNotFoundError as error:
        pytest.skip(str(error))
    basedir = os.environ.get(FETCHED[name])
    if basedir is None:
        pytest.skip(f"{FETCHED[name]} is not set; tests/servers/fetch.sh brings that server")
    return MysqlServer(find_mysql(Path(basedir)), name)


@pytest.fixture(params=["mariadb", "mysql-5.6", "mysql-9", "postgresql", "sqlite"])
def kind(request: pytest.FixtureRequest) -> ServerKind:
    return find_for_test(request.param)


@pytest.fixture(params=["mariadb", "mysql-5.6", "mysql-9", "postgresql"])
def process_kind(request: pytest.FixtureRequest) -> ServerKind:
    """A server that is a process of its own."""
    return find_for_test(request.param)


@pytest.fixture(params=["mariadb", "mysql-9", "postgresql", "sqlite"])
def durable_kind(request: pytest.FixtureRequest) -> ServerKind:
    """One of each age that the documentation of durability speaks of."""
    return find_for_test(request.param)


@pytest.fixture(params=["mariadb-11", "postgresql-18"])
def kind_of_today(request: pytest.FixtureRequest) -> ServerKind:
    """One whose counters or settings differ from those of the distribution's own."""
    return find_for_test(request.param)


@pytest.fixture(params=["mariadb", "mysql-5.6", "mysql-9"])
def mysql_kind(request: pytest.FixtureRequest) -> MysqlServer:
    kind = find_for_test(request.param)
    assert isinstance(kind, MysqlServer)
    return kind


@pytest.fixture(scope="session")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISKPROOF_STATE", str(tmp_path_factory.mktemp("state")))
        journal = Journal.begin("tests of servers")
    yield journal
    journal.finish()


@pytest.fixture
def starter(journal: Journal) -> Iterator[Starter]:
    yield Starter(journal)
    left = list(processes_of(journal.mark))
    for process in left:
        process.kill()
    assert not left, "the test left a server running"


@pytest.fixture
def root() -> Iterator[Path]:
    path = short_folder(memory_or_disk())
    yield path
    shutil.rmtree(path)


@pytest.fixture
def disk_root() -> Iterator[Path]:
    path = short_folder(Path(tempfile.gettempdir()))
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def images(journal: Journal) -> Images:
    return Images(Starter(journal))
