"""What the audit says of results that other tools print, where they print little or round much away."""

from diskproof.analysis.audited.audit import audit_result
from diskproof.analysis.audited.shapes import CheckAnswer
from diskproof.results.imported import ImportedResult
from support.audited import texts
from support.imported import make_file_result, make_result


def said(result: ImportedResult, check: str) -> CheckAnswer:
    return next(one for one in audit_result(result).checks if one.check == check)


def test_cached_reads_are_found_where_the_minimum_was_rounded_away() -> None:
    quick = make_file_result(
        load__file_requests__direct=False,
        load__file_requests__written_bytes=0,
        load__latency_us__min=None,
        load__latency_us__mean=20.0,
        load__latency_us__percentiles={"95": 10.0},
    )
    (raised,) = said(quick, "cached-reads").raised
    assert raised.message.text.startswith(
        "95% of the requests took 0.01 ms or less, but flash takes 0.045 ms or more"
    )


def test_quick_reads_of_an_unknown_disk_may_be_its_own() -> None:
    latency = {"load__latency_us__min": 11.0, "load__latency_us__percentiles": {"95": 57.0}}
    for direct, mean_us, state in (
        (None, 53.0, "cannot be told"),
        (False, 53.0, "failed"),
    ):
        quick = make_file_result(
            load__file_requests__direct=direct,
            load__file_requests__written_bytes=0,
            load__latency_us__mean=mean_us,
            **latency,
        )
        assert said(quick, "cached-reads").state == state


def test_half_a_minute_is_no_beginning_alone() -> None:
    for seconds, state in ((29.0, "failed"), (30.0, "cannot be told")):
        one = make_file_result(warm_up_s=None, intervals_per_s=[], load__seconds=seconds)
        assert said(one, "warm-up").state == state


def test_a_slow_beginning_is_named_and_waves_are_none() -> None:
    steady = [1000.0, 1010.0, 990.0, 1005.0] * 5
    waves = [1000.0] * 5 + [600.0] * 10 + [1000.0] * 5
    for rates, state, warm_up in (
        ([300.0] * 5 + steady, "failed", "passed"),
        (waves, "passed", "passed"),
        ([300.0] * 3 + steady[:12], "cannot be told", "cannot be told"),
    ):
        one = make_result(warm_up_s=None, intervals_per_s=rates)
        found = said(one, "steady")
        assert (found.state, len(found.raised)) == (state, state == "failed"), rates
        assert said(one, "warm-up").state == warm_up, rates


def test_figures_of_few_digits_show_no_tail() -> None:
    for mean_us, p95_us, state in ((20.0, 10.0, "passed"), (40.0, 10.0, "failed")):
        rounded = make_result(load__latency_us__mean=mean_us, load__latency_us__percentiles={"95": p95_us})
        assert said(rounded, "tail").state == state


def test_a_script_of_the_users_own_may_read_as_it_likes() -> None:
    for mix, state in ((None, "cannot be told"), ("oltp_read_write", "failed")):
        own = make_result(load__mix=mix, load__reads=69_000 * 25 // 2, load__statements=69_000 * 37 // 2)
        assert said(own, "statement-arithmetic").state == state


def test_a_rate_that_was_not_held_leaves_no_typical_latency() -> None:
    for asked, state in (("231", "passed"), ("360", "failed"), ("0", "does not apply")):
        audit = audit_result(make_result(asked={"rate": asked}))
        assert next(one.state for one in audit.checks if one.check == "rate") == state
        assert ("a typical latency (see rate" in audit.verdict.text) == (state == "failed")


def test_few_interval_lines_are_not_called_none() -> None:
    few = make_result(intervals_per_s=[230.0] * 4)
    assert texts(said(few, "stalls").missing) == ["5 intervals of throughput (there are 4)"]
    assert texts(said(few, "steady").missing) == ["20 intervals of throughput (there are 4)"]
    assert texts(said(make_result(intervals_per_s=[]), "stalls").missing) == ["throughput in intervals"]


def test_large_figures_have_separators() -> None:
    fast = make_result(load__transactions=3_618_000, load__transactions_per_s=12_060.0, load__latency_us=None)
    assert "It supports 12,060 transactions/s" in audit_result(fast).verdict.text
    stalled = make_result(intervals_per_s=[12_060.0, 0.0] * 15)
    assert "6,030/s" in " ".join(one.message.text for one in said(stalled, "stalls").raised)


def test_sysbench_reads_its_clock_once_for_the_time_and_once_for_the_rate() -> None:
    for seconds, rate_per_s, state in (
        (0.291, 16_742.0, "passed"),
        (0.291, 15_000.0, "failed"),
        (5.0, 975.0, "failed"),
    ):
        one = make_result(load__transactions=5000, load__seconds=seconds, load__transactions_per_s=rate_per_s)
        assert said(one, "rate-arithmetic").state == state
