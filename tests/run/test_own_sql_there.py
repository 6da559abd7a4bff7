"""The user's own SQL on servers that are there already: loaded again, only read, and tried at `plan`."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof import load
from diskproof.results.folder import RunFolder
from diskproof.server.postgresql.installation import find_postgresql
from support.command import diskproof_here
from support.given import KINDS, PASSWORD, Theirs, their_server, write_password

pytestmark = pytest.mark.timeout(300)

SCRIPT = """
question = "How fast are our transactions?"
[design]
blocks = 2
warm_up_s = 0
measure_s = 0.5
clients = [2]
repeat_disturbed = false
[servers.production]
url = "{url}"
password_file = "password"
[workloads.own]
kind = "script"
prepare = "dump.sql"
files = ["look.sql"]
"""

DUMPS = {
    "mysql": "CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nCREATE VIEW v AS SELECT a FROM t;\n"
    "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1;\nCREATE PROCEDURE p() SELECT 1;\n"
    "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1;\n",
    "postgresql": "CREATE SCHEMA app;\nCREATE TYPE app.mood AS ENUM ('sad');\nCREATE DOMAIN d AS INT;\n"
    "CREATE FUNCTION f(app.mood) RETURNS INT LANGUAGE sql AS 'SELECT 1';\n"
    "CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1';\n"
    "CREATE AGGREGATE total(INT) (SFUNC = int4pl, STYPE = INT);\n"
    "CREATE SEQUENCE public.s;\nCREATE TYPE public.pair AS (a INT, b INT);\n"
    "CREATE TYPE span AS RANGE (SUBTYPE = INT);\n"
    "CREATE TABLE t (a INT GENERATED ALWAYS AS IDENTITY, b SERIAL, c app.mood);\n"
    "CREATE TABLE public.parts (a INT) PARTITION BY RANGE (a);\n"
    "CREATE TABLE one PARTITION OF public.parts FOR VALUES FROM (1) TO (9);\n"
    "COPY t (c) FROM stdin;\nsad\n\\N\n\\.\n\n"
    "INSERT INTO t (c) VALUES ('sad');\nCREATE MATERIALIZED VIEW m AS SELECT a FROM t;\n"
    'CREATE STATISTICS st ON a, b FROM t;\nCREATE COLLATION co FROM "C";\n'
    "CREATE OPERATOR === (LEFTARG = INT, RIGHTARG = INT, FUNCTION = int4eq);\nSELECT lo_create(4711);\n",
}


@pytest.fixture(scope="module", params=KINDS)
def server(request: pytest.FixtureRequest) -> Iterator[Theirs]:
    with their_server(request.param) as server:
        yield server


@pytest.fixture
def theirs(server: Theirs) -> Theirs:
    """The server with an empty database."""
    server.empty()
    if server.scheme == "mysql":
        server.ask("SET GLOBAL log_bin_trust_function_creators = 1")
    return server


def restored(folder: Path) -> list[str]:
    """Run the study; return how the data came to each trial."""
    result = diskproof_here(folder, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr  # other work may keep its clients waiting
    (path,) = (folder / "runs" / "study").iterdir()
    return [trial.data.restored_by for trial in RunFolder.open(path).trials() if trial.data]


def write_script(folder: Path, theirs: Theirs, look: str) -> None:
    write_password(folder)
    (folder / "study.toml").write_text(SCRIPT.format(url=theirs.url))
    (folder / "dump.sql").write_text(DUMPS[theirs.scheme])
    (folder / "look.sql").write_text(look)


def test_a_dump_with_all_kinds_of_objects_loads_again(tmp_path: Path, theirs: Theirs) -> None:
    write_script(tmp_path, theirs, "INSERT INTO t SELECT * FROM t WHERE a = 0;\n")
    if theirs.scheme == "postgresql":
        write_script(tmp_path, theirs, "INSERT INTO parts VALUES (1);\n")
    assert restored(tmp_path) == ["unchanged", "loaded"]


def test_data_that_were_only_read_are_not_loaded_again(tmp_path: Path, theirs: Theirs) -> None:
    write_script(tmp_path, theirs, "BEGIN;\nSELECT a FROM t WHERE a = 1;\nCOMMIT;\n")
    assert restored(tmp_path) == ["unchanged", "unchanged"]


def test_a_plan_says_which_statement_the_server_cannot_read(tmp_path: Path, theirs: Theirs) -> None:
    write_script(tmp_path, theirs, "SELECT a FROM t;\nSELECT a FORM t;\n")
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2
    assert "workload `own`: look.sql:2 SELECT a FORM t: the server refuses this statement: " in result.stderr
    write_script(tmp_path, theirs, "SELECT a FROM t;\n")
    result = diskproof_here(tmp_path, "plan", "study.toml")  # its table is not there yet
    assert result.returncode in (0, 12), result.stderr  # other work may keep its clients waiting


COPIES = {
    "a refused row": ("COPY c (a) FROM stdin;\n1\nx\n\\.\nSELECT 1;\n", 1, "COPY c, line 2"),
    "no end": ("COPY c (a) FROM stdin;\n1\n", 1, "must end with a line \\."),
    "words behind it": (
        "COPY c (a) FROM stdin; SELECT 1;\n\\.\n",
        1,
        "nothing may stand behind the semicolon",
    ),
    "a column's name": (
        "ALTER TABLE c ADD program INT;\nCOPY c (a, program) FROM stdin;\n1\t2\n\\.\n",
        0,
        "",
    ),
    "CSV": ('ALTER TABLE c ADD t TEXT;\nCOPY c (t) FROM stdin CSV;\n\\.gitignore\n"a\nb"\n\\.\n', 0, ""),
    "a command": ("\\if 0\nSELECT 1;\n\\endif\n", 1, "commands are for scripts that are measured"),
    "a program": ("COPY c FROM PROGRAM 'id';\n", 1, "COPY"),
}


@pytest.mark.parametrize("server", ["postgresql"], indirect=True, scope="module")
@pytest.mark.parametrize("case", COPIES)
def test_rows_of_a_dump(tmp_path: Path, theirs: Theirs, case: str) -> None:
    text, fails, words = COPIES[case]
    (tmp_path / "dump.sql").write_text(f"CREATE TABLE c (a INT);\n{text}")
    ended = prepare(theirs, tmp_path / "dump.sql")
    assert bool(ended.returncode) == bool(fails), ended.stderr
    assert words in ended.stderr
    if not fails:
        assert theirs.ask("SELECT count(*) FROM c", database="load")[0][0] > 0


def prepare(theirs: Theirs, dump: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    argv = [str(load.program()), "prepare", "script", "--url", theirs.url, "--file", str(dump)]
    env = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD, "PATH": path or os.environ["PATH"]}
    at = dump.parent
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=60, cwd=at)


def dumped(theirs: Theirs, *words: str) -> str:
    """Return what pg_dump says of the database, without what differs from call to call."""
    argv = [str(find_postgresql().programs / "pg_dump"), "--host", str(theirs.folder), "--no-owner", *words]
    argv += ["--port", str(theirs.port), "--username", "root", "load"]
    text = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    return "\n".join(line for line in text.splitlines() if not line.startswith("\\"))


@pytest.mark.parametrize("server", ["postgresql"], indirect=True, scope="module")
@pytest.mark.parametrize("kind", ["custom", "tar", "directory"])
def test_an_archive_of_pg_dump_is_loaded(tmp_path: Path, theirs: Theirs, kind: str) -> None:
    (tmp_path / "dump.sql").write_text(DUMPS["postgresql"])
    assert not prepare(theirs, tmp_path / "dump.sql").returncode
    before = dumped(theirs)
    dumped(theirs, f"--format={kind}", f"--file={tmp_path / 'archive'}")
    theirs.empty()
    ended = prepare(theirs, tmp_path / "archive")
    assert not ended.returncode, ended.stderr
    assert dumped(theirs) == before


@pytest.mark.parametrize("server", ["postgresql"], indirect=True, scope="module")
@pytest.mark.parametrize("kind", ["custom", "directory"])
def test_a_study_takes_an_archive_of_pg_dump(tmp_path: Path, theirs: Theirs, kind: str) -> None:
    """Of one file or of several."""
    (tmp_path / "dump.sql").write_text(DUMPS["postgresql"])
    assert not prepare(theirs, tmp_path / "dump.sql").returncode
    dumped(theirs, f"--format={kind}", f"--file={tmp_path / 'archive'}")
    write_script(tmp_path, theirs, "BEGIN;\nSELECT a FROM t WHERE a = 1;\nCOMMIT;\n")
    study = (tmp_path / "study.toml").read_text().replace("dump.sql", "archive")
    (tmp_path / "study.toml").write_text(study)
    theirs.empty()
    assert restored(tmp_path) == ["unchanged", "unchanged"]


@pytest.mark.parametrize("server", ["postgresql"], indirect=True, scope="module")
@pytest.mark.parametrize("kind", ["custom", "tar"])
def test_an_archive_that_breaks_off_loads_nothing(tmp_path: Path, theirs: Theirs, kind: str) -> None:
    theirs.ask("CREATE TABLE t AS SELECT g, md5(g::text) FROM generate_series(1, 20000) g", database="load")
    archive = tmp_path / "archive"
    dumped(theirs, f"--format={kind}", f"--file={archive}")
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    theirs.empty()
    ended = prepare(theirs, archive)
    assert ended.returncode == 2
    # Of a cut tar file, pg_restore joins the last rows with what follows them.
    said = {"custom": "pg_restore broke off: pg_restore: error: ", "tar": "must end with a line"}
    assert said[kind] in ended.stderr
    assert theirs.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database="load") == [(0,)]


@pytest.mark.parametrize("server", ["postgresql"], indirect=True, scope="module")
def test_what_reads_an_archive_has_no_password_and_is_not_of_the_current_folder(
    tmp_path: Path, theirs: Theirs
) -> None:
    """A program in its place, found first on PATH, says what it may see."""
    spy = tmp_path / "spy.c"
    spy.write_text(
        "#include <stdio.h>\nextern char **environ;\n"
        'int main(void) { for (char **e = environ; *e; e++) fprintf(stderr, "%s;", *e); FILE *f = '
        'fopen("/etc/passwd", "r"); fprintf(stderr, f ? "open" : "closed"); return 1; }\n'
    )
    (tmp_path / "bin").mkdir()
    subprocess.run(["cc", "-o", tmp_path / "bin" / "pg_restore", spy], check=True)
    archive = tmp_path / "archive"
    archive.write_bytes(b"PGDMP\x01\x0e\x00\x04\x08\x01")
    ended = prepare(theirs, archive, path=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert "broke off: closed (" in ended.stderr
    shutil.copy(tmp_path / "bin" / "pg_restore", tmp_path / "pg_restore")
    ended = prepare(theirs, archive, path=f":.:{os.environ['PATH']}")
    assert "broke off: pg_restore: error: " in ended.stderr


@pytest.mark.parametrize("server", ["mariadb"], indirect=True, scope="module")
def test_an_archive_of_pg_dump_is_for_postgresql(tmp_path: Path, theirs: Theirs) -> None:
    archive = tmp_path / "archive"
    archive.write_bytes(b"PGDMP\x01\x0e\x00\x04\x08\x01")
    ended = prepare(theirs, archive)
    assert ended.returncode == 2
    assert "which only PostgreSQL takes" in ended.stderr
