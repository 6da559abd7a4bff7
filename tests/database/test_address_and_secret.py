"""The URL and the password of a server that is there already."""

from pathlib import Path

import pytest

from diskproof.database.secret import Secret
from diskproof.database.variables import mysql_value
from diskproof.families.address import parse
from diskproof.refusal import RefusalError


def test_a_url_names_family_account_and_place() -> None:
    mysql = parse("mysql://app@db.example/shop?ssl-mode=verify-ca&ssl-ca=/ca.pem")
    assert (mysql.protocol, mysql.user, mysql.host, mysql.port, mysql.database) == (
        "mysql",
        "app",
        "db.example",
        3306,
        "shop",
    )
    assert (mysql.check, mysql.authority) == ("authority", "/ca.pem")
    assert str(mysql) == "app@db.example:3306/shop"
    socket = parse("postgres://a%40b@localhost/x?socket=/run/pg&port=5433")
    assert (socket.protocol, socket.user, socket.socket, socket.port) == (
        "postgresql",
        "a@b",
        "/run/pg",
        5433,
    )


@pytest.mark.parametrize(
    ("url", "may_be_here"),
    [
        ("mysql://a@db.example/x", False),
        ("mysql://a@10.0.0.3/x", False),
        ("mysql://a@127.0.0.2:3307/x", True),
        ("postgresql://a@[::1]/x", True),
        ("postgresql://a@localhost/x", True),
        ("mysql://a@db.example/x?socket=/run/s", True),
    ],
)
def test_a_server_behind_loopback_or_a_socket_may_be_here(url: str, may_be_here: bool) -> None:
    assert parse(url).may_be_here is may_be_here


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://app:geheim@db/x", "password_file"),
        ("mysql://app:ge/heim@db/x", "it is not a URL"),
        ("mysql://app:1?geheim@db/x", "no user"),
        ("oracle://app@db/x", "no known scheme"),
        ("mysql://db/x", "no user"),
        ("mysql://app@db", "no database"),
        ("mysql://app@/x", "no host"),
        ("postgresql://app@/x?host=run", "begins with /"),
        ("postgresql://app@/x?host=/run&port=five", "its port is no number: 'five'"),
        ("mysql://app@db/x?sslmode=require", "'sslmode' is unknown"),
        ("postgresql://app@db/x?sslmode=on", "not 'on'"),
        ("postgresql://app@db/x?sslmode=verify-full", "sslrootcert=FILE"),
        ("postgresql://app@db/x?sslrootcert=/ca", "sslrootcert=FILE"),
        ("mysql://app@db/x#y", "%23"),
        ("mysql://app@db:99999/x", "it is not a URL"),
    ],
)
def test_a_wrong_url_is_refused_without_its_password(url: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse(url)
    assert said in str(refused.value)
    assert "heim" not in str(refused.value)


def test_a_password_file_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("geheim\nnot this\n")
    file.chmod(0o640)
    with pytest.raises(RefusalError, match="chmod 600"):
        Secret(str(file)).read()
    file.chmod(0o600)
    assert Secret(str(file)).read() == "geheim"


def test_a_password_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Secret().read() is None
    with pytest.raises(RefusalError, match="no variable DB_PASSWORD"):
        Secret(variable="DB_PASSWORD").read()
    monkeypatch.setenv("DB_PASSWORD", "geheim")
    assert Secret(variable="DB_PASSWORD").read() == "geheim"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("512M", "536870912"),
        ("2", "2"),
        ("0.75", "0.75"),
        ("on", "on"),
        ("O'DIRECT", "'O''DIRECT'"),
        ("", "''"),
    ],
)
def test_a_value_is_written_as_set_takes_it(value: str, written: str) -> None:
    assert mysql_value(value) == written
