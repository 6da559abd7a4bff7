"""Known problems are found in the cells that have them, and only there."""

from typing import Any

import pytest

from diskproof.analysis.limits.records import CellLimit, Trouble
from diskproof.results.trial import Setting
from diskproof.results.usage import ServerAccount
from support.limited import (
    MAKERS,
    activity,
    flush_bound,
    limit_of,
    limited,
    one_cell,
    virtual_machine,
)
from support.trials import change, load_of, usage_of


def named(cell: CellLimit) -> dict[str, Trouble]:
    return {trouble.name: trouble for trouble in cell.troubles}


def with_account(what: str, clients: int, **changes: Any) -> CellLimit:
    """Return a cell whose server's account says something else as well."""
    plan = one_cell(clients)
    made = []
    for number in range(len(plan.trials)):
        trial = MAKERS[what](plan, number)
        account = usage_of(trial).account or ServerAccount()
        made.append(change(trial, usage__account=change(account, **changes)))
    return limit_of(plan, made)


@pytest.mark.parametrize("what", ["log flush", "data reads", "CPU", "arrivals"])
@pytest.mark.parametrize("clients", [1, 8])
def test_a_sound_cell_has_no_trouble(what: str, clients: int) -> None:
    assert limited(what, clients).troubles == []


def test_a_small_redo_log_stalls_at_checkpoints() -> None:
    found = named(with_account("log flush", 1, checkpoint_age_max=0.93, checkpoint_stalls=4))[
        "redo log too small"
    ]
    assert (
        found.says.text
        == "it was up to 93% of the way to where clients must wait; 4 checkpoints were forced or waited for"
    )
    assert "innodb_log_file_size" in found.remedy.text
    assert "redo log too small" not in named(with_account("log flush", 1, checkpoint_age_max=0.5))


def test_purge_falls_behind_if_history_grows_with_commits() -> None:
    cell = with_account("CPU", 8, history_growth_per_s=1500.0)
    assert "commits/s" in named(cell)["purge falling behind"].says.text
    assert with_account("CPU", 8, history_growth_per_s=20.0).troubles == []


def test_purge_that_has_not_had_its_turn_yet_is_not_behind() -> None:
    """In a second or two all that is committed may still wait for the first batch."""
    grown = {"history_growth_per_s": 1500.0}
    assert with_account("CPU", 8, **grown).troubles
    assert limited("CPU", 8, usage__account__history_growth_per_s=1500.0, usage__seconds=6.0).troubles == []


def test_waits_for_clean_pages_are_flushing_that_falls_behind() -> None:
    found = named(limited("page writes", 8))["page flushing falling behind"]
    assert "90%" in found.says.text
    assert "innodb_io_capacity" in found.remedy.text


def test_two_logs_on_one_disk_are_two_flushes_a_commit() -> None:
    doing = activity(("flushing", "redo", 0.45, 0.45), ("flushing", "binlog", 0.45, 0.45))
    found = named(limited("log flush", 1, usage__activity=doing))["two flushes a commit"]
    assert "the redo at 45% of moments, the binary log at 45%" in found.says.text
    assert "on one disk" in found.says.text
    relaxed = [
        change(one, observed="2") if one.name == "innodb_flush_log_at_trx_commit" else one
        for one in flush_bound(one_cell(), 0).settings
    ]
    cell = limited("log flush", 1, usage__activity=doing, settings=relaxed)
    assert "two flushes a commit" not in named(cell)
    assert cell.sentence.text.startswith("bound by binary log flushes: ")


def test_clients_that_do_not_share_a_flush_are_reported() -> None:
    plan = one_cell(8)
    alone = []
    for number in range(3):
        trial = flush_bound(plan, number)
        n = load_of(trial).known_transactions
        alone.append(change(trial, usage__account__log_flushes=n))
    found = named(limit_of(plan, alone))["group commit not forming"]
    assert found.says.text == "8 clients, and yet 1 flushes a commit"
    assert "`binlog_commit_wait_usec`" in found.remedy.text, "MariaDB's own variable"
    assert "binlog_group_commit_sync_delay" not in found.remedy.text, "which only MySQL has"
    assert "commit_delay`" not in found.remedy.text, "which only PostgreSQL has"
    assert "group commit not forming" not in named(limited("log flush", 8))


@pytest.mark.parametrize(
    ("flavour", "version", "log_bin", "old"),
    [
        ("MySQL", "5.1.73", "ON", True),
        ("MySQL", "5.1.73", "OFF", False),
        ("Percona Server", "5.1.65", "ON", True),
        ("Percona Server", "5.5.62-38.14", "ON", False),
        ("MySQL", "5.6.24", "ON", False),
        ("MariaDB", "5.2.14", "ON", True),
        ("MariaDB", "10.11.19", "ON", False),
    ],
)
def test_a_server_too_old_for_a_group_commit_is_named(
    flavour: str, version: str, log_bin: str, old: bool
) -> None:
    plan = one_cell(8)
    machine = virtual_machine(plan)
    machine = change(machine, servers=[change(machine.servers[0], flavour=flavour, version=version)])
    alone = []
    for number in range(3):
        trial = flush_bound(plan, number)
        values = {"log_bin": log_bin, "sync_binlog": "1"}
        known = [one for one in trial.settings if one.name not in values]
        made = [
            Setting(name=name, requested=value, observed=value, holds=True, level=True)
            for name, value in values.items()
        ]
        trial = change(trial, settings=[*known, *made])
        alone.append(change(trial, usage__account__log_flushes=load_of(trial).known_transactions))
    remedy = named(limit_of(plan, alone, machine))["group commit not forming"].remedy.text
    assert (f"{flavour} {version.partition('-')[0]} is too old" in remedy) == old
    assert ("from MySQL 5.6.6, Percona Server 5.5.18, MariaDB 5.3.0 on" in remedy) == old
    assert ("look for what takes turns" in remedy) != old


def test_lock_waits_over_few_rows_are_a_hot_row() -> None:
    cell = limited("locks", 8)
    assert cell.limit == "locks"
    assert "40 rows for 8 clients" in named(cell)["one hot row"].says.text
    assert "one hot row" not in named(limited("locks", 8, data__rows=4_000_000))
