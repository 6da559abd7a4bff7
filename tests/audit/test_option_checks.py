"""Checks of settings: each finds its own fault, and sound settings pass."""

import pytest

from diskproof.audit.check import Check, Configuration, Outcome
from diskproof.audit.durability import after_a_power_cut, promises_safety
from diskproof.audit.registry import CONFIGURATION_CHECKS
from diskproof.families.options import Server, server_named
from diskproof.importers.base import ImportRefusedError
from diskproof.importers.options import MY_CNF
from diskproof.results.imported import Settings
from support.cases.configurations import FAST, SAFE, settings_of
from support.cases.configurations import configuration as of
from support.hostile import damaged
from support.samples import SAMPLES, as_text, found_in


def check_named(name: str) -> Check[Configuration]:
    return next(one for one in CONFIGURATION_CHECKS if one.name == name)


def outcome(name: str, configuration: Configuration) -> Outcome:
    return check_named(name).outcome(configuration)


FAILING: list[tuple[str, Configuration, str]] = [
    ("repeated-option", of("sync_binlog=1; sync_binlog=0"), "to 1 and then to 0 in line 2"),
    ("mixed-durability", of("innodb_flush_log_at_trx_commit=2; sync_binlog=1; log_bin=/b"), "still waits"),
    (
        "mixed-durability",
        of("innodb_flush_log_at_trx_commit=1; sync_binlog=0; log_bin=/b"),
        "which recovery follows",
    ),
    ("mixed-durability", of("innodb_flush_log_at_trx_commit=2"), "sync_binlog = 1, its default there: each"),
    ("mixed-durability", of("log_bin", "10.11.19-MariaDB"), "sync_binlog = 0, its default there: each"),
    ("mixed-durability", of("skip_innodb_doublewrite"), "stays torn"),
    ("mixed-durability", of("innodb_doublewrite=DETECT_ONLY"), "stays torn"),
    ("mixed-durability", of("innodb_flush_method=O_DIRECT_NO_FSYNC", "MySQL 8.0.13"), "before 8.0.14"),
    ("mixed-durability", of("innodb_flush_method=nosync", "10.11.19-MariaDB"), "never flushed"),
    ("mixed-durability", of(FAST, level="safest"), "called safe"),
    ("unflushed-doublewrite", of("innodb_flush_method=O_DIRECT", level="safest"), "8.0.36 writes a page"),
    ("mixed-durability", of("fsync=off", "PostgreSQL 15.18"), "never made"),
    ("mixed-durability", of("full_page_writes=off", "PostgreSQL 15.18"), "stays torn"),
    (
        "took-effect",
        of(SAFE, observed=FAST),
        "2 of 4 options read back differently: `innodb_flush_log_at_trx_commit` as 2, but 1 was asked for; `",
    ),
    (
        "took-effect",
        of("a=1; b=2; c=3; d=4; e=5", observed="a=1; b=1; c=1; d=1"),
        "3 of 4 options differ: the server probably did not read this file. Read back: `b` as 1, but 2",
    ),
    (
        "took-effect",
        of(
            "innodb_buffer_pool_size=1G",
            observed="innodb_buffer_pool_size=134217728",
        ),
        "reads back as 134217728, but 1G",
    ),
]

NOTED: list[tuple[str, Configuration, str]] = [
    ("unflushed-doublewrite", of("innodb_flush_method=O_DIRECT"), "O_DIRECT: MySQL 8.0.36 writes"),
    ("unflushed-doublewrite", of("innodb_flush_method=O_DIRECT_NO_FSYNC"), "may leave both torn"),
    ("unflushed-doublewrite", of("sync_binlog=1", "MySQL 9.7.0"), "O_DIRECT, its default there"),
]

