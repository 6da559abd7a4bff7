"""What the checks of a result make of the settings that were given beside it."""

from typing import Any

import pytest

from diskproof.analysis.audited.audit import audit_experiment, audit_result, audit_results
from diskproof.analysis.audited.files import _of_results
from diskproof.analysis.audited.shapes import CheckAnswer
from diskproof.audit.imported import evidence_of
from diskproof.audit.storage import physics
from diskproof.importers.assemble import assemble
from diskproof.importers.belonging import belonging
from diskproof.results.imported import Beside
from support.audited import texts
from support.imported import FAST, SAFE, make_beside, make_option_file, make_result

BIG = {"tables": "10", "table-size": "5000000"}  # 10 x 5,000,000 x 240 bytes = 11.18 GiB
SMALL = {"tables": "10", "table-size": "100000"}  # 228.9 MiB


def said(name: str, beside: Beside, **changes: Any) -> CheckAnswer:
    answer = audit_result(make_result(**changes), 1, beside)
    return next(one for one in answer.checks if one.check == name)


# ---------------------------------------------------------------- data against the buffer pool


@pytest.mark.parametrize(
    ("asked", "pool", "state", "words"),
    [
        (
            SMALL,
            "1G",
            "passed",
            "228.9 MiB: 10 x 100,000 rows of about 240 bytes) fits in the buffer pool (1 GiB)",
        ),
        (BIG, "1G", "cannot be told", "the machine's memory"),
        (SMALL, "230M", "cannot be told", "the size of the data more exactly than its options say"),
        ({}, "1G", "cannot be told", "the size of the data"),
        (SMALL, "", "cannot be told", "the size of the buffer pool (`innodb_buffer_pool_size`)"),
    ],
)
def test_the_data_is_held_against_the_buffer_pool(
    asked: dict[str, str], pool: str, state: str, words: str
) -> None:
    beside = make_beside(f"innodb_buffer_pool_size={pool}" if pool else "sync_binlog=1")
    found = said("data-size", beside, asked=asked)
    assert found.state == state
    assert any(words in told for told in [*texts(found.missing), *(one.message.text for one in found.raised)])


def test_pgbench_is_held_against_shared_buffers_in_pages_of_8_kib() -> None:
    conf = make_option_file("shared_buffers=131072", "postgresql.conf")
    conf = conf.model_copy(update={"source": conf.source.model_copy(update={"format": "postgresql.conf"})})
    asked = {"scaling factor": "10", "number of clients": "10"}
    mix = {"load__mix": "TPC-B (sort of)", "source__format": "pgbench", "load__writes": None}
    (raised,) = said("data-size", Beside(asked=conf), asked=asked, **mix).raised
    assert "150 MiB: scaling factor 10 x about 15 MiB) fits in the buffer pool (1 GiB)" in raised.message.text
    own = {**mix, "load__mix": "mine.sql"}
    untold = said("data-size", Beside(asked=conf), asked=asked, **own)
    assert texts(untold.missing) == ["the size of the data"]


# ---------------------------------------------------------------- commits


def test_relaxed_settings_are_a_note_and_speak_against_durability() -> None:
    answer = audit_result(make_result(), 1, make_beside(FAST))
    (note,) = next(one for one in answer.checks if one.check == "durable-commits").raised
    assert note.severity == "note"
    assert "sync_binlog = 0" in note.message.text
    assert "a conclusion about durability (see durable-commits)" in answer.verdict.text
    safe = audit_result(make_result(), 1, make_beside(SAFE))
    assert "what the server answered to SHOW VARIABLES" in safe.verdict.text


def test_what_defaults_decide_needs_the_version() -> None:
    beside = make_beside("innodb_flush_log_at_trx_commit=1; log_bin=ON")
    (missing,) = said("durable-commits", beside).missing
    assert missing.text.startswith("which server and version the settings are for")
    told = said("durable-commits", beside, levels={"server": "mysql-8.0"})
    assert (told.state, told.raised) == ("passed", [])


def test_a_part_of_an_answer_leaves_out_what_it_leaves_out() -> None:
    observed = make_option_file("sync_binlog=1", "variables.txt", observed=True)
    beside = Beside(observed=observed)
    assert "`innodb_flush_log_at_trx_commit`" in said("durable-commits", beside).missing[0].text
    assert texts(said("physics", beside).missing) == [
        "`innodb_flush_log_at_trx_commit`, which the server's answer leaves out"
    ]
    assert said("settings", beside).state == "does not apply"


def test_an_option_file_that_was_not_read_is_told_of_the_result_too() -> None:
    answered = make_option_file("innodb_flush_log_at_trx_commit=2", "variables.txt", observed=True)
    asked = make_option_file("innodb_flush_log_at_trx_commit=1")
    (raised,) = said("settings", Beside(asked=asked, observed=answered)).raised
    assert raised.message.text == "the option file beside it did not take effect: see took-effect"


def test_a_load_that_writes_nothing_commits_nothing() -> None:
    assert said("durable-commits", make_beside(FAST), load__writes=0).state == "does not apply"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (
            "sync_binlog=1; log_bin=ON",
            "commits only wait for the binary log's flush, which is not counted here",
        ),
        ("sync_binlog=0; log_bin=ON", "with these settings no commit waits for a flush"),
        ("sync_binlog=1; skip_log_bin", "with these settings no commit waits for a flush"),
    ],
)
def test_commits_that_wait_for_the_binary_log_are_not_said_to_wait_for_nothing(asked: str, why: str) -> None:
    evidence = evidence_of(make_result(), make_beside(f"innodb_flush_log_at_trx_commit=2; {asked}"))
    found = physics.outcome(evidence)
    assert (found.state, found.why_apart.text) == ("does not apply", why)


