"""A load that several machines share, made here by several programs."""

import json
import subprocess

import pytest

from diskproof import load
from diskproof.results.load import LoadResult
from diskproof.stats.hdr import decode
from diskproof.study.loads.oltp import Oltp
from diskproof.workload.shared import shared, together, together_in_intervals

NULL = "oltp --url null: --clients 2 --seconds 0.3 --report-interval 0.1 --percentiles 50,95,99.9 --json"


def run(seed: int) -> list[load.Event]:
    argv = [str(load.program()), "run", *NULL.split(), "--seed", str(seed)]
    said = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in said.splitlines()]


@pytest.fixture(scope="module")
def runs() -> list[list[load.Event]]:
    return [run(1), run(2)]


def result(events: list[load.Event]) -> LoadResult:
    return load.to_result(events[-1])


def test_the_clients_and_the_rate_are_divided() -> None:
    workload = Oltp.model_validate({"kind": "oltp", "rate": 300.0})
    parts = shared(workload, 7, 3)
    assert [clients for _, clients in parts] == [3, 2, 2]
    rates = [part.options("run")["rate"] for part, _ in parts]
    assert rates == pytest.approx([900 / 7, 600 / 7, 600 / 7])
    assert [clients for _, clients in shared(workload, 2, 3)] == [1, 1]


def test_a_histogram_is_read_as_the_program_reads_it(runs: list[list[load.Event]]) -> None:
    latency = result(runs[0]).latency_us
    assert latency is not None
    assert latency.histogram is not None
    histogram = decode(latency.histogram)
    assert histogram.total == latency.count
    assert histogram.stdev / 1e3 == pytest.approx(latency.stdev, rel=1e-9)
    for name, value in latency.percentiles.items():
        assert histogram.percentile(float(name)) / 1e3 == value


def test_what_was_measured_together_is_a_sum(runs: list[list[load.Event]]) -> None:
    one, other = (result(events) for events in runs)
    both = together([one, other])
    assert together([one]) is one
    assert both.clients == 4
    assert both.transactions == one.known_transactions + other.known_transactions
    assert both.transactions_per_s == one.transactions_per_s + other.transactions_per_s
    assert both.latency_us is not None
    assert one.latency_us is not None
    assert other.latency_us is not None
    assert both.latency_us.count == both.transactions
    assert both.latency_us.histogram is not None
    assert decode(both.latency_us.histogram).total == both.transactions
    assert both.latency_us.max == max(one.latency_us.max or 0, other.latency_us.max or 0)
    for name, value in both.latency_us.percentiles.items():
        ends = (one.latency_us.percentiles[name], other.latency_us.percentiles[name])
        assert min(ends) <= value <= max(ends)
    statements = {kind.name: kind.count for kind in both.statement_types}
    assert sum(statements.values()) == both.statements
    # Little's law holds for all as for each.
    assert both.latency_us.mean * both.transactions_per_s / 1e6 == pytest.approx(
        sum(part.latency_us.mean * part.transactions_per_s / 1e6 for part in (one, other) if part.latency_us)
    )


def test_intervals_are_summed_by_window(runs: list[list[load.Event]]) -> None:
    parts = [[event for event in events if event["event"] == "interval"] for events in runs]
    both = list(together_in_intervals(parts))
    assert len(both) == 3
    assert sum(one["transactions"] for one in both) == sum(
        result(events).known_transactions for events in runs
    )
    rows = [row for event in both for row in load.interval_rows(event)]
    assert {name for _, name, _ in rows} == {"transactions_per_s", "errors_per_s", "latency_mean_us"}
