"""Each documented durability setting on its real server: taken, read back, and held to what it risks."""

from pathlib import Path

import pytest

from diskproof.families import of
from diskproof.families.durability import (
    at_risk,
    awaited_flush,
    commits_wait_for_flush,
    no_commit_waits,
)
from diskproof.families.facts import Level
from diskproof.server.base import ServerKind
from diskproof.system.processes import Starter
from support.servers import Images, start

Case = tuple[Level, dict[str, str], set[str], bool]
"""A level, the user's variables, those that put commits at risk, and whether a commit waits for a flush."""

FLUSH_LOG = "innodb_flush_log_at_trx_commit"

CASES: dict[str, list[Case]] = {
    "mariadb": [
        ("safest", {}, set(), True),
        ("safest", {"log_bin": "OFF"}, set(), True),
        ("safest", {"sync_binlog": "0"}, {"sync_binlog"}, True),
        ("safest", {"sync_binlog": "100"}, {"sync_binlog"}, True),
        ("safest", {FLUSH_LOG: "3"}, set(), True),
        ("fast", {"sync_binlog": "1"}, {FLUSH_LOG}, False),
        ("fast", {FLUSH_LOG: "0"}, {FLUSH_LOG, "sync_binlog"}, False),
        ("safest", {"innodb_doublewrite": "OFF"}, {"innodb_doublewrite"}, True),
        ("safest", {"innodb_flush_method": "O_DIRECT_NO_FSYNC"}, {"innodb_flush_method"}, True),
        ("safest", {"innodb_flush_method": "nosync"}, {"innodb_flush_method"}, True),
    ],
    "mysql-9": [
        (
            "fast",
            {"innodb_doublewrite": "DETECT_ONLY", "innodb_flush_method": "O_DIRECT_NO_FSYNC"},
            {FLUSH_LOG, "sync_binlog", "innodb_doublewrite", "innodb_flush_method"},
            False,
        ),
    ],
    "postgresql": [
        ("safest", {}, set(), True),
        ("fast", {"wal_writer_delay": "10ms"}, {"synchronous_commit"}, False),
        ("safest", {"fsync": "OFF"}, {"fsync"}, False),
        ("safest", {"full_page_writes": "OFF"}, {"full_page_writes"}, True),
    ],
    "sqlite": [
        ("safest", {"journal_mode": "wal", "synchronous": "normal"}, {"synchronous"}, False),
        ("safest", {"journal_mode": "wal", "synchronous": "extra"}, set(), True),
    ],
}


def settings_that_hold(
    kind: ServerKind, root: Path, starter: Starter, images: Images, level: Level, variables: dict[str, str]
) -> dict[str, str | None]:
    running = start(kind, images.restore(kind, root), starter, level, variables)
    settings = running.read_settings()
    assert running.complaints() == []
    running.kill()
    assert [setting for setting in settings if not setting.holds] == []
    return {setting.name: setting.observed for setting in settings}


