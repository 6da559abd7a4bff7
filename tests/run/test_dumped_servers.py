"""A running server's database as the data of a study: a dump is taken once, or refused early and in words."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.families.address import parse
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.server.base import ServerError
from diskproof.server.dumps import dump
from diskproof.system import programs
from support.command import diskproof_here, open_for_others
from support.given import AS_APP, PASSWORD, Theirs, their_server

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
        assert "cannot be dumped" not in words or "The account needs" not in said, "no right is missing"
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
    found = [file.read_text() for file in (tmp_path / "runs" / ".golden").glob("*/image.json")]
    assert trial.data
    assert trial.data.dump
    assert len(found) == 2
    assert all(trial.data.dump.sha256 in text and trial.data.dump.at in text for text in found)
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


def test_a_dump_that_cannot_be_loaded_is_taken_anew(
    tmp_path: Path, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_PASSWORD", PASSWORD)
    written(tmp_path, theirs)
    open_for_others(tmp_path)
    name = {"mysql": "mysqldump", "postgresql": "pg_dump"}[theirs.scheme]
    wrong = tmp_path / "wrong"
    wrong.write_text("INSERT INTO nowhere VALUES (1);\n")
    named = "for word; do case $word in *file=*) out=${word#*=};; esac; done"
    appended = f'[ -z "$out" ] || cat {wrong} >>"$out"'
    program(tmp_path / name, f'{named}\n{shutil.which(name)} "$@" || exit\n{appended}', monkeypatch)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 2, result.stdout + result.stderr
    assert "nowhere" in result.stderr
    assert not [*(tmp_path / "runs").glob(".golden/*")]
    wrong.write_text("")
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert not result.returncode, result.stdout + result.stderr


def test_a_run_is_not_resumed_with_other_data(
    tmp_path: Path, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_PASSWORD", PASSWORD)
    written(tmp_path, theirs)
    open_for_others(tmp_path)
    assert not diskproof_here(tmp_path, "run", "study.toml").returncode
    (path,) = (tmp_path / "runs" / "study").iterdir()
    (path / "trials.jsonl").write_text(
        (path / "trials.jsonl").read_text().replace('"finished":true', '"finished":false')
    )
    assert not diskproof_here(tmp_path, "clean", "--images").returncode
    again = diskproof_here(tmp_path, "run", "study.toml", "--resume")
    assert not again.returncode, f"the same data are the same dump: {again.stderr}"
    theirs.ask(AS_APP[theirs.scheme], "INSERT INTO goods VALUES (3, 'three')", database="load")
    assert not diskproof_here(tmp_path, "clean", "--images").returncode
    result = diskproof_here(tmp_path, "run", "study.toml", "--resume")
    assert result.returncode == 2, result.stdout + result.stderr
    assert "start a new run without --resume" in result.stderr
    assert "measured the data of" in result.stderr


@pytest.mark.parametrize(
    ("said", "is_told"),
    [
        ("mysqldump: Error: 'Access denied; you need the PROCESS privilege(s)'", True),
        ("mysqldump: app has insufficent privileges to SHOW CREATE FUNCTION `f`!", True),
        ("pg_dump: error: query failed: ERROR:  permission denied for table t", True),
        ("mysqldump: Got errno 28 on write: No space left on device", False),
        ("pg_dump: error: aborting because of server version mismatch", False),
        ("pg_dump: error: could not open output file: Permission denied", False),
    ],
)
def test_rights_are_a_remedy_for_what_rights_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, is_told: bool
) -> None:
    program(tmp_path / "mysqldump", f"cat >&2 <<'END'\n{said}\nEND\nexit 2", monkeypatch)
    with pytest.raises(ServerError) as caught:
        dump(parse("mysql://app@127.0.0.1/shop"), tmp_path / "out.sql")
    assert ("SHOW_ROUTINE (MySQL 8)" in str(caught.value)) is is_told
    assert said in str(caught.value)


@pytest.mark.parametrize(("version", "option"), [("Distrib 10.4-MariaDB", "--ssl"), ("8.0", "--ssl-mode=")])
def test_a_program_is_asked_whose_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, option: str
) -> None:
    calls = tmp_path / "calls"
    program(
        tmp_path / "mysqldump", f'[ "$1" = --version ] && echo "{version}" || echo "$@" >{calls}', monkeypatch
    )
    dump(parse("mysql://app@db.example/shop?ssl-mode=required"), tmp_path / "out.sql")
    assert f" {option}" in calls.read_text()
    assert ("--ssl-mode" in calls.read_text()) is (option == "--ssl-mode=")


def test_a_full_disk_ends_a_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "mysqldump", "exec sleep 100", monkeypatch)
    reasons = iter([None, "the disk is full"])
    began = time.monotonic()
    with pytest.raises(RefusalError, match="the disk is full"):
        dump(parse("mysql://app@127.0.0.1/shop"), tmp_path / "out.sql", watch=lambda: next(reasons))
    assert time.monotonic() - began < 50


def program(path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr(programs, "find_program", lambda _: path)
