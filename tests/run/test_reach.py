"""What the user's SQL may reach of a server that is there already: the one database of the URL."""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from diskproof import load
from support.command import diskproof_here
from support.given import KINDS, PASSWORD, Theirs, their_server, write_password

pytestmark = pytest.mark.timeout(600)

MYSQL = {
    "drop": "DROP DATABASE shop;",
    "comment": "/*!40000 DROP DATABASE IF EXISTS `shop`*/;",
    "dynamic": "EXECUTE IMMEDIATE CONCAT('DROP DA', 'TABASE shop');",
    "prepared": "SET @s = CONCAT('DROP DA', 'TABASE shop'); PREPARE p FROM @s; EXECUTE p;",
    "use": "USE shop; DROP TABLE orders;",
    "two": "CREATE DATABASE shop; CREATE DATABASE crm;",
    "qualified": "DELETE FROM shop.orders;",
    "spaced": "UPDATE `shop` /* x */ . `orders` SET v = 'gone';",
    "alias": "SELECT 1 AS shop; INSERT INTO shop.orders SELECT 9, 'x' AS shop;",
    "rename": "CREATE TABLE mine (a INT); RENAME TABLE mine TO shop.mine;",
    "view": "CREATE VIEW v AS SELECT * FROM shop.orders; DELETE FROM v;",
    "trigger": "CREATE TABLE t1 (a INT); CREATE TRIGGER g AFTER INSERT ON t1 FOR EACH ROW "
    "DELETE FROM shop.orders; INSERT INTO t1 VALUES (1);",
    "routine": "DELIMITER //\nCREATE PROCEDURE p1() BEGIN SELECT 1; DROP DATABASE shop; END//\n"
    "DELIMITER ;\nCALL p1();",
    "hidden routine": "DELIMITER //\nCREATE PROCEDURE p2() BEGIN SET @s = 'DROP DATABASE shop'; "
    "PREPARE p FROM @s; EXECUTE p; END//\nDELIMITER ;\nCALL p2();",
    "definer": "CREATE DEFINER=`root`@`localhost` PROCEDURE p3() SQL SECURITY DEFINER "
    "EXECUTE IMMEDIATE 'DROP DATABASE shop'; CALL p3();",
    "event": "CREATE EVENT e ON SCHEDULE AT NOW() DO DROP DATABASE shop;",
    "global": "SET GLOBAL max_connections = 11;",
    "at global": "SET @a = 1, @@global.max_connections = 11;",
    "grant": "GRANT ALL ON *.* TO 'app'@'%';",
    "user": "CREATE USER evil;",
    "drop user": "DROP USER 'app'@'%';",
    "password": "SET PASSWORD FOR 'root'@'localhost' = '';",
    "load": "CREATE TABLE f (a TEXT); LOAD DATA INFILE '/etc/hostname' INTO TABLE f;",
    "local": "CREATE TABLE f2 (a TEXT); LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE f2;",
    "outfile": "SELECT 1 INTO OUTFILE '/tmp/diskproof-reach';",
    "kill": "KILL 1;",
    "shutdown": "SHUTDOWN;",
    "reset": "RESET MASTER;",
    "plugin": "INSTALL SONAME 'ha_blackhole';",
    "server": "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x');",
    "flush": "FLUSH TABLES WITH READ LOCK;",
    "escape": "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SELECT '\\'; DROP DATABASE shop; -- ';",
}

POSTGRESQL = {
    "drop": "DROP DATABASE shop;",
    "connect": "\\connect shop\nDROP TABLE orders;",
    "several": "\\connect shop\n\\connect crm\nSELECT 1;",
    "do": "DO $$ BEGIN EXECUTE 'DROP DA' || 'TABASE shop'; END $$;",
    "function": "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER SYS' || "
    "'TEM SET work_mem = 64'; END $$; SELECT f();",
    "strings": "SET standard_conforming_strings = off; SELECT 'a\\''; DROP DATABASE shop; --';",
    "system": "ALTER SYSTEM SET work_mem = '1MB';",
    "role": "CREATE ROLE evil SUPERUSER;",
    "alter role": "ALTER ROLE app SUPERUSER;",
    "set role": "SET ROLE root; DROP DATABASE shop;",
    "authorization": "SET SESSION AUTHORIZATION root; ALTER ROLE app SUPERUSER;",
    "config": "SELECT set_config('role', 'root', false); DROP OWNED BY root;",
    "grant": "GRANT root TO app;",
    "program": "CREATE TABLE c (a TEXT); COPY c FROM PROGRAM 'touch /tmp/diskproof-reach';",
    "hidden program": "CREATE TABLE c2 (a TEXT); "
    "DO $$ BEGIN EXECUTE 'COPY c2 FROM PROG' || 'RAM ''id'''; END $$;",
    "file": "CREATE TABLE c3 (a TEXT); COPY c3 FROM '/etc/passwd';",
    "to file": "COPY (SELECT 1) TO '/tmp/diskproof-reach';",
    "reload": "SELECT pg_reload_conf();",
    "terminate": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'root';",
    "catalogue": "UPDATE pg_database SET datname = 'lost' WHERE datname = 'shop';",
    "tablespace": "CREATE TABLESPACE s LOCATION '/tmp';",
    "extension": "CREATE EXTENSION dblink;",
    "load": "LOAD 'auto_explain';",
    "server": "CREATE SERVER s FOREIGN DATA WRAPPER x;",
    "subscription": "CREATE SUBSCRIPTION s CONNECTION 'dbname=shop' PUBLICATION p;",
    "reassign": "REASSIGN OWNED BY root TO app;",
    "large object": "SELECT lo_import('/etc/passwd');",
    "rename": "ALTER DATABASE shop RENAME TO lost;",
    "template": "CREATE DATABASE copy TEMPLATE shop;",
    "parameter": "ALTER DATABASE shop SET work_mem = 64;",
}


