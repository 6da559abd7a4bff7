"""Databases that are not ours: nothing that a script says writes there, whatever it makes of its session."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.load import program
from diskproof.server.base import ServerError
from diskproof.server.given import find_given
from diskproof.study.servers import ServerChoice
from support.given import KINDS, PASSWORD, Theirs, their_server

pytestmark = pytest.mark.timeout(300)

READER = "reader of theirs"

MYSQL = [
    "INSERT INTO t VALUES (2);",
    "SET SESSION TRANSACTION READ WRITE; INSERT INTO t VALUES (2);",
    "SET SESSION TRANSACTION READ /* x */ WRITE; UPDATE t SET a = 2;",
    "START TRANSACTION READ WRITE; DELETE FROM t; COMMIT;",
    "SET @@session.autocommit = 0; SET SESSION TRANSACTION READ WRITE; REPLACE INTO t VALUES (2); COMMIT;",
    "PREPARE x FROM 'SET SESSION TRANSACTION READ WRITE'; EXECUTE x; INSERT INTO t VALUES (2);",
    "SET @x = CONCAT('INS', 'ERT INTO t VALUES (2)'); SET SESSION TRANSACTION READ WRITE; "
    "PREPARE y FROM @x; EXECUTE y;",
    "SET SESSION TRANSACTION READ WRITE; SELECT w();",
    "SET SESSION TRANSACTION READ WRITE; CALL p();",
    "SET SESSION TRANSACTION READ WRITE; CREATE TABLE u (a INT);",
    "SET SESSION TRANSACTION READ WRITE; CREATE TABLE u AS SELECT * FROM t;",
    "SET SESSION TRANSACTION READ WRITE; TRUNCATE TABLE t;",
    "SET SESSION TRANSACTION READ WRITE; DROP TABLE t;",
    "SET SESSION TRANSACTION READ WRITE; ALTER TABLE t ADD COLUMN b INT;",
    "SET SESSION TRANSACTION READ WRITE; RENAME TABLE t TO u;",
    "SET SESSION TRANSACTION READ WRITE; CREATE INDEX i ON t (a);",
    "SET SESSION TRANSACTION READ WRITE; ANALYZE TABLE t;",
    "SET SESSION TRANSACTION READ WRITE; LOCK TABLES t WRITE; INSERT INTO t VALUES (2);",
    "SET SESSION TRANSACTION READ WRITE; LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t;",
    "SET GLOBAL max_connections = 99;",
    "FLUSH TABLES WITH READ LOCK;",
    "SELECT a FROM t INTO OUTFILE '/tmp/diskproof-never';",
    "SET SESSION TRANSACTION READ WRITE; CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM t;",
    "SET SESSION TRANSACTION READ WRITE; CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET @a = 1;",
    "SET SESSION TRANSACTION READ WRITE; GRANT INSERT ON `load`.* TO reader;",
    "SELECT a FROM t FOR UPDATE;",
    "RESET MASTER;",
    "SHUTDOWN;",
]

POSTGRESQL = [
    "INSERT INTO t VALUES (2);",
    "SET default_transaction_read_only = off; INSERT INTO t VALUES (2);",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ /*!x*/ WRITE; INSERT INTO t VALUES (2);",
    "SELECT set_config('default_transaction_' || 'read_only', 'off', false); DELETE FROM t;",
    "BEGIN READ WRITE; UPDATE t SET a = 2; COMMIT;",
    "BEGIN; SET TRANSACTION READ WRITE; DELETE FROM t; COMMIT;",
    "RESET ALL; TRUNCATE t;",
    "SET default_transaction_read_only = off; SELECT w();",
    "SET default_transaction_read_only = off; CREATE TABLE u (a INT);",
    "SET default_transaction_read_only = off; SELECT * INTO u FROM t;",
    "SET default_transaction_read_only = off; DROP TABLE t;",
    "SET default_transaction_read_only = off; ALTER TABLE t ADD COLUMN b INT;",
    "SET default_transaction_read_only = off; CREATE INDEX ON t (a);",
    "SET default_transaction_read_only = off; DO $$ BEGIN EXECUTE 'INS' || 'ERT INTO t VALUES (2)'; END $$;",
    "SET default_transaction_read_only = off; WITH d AS (DELETE FROM t RETURNING a) SELECT * FROM d;",
    "SET default_transaction_read_only = off; COPY t FROM PROGRAM 'echo 2';",
    "COPY t TO '/tmp/diskproof-never';",
    "SELECT lo_import('/etc/passwd');",
    "SELECT lo_create(0);",
    "SET default_transaction_read_only = off; SELECT lo_creat(-1);",
    "SET default_transaction_read_only = off; SELECT lo_from_bytea(0, 'x');",
    "SET default_transaction_read_only = off; SELECT nextval('s');",
    "SET default_transaction_read_only = off; SELECT a FROM t FOR UPDATE;",
    "SET default_transaction_read_only = off; BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE; COMMIT;",
    "ALTER SYSTEM SET work_mem = '1MB';",
    "SET ROLE app; SET default_transaction_read_only = off; INSERT INTO t VALUES (2);",
    "SET SESSION AUTHORIZATION app; INSERT INTO t VALUES (2);",
    "SET default_transaction_read_only = off; GRANT INSERT ON t TO reader; INSERT INTO t VALUES (2);",
    "SET default_transaction_read_only = off; CREATE SCHEMA other;",
    "SELECT pg_reload_conf();",
]

REFUSED = re.compile(
    r"denied|must be (owner|superuser)|(?i:read[- ]only) transaction|is not allowed|disabled|"
    r"error in your SQL syntax"  # what this release does not know, too
)
"""What a server says that has refused."""

ONCE = ["--clients=1", "--transactions=1", "--seconds=1", "--any-database"]

KEPT = "SELECT a FROM t"
SCHEMA = """SELECT (SELECT count(*) FROM information_schema.columns WHERE table_name IN ('t', 'u')),
    (SELECT count(*) FROM information_schema.table_privileges WHERE grantee LIKE '%%reader%%')"""


@pytest.fixture(scope="module", params=KINDS)
def theirs(request: pytest.FixtureRequest) -> Iterator[Theirs]:
    """A server with a table, what writes to it by its owner's rights, and an account that may only read."""
    with their_server(request.param) as server:
        if server.scheme == "postgresql":
            server.ask(
                "CREATE TABLE t (a INT)",
                "INSERT INTO t VALUES (1)",
                "CREATE SEQUENCE s",
                "CREATE FUNCTION w() RETURNS INT LANGUAGE plpgsql SECURITY DEFINER AS "
                "$$ BEGIN INSERT INTO t VALUES (8); RETURN 1; END $$",
                f"CREATE ROLE reader LOGIN PASSWORD '{READER}'",
                "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
                database="load",
            )
        else:
            server.ask(
                "SET GLOBAL log_bin_trust_function_creators = 1",
                "CREATE TABLE t (a INT)",
                "INSERT INTO t VALUES (1)",
                "CREATE FUNCTION w() RETURNS INTEGER BEGIN INSERT INTO t VALUES (8); RETURN 1; END",
                "CREATE PROCEDURE p() INSERT INTO t VALUES (8)",
                f"CREATE USER reader IDENTIFIED BY '{READER}'",
                "GRANT SELECT ON `load`.* TO reader",
                database="load",
            )
        yield server


