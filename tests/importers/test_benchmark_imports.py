"""pgbench and HammerDB: what they printed, and nothing else."""

import pytest

from diskproof.audit.figures import latency_order, rate_arithmetic
from diskproof.audit.imported import evidence_of
from diskproof.audit.in_force import durable_commits
from diskproof.audit.load import finished, littles_law
from diskproof.importers.base import ImportRefusedError
from diskproof.results.imported import Beside, ImportedResult
from support.imported import make_option_file
from support.samples import SAMPLES, found_in, results_in, results_of
from support.trials import change


def test_pgbench_with_progress() -> None:
    (steady,) = results_in("pgbench-steady.txt")
    load = steady.load
    assert (steady.source.tool, load.mix) == ("pgbench 15.18", "TPC-B (sort of)")
    assert (load.clients, load.seconds, load.transactions, load.failed_transactions) == (4, 3.0, 1530, 0)
    assert load.transactions_per_s == 511.02614
    assert load.latency_us
    assert (load.latency_us.mean, load.latency_us.stdev) == (7804, 7789)
    assert steady.intervals_per_s == [599.9, 339.9, 587.1]
    assert (steady.intervals_latency_us[0], steady.interval_percentile) == (6471, "mean")
    assert steady.interval_s == 1.0


def test_pgbench_says_when_its_latency_is_no_measurement() -> None:
    (connecting,) = results_in("pgbench-connect.txt")
    assert connecting.load.transactions_per_s == 111.874985
    assert connecting.load.latency_us is None, "Little's law would hold by the way it was worked out"
    assert any("mean latency (17.877 ms) is left out" in remark for remark in connecting.remarks)
    (tries,) = results_in("pgbench-tries.txt")
    assert tries.load.retries == 0


def test_pgbench_held_to_a_rate_has_no_number_of_busy_clients() -> None:
    (held,) = results_in("pgbench-rate.txt")
    assert (held.load.clients, held.asked["number of clients"]) == (None, "2")
    assert held.load.latency_us
    assert held.load.latency_us.mean == 12495
    assert any(remark.startswith("rate limit schedule lag avg 8.048") for remark in held.remarks)
    busy = change(held, load__clients=2)
    assert littles_law.outcome(evidence_of(busy)).state == "does not apply"
    unpaced = change(busy, asked={})
    assert littles_law.outcome(evidence_of(unpaced)).state == "failed"


def test_pgbench_of_old() -> None:
    (old,) = results_in("pgbench-old.txt")
    assert (old.load.transactions_per_s, old.load.seconds, old.source.tool) == (1280.0, 6.25, None)
    assert old.load.latency_us
    assert (old.load.latency_us.mean, old.load.latency_us.stdev) == (6250, 2715)
    assert any("8000 transactions / 1280 a second" in remark for remark in old.remarks)


@pytest.mark.parametrize(
    ("sample", "named", "writes"),
    [
        ("pgbench-steady.txt", "<builtin: select only>", 0),
        ("pgbench-old.txt", "SELECT only", 0),  # as up to PostgreSQL 9.5
        ("pgbench-steady.txt", "<builtin: simple update>", None),
        ("pgbench-steady.txt", "mine.sql", None),
        ("pgbench-steady.txt", "multiple scripts", None),
    ],
)
def test_pgbench_that_only_selects_writes_nothing(sample: str, named: str, writes: int | None) -> None:
    lines = (SAMPLES / sample).read_text().splitlines()
    told = [f"transaction type: {named}" if one.startswith("transaction type: ") else one for one in lines]
    (found,) = [one for one in found_in("\n".join(told)) if isinstance(one, ImportedResult)]
    assert found.load.writes == writes
    relaxed = make_option_file("synchronous_commit=off", "postgresql.conf")
    source = relaxed.source.model_copy(update={"format": "postgresql.conf"})
    beside = Beside(asked=relaxed.model_copy(update={"source": source}))
    outcome = durable_commits.outcome(evidence_of(found, beside))
    assert (outcome.state == "does not apply") == (writes == 0)
    assert bool(outcome.problems) == (writes is None)


def test_pgbench_without_a_rate_is_refused() -> None:
    content = (SAMPLES / "pgbench-old.txt").read_text()
    with pytest.raises(ImportRefusedError, match="line 2: pgbench's summary that begins here has no rate"):
        found_in(content[: content.index("tps")])


def test_pgbench_without_a_rate_hides_no_other_run() -> None:
    content = (SAMPLES / "pgbench-old.txt").read_text()
    found = found_in(f"transaction type: TPC-B (sort of)\npgbench: fatal: Run was aborted\n{content}")
    assert len(found) == len(found_in(content))


def test_pgbench_that_connected_for_seconds_measured_for_less_than_its_duration() -> None:
    lines = ["transaction type: TPC-B (sort of)", "number of clients: 10", "duration: 60 s"]
    lines += ["number of transactions actually processed: 408", "initial connection time = 4985.000 ms"]
    (one,) = found_in("\n".join([*lines, "tps = 7.261378 (without initial connection time)"]))
    assert isinstance(one, ImportedResult)
    assert one.load.seconds == pytest.approx(408 / 7.261378)
    assert rate_arithmetic.outcome(evidence_of(one)).state != "failed"


def test_progress_lines_whose_time_begins_anew_are_of_another_run() -> None:
    line = "progress: {at}.0 s, {tps}.0 tps, lat 9.000 ms stddev 5.000"
    lines = [line.format(at=at, tps=tps) for tps in (700, 900) for at in (6, 12, 18)]
    found = [one for one in found_in("\n".join(lines)) if isinstance(one, ImportedResult)]
    assert [one.load.transactions_per_s for one in found] == [700, 900]


