"""What the checks of a result make of the settings and counters that were given beside it."""

from typing import Any

import pytest

from diskproof.analysis.audited.audit import audit_experiment, audit_result, audit_results
from diskproof.analysis.audited.shapes import CheckAnswer
from diskproof.audit.counted import counted_flushes, page_reads
from diskproof.audit.imported import evidence_of
from diskproof.importers.assemble import assemble
from diskproof.results.imported import Beside, Counters
from diskproof.server.mysql.printed import counted
from support.imported import FAST, SAFE, make_beside, make_counters, make_option_file, make_result

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
        (SMALL, "230M", "cannot be told", "the size of the data more exactly than its options tell"),
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
    assert any(words in told for told in [*found.missing, *(one.message for one in found.raised)])


def test_pgbench_is_held_against_shared_buffers_in_pages_of_8_kib() -> None:
    conf = make_option_file("shared_buffers=131072", "postgresql.conf")
    conf = conf.model_copy(update={"source": conf.source.model_copy(update={"format": "postgresql.conf"})})
    asked = {"scaling factor": "10", "number of clients": "10"}
    mix = {"load__mix": "TPC-B (sort of)", "source__format": "pgbench", "load__writes": None}
    (raised,) = said("data-size", Beside(asked=conf), asked=asked, **mix).raised
    assert "150 MiB: scaling factor 10 x about 15 MiB) fits in the buffer pool (1 GiB)" in raised.message
    own = {**mix, "load__mix": "mine.sql"}
    assert said("data-size", Beside(asked=conf), asked=asked, **own).missing == ["the size of the data"]


# ---------------------------------------------------------------- commits


def test_relaxed_settings_are_a_note_and_speak_against_durability() -> None:
    answer = audit_result(make_result(), 1, make_beside(FAST))
    (note,) = next(one for one in answer.checks if one.check == "durable-commits").raised
    assert note.severity == "note"
    assert "sync_binlog = 0" in note.message
    assert "a statement about durability (see durable-commits)" in answer.verdict
    safe = audit_result(make_result(), 1, make_beside(SAFE))
    assert "what the server answered to SHOW VARIABLES" in safe.verdict


def test_what_defaults_decide_needs_the_version() -> None:
    beside = make_beside("innodb_flush_log_at_trx_commit=1; log_bin=ON")
    (missing,) = said("durable-commits", beside).missing
    assert missing.startswith("which server and version the settings are for")
    told = said("durable-commits", beside, levels={"server": "mysql-8.0"})
    assert (told.state, told.raised) == ("passed", [])


def test_a_part_of_an_answer_leaves_out_what_it_leaves_out() -> None:
    observed = make_option_file("sync_binlog=1", "variables.txt", observed=True)
    beside = Beside(observed=observed)
    assert "`innodb_flush_log_at_trx_commit`" in said("durable-commits", beside).missing[0]
    assert said("physics", beside).missing == [
        "`innodb_flush_log_at_trx_commit`, which the server's answer leaves out"
    ]
    assert said("settings", beside).state == "does not apply"


def test_an_option_file_that_was_not_read_is_told_of_the_result_too() -> None:
    answered = make_option_file("innodb_flush_log_at_trx_commit=2", "variables.txt", observed=True)
    asked = make_option_file("innodb_flush_log_at_trx_commit=1")
    (raised,) = said("settings", Beside(asked=asked, observed=answered)).raised
    assert raised.message == "the option file beside it did not take effect: see took-effect"


def test_a_load_that_writes_nothing_commits_nothing() -> None:
    assert said("durable-commits", make_beside(FAST), load__writes=0).state == "does not apply"


# ---------------------------------------------------------------- counters

RUN = {"Queries": 1_380_000, "Innodb_os_log_fsyncs": 16_000, "Innodb_data_fsyncs": 17_000}


def reading(uptime: float, **values: float) -> Counters:
    return make_counters({"Uptime": uptime, **values})


def flushes(*readings: Counters) -> str:
    outcome = counted_flushes.outcome(evidence_of(make_result(), make_beside(SAFE, *readings)))
    return "; ".join([outcome.state, *outcome.missing])


def test_counters_must_be_of_the_run() -> None:
    before, after = reading(100, **dict.fromkeys(RUN, 0)), reading(410, **RUN)
    assert flushes(before, after) == flushes(after, before) == "passed"  # in whatever order they are named
    assert "(SHOW GLOBAL STATUS before and after)" in flushes()
    few = reading(410, **{**RUN, "Queries": 1000})
    assert "counters of the run (status.txt: 1,000 statements, and the run had 1,380,000)" in flushes(
        before, few
    )
    assert "the order of the server's counters" in flushes(after, reading(500, **dict.fromkeys(RUN, 7)))
    assert "the order of the server's counters" in flushes(before, reading(100, **RUN))


def test_since_the_start_few_flushes_are_proof_and_many_are_not() -> None:
    assert flushes(reading(9000, **{**RUN, "Innodb_os_log_fsyncs": 12})).startswith("failed")
    assert "counters of the run alone" in flushes(reading(9000, **{**RUN, "Queries": 9_000_000}))


def test_flushes_of_all_files_can_only_be_too_few() -> None:
    of_all = {name: value for name, value in RUN.items() if name != "Innodb_os_log_fsyncs"}
    assert "the flushes of the log apart" in flushes(reading(1, **of_all))
    assert flushes(reading(1, **{**of_all, "Innodb_data_fsyncs": 100})).startswith("failed")


def test_a_log_that_is_written_through_is_not_held_to_flushes() -> None:
    beside = make_beside(
        f"{SAFE}; innodb_flush_method=O_DSYNC", reading(400, **{**RUN, "Innodb_os_log_fsyncs": 0})
    )
    assert counted_flushes.outcome(evidence_of(make_result(), beside)).state == "does not apply"


def test_pages_that_were_read_before_the_run_are_no_pages_of_the_run() -> None:
    pages = {"Innodb_buffer_pool_read_requests": 9e6, "Innodb_buffer_pool_reads": 5e5}
    long = make_beside(SAFE, reading(9000, Queries=9e6, **pages))
    assert page_reads.outcome(evidence_of(make_result(), long)).missing == (
        "counters of the run alone (SHOW GLOBAL STATUS before and after)",
    )


@pytest.mark.parametrize(
    "values", [{}, {"Uptime": "x"}, {"Queries": "9" * 400}, {"Queries": "-3", "Uptime": "nan"}]
)
def test_hostile_counters_are_read_politely(values: dict[str, str]) -> None:
    told = counted([values])
    assert told is not None
    assert told.account.page_reads is None
    assert counted([values, values]) is None


# ---------------------------------------------------------------- several results


def test_each_result_has_the_settings_of_its_own_server() -> None:
    results = [make_result(source__file=f"{disk}/safest.txt") for disk in ("ssd", "hdd")]
    given = [make_option_file(text, f"{disk}/my.cnf") for disk, text in (("ssd", SAFE), ("hdd", FAST))]
    plan, trials, _ = assemble(results, "old")
    ssd, hdd = audit_results(results, trials, given)
    failed = [{one.check for one in subject.within("failed")} for subject in (ssd, hdd)]
    assert "durable-commits" not in failed[0]
    assert "durable-commits" in failed[1]
    together = audit_experiment(plan, trials, results, given)
    assert together is not None
    (raised, *_) = next(one for one in together.checks if one.check == "common-settings").raised
    assert "`innodb_flush_log_at_trx_commit` is 1 on ssd and 2 on hdd" in raised.message
