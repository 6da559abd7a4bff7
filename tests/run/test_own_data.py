"""A stopped server's own data directory as the data of a study: a copy is used, and it never changes."""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from support.command import diskproof_here
from support.given import KINDS, Theirs, their_server

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "How fast are our own data?"
[design]
blocks = 1
warm_up_s = 0
measure_s = 0.5
clients = [2]
repeat_disturbed = false
[servers.own]
family = "{family}"
{basedir}
[storages.memory]
ram = "1 GiB"
[tunings.fast]
[workloads.look]
kind = "script"
prepare = "{data}"
database = "shop"
files = ["look.sql"]
rate = 200
"""


@pytest.fixture(scope="module", params=KINDS)
def theirs(request: pytest.FixtureRequest) -> Iterator[Theirs]:
    with their_server(request.param) as server:
        server.ask("CREATE DATABASE shop")
        server.ask(
            "CREATE TABLE goods (id INT PRIMARY KEY, name VARCHAR(20))",
            "INSERT INTO goods VALUES (1, 'one'), (2, 'two')",
            "CREATE VIEW dear AS SELECT * FROM goods",
            database="shop",
        )
        _leave_what_servers_leave(server)
        yield server


def _leave_what_servers_leave(server: Theirs) -> None:
    """A folder of spilled sorts, a slot, a locked root with a password: what ordinary servers have."""
    if server.scheme == "postgresql":
        server.ask("SET work_mem = '64kB'", "SELECT g FROM generate_series(1, 100000) g ORDER BY -g")
        server.ask("SELECT pg_create_physical_replication_slot('old', true)")
    else:
        server.ask("CREATE USER 'boss'@'localhost'", "GRANT ALL ON *.* TO 'boss'@'localhost'")
        server.ask("ALTER USER 'root'@'localhost' IDENTIFIED BY 'secret' ACCOUNT LOCK")


def written(folder: Path, theirs: Theirs, data: Path) -> None:
    basedir = getattr(theirs, "basedir", None)
    named = f'basedir = "{basedir}"' if basedir else ""
    text = STUDY.format(family=theirs.scheme, basedir=named, data=data)
    (folder / "study.toml").write_text(text)
    (folder / "look.sql").write_text(
        "SELECT name FROM dear WHERE id = 1;\nUPDATE goods SET name = 'x' WHERE id = 2;\n"
    )


def digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in [folder, *sorted(folder.rglob("*"))]:
        digest.update(f"{path} {path.lstat().st_mtime_ns} {path.lstat().st_uid}".encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def test_a_running_server_s_data_are_refused_and_a_stopped_one_s_are_copied(
    theirs: Theirs,
) -> None:
    data, tmp_path = theirs.folder / "data", theirs.folder / "study"  # the server's user reaches it
    tmp_path.mkdir()
    written(tmp_path, theirs, data)
    if theirs.process.poll() is None:
        result = diskproof_here(tmp_path, "plan", "study.toml")
        assert result.returncode == 2
        assert "is in use by" in result.stderr
        theirs.stop()
    before = digest(data)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert not result.returncode, result.stdout + result.stderr
    (path,) = (tmp_path / "runs" / "study").iterdir()
    (trial,) = RunFolder.open(path).trials()
    assert not [one for one in trial.findings if one.severity == "invalid"]
    assert digest(data) == before


LINKS = {"mysql": ("shop", "shop-elsewhere"), "postgresql": ("pg_hba.conf", "pg_hba-elsewhere.conf")}


def test_a_data_directory_with_links_out_of_it_is_refused_and_what_they_lead_to_stays(
    tmp_path: Path, theirs: Theirs
) -> None:
    if theirs.process.poll() is None:
        theirs.stop()
    data = tmp_path / "data"
    shutil.copytree(theirs.folder / "data", data, symlinks=True)
    name, elsewhere = LINKS[theirs.scheme]
    (data / name).rename(tmp_path / elsewhere)
    (data / name).symlink_to(tmp_path / elsewhere)
    written(tmp_path, theirs, data)
    before = digest(tmp_path / elsewhere)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 2
    assert "leads out of the data directory" in result.stderr
    assert digest(tmp_path / elsewhere) == before


def test_another_version_and_another_family_are_refused(tmp_path: Path, theirs: Theirs) -> None:
    if theirs.process.poll() is None:
        theirs.stop()
    data = tmp_path / "data"
    shutil.copytree(theirs.folder / "data", data, symlinks=True)
    written(tmp_path, theirs, data)
    if theirs.scheme == "postgresql":
        (data / "PG_VERSION").write_text("9.3\n")
    else:
        (data / "mariadb_upgrade_info").write_text("5.1.73")
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2
    assert "and the server is" in result.stderr
    other = "postgresql" if theirs.scheme == "mysql" else "mysql"
    text = (tmp_path / "study.toml").read_text().replace(f'family = "{theirs.scheme}"', f'family = "{other}"')
    (tmp_path / "study.toml").write_text(text)
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2
    assert "is a data directory of" in result.stderr


def test_its_database_must_be_named(tmp_path: Path, theirs: Theirs) -> None:
    written(tmp_path, theirs, theirs.folder / "data")
    text = (tmp_path / "study.toml").read_text().replace('database = "shop"\n', "")
    (tmp_path / "study.toml").write_text(text)
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2
    assert "say which `database` of it" in result.stderr


DUMP = """CREATE DATABASE `my shop`;
USE `my shop`;
CREATE TABLE goods (id INT PRIMARY KEY);
INSERT INTO goods VALUES (1);
CREATE VIEW dear AS SELECT id FROM `my shop`.goods;
"""


@pytest.mark.parametrize("theirs", ["mariadb"], indirect=True)
def test_a_dump_that_names_its_own_database_loads_under_that_name(tmp_path: Path, theirs: Theirs) -> None:
    (tmp_path / "dump.sql").write_text(DUMP)
    written(tmp_path, theirs, tmp_path / "dump.sql")
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace('database = "shop"\n', ""))
    (tmp_path / "look.sql").write_text("SELECT id FROM dear WHERE id = 1;\n")
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2
    assert "dump.sql:5: the dump names its own database, `my shop`" in result.stderr
    study.write_text(study.read_text().replace("files =", 'database = "my shop"\nfiles ='))
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert not result.returncode, result.stderr