def test_pgbench_in_an_indented_block_is_read() -> None:
    content = (SAMPLES / "pgbench-steady.txt").read_text()
    indented = "".join(f"    {line}\n" for line in content.splitlines())
    (one,), (other,) = found_in(content), found_in(indented)
    assert isinstance(one, ImportedResult)
    assert isinstance(other, ImportedResult)
    assert one.load == other.load


def test_hammerdb() -> None:
    (new,) = results_in("hammerdb.txt")
    assert new.load.transactions_per_s == pytest.approx(253792 / 60)
    assert (new.load.clients, new.load.seconds, new.warm_up_s) == (16, 300, 120)
    assert new.source.tool == "HammerDB v4.4".replace("v", "")


def test_hammerdb_with_its_own_count_first() -> None:
    (old,) = found_in(
        "Vuser 1:Timing test period of 5 in minutes\n"
        "Vuser 1:TEST RESULT : System achieved 28000 SQL Server TPM at 12000 NOPM\n"
    )
    assert isinstance(old, ImportedResult)
    assert (old.load.transactions_per_s, old.load.errors) == (200, [])
    assert old.levels["server"] == "SQL Server"


RECONNECTING = """transaction type: TPC-B (sort of)
scaling factor: 10
query mode: simple
number of clients: 8
number of threads: 2
duration: 60 s
number of transactions actually processed: 24000
latency average: 18.000 ms
latency stddev: 4.000 ms
tps = 400.000000 (including connections establishing)
tps = 444.444444 (excluding connections establishing)
"""


def test_pgbench_that_connects_again_each_time_is_no_error() -> None:
    (old,) = found_in(RECONNECTING)
    assert isinstance(old, ImportedResult)
    assert old.load.transactions_per_s == 400.0
    assert rate_arithmetic.outcome(evidence_of(old)).state == "passed"
    assert littles_law.outcome(evidence_of(old)).state == "does not apply"
    (new,) = results_in("pgbench-connect.txt")
    assert littles_law.outcome(evidence_of(new)).state == "does not apply"


def test_hammerdb_that_failed_does_not_pass() -> None:
    (one,) = found_in(
        "Vuser 1:Timing test period of 5 in minutes\n"
        "Vuser 3:FINISHED FAILED\n"
        "Vuser 1:TEST RESULT : System achieved 27975 NOPM from 0 MySQL TPM\n"
        "Vuser 1:FINISHED SUCCESS\n"
        "Vuser 2:FINISHED FAILED\n"
    )
    assert isinstance(one, ImportedResult)
    outcome = finished.outcome(evidence_of(one))
    said = " ".join(problem.message.text for problem in outcome.problems)
    assert outcome.state == "failed"
    assert "0 TPM beside 27,975 NOPM" in said
    assert "(2 times): FINISHED FAILED" in said


def test_progress_lines_of_pgbench_alone() -> None:
    lines = [
        f"progress: {at}.0 s, {rate}.5 tps, lat 3.300 ms stddev 0.800" for at, rate in ((5, 100), (10, 300))
    ]
    (one,) = found_in("pgbench (16.2)\nstarting vacuum...end.\n" + "\n".join([*lines, ""]))
    assert isinstance(one, ImportedResult)
    assert (one.source.tool, one.source.line) == ("pgbench 16.2", 3)
    assert (one.load.transactions_per_s, one.load.seconds, one.load.clients) == (200.5, 10.0, None)
    assert (one.intervals_per_s, one.interval_s) == ([100.5, 300.5], 5.0)
    assert littles_law.outcome(evidence_of(one)).state == "cannot be told"


def test_progress_lines_with_the_time_of_day_are_no_decades() -> None:
    lines = [
        f"progress: 17000000{at}.5 s, {rate}.0 tps, lat 3.300 ms stddev 0.800"
        for at, rate in ((10, 100), (15, 200), (20, 300))
    ]
    (one,) = found_in("\n".join([*lines, ""]))
    assert isinstance(one, ImportedResult)
    assert (one.load.transactions_per_s, one.load.seconds) == (200, 15)


UNCOMMITTED = """sysbench 1.0:  multi-threaded system evaluation benchmark

Number of threads: 16

OLTP test statistics:
    queries performed:
        read:                            5688414
        write:                           0
        other:                           0
        total:                           5688414
    transactions:                        0      (0.00 per sec.)
    read/write requests:                 5688414 (94556.13 per sec.)

General statistics:
    total time:                          60.1592s
    total number of events:              105341
    response time:
         min:                                  9.14ms
         avg:                                  9.13ms
"""


def test_sysbench_without_transactions_counts_its_events() -> None:
    (one,) = found_in(UNCOMMITTED)
    assert isinstance(one, ImportedResult)
    assert one.load.transactions == 105341
    assert one.load.transactions_per_s == pytest.approx(105341 / 60.1592)
    assert latency_order.outcome(evidence_of(one)).state == "passed"  # 9.14 and 9.13 are rounded


def test_outputs_of_pgbench_in_comments_of_sql_are_read() -> None:
    whole = (SAMPLES / "pgbench-old.txt").read_text()
    (plain,) = results_of(whole)
    (commented,) = results_of("".join(f"--{line}\n" for line in whole.splitlines()))
    assert commented.load == plain.load