REFUSED = re.compile(
    "left out: |this statement |this is a dump of several|[Dd]enied|must be (owner|superuser|a superuser)|"
    "must have admin option|is not allowed|not supported in the prepared|is disabled|no privileges|"
    "does not exist|syntax|is not a command|was offered|cannot (run|be executed)|Unknown thread"
)
"""What says a refusal, of ours or of the server."""

HARMLESS = {"event", "several"}
"""Scripts that may go where they like, and that then fail later, or do nothing."""


@dataclass
class Shop:
    """A server with somebody's database `shop`, and an account whose rights end at `load`."""

    theirs: Theirs
    scripts: dict[str, str]
    secured: str = ""
    """MySQL sends no password to an account that it does not know yet, but in TLS."""

    @property
    def url(self) -> str:
        return self.theirs.url + self.secured

    def state(self) -> dict[str, Any]:
        """Return what must stay as it is."""
        ask = self.theirs.ask
        if self.theirs.scheme == "mysql":
            variables = ask("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('max_connections', 'sql_mode')")
            return {
                "databases": ask("SHOW DATABASES"),
                "rows": ask("CHECKSUM TABLE shop.orders"),
                "tables": ask("SHOW TABLES FROM shop"),
                "users": ask("SELECT user, host FROM mysql.user ORDER BY 1, 2"),
                "grants": ask("SHOW GRANTS FOR 'app'@'%'"),
                "variables": variables,
                "plugins": ask("SELECT plugin_name FROM information_schema.plugins ORDER BY 1"),
            }
        return {
            "databases": ask("SELECT datname, datdba FROM pg_database WHERE datname <> 'load' ORDER BY 1"),
            "rows": ask("SELECT * FROM orders ORDER BY 1", database="shop"),
            "users": ask("SELECT rolname, rolsuper FROM pg_roles ORDER BY 1"),
            "members": ask("SELECT roleid, member FROM pg_auth_members ORDER BY 1, 2"),
            "variables": ask("SELECT name, setting FROM pg_file_settings ORDER BY 1, 2"),
            "of databases": ask("SELECT * FROM pg_db_role_setting"),
            "tablespaces": ask("SELECT spcname FROM pg_tablespace ORDER BY 1"),
        }

    def empty(self) -> None:
        """Make the database of the URL anew: a script may have left a thing, or taken a right."""
        self.theirs.empty()

    def clear(self) -> None:
        """Take away what a script left: PostgreSQL takes long to make a database."""
        if self.theirs.scheme == "postgresql":
            self.theirs.ask("DROP OWNED BY app", database="load")
        else:
            self.empty()

    def load(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = [str(load.program()), *words[:2], "--url", self.url, *words[2:]]
        env = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
        return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module", params=KINDS)
def their_shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    with their_server(request.param) as theirs:
        theirs.ask("CREATE DATABASE shop")
        theirs.ask(
            "CREATE TABLE orders (id INT PRIMARY KEY, v VARCHAR(20))",
            "INSERT INTO orders VALUES (1, 'precious'), (2, 'dear')",
            database="shop",
        )
        scripts = MYSQL if theirs.scheme == "mysql" else POSTGRESQL
        if theirs.scheme == "mysql":  # else triggers are refused where there is a binary log
            theirs.ask(
                "SET GLOBAL log_bin_trust_function_creators = 1",
                *(f"SET GLOBAL {name} = 0" for name in ("innodb_flush_log_at_trx_commit", "sync_binlog")),
            )
        else:  # each of hundreds of databases would wait for a checkpoint
            theirs.ask("ALTER SYSTEM SET fsync = off")
            theirs.ask("SELECT pg_reload_conf()")
        yield Shop(theirs, scripts, "?ssl-mode=required" if request.param == "mysql9" else "")


@pytest.fixture
def shop(their_shop: Shop) -> Shop:
    their_shop.empty()
    return their_shop


def test_no_statement_leaves_the_database(shop: Shop, tmp_path: Path) -> None:
    """By the account's rights and by the text, in what makes tables and in what is measured."""
    before = shop.state()
    own, lua = tmp_path / "own.sql", tmp_path / "own.lua"
    measured = ["--transactions", "1", "--seconds", "0.1", "--retry", "none"]
    ways = [
        ["prepare", "script", "--file", str(own)],
        ["cleanup", "script", "--file", str(own)],
        ["run", "script", "--file", str(own), *measured],
        ["prepare", "script", "--file", str(own), "--any-database"],
        ["run", "lua", str(lua), *measured],
    ]
    if shop.secured:  # its texts are read as MariaDB's; what its account may do is its own
        ways = ways[::3]
    for name, text in shop.scripts.items():
        own.write_text(text)
        statements = [text] if "DELIMITER" in text or "$$" in text else text.split("; ")
        lua.write_text(f"function event() {''.join(f'db_query([[{one}]])' for one in statements)} end")
        for way in ways:
            shop.clear()
            ended = shop.load(*way)
            taken = name in HARMLESS and way[-1] == "--any-database"
            assert taken or REFUSED.search(ended.stderr), (name, way, ended)
            assert shop.state() == before, (name, way, ended)
    assert not Path("/tmp/diskproof-reach").exists()


def test_a_database_whose_name_has_other_letters_is_another_one(shop: Shop, tmp_path: Path) -> None:
    if shop.theirs.scheme != "mysql":
        return  # a connection of PostgreSQL reaches one database
    shop.theirs.ask("CREATE DATABASE `LOAD`", "CREATE TABLE `LOAD`.orders (id INT)")
    shop.theirs.ask("GRANT SELECT ON `LOAD`.* TO 'app'@'%'")
    (tmp_path / "own.sql").write_text("SELECT id FROM LOAD.orders;")
    (tmp_path / "own.lua").write_text('function event() db_query("SELECT id FROM LOAD.orders") end')
    try:
        measured = ["--transactions", "1", "--retry", "none"]
        sql = shop.load("run", "script", "--file", str(tmp_path / "own.sql"), *measured)
        lua = shop.load("run", "lua", str(tmp_path / "own.lua"), *measured)
    finally:
        shop.theirs.ask("REVOKE SELECT ON `LOAD`.* FROM 'app'@'%'", "DROP DATABASE `LOAD`")
    for ended in (sql, lua):
        assert "this statement names the database `LOAD`" in ended.stderr, ended


def test_a_dump_of_one_database_loads_into_ours(shop: Shop, tmp_path: Path) -> None:
    mysql = shop.theirs.scheme == "mysql"
    before = shop.state()
    begin = (
        "/*M!999999\\- enable the sandbox mode */\n/*!40101 SET SQL_MODE='X_OF_LATER' */;\n"
        "/*!40000 DROP DATABASE IF EXISTS `shop`*/;\nCREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop`;\n"
        "USE `shop`;\n"
        if mysql
        else "SET transaction_timeout = 0;\nSET later_timeout = 0;\nDROP DATABASE shop;\n"
        "CREATE DATABASE shop WITH TEMPLATE = template0;\nALTER DATABASE shop OWNER TO root;\n"
        "\\connect shop\n"
    )
    end = (
        "CREATE DEFINER=`root`@`localhost` PROCEDURE named() SELECT 1;\n"
        if mysql
        else "ALTER TABLE loaded OWNER TO root;\nGRANT ALL ON TABLE loaded TO somebody;\n"
    )
    (tmp_path / "dump.sql").write_text(
        f"{begin}CREATE TABLE loaded (id INT, v VARCHAR(20));\n"
        f"INSERT INTO loaded VALUES (1, 'at :scale');\n{end}"
    )
    ended = shop.load("prepare", "script", "--file", str(tmp_path / "dump.sql"))
    assert ended.returncode == 0, ended.stderr
    assert "dump.sql:3: left out: " in ended.stderr
    assert "the tables go into `load`" in ended.stderr
    assert shop.theirs.ask("SELECT v FROM loaded", database="load") == [("at :scale",)]
    assert shop.state() == before


STUDY = """
question = "How fast is it?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0.1
measure_s = 0.5
clients = [1]
[servers.mine]
url = "{url}"
{keys}
[workloads.own]
kind = "script"
prepare = "dump.sql"
files = ["look.sql"]
"""


def write_study(
    folder: Path, url: str, keys: str = "", look: str = "SELECT v FROM orders WHERE id = 1;"
) -> None:
    password = f'password_file = "{write_password(folder)}"'
    (folder / "study.toml").write_text(STUDY.format(url=url, keys=f"{password}\n{keys}"))
    (folder / "dump.sql").write_text(
        "DROP DATABASE IF EXISTS shop;\nCREATE DATABASE shop;\n"
        "CREATE TABLE orders (id INT PRIMARY KEY, v VARCHAR(20));\n"
        "INSERT INTO orders VALUES (1, 'old backup');\n"
    )
    (folder / "look.sql").write_text(look)


def test_an_account_that_may_do_more_is_refused_with_what_makes_another(shop: Shop, tmp_path: Path) -> None:
    mysql = shop.theirs.scheme == "mysql"
    wide = "GRANT FILE ON *.* TO 'app'@'%'" if mysql else "ALTER ROLE app CREATEDB"
    back = "REVOKE FILE ON *.* FROM 'app'@'%'" if mysql else "ALTER ROLE app NOCREATEDB"
    write_study(tmp_path, shop.url)
    shop.theirs.ask(wide)
    try:
        refused = diskproof_here(tmp_path, "plan", "study.toml")
        write_study(tmp_path, shop.url, "any_database = true")
        allowed = diskproof_here(tmp_path, "plan", "study.toml")
    finally:
        shop.theirs.ask(back)
    assert refused.returncode == 2
    assert ("FILE ON *.*" if mysql else "CREATEDB") in refused.stderr
    commands = refused.stderr.partition("name it in `url`: ")[2].partition(". Or let")[0]
    assert allowed.returncode == 0, allowed.stderr
    assert "may reach all that the account may" in allowed.stdout + allowed.stderr
    shop.theirs.ask(*commands.replace("…", "x").split("; "))
    url = shop.url.replace("//app@", "//diskproof@")
    write_study(tmp_path, url)
    (tmp_path / "password").write_text("x")
    made = diskproof_here(tmp_path, "plan", "study.toml")
    assert made.returncode == 0, made.stderr


def test_plan_says_what_is_left_out_and_refuses_other_databases(shop: Shop, tmp_path: Path) -> None:
    mysql = shop.theirs.scheme == "mysql"
    write_study(tmp_path, shop.url)
    planned = diskproof_here(tmp_path, "plan", "study.toml")
    assert planned.returncode == 0, planned.stderr
    assert "dump.sql:1: left out: DROP DATABASE IF EXISTS shop and 1 more" in planned.stdout + planned.stderr
    look = "SELECT v FROM shop.orders WHERE id = 1;" if mysql else "ALTER SYSTEM SET work_mem = 64;"
    write_study(tmp_path, shop.url, look=look)
    refused = diskproof_here(tmp_path, "plan", "study.toml")
    assert (refused.returncode, "look.sql:1: this statement " in refused.stderr) == (2, True), refused.stderr


def test_a_run_changes_nothing_but_its_database(shop: Shop, tmp_path: Path) -> None:
    before = shop.state()
    write_study(tmp_path, shop.url)
    ended = diskproof_here(tmp_path, "run", "study.toml")
    assert ended.returncode in (0, 12), ended.stderr
    assert shop.state() == before
    assert shop.theirs.ask("SELECT v FROM orders", database="load") == [("old backup",)]


def test_a_large_dump_is_not_copied(shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from diskproof.study.loads import own_data  # noqa: PLC0415
    from diskproof.study.read import read_study  # noqa: PLC0415

    monkeypatch.setattr(own_data, "MAX_SQL_BYTES", 200)
    write_study(tmp_path, shop.url)
    dump = tmp_path / "dump.sql"
    dump.write_text(dump.read_text() + "-- so much\n" * 20)
    own = read_study(tmp_path / "study.toml").study.workloads["own"]
    digest = hashlib.sha256(dump.read_bytes()).hexdigest()
    assert digest.encode() in own.files_to_keep["dump.sql"]
    identity = own.data_identity
    (tmp_path / "scripts" / "own").mkdir(parents=True)
    (tmp_path / "scripts" / "own" / "dump.sql").write_bytes(own.files_to_keep["dump.sql"])
    dump.unlink()  # a report is made again without it
    assert read_study(tmp_path / "study.toml").study.workloads["own"].data_identity == identity