def check(theirs: Theirs, user: str, password: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("THEIR_PASSWORD", password)
    url = theirs.url.replace("//app@", f"//{user}@")
    asked = {"url": url, "password_env": "THEIR_PASSWORD", "read_only": True}
    connection = find_given("theirs", ServerChoice.model_validate(asked)).open()
    try:
        return connection.check_read_only()
    finally:
        connection.stop()


def test_an_account_that_may_write_is_refused_with_what_makes_another(
    theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ServerError, match=r"app may do more than read: .*GRANT SELECT"):
        check(theirs, "app", PASSWORD, monkeypatch)
    if theirs.scheme == "mysql":
        theirs.ask("GRANT EXECUTE ON `load`.* TO reader")
        with pytest.raises(ServerError, match="EXECUTE ON"):
            check(theirs, "reader", READER, monkeypatch)
        theirs.ask("REVOKE EXECUTE ON `load`.* FROM reader")
    else:
        with pytest.raises(ServerError, match=r"EXECUTE on function (lo_crea|w\(\))"):
            check(theirs, "reader", READER, monkeypatch)
        lo = "lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea), w()"
        theirs.ask(f"REVOKE EXECUTE ON FUNCTION {lo} FROM PUBLIC", database="load")
        theirs.ask("GRANT USAGE ON SEQUENCE s TO reader", database="load")
        with pytest.raises(ServerError, match=r"writes to public\.s"):
            check(theirs, "reader", READER, monkeypatch)
        theirs.ask("REVOKE USAGE ON SEQUENCE s FROM reader", database="load")
    assert check(theirs, "reader", READER, monkeypatch) == "the account has no right to write"


def refused(theirs: Theirs, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServerError, match=why):
        check(theirs, "reader", READER, monkeypatch)


def test_what_writes_by_the_rights_of_somebody_else_is_found(
    theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    if theirs.scheme == "postgresql":
        theirs.ask(
            "CREATE FUNCTION step(INT, INT) RETURNS INT LANGUAGE plpgsql SECURITY DEFINER AS "
            "$$ BEGIN INSERT INTO t VALUES (8); RETURN 1; END $$",
            "REVOKE EXECUTE ON FUNCTION step(INT, INT), lo_create(oid), lo_creat(integer), "
            "lo_from_bytea(oid, bytea), w() FROM PUBLIC",
            "CREATE AGGREGATE adds(INT) (sfunc = step, stype = INT)",
            database="load",
        )
        refused(theirs, r"step\(integer,integer\), which has the rights of its owner", monkeypatch)
        theirs.ask("DROP AGGREGATE adds(INT)", "DROP FUNCTION step(INT, INT)", database="load")
        theirs.ask(
            "CREATE EXTENSION postgres_fdw",
            "CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw",
            "CREATE FOREIGN TABLE f (a INT) SERVER far",
            "GRANT SELECT (a) ON f TO reader",
            database="load",
        )
        refused(theirs, "more than read: foreign table f", monkeypatch)
        theirs.ask(
            "REVOKE SELECT (a) ON f FROM reader",
            "CREATE VIEW v AS SELECT a FROM f",
            "GRANT USAGE ON FOREIGN SERVER far TO reader",
            database="load",
        )
        refused(theirs, "USAGE of foreign server far, foreign table f", monkeypatch)
        theirs.ask("DROP EXTENSION postgres_fdw CASCADE", database="load")
        return
    theirs.ask("CREATE VIEW v AS SELECT w() AS a", "CREATE VIEW x AS SELECT a FROM t", database="load")
    refused(theirs, "view load.v has its definer's rights, and its text needs SHOW VIEW", monkeypatch)
    theirs.ask("GRANT SHOW VIEW ON `load`.* TO reader")
    refused(theirs, "view load.v has its definer's rights, and it calls a function", monkeypatch)
    theirs.ask(
        "CREATE DATABASE hidden",
        "CREATE VIEW hidden.v AS SELECT `load`.w() AS a",
        "CREATE OR REPLACE VIEW v AS SELECT a FROM hidden.v",
        database="load",
    )
    refused(theirs, "view load.v has .*, and the account may not see all that it reads", monkeypatch)
    theirs.ask(
        "DROP DATABASE hidden",
        "DROP VIEW v",
        "GRANT EXECUTE ON `load`.* TO reader",
        "SET GLOBAL read_only = 1",
        database="load",
    )
    refused(theirs, "EXECUTE ON", monkeypatch)
    theirs.ask("REVOKE EXECUTE ON `load`.* FROM reader", "GRANT INSERT ON `load`.* TO reader")
    assert check(theirs, "reader", READER, monkeypatch) == "the server is a replica that takes no writes"
    theirs.ask(
        "SET GLOBAL read_only = 0", "DROP VIEW x", "REVOKE INSERT ON `load`.* FROM reader", database="load"
    )
    if "MariaDB" in theirs.value("version"):
        theirs.ask("GRANT ALL ON test.* TO PUBLIC")
        assert "everybody may write to (`test`)" in check(theirs, "reader", READER, monkeypatch)
        theirs.ask("CREATE DATABASE test", "CREATE PROCEDURE test.p() INSERT INTO `load`.t VALUES (8)")
        refused(theirs, "everybody's rights in test, which is not empty", monkeypatch)
        theirs.ask("DROP DATABASE test", "REVOKE ALL ON test.* FROM PUBLIC")
        theirs.ask("CREATE SEQUENCE s", "CREATE VIEW v AS SELECT NEXTVAL(s) AS a", database="load")
        refused(theirs, "view load.v has its definer's rights, and it calls a function", monkeypatch)
        theirs.ask("DROP VIEW v", "DROP SEQUENCE s", database="load")


@pytest.mark.parametrize("lifts", [False, True])
def test_the_sessions_of_the_load_say_at_its_end_whether_they_are_read_only(
    theirs: Theirs, tmp_path: Path, lifts: bool
) -> None:
    off = {"mysql": "SESSION TRANSACTION READ WRITE", "postgresql": "default_transaction_read_only = off"}
    lift = f"SET {off[theirs.scheme]};"
    (tmp_path / "own.sql").write_text(f"{lift if lifts else ''} SELECT 1;\n")
    argv = [str(program()), "run", "script", "--file", str(tmp_path / "own.sql"), "--clients=3", "--json"]
    argv += ["--seconds=1", "--any-database", "--url"]
    url = theirs.url.replace("//app@", "//reader@")
    said = {}
    for guard in ("?read-only=on", ""):
        env = {"DISKPROOF_PASSWORD": READER}
        ended = subprocess.run([*argv, url + guard], env=env, capture_output=True, text=True, check=True)
        said[guard] = json.loads(ended.stdout.splitlines()[-1])
    assert said["?read-only=on"]["guards"] == [3, 0 if lifts else 3]
    assert "guards" not in said[""]


def test_no_script_of_a_reader_writes(
    theirs: Theirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if theirs.scheme == "postgresql":
        lo = "lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea), w()"
        theirs.ask(f"REVOKE EXECUTE ON FUNCTION {lo} FROM PUBLIC", database="load")
    check(theirs, "reader", READER, monkeypatch)
    before, kept = theirs.ask(SCHEMA, database="load"), theirs.value("max_connections")
    url = theirs.url.replace("//app@", "//reader@") + "?read-only=on"
    for number, text in enumerate(POSTGRESQL if theirs.scheme == "postgresql" else MYSQL):
        file = tmp_path / f"{number}.sql"
        file.write_text(text + "\n")
        ended = subprocess.run(
            [str(program()), "run", "script", "--url", url, "--file", str(file), *ONCE],
            env={"DISKPROOF_PASSWORD": READER},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 1, (text, ended)
        assert REFUSED.search(ended.stderr), (text, ended)
        assert theirs.ask(KEPT, database="load") == [(1,)], text
        assert theirs.ask(SCHEMA, database="load") == before, text
        assert theirs.value("max_connections") == kept, text
        if theirs.scheme == "postgresql":
            assert theirs.ask("SELECT count(*) FROM pg_largeobject_metadata", database="load") == [(0,)], text
    assert not Path("/tmp/diskproof-never").exists()
