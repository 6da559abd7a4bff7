"""Other tools' results that look sound and are not, and sound ones that look wrong."""

from typing import Any

import pytest

from diskproof.analysis.audited.audit import audit_experiment, audit_result
from diskproof.audit.figures import latency_order, mean_bounds, rate_arithmetic
from diskproof.audit.imported import evidence_of
from diskproof.audit.load import finished, short, tail
from diskproof.importers.assemble import assemble
from diskproof.results.imported import ImportedResult
from support.imported import make_file_result, make_result
from support.samples import results_of
from support.trials import change

PGBENCH = """pgbench (15.18)
{progress}transaction type: sleep.sql
scaling factor: 1
query mode: simple
number of clients: {clients}
number of threads: 2
duration: {asked} s
number of transactions actually processed: {done}
number of failed transactions: 0 (0.000%)
latency average = {ms} ms
latency stddev = 2.000 ms
initial connection time = 3.000 ms
tps = {tps} (without initial connection time)
"""


def pgbench(asked: int, done: int, took_s: float, ms: float, clients: int = 8, progress: str = "") -> str:
    return PGBENCH.format(
        progress=progress, clients=clients, asked=asked, done=done, ms=f"{ms:.3f}", tps=f"{done / took_s:.6f}"
    )


def test_transactions_that_pgbench_finishes_after_the_time_are_no_error() -> None:
    (result,) = results_of(pgbench(10, 40, 12.0, 2400.0))
    assert result.load.seconds == pytest.approx(12.0)
    assert result.load.derived == ["seconds"]
    assert "pgbench finishes the transactions that are under way after its 10 s" in result.remarks
    assert rate_arithmetic.outcome(evidence_of(result)).state == "cannot be told"


@pytest.mark.parametrize("took_s", [80.0, 45.0])
def test_a_time_that_no_transaction_explains_stays_an_error(took_s: float) -> None:
    (result,) = results_of(pgbench(60, 24_000, took_s, 20.0))
    assert rate_arithmetic.outcome(evidence_of(result)).state == "failed"


LINES = {
    "sysbench": "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n"
    "Running the test with following options:\n"
    "Number of threads: 2\n\nInitializing worker threads...\n\nThreads started!\n\n"
    "[ 1s ] thds: 2 tps: 500.14 qps: 500.14 (r/w/o: 500.14/0.00/0.00) lat (ms,95%): 0.05 err/s: 0.00 "
    "reconn/s: 0.00\n",
    "pgbench": "pgbench (15.18)\nstarting vacuum...end.\n"
    "progress: 1.0 s, 65.9 tps, lat 14.933 ms stddev 10.794\n",
}


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (LINES["sysbench"], "failed"),
        (f"{LINES['sysbench']}^C\n", "failed"),
        (f"{LINES['sysbench']}time_total(s), events\n 1, 500\n", "cannot be told"),
        (LINES["sysbench"].partition("started!\n\n")[2], "cannot be told"),
        (LINES["pgbench"], "failed"),
        (LINES["pgbench"].partition("\n")[2], "cannot be told"),
    ],
)
def test_a_whole_output_that_ends_with_its_intervals_was_interrupted(text: str, state: str) -> None:
    """A script's own report may follow, and an excerpt, or standard error alone, shows nothing."""
    (result,) = results_of(text)
    assert finished.outcome(evidence_of(result)).state == state


@pytest.mark.parametrize(("count", "supports"), [(1, False), (3, False), (9, False), (10, True)])
def test_a_handful_of_transactions_supports_nothing(count: int, supports: bool) -> None:
    changes = {
        "load__transactions": count,
        "load__transactions_per_s": count / 300,
        "load__latency_us__mean": 10 * 300e6 / count,
        "load__latency_us__max": 300e6 * 10,
        "load__latency_us__percentiles": {},
    }
    answer = audit_result(make_result(**changes))
    assert answer.verdict.text.startswith("It supports nothing: too little was measured") is not supports
    said = short.outcome(evidence_of(make_result(**changes))).problems[0].message.text
    assert ("10 or more" in said) is not supports