PASSING: list[tuple[str, Configuration]] = [
    ("repeated-option", of(SAFE)),
    (
        "repeated-option",
        of("sync_binlog=1; sync_binlog=1; binlog_do_db=a; binlog_do_db=b; plugin_load_add=c"),
    ),
    (
        "repeated-option",
        of("replicate_wild_ignore_table=a.%; replicate_wild_ignore_table=b.%; plugin_load_add=d"),
    ),
    ("mixed-durability", of(SAFE, level="safest")),
    ("unflushed-doublewrite", of(SAFE)),
    ("unflushed-doublewrite", of("innodb_flush_method=fsync", "MySQL 9.7.0")),
    ("unflushed-doublewrite", of("innodb_flush_method=O_DIRECT", "MySQL 8.0.19")),
    ("unflushed-doublewrite", of("innodb_flush_method=O_DIRECT", "10.11.19-MariaDB")),
    ("mixed-durability", of(FAST, level="fast")),
    ("mixed-durability", of("innodb_flush_log_at_trx_commit=2", "MySQL 5.6.24")),
    ("mixed-durability", of("innodb_flush_log_at_trx_commit=2; sync_binlog=0; log_bin", None)),
    ("mixed-durability", of("innodb_flush_log_at_trx_commit=1", None)),
    ("mixed-durability", of("innodb_flush_log_at_trx_commit=2; sync_binlog=1", "10.11.19-MariaDB")),
    # Nobody set what the server's answer tells by default.
    (
        "mixed-durability",
        of("innodb_flush_log_at_trx_commit=0; sync_binlog=0; innodb_doublewrite=0", level="unsafe"),
    ),
    ("mixed-durability", of("synchronous_commit=off", "PostgreSQL 15.18", level="fast")),
    (
        "took-effect",
        of(
            "innodb_buffer_pool_size=1G; log_bin=/b/x; skip_name_resolve; skip_innodb_doublewrite",
            observed="innodb_buffer_pool_size=1073741824;log_bin=1;skip_name_resolve=1;innodb_doublewrite=0",
        ),
    ),
]


@pytest.mark.parametrize(("name", "configuration", "says"), FAILING)
def test_a_fault_is_found(name: str, configuration: Configuration, says: str) -> None:
    found = outcome(name, configuration)
    assert found.state == "failed"
    assert any(says in problem.message.text for problem in found.problems), found.problems


@pytest.mark.parametrize(("name", "configuration", "says"), NOTED)
def test_what_is_no_fault_is_noted(name: str, configuration: Configuration, says: str) -> None:
    found = outcome(name, configuration)
    assert found.state == "passed"
    assert [problem.severity for problem in found.problems] == ["note"]
    assert says in found.problems[0].message.text


@pytest.mark.parametrize(("name", "configuration"), PASSING)
def test_sound_settings_pass(name: str, configuration: Configuration) -> None:
    found = outcome(name, configuration)
    assert (found.state, found.problems) == ("passed", ())


@pytest.mark.parametrize(
    ("name", "configuration", "missing"),
    [
        (
            "mixed-durability",
            of("innodb_flush_log_at_trx_commit=2; sync_binlog=1", None),
            "which server and version the settings are for (give what it answers to SHOW VARIABLES",
        ),
        ("mixed-durability", of("innodb_flush_log_at_trx_commit=2; sync_binlog=1", "MySQL"), "which server"),
        ("mixed-durability", of("innodb_flush_log_at_trx_commit=2; log_bin", None), "which server"),
        ("took-effect", of(SAFE), "what the server answered to SHOW VARIABLES"),
        ("took-effect", of("fsync=on", "PostgreSQL 15"), "what the server answered to SHOW ALL"),
        ("took-effect", of("a=1", observed="b=1"), "what the server answered for `a`"),
        ("unflushed-doublewrite", of("innodb_flush_method=O_DIRECT", None), "which server and version"),
        ("unflushed-doublewrite", of("port=1", "MySQL 8.4.3", observed="sync_binlog=1"), "`innodb_flush_"),
        ("unflushed-doublewrite", of("port=1", observed="innodb_doublewrite=ON"), "`innodb_flush_method`"),
    ],
)
def test_what_cannot_be_told_is_said(name: str, configuration: Configuration, missing: str) -> None:
    found = outcome(name, configuration)
    assert found.state == "cannot be told"
    assert found.missing[0].text.startswith(missing)


