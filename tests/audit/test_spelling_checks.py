"""Names and values that no server takes are found, and what some server takes is let be."""

import subprocess

import pytest

from diskproof.audit.check import Configuration, Outcome
from diskproof.audit.durability import possible
from diskproof.audit.spelling import misspelt_option, nearest, option_value
from diskproof.families.mysql import MYSQL
from diskproof.families.options import Server
from diskproof.families.postgresql import POSTGRESQL
from diskproof.server.mysql import find_mysql
from diskproof.server.postgresql import find_postgresql
from support.cases.configurations import configuration as of
from support.samples import found_in

WHOLE = ";".join(
    ["innodb_buffer_pool_size=1", "max_connections=151", *(f"made_up_{number}=1" for number in range(673))]
)
"""As many variables as MariaDB 10.11 answers."""


def misspelt(text: str, server: str | None = None, observed: str | None = None) -> Outcome:
    return misspelt_option.outcome(of(text, server, observed=observed))


def valued(text: str, server: str | None = None) -> Outcome:
    return option_value.outcome(of(text, server))


@pytest.mark.parametrize(
    ("name", "meant", "server"),
    [
        ("innodb_buffer_pool_sise", "innodb_buffer_pool_size", None),
        ("innodb_bufer_pool_size", "innodb_buffer_pool_size", "MySQL 8.0.36"),
        ("max_conections", "max_connections", None),
        ("sync_binlgo", "sync_binlog", "10.11.19-MariaDB"),
        ("innodb_redo_log_capasity", "innodb_redo_log_capacity", None),
        ("skip_innodb_doublewrit_e", "innodb_doublewrite", None),
        ("shared_bufers", "shared_buffers", "PostgreSQL 15.18"),
        ("syncronous_comit", "synchronous_commit", "PostgreSQL"),
    ],
)
def test_a_misspelt_option_is_named_with_what_was_meant(name: str, meant: str, server: str | None) -> None:
    found = misspelt(f"{name}=1", server)
    assert found.state == "failed"
    assert found.problems[0].message.text.endswith(f"no server known here has it; did you mean `{meant}`?")


def test_a_whole_answer_tells_that_an_option_is_not_there() -> None:
    (meant,) = misspelt("innodb_buffer_pool_sise=1G", observed=WHOLE).problems
    assert meant.message.text == (
        "`innodb_buffer_pool_sise` in the settings: the server's 675 variables do not include it; "
        "did you mean `innodb_buffer_pool_size`?"
    )
    (strange,) = misspelt("frobnicate=1", observed=WHOLE).problems
    assert strange.message.text.endswith(
        "the server's 675 variables do not include it, and no server known here has it"
    )
    # What some server has may be no variable: `took-effect` says that it was not answered.
    assert misspelt("sync_binlog=1; user=mysql; made_up_7=1", observed=WHOLE).state == "passed"
    # A part of an answer tells nothing of what is not in it.
    assert misspelt("frobnicate=1", observed="max_connections=151").state == "cannot be told"


@pytest.mark.parametrize(
    "text",
    [
        "innodb_buffer_pool_size; skip_name_resolve; skip_innodb_doublewrite; disable_log_bin; user; port",
        "key_buffer=16M; table_cache=64; thread_concurrency=8; skip_locking",  # shortened, and old
        "replica_parallel_workers=4; gtid_mode=ON; innodb_redo_log_capacity=1G; mysqlx_port=1",
        "thread_pool_max_threads=9; rpl_semi_sync_master_enabled=1; validate_password.policy=LOW",
    ],
)
def test_what_some_server_takes_is_no_misspelling(text: str) -> None:
    assert misspelt(text).state == "passed"
    assert misspelt("pg_stat_statements.max=100; io_method=worker", "PostgreSQL 18").state == "passed"


def test_a_strange_name_that_is_near_none_cannot_be_told() -> None:
    found = misspelt("frobnicate=1; por=1; rocksdb_max_open_files=2; innodb_buffer_pool_size=1")
    assert found.state == "cannot be told"
    (untold,) = found.missing
    assert untold.text.startswith("which server has `frobnicate`, `rocksdb_max_open_files`:")