def test_each_setting_holds_and_says_what_it_risks(
    durable_kind: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    for number, (level, variables, risks, waits) in enumerate(CASES[durable_kind.facts.name]):
        place = root / str(number)
        place.mkdir(mode=0o755)
        observed = settings_that_hold(durable_kind, place, starter, images, level, variables)
        family = durable_kind.facts.family
        assert at_risk(family, observed).keys() == risks, variables
        assert commits_wait_for_flush(family, observed) == waits, variables
        if family == "mysql":
            needed = {need.log for need in of(family).needs(observed).values() if need.keeps}
            assert ("binlog" in needed) == (variables.get("log_bin") != "OFF")


def test_relaxed_settings_hold_and_no_commit_waits_any_more(
    durable_kind: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    """What is changed to prove that commits wait for a flush: a server takes it, and nothing else changes."""
    family = durable_kind.facts.family
    before = settings_that_hold(durable_kind, root, starter, images, "safest", {})
    assert commits_wait_for_flush(family, before)
    place = root / "relaxed"
    place.mkdir(mode=0o755)
    changed = of(family).relaxed(before)
    after = settings_that_hold(durable_kind, place, starter, images, "safest", changed)
    assert not commits_wait_for_flush(family, after)
    assert no_commit_waits(family, after)
    assert not no_commit_waits(family, before)
    differing = {name for name in after if after[name] != before.get(name)}
    assert {name for name in differing if "/" not in str(after[name])} == set(changed)


@pytest.mark.parametrize(
    ("observed", "changed"),
    [
        ({"journal_mode": "wal", "synchronous": "full"}, {"synchronous": "normal"}),
        ({"journal_mode": "delete", "synchronous": "extra"}, {"synchronous": "off"}),
    ],
)
def test_sqlite_without_a_write_ahead_log_flushes_at_each_commit_unless_never(
    observed: dict[str, str | None], changed: dict[str, str]
) -> None:
    assert of("sqlite").relaxed(observed) == changed
    assert not commits_wait_for_flush("sqlite", {**observed, **changed})


def test_a_binary_log_that_is_off_is_not_relaxed() -> None:
    assert "sync_binlog" not in of("mysql").relaxed({"log_bin": "OFF"})


@pytest.mark.parametrize(
    ("journal_mode", "synchronous", "risks", "waits"),
    [
        ("delete", "full", {"synchronous": "full"}, True),
        ("delete", "extra", {}, True),
        ("truncate", "full", {}, True),
        ("persist", "2", {}, True),
        ("delete", "normal", {"synchronous": "normal"}, True),
        ("delete", "off", {"synchronous": "off"}, False),
        ("wal", "normal", {"synchronous": "normal"}, False),
        ("memory", "extra", {"journal_mode": "memory"}, True),
        (None, "full", {"journal_mode": None}, True),
    ],
)
def test_what_sqlite_risks_depends_on_its_journal(
    journal_mode: str | None, synchronous: str, risks: dict[str, str | None], waits: bool
) -> None:
    observed = {"journal_mode": journal_mode, "synchronous": synchronous}
    assert at_risk("sqlite", observed) == risks
    assert commits_wait_for_flush("sqlite", observed) == waits


@pytest.mark.parametrize(
    ("observed", "none_waits"),
    [
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0", "log_bin": "ON"}, True),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1", "log_bin": "ON"}, False),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1", "log_bin": "OFF"}, True),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "100", "log_bin": "ON"}, False),
        ({"innodb_flush_log_at_trx_commit": "2"}, False),
        ({"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "0"}, False),
        ({"innodb_flush_log_at_trx_commit": None, "sync_binlog": "0"}, False),
        ({}, False),
    ],
)
def test_that_no_commit_waits_is_said_of_settings_that_are_known(
    observed: dict[str, str | None], none_waits: bool
) -> None:
    """A binary log that is flushed is waited for too, and so is one of which that is not known."""
    assert no_commit_waits("mysql", observed) == none_waits
    assert not no_commit_waits("postgresql", observed)
    assert not no_commit_waits("sqlite", observed)


@pytest.mark.parametrize(
    ("observed", "awaited"),
    [
        ({"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1", "log_bin": "ON"}, "log"),
        ({"innodb_flush_log_at_trx_commit": "1"}, "log"),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1", "log_bin": "ON"}, "binary log"),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0", "log_bin": "ON"}, "nothing"),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1", "log_bin": "OFF"}, "nothing"),
        ({"innodb_flush_log_at_trx_commit": "2", "log_bin": "ON"}, None),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1"}, None),
        ({}, None),
    ],
)
def test_which_flush_commits_wait_for(observed: dict[str, str | None], awaited: str | None) -> None:
    assert awaited_flush("mysql", observed) == awaited


def test_postgresql_has_one_log() -> None:
    assert awaited_flush("postgresql", {"synchronous_commit": "on", "fsync": "on"}) == "log"
    assert awaited_flush("postgresql", {"synchronous_commit": "off", "fsync": "on"}) == "nothing"
    assert awaited_flush("postgresql", {"fsync": "on"}) is None
