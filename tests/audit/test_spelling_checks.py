"""Names that are nearly one that decides about durability are found, and what some server takes is let be."""

import pytest

from diskproof.audit.check import Configuration, Outcome
from diskproof.audit.durability import possible
from diskproof.audit.options import misspelt_option, nearest
from diskproof.families.options import Server
from diskproof.server.mysql import find_mysql
from diskproof.server.postgresql import PostgresqlServer, find_postgresql
from support.cases.configurations import configuration as of
from support.samples import found_in


def misspelt(text: str, server: str | None = None, observed: str | None = None) -> Outcome:
    return misspelt_option.outcome(of(text, server, observed=observed))


@pytest.mark.parametrize(
    ("name", "meant", "server"),
    [
        ("innodb_buffer_pool_sise", "innodb_buffer_pool_size", None),
        ("innodb_flush_log_at_trx_comit", "innodb_flush_log_at_trx_commit", "MySQL 8.0.36"),
        ("sync_binlogg", "sync_binlog", "10.11.19-MariaDB"),
        ("shared_bufers", "shared_buffers", "PostgreSQL 15.18"),
        ("synchronous_comit", "synchronous_commit", "PostgreSQL"),
    ],
)
def test_a_misspelt_option_is_named_with_what_was_meant(name: str, meant: str, server: str | None) -> None:
    found = misspelt(f"{name}=1", server)
    assert found.state == "failed"
    assert found.problems[0].message.text == f"`{name}` is no option; did you mean `{meant}`?"


def test_a_whole_answer_knows_more_names() -> None:
    whole = ";".join(["thread_cache_size=9", *(f"made_up_{number}=1" for number in range(300))])
    assert misspelt("thread_cache_sizes=1", observed=whole).state == "failed"
    assert misspelt("frobnicate=1; symbolic_links=0", observed=whole).state == "passed"


def test_a_loose_option_is_a_note() -> None:
    (found,) = found_in("[mysqld]\nloose_sync_binlogg=1\n")
    said = misspelt_option.outcome(Configuration(found))  # type: ignore[arg-type]
    assert (said.state, [one.severity for one in said.problems]) == ("passed", ["note"])


def test_no_option_of_an_installed_server_is_taken_for_another() -> None:
    mariadb, postgresql = find_mysql(wanted="MariaDB"), PostgresqlServer(find_postgresql(), "x")
    for server, names in (("MariaDB 10.11.19", mariadb.names), ("PostgreSQL 15.18", postgresql.known)):
        assert misspelt(";".join(f"{name}=1" for name in names), server).state == "passed"
    assert nearest("x" * 5000, {"sync_binlog"}) is None
    assert len(possible(Server(None, None))) == 4
