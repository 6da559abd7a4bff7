"""A running server's database as the data of a study: a dump is taken once, or refused early and in words."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from diskproof.system import programs
from support.command import diskproof_here, open_for_others
from support.given import PASSWORD, Theirs, their_server

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
[storages.memory]
ram = "1 GiB"
[tunings.safest]
[workloads.look]
kind = "script"
prepare = "{url}"
files = ["look.sql"]
rate = 200
"""

TABLES = (
    "CREATE TABLE goods (id INT PRIMARY KEY, name VARCHAR(20))",
    "INSERT INTO goods VALUES (1, 'Käse; -- \\''), (2, 'two')",
    "CREATE VIEW dear AS SELECT * FROM goods",
)

BYTES = {
    "mysql": ("CREATE TABLE raw (b BLOB)", "INSERT INTO raw VALUES (x'00ff0a27')"),
    "postgresql": ("CREATE TABLE raw (b BYTEA)", "INSERT INTO raw VALUES ('\\x00ff0a27')"),
}

IS_WHOLE = {
    "mysql": "SELECT 1 FROM dear JOIN raw ON HEX(b) = '00FF0A27' WHERE id = 1 AND name LIKE 'Käse; -- _'",
    "postgresql": "SELECT 1 FROM dear JOIN raw ON b = '\\x00ff0a27' WHERE id = 1 AND name LIKE 'Käse; -- _'",
}

AS_APP = {"mysql": "SET @a = 1", "postgresql": "SET ROLE app"}


@pytest.fixture(scope="module", params=["mariadb", "postgresql"])
def theirs(request: pytest.FixtureRequest) -> Iterator[Theirs]:
    with their_server(request.param) as server:
        quote = "\\'" if server.scheme == "mysql" else "''"
        tables = [sql.replace("\\'", quote) for sql in TABLES]
        server.ask(AS_APP[server.scheme], *tables, *BYTES[server.scheme], database="load")
        server.ask("CREATE DATABASE secret")
        yield server


def written(folder: Path, theirs: Theirs, url: str | None = None) -> None:
    (folder / "study.toml").write_text(STUDY.format(family=theirs.scheme, url=url or theirs.url))
    (folder / "look.sql").write_text(f"{IS_WHOLE[theirs.scheme]};\n")


def refusal(folder: Path) -> str:
    result = diskproof_here(folder, "plan", "study.toml")
    assert result.returncode == 2, result.stdout
    assert PASSWORD not in result.stdout + result.stderr
    return " ".join(result.stderr.split())


def test_a_server_that_cannot_be_dumped_is_refused_early(
    tmp_path: Path, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_PASSWORD", PASSWORD)
    for url, words in (
        (theirs.url.replace("/load", "/nowhere"), ("nowhere",)),
        (
            theirs.url.replace("app@", "app:geheim@"),
            ("leave the password out of the URL", "DISKPROOF_PASSWORD"),
        ),
        (theirs.url.replace("://", "s://"), ("no known scheme",)),
        ("sqlite://a@b/c", ("no known scheme",)),
        (theirs.url.replace(str(theirs.port), "1"), ("cannot be dumped",)),
    ):
        written(tmp_path, theirs, url)
        said = refusal(tmp_path)
        assert all(word in said for word in words), said
        assert "geheim" not in said
    written(tmp_path, theirs)
    monkeypatch.setenv("DISKPROOF_PASSWORD", "wrong")
    said = refusal(tmp_path)
    assert "cannot be dumped" in said
    assert "its password is read from DISKPROOF_PASSWORD" in said
    monkeypatch.setattr(programs, "find_program", lambda _: None)
    assert "is not on PATH: install that server's client programs" in refusal(tmp_path)


def test_an_account_that_may_not_read_is_told_which_rights_it_needs(
    tmp_path: Path, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_PASSWORD", PASSWORD)
    written(tmp_path, theirs, theirs.url.replace("/load", "/secret"))
    if theirs.scheme == "postgresql":
        theirs.ask("CREATE TABLE IF NOT EXISTS hidden (a INT)", database="secret")
    assert "The account needs SELECT" in refusal(tmp_path)


def test_another_family_and_a_server_that_is_not_ours_are_refused(tmp_path: Path, theirs: Theirs) -> None:
    written(tmp_path, theirs)
    text = (tmp_path / "study.toml").read_text()
    other = {"mysql": "postgresql", "postgresql": "mysql"}[theirs.scheme]
    (tmp_path / "study.toml").write_text(text.replace(f'"{theirs.scheme}"', f'"{other}"'))
    assert "is a server of another family" in refusal(tmp_path)
    text = text.replace(f'family = "{theirs.scheme}"', f'url = "{theirs.url}"')
    text = text.replace('[storages.memory]\nram = "1 GiB"\n', "").replace("[tunings.safest]\n", "")
    (tmp_path / "study.toml").write_text(text)
    assert "data of a server are for those that diskproof starts" in refusal(tmp_path)


def test_a_dump_is_taken_once_and_has_all_that_the_database_has(
    tmp_path: Path, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, theirs)
    open_for_others(tmp_path)
    name = {"mysql": "mysqldump", "postgresql": "pg_dump"}[theirs.scheme]
    calls = tmp_path / "calls"
    spy = tmp_path / name
    spy.write_text(f'#!/bin/sh\necho "$@" >>{calls}\nexec {shutil.which(name)} "$@"\n')
    spy.chmod(0o755)
    monkeypatch.setenv("DISKPROOF_PASSWORD", PASSWORD)
    monkeypatch.setattr(programs, "find_program", lambda _: spy)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert not result.returncode, result.stdout + result.stderr
    (path,) = (tmp_path / "runs" / "study").iterdir()
    (trial,) = RunFolder.open(path).trials()
    assert not [one for one in trial.findings if one.severity == "invalid"]
    assert trial.load
    (looked,) = trial.load.statement_types
    assert looked.count == looked.rows > 20, "each found its row"
    said = calls.read_text()
    assert [("--no-data" in line, "--schema-only" in line) for line in said.splitlines()] == [
        (theirs.scheme == "mysql", theirs.scheme == "postgresql"),
        (False, False),
    ]
    assert PASSWORD not in said
    for file in (tmp_path / "runs").rglob("*"):
        assert not file.is_file() or PASSWORD.encode() not in file.read_bytes(), file
    # The next run needs the server no more.
    monkeypatch.delenv("DISKPROOF_PASSWORD")
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text().replace("0.5", "0.6"))
    open_for_others(tmp_path)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert not result.returncode, result.stdout + result.stderr
    assert len(calls.read_text().splitlines()) == 2
    (dump,) = (tmp_path / "runs" / ".golden").glob("dump-*/dump.sql")
    assert dump.stat().st_mode & 0o077 == 0, "the data are nobody else's"
    assert not diskproof_here(tmp_path, "clean", "--images").returncode
    assert not (tmp_path / "runs" / ".golden").exists()
