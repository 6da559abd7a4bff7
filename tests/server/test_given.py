"""Connections to servers that are there already, and their variables, without a run."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pymysql
import pytest

from diskproof.families.names import granted, quoted
from diskproof.results.record import Protocol
from diskproof.server.base import ServerError, ServerNotFoundError
from diskproof.server.given import GivenServer, find_given
from diskproof.server.given.base import Mark
from diskproof.study.servers import ServerChoice
from support.given import KINDS, PASSWORD, Theirs, their_server


class Recorder:
    """Keeps what is recorded before a variable is set."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, str, str]] = []

    def sets_variable(self, name: str, ours: str, before: str, *_: object) -> None:
        self.recorded.append((name, ours, before))


@pytest.fixture(scope="module", params=KINDS)
def theirs(request: pytest.FixtureRequest) -> Iterator[Theirs]:
    with their_server(request.param) as server:
        yield server


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEIR_PASSWORD", PASSWORD)


def find(url: str, **keys: Any) -> GivenServer:
    asked = {"url": url, "password_env": "THEIR_PASSWORD", **keys}
    return find_given("production", ServerChoice.model_validate(asked))


def test_it_says_what_it_is(theirs: Theirs) -> None:
    facts = find(theirs.url).facts
    flavours = {"mariadb": "MariaDB", "mysql9": "MySQL", "postgresql": "PostgreSQL"}
    assert facts.flavour == next(flavours[kind] for kind, one in KINDS.items() if one is type(theirs))
    assert facts.version in str(theirs.ask("SELECT VERSION()")[0][0])
    assert (facts.binary, facts.may_be_here) == (None, True)