@pytest.mark.parametrize("name", ["repeated-option", "took-effect"])
def test_a_servers_answer_is_no_option_file(name: str) -> None:
    dump = Configuration(settings_of("thread_pool_size=8; sync_binlog=1", observed=True, version="8.0.36"))
    assert outcome(name, dump).state == "does not apply"


@pytest.mark.parametrize("value", ["OFF", "DETECT_ONLY"])
def test_where_no_copies_are_made_none_is_unflushed(value: str) -> None:
    found = outcome("unflushed-doublewrite", of(f"innodb_flush_method=O_DIRECT; innodb_doublewrite={value}"))
    assert (found.state, found.why_apart.text) == (
        "does not apply",
        "no copies are made: the doublewrite buffer is off",
    )


def test_a_method_that_an_answer_leaves_out_may_tear_pages() -> None:
    answered = f"{SAFE}; log_bin=ON"
    told = after_a_power_cut(of("port=1", observed=answered)).text
    assert told.endswith("if the device keeps what it reports as flushed and tears no page.")
    whole = after_a_power_cut(of("port=1", observed=f"{answered}; innodb_flush_method=fsync")).text
    assert whole.endswith("if the device keeps what it reports as flushed.")


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        ("safest", True),
        ("tuning=safe.txt", True),
        ("crash-safe.cnf", True),
        ("fully_durable-2.cnf", True),
        ("acid8", True),
        ("not_safe.cnf", False),
        ("not-safe.cnf", False),
        ("non-durable", False),
        ("unsafe", False),
        ("thread-safe-malloc.txt", False),
        ("mysqld_safe.cnf", False),
        ("placid.txt", False),
        ("safety.txt", False),
    ],
)
def test_a_name_promises_by_its_whole_words(name: str, promised: bool) -> None:
    assert promises_safety(name) == promised


def test_a_power_cut_is_told_of_in_one_sentence() -> None:
    def said(text: str, server: str | None = "MySQL 8.0.36", observed: str | None = None) -> str:
        return after_a_power_cut(of(text, server, observed=observed)).text

    kept = "A power cut takes no acknowledged commit, if the device keeps what it reports as flushed."
    lost = "commits of about the last second may be lost (innodb_flush_log_at_trx_commit = 2)"
    torn = "torn pages are not repaired (innodb_doublewrite = 0)"
    assert said(SAFE) == said("port=1") == said("port=1", "MySQL 5.6.24") == kept
    assert said("port=1", None) == said("innodb_flush_method=O_DIRECT") == kept[:-1] + " and tears no page."
    assert said("shared_buffers=1GB", "PostgreSQL 15.18") == said("fsync=yes", "PostgreSQL 15.18") == kept
    relaxed = "innodb_flush_log_at_trx_commit=2; innodb_doublewrite=0; sync_binlog=1"
    assert said(relaxed) == said(relaxed, None) == f"After a power cut: {lost}; {torn}."
    assert said("log_bin", "10.11.19-MariaDB").startswith(
        "After a power cut: the binary log may lose its end"
    )
    assert "(sync_binlog = 0)" in said("log_bin", "10.11.19-MariaDB")
    assert said("sync_binlog=0", None) == (
        "After a power cut: what `sync_binlog` does depends on the server's version, which is not known."
    )
    assert said("full_page_writes=off", "PostgreSQL 15.18") == (
        "After a power cut: torn pages are not repaired (full_page_writes = off)."
    )
    # A part of an answer: what it leaves out is no default.
    partly = said("port=1", observed="innodb_flush_log_at_trx_commit=2; sync_binlog=1")
    assert partly == f"After a power cut: {lost}; `innodb_doublewrite` is not known."
    assert (
        said("skip_innodb_doublewrite")
        == "After a power cut: torn pages are not repaired (innodb_doublewrite = OFF)."
    )


