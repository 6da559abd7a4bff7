"""The workload pgbench is what pgbench itself does: the same transactions, on the same tables."""

import os
import re
import subprocess
from collections.abc import Iterator

import pytest

from diskproof import load
from diskproof.server.postgresql.installation import find_postgresql
from support.given import PASSWORD, Theirs, their_server

pytestmark = pytest.mark.timeout(120)

TABLES = ("branches", "tellers", "accounts", "history")


@pytest.fixture(scope="module")
def theirs() -> Iterator[Theirs]:
    with their_server("postgresql") as server:
        yield server


def pgbench(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [str(find_postgresql().programs / "pgbench"), *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=True)


def ours(theirs: Theirs, *arguments: str) -> None:
    argv = [str(load.program()), *arguments, "--url", theirs.url]
    env = {**os.environ, "DISKPROOF_PASSWORD": PASSWORD}
    ended = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert not ended.returncode, ended.stderr


@pytest.mark.parametrize("name", ["tpcb-like", "simple-update", "select-only"])
def test_a_transaction_has_the_statements_of_pgbench(name: str) -> None:
    shown = pgbench(f"--show-script={name}").stderr
    of_pgbench = [one.strip() for one in re.sub(r"(?m)^(--|\\).*$", "", shown).split(";") if one.strip()]
    found = load.rehearse("pgbench", ["--builtin", name])["statements"]
    # END is PostgreSQL's own word for it.
    assert [one["sql"] for one in found] == [one.replace("END", "COMMIT") for one in of_pgbench]


def test_tables_and_what_a_load_leaves_are_those_of_pgbench(theirs: Theirs) -> None:
    ours(theirs, "prepare", "pgbench", "--scale", "2")
    theirs.ask("CREATE DATABASE peer")
    at = (f"--host={theirs.folder}", f"--port={theirs.port}", "--username=root")
    pgbench("--initialize", "--quiet", "--scale=2", *at, "peer")
    columns = (
        "SELECT table_name, column_name, data_type, character_maximum_length, is_nullable "
        "FROM information_schema.columns WHERE table_name LIKE 'pgbench%' ORDER BY 1, ordinal_position"
    )
    keys = "SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'pgbench%' ORDER BY 1"
    stored = "SELECT relname, relpages, reloptions FROM pg_class WHERE relname LIKE 'pgbench%' ORDER BY 1"
    rows = [f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM pgbench_{name} t" for name in TABLES]
    for question in (columns, keys, stored, *rows):
        assert theirs.ask(question, database="load") == theirs.ask(question, database="peer"), question
    ours(theirs, "run", "pgbench", "--scale", "2", "--clients", "4", "--transactions", "100")
    sums = (
        "SELECT count(*), sum(delta) = (SELECT sum(abalance) FROM pgbench_accounts), "
        "sum(delta) = (SELECT sum(tbalance) FROM pgbench_tellers), "
        "sum(delta) = (SELECT sum(bbalance) FROM pgbench_branches) FROM pgbench_history"
    )
    assert theirs.ask(sums, database="load") == [(100, True, True, True)]


def test_tables_that_are_not_whole_are_refused(theirs: Theirs) -> None:
    ours(theirs, "cleanup", "pgbench")
    ours(theirs, "prepare", "pgbench")
    theirs.ask("DELETE FROM pgbench_accounts WHERE aid > 50000", database="load")
    with pytest.raises(AssertionError, match="the accounts were not loaded to their end"):
        ours(theirs, "run", "pgbench", "--seconds", "0.2")
    with pytest.raises(AssertionError, match="made with --scale 1, and the run has --scale 3"):
        ours(theirs, "run", "pgbench", "--scale", "3", "--seconds", "0.2")
