"""Whose option file a text is, and what it includes."""

from pathlib import Path

import pytest

from diskproof.analysis.audited.audit import audit_configuration
from diskproof.audit.check import Configuration
from diskproof.importers.base import ImportRefusedError
from diskproof.importers.options import DEEPEST, family_of, settings_of
from diskproof.importers.read import read_file
from diskproof.importers.text import as_text
from diskproof.results.imported import Settings
from diskproof.results.record import Family

HERE = Path("/nowhere/an option file")


def whose(content: str, file: str = "x") -> Family | None:
    return family_of(as_text(Path(file), content.encode())[0])


@pytest.mark.parametrize(
    ("content", "family"),
    [
        (
            "listen_addresses = '*'\nport = 5432\nmax_connections = 100\nshared_buffers = 128MB\n",
            "postgresql",
        ),
        ("max_connections = 100\t# (change requires restart)\nlog_timezone = 'Etc/UTC'\n", "postgresql"),
        ("include_dir = 'conf.d'\n", "postgresql"),
        ("max_connections 100\n", "postgresql"),
        ("max_connections = 100\n", "mysql"),
        ("port = 3306\nmax_connections = 100\ninnodb_buffer_pool_size = 1G\n", "mysql"),
        ("[client-server]\nsocket = /x\n!includedir /etc/mysql/conf.d/\n", "mysql"),
        ("!includedir /etc/mysql/conf.d/\n", "mysql"),
        ("\ufeff[mysqld]\r\nport=1\r\n", "mysql"),
        ("[mysqldump]\nquick\n", None),
        ("--threads=8\n", None),
    ],
)
def test_a_file_is_of_one_family(content: str, family: Family | None) -> None:
    assert whose(content) == family


def test_a_name_decides_if_nothing_else_does() -> None:
    assert whose("max_connections = 100\n", "postgresql.conf") == "postgresql"


def test_values_are_read_as_the_server_does() -> None:
    text, _ = as_text(HERE, b"[mysqld]\na = 'x # y' # z\nb= \nc\n; d\ne=\"\"\ninit-connect = SET NAMES u\n")
    found, _ = settings_of(text, "mysql")
    assert found.values == {"a": "x # y", "b": "", "c": None, "e": "", "init_connect": "SET NAMES u"}
    text, _ = as_text(HERE, b"A.b 'it''s \\'x\\'' # c\nwork_mem = 4MB#\nFSYNC = off\n\n")
    found, _ = settings_of(text, "postgresql")
    assert found.values == {"a.b": "it's 'x'", "work_mem": "4MB", "fsync": "off"}


def test_what_an_included_file_says_counts_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "b.conf").write_text("fsync = off\n")
    (tmp_path / "conf.d" / ".c.conf").write_text("fsync = on\n")
    (tmp_path / "conf.d" / "a.conf").write_text(
        "include_if_exists = '../none.conf' # maybe\nwork_mem = 1MB\n"
    )
    (tmp_path / "postgresql.conf").write_text("fsync = on\ninclude_dir 'conf.d'\nwork_mem = '2MB'\n")
    (found,) = read_file(tmp_path / "postgresql.conf")
    assert isinstance(found, Settings)
    assert found.values == {"fsync": "off", "work_mem": "2MB"}
    assert [Path(one.file).name for one in found.options] == ["", "a.conf", "b.conf", ""]
    assert len(found.missing) == 1
    said = audit_configuration(Configuration(found)).verdict.text
    assert "the database may not come up again (fsync = off)" in said
    assert "not known, for it includes what was not read: `include_if_exists = '../none.conf'" in said


@pytest.mark.parametrize("line", ["include 'x.conf'", "include_dir = 'none'", "include_if_exists '/none'"])
def test_nothing_is_promised_of_what_was_not_read(tmp_path: Path, line: str) -> None:
    file = tmp_path / "postgresql.conf"
    file.write_text(f"{line}\nsynchronous_commit = on\n")
    (found,) = read_file(file)
    assert isinstance(found, Settings)
    assert "takes no acknowledged commit" not in audit_configuration(Configuration(found)).verdict.text


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    for number in range(DEEPEST + 3):
        (tmp_path / f"{number}.cnf").write_text(f"[mysqld]\nport={number}\n!include {number + 1}.cnf\n")
    (deep,) = read_file(tmp_path / "0.cnf")
    assert isinstance(deep, Settings)
    assert deep.values == {"port": str(DEEPEST - 1)}
    assert "files in each other" in deep.missing[0]
    (tmp_path / "pipe.cnf").mkdir()
    (tmp_path / "last.cnf").write_text("[mysqld]\nport=1\n!include pipe.cnf\n!include last.cnf\n")
    (last,) = read_file(tmp_path / "last.cnf")
    assert isinstance(last, Settings)
    assert ["it is a folder" in last.missing[0], "includes itself" in last.missing[1]] == [True, True]


def test_all_bad_lines_are_named_at_once() -> None:
    text, _ = as_text(HERE, b"[mysqld]\nset a to 1\nb = 1\nc d\n")
    with pytest.raises(ImportRefusedError, match=r"line 2: 'set a to 1' is no option; line 4: 'c d' is no"):
        settings_of(text, "mysql")