def test_a_loose_option_is_a_note_and_its_line_is_told() -> None:
    (found,) = found_in("[mysqld]\nloose_max_conections=1\nsync_binlog=1\n")
    said = misspelt_option.outcome(Configuration(found))  # type: ignore[arg-type]
    assert said.state == "passed"
    assert [(one.severity, one.message.text[:27]) for one in said.problems] == [
        ("note", "`max_conections` in line 2:")
    ]


def test_letters_exchanged_put_in_left_out_and_replaced_count_as_one() -> None:
    known = {"max_connections"}
    for near in ("max_conenctions", "max_connnections", "max_conections", "max_konnections"):
        assert nearest(near, known) == "max_connections", near
    assert nearest("mx_conections", known) == "max_connections"
    assert nearest("m_conections", known) is None
    assert nearest("abcdef", {"abcdxx"}) is None, "two of six letters are another name"
    assert nearest("port", {"sort"}) is None
    assert nearest("x" * 5000, MYSQL.options.known) is None


def test_many_strange_names_are_looked_at_for_a_bounded_time() -> None:
    found = misspelt(";".join(f"innodb_strange_name_{number}" for number in range(3000)))
    assert found.missing[0].text.count("`") == 20


@pytest.mark.parametrize(
    ("text", "server", "takes"),
    [
        ("max_connections=lots", None, "a number, maybe with K, M or G"),
        ("sync_binlog=ON", "10.11.19-MariaDB", "a number, maybe with K, M or G"),
        ("innodb_flush_method=O_DIRECTT", None, "fsync, fdatasync, O_DSYNC"),
        ("innodb_flush_log_at_trx_commit=7", "MySQL 8.0.36", "0, 1, 2 or 3"),
        ("innodb_doublewrite=maybe", None, "ON, OFF, TRUE, FALSE, DETECT_AND_RECOVER, DETECT_ONLY or fast"),
        ("shared_buffers=4Gb", "PostgreSQL 15.18", "a number, maybe with a unit"),
        ("fsync=perhaps", "PostgreSQL 15.18", "ON, OFF, TRUE, FALSE, YES or NO"),
        ("synchronous_commit=always", "PostgreSQL", "local, remote_write or remote_apply"),
    ],
)
def test_a_value_that_no_server_takes_is_found(text: str, server: str | None, takes: str) -> None:
    found = valued(text, server)
    assert found.state == "failed"
    assert takes in found.problems[0].message.text


@pytest.mark.parametrize(
    ("text", "server"),
    [
        (
            "max_connections=500; innodb_buffer_pool_size=1.5G; sort_buffer_size=64MB; host_cache_size=-1",
            None,
        ),
        (
            "innodb_flush_method=o_direct; innodb_doublewrite=true; binlog_format=row; sync_binlog",
            None,
        ),
        ("long_query_time=0.5; frobnicate=lots; init_connect=", "MySQL 8.0.36"),
        ("shared_buffers=4 GB; fsync=t; checkpoint_timeout=5min; random_page_cost=1.1", "PostgreSQL 15.18"),
        (
            "synchronous_commit=remote_write; wal_level=replica; archive_command=x; work_mem=0x100",
            "PostgreSQL",
        ),
    ],
)
def test_values_that_some_server_takes_pass(text: str, server: str | None) -> None:
    assert valued(text, server).state == "passed"


def test_what_diskproof_itself_sets_is_known() -> None:
    assert {one.name for one in MYSQL.tuning} <= MYSQL.options.known
    assert {one.name for one in POSTGRESQL.tuning} <= POSTGRESQL.options.known
    assert len(possible(Server(None, None))) == 4


def test_the_names_are_those_of_the_servers_that_are_installed() -> None:
    mariadb = find_mysql(wanted="MariaDB")
    assert set(mariadb.known) - {"help", "verbose"} <= MYSQL.options.known
    listed = subprocess.run(
        [find_postgresql().binary, "--describe-config"], capture_output=True, text=True, check=True
    )
    rows = [line.split("\t") for line in listed.stdout.splitlines()]
    kinds = {"BOOLEAN": POSTGRESQL.options.switches, "INTEGER": POSTGRESQL.options.numbers}
    for row in rows:
        assert row[0].lower() in kinds.get(row[3], POSTGRESQL.options.known), row[0]