@pytest.mark.parametrize(
    "server", ["MySQL 8.0.36", "10.11.19-MariaDB", "PostgreSQL 15.18", None, "\0 9.999.999"]
)
def test_hostile_settings_do_no_harm(server: str | None) -> None:
    content = (SAMPLES / "my.cnf").read_text() + "max_connections = 100\nsort_buffer_size = 2M\n"
    for text in damaged(content, seed=7, times=60):
        try:
            found = list(MY_CNF.read(as_text(text)))
        except ImportRefusedError:
            continue
        for settings_read in (one for one in found if isinstance(one, Settings)):
            configuration = Configuration(settings_read, settings_read, server=server)
            for check in CONFIGURATION_CHECKS:
                check.outcome(configuration)


# ---------------------------------------------------------------- which server it is


@pytest.mark.parametrize(
    ("told", "server"),
    [
        ("Percona Server 5.7.27-30", Server("Percona Server", (5, 7, 27))),
        ("5.7.27-30", Server("Percona Server", (5, 7, 27))),
        ("10.11.19-MariaDB-0+deb12u1 (Debian 12)", Server("MariaDB", (10, 11, 19))),
        ("11.4", Server("MariaDB", (11, 4))),
        ("8.0.36 (MySQL Community Server - GPL)", Server("MySQL", (8, 0, 36))),
        ("MySQL 5.1.62", Server("MySQL", (5, 1, 62))),
        ("PostgreSQL 15.18 (Debian 15.18-0+deb12u1)", Server("PostgreSQL", (15, 18))),
        ("PostgreSQL 9.6", Server("PostgreSQL", (9, 6))),
        ("PostgreSQL 15", Server("PostgreSQL", (15,))),
        ("MySQL 8.0", Server("MySQL", (8, 0))),
        ("PostgreSQL", Server("PostgreSQL", None)),
        ("MySQL", Server("MySQL", None)),
        ("a server", Server(None, None)),
    ],
)
def test_the_server_is_told_by_its_name(told: str, server: Server) -> None:
    assert server_named(told) == server


def test_defaults_that_changed_within_a_series_are_not_told() -> None:
    text = "innodb_flush_log_at_trx_commit=1; log_bin=/b"  # sync_binlog is 1 from 5.7.7 on
    assert outcome("mixed-durability", of(text, "MySQL 5.7")).state == "cannot be told"
    assert outcome("mixed-durability", of(text, "MySQL 8.0")).state == "passed"


def test_a_published_option_file_is_told_what_is_wrong_with_it() -> None:
    """The combination that a published experiment on Percona Server 5.7 has, among sound options."""
    text = (
        "[mysqld]\nlog-bin = /data/mysql-bin\nsync_binlog = 1\nexpire_logs_days = 5\nquery_cache_size=0\n"
        "innodb_log_files_in_group = 2\ninnodb_buffer_pool_size = 1536M\ninnodb_flush_log_at_trx_commit = 2\n"
        "innodb_buffer_pool_instances = 1\nthread_pool_size=20\n"
    )
    (found,) = found_in(text)
    assert isinstance(found, Settings)
    configuration = Configuration(found, server="Percona Server 5.7.27-30")
    failed = {
        one.name: [problem.message.text for problem in one.outcome(configuration).problems]
        for one in CONFIGURATION_CHECKS
        if one.outcome(configuration).state == "failed"
    }
    assert set(failed) == {"mixed-durability"}


def test_a_mix_of_durability_needs_a_setting_of_it() -> None:
    assert outcome("mixed-durability", of("max_connections=500")).state == "does not apply"
    answered = found_in("Variable_name\tValue\nmax_connections\t500\ninnodb_buffer_pool_size\t134217728\n")
    (found,) = answered
    assert isinstance(found, Settings)
    assert outcome("mixed-durability", Configuration(found)).state == "cannot be told"