def test_a_wrong_password_is_refused_without_it(theirs: Theirs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEIR_PASSWORD", "geheim")
    with pytest.raises(ServerNotFoundError, match="cannot be reached") as refused:
        find(theirs.url)
    assert "geheim" not in str(refused.value)
    assert "CREATE DATABASE" not in str(refused.value) and "`password_file`" in str(refused.value)


@pytest.mark.parametrize(("user", "is_anonymous"), [("", True), ("app", False)])
def test_an_anonymous_user_in_place_of_the_account_is_named(
    monkeypatch: pytest.MonkeyPatch, user: str, is_anonymous: bool
) -> None:
    def refuse(*_: object) -> None:
        raise pymysql.err.OperationalError(
            1044, f"Access denied for user '{user}'@'localhost' to database 'x'"
        )

    monkeypatch.setenv("THEIR_PASSWORD", "geheim")
    monkeypatch.setattr("diskproof.server.given.found.connect", refuse)
    with pytest.raises(ServerNotFoundError, match="Access denied") as refused:
        find("mysql://app@db.example/x")
    assert ("took `app` for its anonymous user: drop" in str(refused.value)) == is_anonymous


def test_a_missing_database_comes_with_what_makes_one(theirs: Theirs) -> None:
    with pytest.raises(ServerNotFoundError, match=r"CREATE DATABASE .nowhere"):
        find(theirs.url.replace("/load", "/nowhere"))


def test_a_refused_port_of_this_machine_names_the_socket(theirs: Theirs) -> None:
    by_socket = "`?socket=/run/mysqld/" if theirs.scheme == "mysql" else "`?host=/run/postgresql`"
    with pytest.raises(ServerNotFoundError, match=re.escape(by_socket)):
        find(f"{theirs.scheme}://app@localhost:1/load")


def test_a_socket_is_a_way_to_it(theirs: Theirs) -> None:
    where = theirs.folder / "s" if theirs.scheme == "mysql" else f"{theirs.folder}&port={theirs.port}"
    given = find(f"{theirs.scheme}://app@localhost/load?socket={where}").open()
    assert given.rows("SELECT 7") == [(7,)]
    given.stop()


def test_encryption_is_demanded_as_the_url_says(theirs: Theirs) -> None:
    mode = "ssl-mode=required" if theirs.scheme == "mysql" else "sslmode=require"
    url = f"{theirs.url}?{mode}"
    if theirs.ask("SELECT VERSION()")[0][0].startswith("9"):  # it makes certificates of its own
        given = find(url).open()
        assert given.rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'")[0][1]
        given.stop()
        authority = theirs.folder / "data" / "ca.pem"
        find(f"{theirs.url}?ssl-mode=verify-ca&ssl-ca={authority}")
        with pytest.raises(ServerNotFoundError):  # its certificate is made out to nobody's host
            find(f"{theirs.url}?ssl-mode=verify-identity&ssl-ca={authority}")
    else:
        with pytest.raises(ServerNotFoundError, match=r"SSL.*or remove `ssl-?mode` from `url`"):
            find(url)


def test_an_account_that_is_there_is_not_made_again(theirs: Theirs) -> None:
    """If the account may look; in MySQL it may not, unless it is given the right."""
    is_mysql = theirs.scheme == "mysql"
    who = "USER diskproof@'%'" if is_mysql else "ROLE diskproof"
    given = find(theirs.url).open()
    assert "CREATE" in given.narrow()
    theirs.ask(f"CREATE {who}", *(["GRANT SELECT ON mysql.* TO 'app'@'%'"] if is_mysql else []))
    assert "CREATE" not in given.narrow() and "diskproof" in given.narrow()
    theirs.ask(f"DROP {who}", *(["REVOKE SELECT ON mysql.* FROM 'app'@'%'"] if is_mysql else []))
    given.stop()


def test_one_run_at_a_time_has_the_database(theirs: Theirs) -> None:
    first, second = find(theirs.url), find(theirs.url)
    first.hold()
    with pytest.raises(ServerError, match="another run of diskproof is using") as refused:
        second.hold()
    theirs.ask(str(refused.value).partition("end its session: ")[2])  # the command works
    second.hold()
    with pytest.raises(ServerError, match="another run"):
        first.hold()  # it has noticed that its own connection is gone
    second.release()
    first.hold()
    first.hold()
    first.release()


def test_a_lock_that_another_run_has_is_not_held(theirs: Theirs) -> None:
    """A proxy may reset the session, which drops the lock and keeps the connection."""
    first, second = find(theirs.url), find(theirs.url)
    first.hold()
    assert first._keeper
    every = "RELEASE_ALL_LOCKS()" if theirs.scheme == "mysql" else "pg_advisory_unlock_all()::text"
    first._keeper._query(f"SELECT {every}")  # `rows` has a connection of its own
    second.hold()
    assert not first.is_held()
    second.release()
    first.release()


def test_a_session_that_may_write_is_refused_where_only_reads_may_be(theirs: Theirs) -> None:
    guarded = find(theirs.url, read_only=True).open()
    (setting,) = [one for one in guarded.read_settings() if one.requested is not None]
    assert setting.name.endswith("read_only")
    assert setting.holds
    guarded.stop()
    open_to_writes = find(theirs.url).open()
    with pytest.raises(ServerError, match="does not keep sessions read-only"):
        open_to_writes.check_guard()
    open_to_writes.stop()


def test_only_a_refusal_of_the_write_shows_that_it_cannot_be_done(
    theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails for another reason, such as a table that is gone, might have been written."""
    given = find(theirs.url).open()
    monkeypatch.setattr(given, "tables", lambda: ["is_gone"])
    with pytest.raises(ServerError, match="may write to is_gone, as its refusal is about something else"):
        given._try_to_write()
    given.stop()


def test_a_further_connection_that_is_refused_has_words(
    theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = find(theirs.url).open()

    def full(*_: object) -> None:
        raise given.driver_error("too many connections")

    monkeypatch.setattr(given, "_connect", full)
    with pytest.raises(ServerError, match="cannot be asked about load: too many connections"):
        given.settle()
    given.stop()


def test_only_an_empty_database_gets_the_mark(theirs: Theirs) -> None:
    given = find(theirs.url).open()
    given.check_database()
    assert given.mark() is None
    given.write_mark(Mark("x", changed=False))
    assert given.mark() == Mark("x", changed=False)
    given.rows("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    given.rows("CREATE VIEW v AS SELECT id FROM t")
    given.check_database()
    assert len(given.contents()) == 2
    given.clear()
    assert (given.contents(), given.mark()) == ([], Mark("x", changed=False))
    given.rows("DROP TABLE diskproof_mark")
    given.stop()


def test_names_may_hold_anything(theirs: Theirs) -> None:
    name, table = "we`ird\"; drop 'x' ☃", 'a`b"c; --'
    family: Protocol = "mysql" if theirs.scheme == "mysql" else "postgresql"
    theirs.ask(f"CREATE DATABASE {quoted(family, name)}{'' if family == 'mysql' else ' OWNER app'}")
    if family == "mysql":
        theirs.ask(f"GRANT ALL ON {granted(name)}.* TO 'app'@'%'")
    given = find(theirs.url.replace("/load", f"/{quote(name)}")).open()
    given.write_mark(Mark("x", changed=False))
    given.rows(f"CREATE TABLE {quoted(family, table)} (id INTEGER PRIMARY KEY)")
    given.settle()
    if family == "mysql":  # PostgreSQL needs an extension for it
        given.preload()
    assert not [right for right in given.rights().beyond if "`load`" not in right and "load" not in right]
    assert len(given.contents()) == 1
    given.clear()
    assert given.contents() == []
    assert name in find_databases(theirs)
    given.stop()


def find_databases(theirs: Theirs) -> list[str]:
    which = "SHOW DATABASES" if theirs.scheme == "mysql" else "SELECT datname FROM pg_database"
    return [str(row[0]) for row in theirs.ask(which)]


def test_a_database_with_tables_of_others_is_refused(theirs: Theirs) -> None:
    theirs.ask("CREATE TABLE customers (id INTEGER)", database="load")
    given = find(theirs.url).open()
    with pytest.raises(ServerError, match="customers"):
        given.check_database()
    theirs.ask("DROP TABLE customers", database="load")
    given.stop()


@pytest.mark.parametrize("theirs", ["postgresql"], indirect=True, scope="module")
def test_what_was_set_in_a_file_is_put_back_there(theirs: Theirs) -> None:
    reload = "SELECT pg_reload_conf()"
    grants = (
        "GRANT ALTER SYSTEM ON PARAMETER work_mem TO app",
        "GRANT EXECUTE ON FUNCTION pg_reload_conf() TO app",
    )
    theirs.ask(*grants, "ALTER SYSTEM SET work_mem = '8MB'", reload, database="load")
    server = find(theirs.url)
    with pytest.raises(ServerError, match="GRANT pg_read_all_settings TO app"):
        server.check({"work_mem": "16MB"})
    theirs.ask("GRANT pg_read_all_settings TO app")
    server.check({"work_mem": "16MB"})
    recorder = Recorder()
    server.set({"work_mem": "16MB"}, recorder)  # type: ignore[arg-type]
    assert recorder.recorded == [("work_mem", "16MB", "=8192")]
    assert theirs.value("work_mem") == "16MB"
    server.put_back()
    assert theirs.value("work_mem") == "8MB"
    written = (theirs.folder / "data" / "postgresql.auto.conf").read_text()
    assert "work_mem = '8192'" in written


@pytest.mark.parametrize("theirs", ["postgresql"], indirect=True, scope="module")
def test_a_value_of_the_role_wins_and_is_told(theirs: Theirs) -> None:
    theirs.ask("ALTER ROLE app SET synchronous_commit = local")
    with pytest.raises(ServerError, match="ALTER ROLE … RESET synchronous_commit"):
        find(theirs.url).check({"synchronous_commit": "off"})
    theirs.ask("ALTER ROLE app RESET synchronous_commit")