def test_an_answer_that_leaves_out_the_binary_log_does_not_tell() -> None:
    observed = make_option_file("innodb_flush_log_at_trx_commit=2", "variables.txt", observed=True)
    assert texts(said("physics", Beside(observed=observed)).missing) == [
        "`sync_binlog` or `log_bin`, which the server's answer leaves out"
    ]


def test_a_files_name_tells_the_version_where_nothing_else_does() -> None:
    beside = make_beside("innodb_flush_log_at_trx_commit=1; log_bin=ON")
    named = said("durable-commits", beside, source__file="server=mysql-8.0,storage=ssd.txt")
    assert (named.state, named.raised) == ("passed", [])
    (missing,) = said("durable-commits", beside, source__file="server=db2,storage=ssd.txt").missing
    assert missing.text.startswith("which server and version the settings are for")


@pytest.mark.parametrize(
    ("mix", "begins"),
    [
        ("mine.sql", "if it writes, the counted commits are not durable"),
        ("TPC-B (sort of)", "the counted commits are not durable"),
    ],
)
def test_commits_of_a_script_of_unknown_writes(mix: str, begins: str) -> None:
    changes = {"load__mix": mix, "source__format": "pgbench", "load__writes": None}
    conf = make_option_file("synchronous_commit=off", "postgresql.conf")
    conf = conf.model_copy(update={"source": conf.source.model_copy(update={"format": "postgresql.conf"})})
    (note,) = said("durable-commits", Beside(asked=conf), **changes).raised
    assert note.message.text.startswith(begins)


# ---------------------------------------------------------------- several results


def test_each_result_has_the_settings_of_its_own_server() -> None:
    results = [make_result(source__file=f"{disk}/safest.txt") for disk in ("ssd", "hdd")]
    given = [make_option_file(text, f"{disk}/my.cnf") for disk, text in (("ssd", SAFE), ("hdd", FAST))]
    plan, trials, _ = assemble(results, "old")
    besides = belonging(results, given)
    ssd, hdd = audit_results(results, trials, besides)
    failed = [{one.check for one in subject.within("failed")} for subject in (ssd, hdd)]
    assert "durable-commits" not in failed[0]
    assert "durable-commits" in failed[1]
    together = audit_experiment(plan, trials, results, besides)
    assert together is not None
    (raised, *_) = next(one for one in together.checks if one.check == "common-settings").raised
    assert "`innodb_flush_log_at_trx_commit` is 1 on ssd and 2 on hdd" in raised.message.text


def common(ssd: str, hdd: str) -> CheckAnswer:
    """Return what is said of results of two storages, each with an option file of its own."""
    results = [make_result(source__file=f"{disk}.txt") for disk in ("ssd", "hdd")]
    plan, trials, _ = assemble(results, "old")
    given = [make_option_file(text, f"{disk}.cnf") for disk, text in (("ssd", ssd), ("hdd", hdd))]
    told = audit_experiment(plan, trials, results, belonging(results, given))
    assert told is not None
    return next(one for one in told.checks if one.check == "common-settings")


@pytest.mark.parametrize(
    ("ssd", "hdd"),
    [
        ("innodb_buffer_pool_size=128M", "innodb_buffer_pool_size=134217728"),
        ("innodb_doublewrite=ON", "innodb_doublewrite=1"),
        ("innodb_doublewrite", "innodb_doublewrite=ON"),
        (
            "port=3306; socket=a.sock; server_id=1; report_host=a",
            "port=3307; socket=b.sock; server_id=2; report_host=b",
        ),
        ("skip_log_bin", "log_bin=OFF"),
        ("log_bin=/mnt/ssd/binlog", "log_bin=/mnt/hdd/binlog"),
        ("datadir=/mnt/ssd", ""),
    ],
)
def test_settings_that_are_the_same_in_other_words_have_no_part(ssd: str, hdd: str) -> None:
    assert common(ssd, hdd).state == "passed"


@pytest.mark.parametrize(
    ("ssd", "hdd", "words"),
    [
        ("innodb_buffer_pool_size=8G", "", "`innodb_buffer_pool_size` is 8G on ssd and not set on hdd"),
        ("skip_log_bin", "log_bin=ON", "`log_bin` is OFF on ssd and ON on hdd"),
        ("skip_log_bin", "log_bin=/mnt/hdd/binlog", "`log_bin` is OFF on ssd and ON on hdd"),
    ],
)
def test_settings_that_one_storage_alone_has_have_a_part(ssd: str, hdd: str, words: str) -> None:
    (raised,) = common(ssd, hdd).raised
    assert words in raised.message.text


def test_many_results_are_told_their_settings_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted_belonging(results: Any, given: Any) -> list[Beside]:
        asked.append(len(results))
        return belonging(results, given)

    monkeypatch.setattr("diskproof.analysis.audited.files.belonging", counted_belonging)
    _of_results([make_result(source__file=f"{disk}.txt") for disk in ("ssd", "hdd")], [])
    assert asked == [2]
