"""Option files and what servers answer: as they stand, with their lines."""

import pytest

from diskproof.importers.base import Found, ImportRefusedError
from diskproof.results.imported import Settings
from support.samples import SAMPLES, found_in


def settings_in(content: str) -> Settings:
    (found,) = found_in(content)
    assert isinstance(found, Settings)
    return found


def of_sample(name: str) -> Found:
    (found,) = found_in((SAMPLES / name).read_text())
    return found


def test_my_cnf() -> None:
    read = of_sample("my.cnf")
    assert isinstance(read, Settings)
    assert not read.observed
    assert read.values == {
        "port": "3306",
        "log_bin": "/data/binlog/mysql#bin",
        "sync_binlog": "1",
        "innodb_buffer_pool_size": "1536M ; not a comment of MySQL's",
        "innodb_flush_log_at_trx_commit": "2",
        "innodb_doublewrite": "ON",
        "skip_name_resolve": None,
        "tmpdir": "C:\\temp 1",
    }
    assert [one.name for one in read.options if one.loose] == ["innodb_doublewrite"]
    (own,) = [one for one in read.options if one.group == "mysqld-5.7"]
    assert (own.name, own.value, own.line) == ("innodb_flush_log_at_trx_commit", "1", 16)
    assert read.last_line == 16


@pytest.mark.parametrize(
    "content",
    [
        "sync_binlog=1\ninnodb_flush_method = O_DIRECT\n",
        "--sync-binlog=1 \\\n--innodb_flush_method=O_DIRECT\n",
        "--sync-binlog=1 --innodb_flush_method='O_DIRECT'",
        "A post:\n```\n[mysqld]\nsync_binlog=1\ninnodb_flush_method=O_DIRECT\n```\nMore words, and more.\n",
    ],
)
def test_pieces_of_an_option_file(content: str) -> None:
    assert settings_in(content).values == {"sync_binlog": "1", "innodb_flush_method": "O_DIRECT"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"'it\'s'", "it's"),
        ('"a # b" # c', "a # b"),
        ('a"b#c"d # e', 'a"b#c"d'),
        ('"x" "y"', 'x" "y'),
        ("'it''s'", "it''s"),
        (r"\"q\"", '"q"'),
        ('"open # b', '"open # b'),
        (r"x\s\ty\z", "x \ty\\z"),
        ("'a' # it's", "a"),
        (r"a\#b", "a\\"),
        ("'abc\\", "'abc\\"),
        ("a=b", "a=b"),
    ],
)
def test_values_are_those_that_a_server_gets(written: str, value: str) -> None:
    """As MariaDB's my_print_defaults prints them."""
    assert settings_in(f"[mysqld ]\ninit_connect = {written}\n").values == {"init_connect": value}


def test_what_only_looks_like_options_is_not_taken_for_some() -> None:
    with pytest.raises(StopIteration):
        found_in("--db-driver=mysql --threads=8\n")
    with pytest.raises(StopIteration):
        found_in("innodb_flush_method was the option that we changed\n")


def test_an_option_file_of_clients_is_refused() -> None:
    with pytest.raises(ImportRefusedError, match="sets nothing: no option stands there"):
        found_in("[mysqld]\n[client]\nport=1\n")
    with pytest.raises(ImportRefusedError, match=r"line 2: 'set sync_binlog to 1' is no option"):
        found_in("[mysqld]\nset sync_binlog to 1\n")


def test_postgresql_conf() -> None:
    read = of_sample("postgresql.conf")
    assert isinstance(read, Settings)
    assert read.values == {
        "shared_buffers": "128MB",
        "synchronous_commit": "off",
        "archive_command": "test ! -f '/a/%f' && cp %p /a/%f",
    }


@pytest.mark.parametrize("form", ["table", "tabs"])
def test_variables_in_every_form(form: str) -> None:
    read = of_sample(f"variables-{form}.txt")
    assert isinstance(read, Settings)
    assert read.observed
    assert read.version == "10.11.19-MariaDB-0+deb12u1 (Debian 12)"
    assert read.values["init_connect"] == ""
    assert read.values["innodb_flush_method"] == "O_DIRECT"
    assert len(read.values) == 10


def test_variables_as_csv_and_without_a_head() -> None:
    csv = settings_in('"Variable_name","Value"\n"sync_binlog","1"\n"version","8.0.36"\n')
    assert (csv.values, csv.version) == ({"sync_binlog": "1", "version": "8.0.36"}, "8.0.36")
    assert settings_in("version\t5.7.27-30\ninnodb_doublewrite\tON\n").values["innodb_doublewrite"] == "ON"


def test_counters_are_no_settings() -> None:
    with pytest.raises(ImportRefusedError, match=r"counters .* are not read"):
        of_sample("status-table.txt")
    (both,) = found_in("Variable_name\tValue\nsync_binlog\t1\nVariable_name\tValue\nUptime\t12\n")
    assert isinstance(both, Settings)
    assert both.values == {"sync_binlog": "1"}
    capitals = settings_in("VARIABLE_NAME\tVARIABLE_VALUE\nSYNC_BINLOG\t1\nPORT\t3306\n")
    assert capitals.values == {"sync_binlog": "1", "port": "3306"}


def test_postgresql_tells_its_settings_with_units() -> None:
    read = of_sample("postgresql-settings.csv")
    assert isinstance(read, Settings)
    assert read.values["shared_buffers"] == "131072kB"
    assert read.values["checkpoint_timeout"] == "300s"
    assert (read.version or "").startswith("PostgreSQL 15.18")
    shown = of_sample("postgresql-show-all.txt")
    assert isinstance(shown, Settings)
    assert shown.values["autovacuum_naptime"] == "1min"
    assert shown.source.format == "pg_settings"


STOCK_STATUS = "\n".join(
    ["Uptime\t12", "Innodb_data_reads\t5", "Threads_running\t1"]
    + [
        f"wsrep_{name}\t0"
        for name in ("applier_thread_count", "cluster_size", "ready", "rollbacker_thread_count")
    ]
)
"""What MariaDB 10.11 answers: its counters of wsrep, in small letters, are the most of a filtered dump."""

STOCK_VARIABLES = "innodb_doublewrite\tON\nwsrep_on\tOFF\nwsrep_provider\tnone"


def variables(content: str) -> int:
    """Return how many variables of a server are found; 0 if the text has none."""
    try:
        return sum(len(one.values) for one in found_in(content) if isinstance(one, Settings))
    except ImportRefusedError:
        return 0


def test_what_may_be_either_is_passed_over() -> None:
    head = "Variable_name\tValue\n"
    assert variables(head + STOCK_STATUS) == variables(STOCK_STATUS) == 0
    assert variables(head + STOCK_VARIABLES) == variables(STOCK_VARIABLES) == 1
    assert variables(f"{head}{STOCK_VARIABLES}\n{head}{STOCK_STATUS}") == 1
    assert variables(f"{STOCK_VARIABLES}\n{STOCK_STATUS}") == 1


def test_a_galera_nodes_counters_alone_are_counters() -> None:
    assert variables("Variable_name\tValue\nwsrep_cluster_size\t3\nwsrep_ready\tON\n") == 0