def test_few_transactions_are_seen_by_rate_and_time_too() -> None:
    changes: dict[str, Any] = {
        "load__transactions": None,
        "load__transactions_per_s": 0.02,
        "load__seconds": 300.0,
    }
    assert short.outcome(evidence_of(make_result(**changes))).problems[0].severity == "invalid"


def at_the_end(**latency: Any) -> ImportedResult:
    """Return a result whose 95th percentile lies at the end of the histogram, and whose mean beyond it."""
    told = {
        "mean": 131e6,
        "min": 9e6,
        "max": 213e6,
        "percentiles": {"50": 60e6, "95": 100e6},
        "histogram_end": 100e6,
        **latency,
    }
    return make_result(**{f"load__latency_us__{name}": value for name, value in told.items()})


def test_a_percentile_at_the_histograms_end_is_a_lower_bound() -> None:
    """The mean may lie above it, and so may the true percentile: neither is a contradiction."""
    bound, exact = evidence_of(at_the_end()), evidence_of(at_the_end(histogram_end=None))
    half = {"percentiles": {"95": 100e6}}
    median = {"percentiles": {"50": 40e6, "95": 100e6}}
    assert mean_bounds.outcome(evidence_of(at_the_end(**half))).state == "passed"
    assert mean_bounds.outcome(evidence_of(at_the_end(**half, histogram_end=None))).state == "failed"
    assert mean_bounds.outcome(evidence_of(at_the_end(**median))).state == "failed", "it is exact"
    assert latency_order.outcome(bound).state == "passed"
    assert tail.outcome(bound).state == "cannot be told"
    assert tail.outcome(exact).state == "failed"
    assert "histogram's end" in tail.outcome(bound).missing[0].text


def test_rounded_percentiles_contradict_only_beyond_their_digit() -> None:
    told = {"mean": 17_800.0, "min": 400.0, "max": 18_000.0, "percentiles": {"50": 17_000.0, "95": 17_000.0}}
    changes = {f"load__latency_us__{name}": value for name, value in told.items()}
    assert mean_bounds.outcome(evidence_of(make_result(**changes))).state == "failed"
    changes["load__latency_us__percentile_digit"] = 1000.0
    assert mean_bounds.outcome(evidence_of(make_result(**changes))).state == "passed"


# ---------------------------------------------------------------- comparisons


def said_of(*results: ImportedResult) -> str:
    plan, trials, _ = assemble(results, "imported")
    answer = audit_experiment(plan, trials, results)
    assert answer is not None
    return answer.verdict.text


def disk(name: str, run: int = 1, clients: int | None = 10, **changes: Any) -> ImportedResult:
    told: dict[str, Any] = {
        "source__file": f"{name}-run{run}.txt",
        "source__line": clients or run,
        "name": f"{name} {run}",
    }
    figures = {"load__transactions_per_s": 230.0 + run, "load__transactions": 69_000 + run}
    return make_result(**told, **figures, load__clients=clients, **changes)


def test_a_comparison_is_sound_only_if_it_was_checked() -> None:
    all_of = [
        disk(name, run, clients) for name in ("hdd", "ssd") for run in range(1, 6) for clients in (1, 10, 99)
    ]
    assert said_of(*all_of) == "No check threatens a comparison of its 6 cells."
    assert said_of(*all_of[:-1]) == "A comparison of its 6 cells is threatened (see repeats)."
    assert "is threatened (see repeats" in said_of(disk("hdd"), disk("ssd"))


def test_unlike_work_is_no_comparison_and_says_what_is_missing() -> None:
    said = said_of(disk("hdd"), make_file_result(source__file="ssd-run1.txt"))
    assert said.startswith("It supports no comparison: its cells do unlike work (")
    assert "the same work on both sides, one thing that differs, and 5 or more runs of each" in said


def test_unknown_clients_may_be_what_differs() -> None:
    one, other = (
        change(disk("log", run, None), source__file="log.txt", source__tool=None, asked={}) for run in (1, 2)
    )
    assert said_of(one, other).startswith("It supports no comparison: the number of clients is not recorded")
