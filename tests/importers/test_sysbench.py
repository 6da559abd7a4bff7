"""sysbench's output of every version, as sysbench itself printed it."""

from pathlib import Path

import pytest

from diskproof.audit.figures import latency_order, mean_bounds, rate_arithmetic, statement_arithmetic
from diskproof.audit.imported import evidence_of
from diskproof.audit.load import littles_law
from diskproof.importers.base import ImportRefusedError
from diskproof.importers.read import read_file
from diskproof.results.imported import ImportedResult
from diskproof.results.load import FileRequests
from support.trials import change

OUTPUTS = Path(__file__).parent / "samples"


def results_of(path: Path) -> list[ImportedResult]:
    return [found for found in read_file(path) if isinstance(found, ImportedResult)]


def only(name: str) -> ImportedResult:
    (found,) = results_of(OUTPUTS / name)
    return found


def files_of(result: ImportedResult) -> FileRequests:
    assert result.load.file_requests is not None
    return result.load.file_requests


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "output.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "version", "counted", "rate_per_s", "seconds", "mean_us", "p95_us", "intervals"),
    [
        ("0.4-oltp", "0.4.12", (2468, 34594, 9879, 4939), 616.24, 4.0049, 6480, 22320, 4),
        ("0.5-oltp", "0.5", (2024, 28448, 8109, 4056), 673.75, 3.0041, 5930, 11220, 3),
        ("1.0-oltp", "1.0.20", (2847, 39886, 11391, 5696), 708.37, 4.0184, 5630, 19650, 4),
    ],
)
def test_oltp_of_each_version(
    name: str,
    version: str,
    counted: tuple[int, int, int, int],
    rate_per_s: float,
    seconds: float,
    mean_us: float,
    p95_us: float,
    intervals: int,
) -> None:
    found = only(f"sysbench-{name}.txt")
    load = found.load
    assert found.source.tool == f"sysbench {version}"
    assert found.source.format == f"sysbench {name.split('-', maxsplit=1)[0]} OLTP"
    assert (load.transactions, load.reads, load.writes, load.others) == counted
    assert load.transactions_per_s == rate_per_s
    assert (load.clients, load.seconds) == (4, seconds)
    assert load.latency_us is not None
    assert load.latency_us.mean == pytest.approx(mean_us)
    assert load.latency_us.percentiles["95"] == pytest.approx(p95_us)
    assert len(found.intervals_per_s) == len(found.intervals_latency_us) == intervals
    assert (found.interval_s, found.interval_percentile) == (1, "95")


def test_ignored_errors_are_transactions_begun_again() -> None:
    load = only("sysbench-0.5-oltp.txt").load
    assert (load.retries, load.reconnects) == (8, 0)
    assert [error.count for error in load.errors] == [8]
    assert load.failed_transactions is None  # sysbench has no such thing
    assert only("sysbench-0.4-oltp.txt").load.reconnects is None  # 0.4 does not tell


def test_an_open_loop_is_remarked() -> None:
    found = only("sysbench-1.0-oltp-rate.txt")
    assert found.asked["rate"] == "50"
    assert any("50 a second" in remark for remark in found.remarks)
    assert found.levels == {"workload": "oltp, 14 reads a transaction"}


@pytest.mark.parametrize(
    ("name", "reads", "writes", "moved_bytes", "clients", "direct"),
    [
        ("0.4-fileio", 75000, 50000, 125000 * 16384, 2, False),
        ("0.5-fileio", 0, 13644, 13644 * 16384, 1, True),
    ],
)
def test_files_of_the_older_versions(
    name: str, reads: int, writes: int, moved_bytes: int, clients: int, direct: bool
) -> None:
    found = only(f"sysbench-{name}.txt")
    moved = files_of(found)
    assert (found.load.reads, found.load.writes, found.load.clients) == (reads, writes, clients)
    assert found.load.transactions == reads + writes
    assert moved.moved_bytes == moved_bytes
    assert (moved.block_bytes, moved.files, moved.direct) == (16384, 4, direct)
    assert moved.syncs == found.load.others
    # sysbench's Mb are MiB: its own requests a second times 16 KiB are what it prints a second.
    assert found.intervals_per_s[0] == pytest.approx(found.load.transactions_per_s, rel=0.3)


def test_files_of_sysbench_1_0_are_rates_and_their_counts_are_derived() -> None:
    found = only("sysbench-1.0-fileio.txt")
    assert found.load.transactions_per_s == pytest.approx(22727.17 + 15151.45)
    # Only rates are told: 22727.17/s, 15151.45/s and 1516.80/s over 3.0166 s.
    assert (found.load.reads, found.load.writes, found.load.others) == (68_559, 45_706, 4_576)
    assert files_of(found).syncs == 4_576
    assert "transactions" in found.load.derived  # so that they are no witness of the rate
    assert found.load.statements == 118869
    assert found.load.megabytes_per_s == pytest.approx((355.11 + 236.74) * 2**20 / 1e6, rel=1e-4)
    assert any("4,576 fsyncs (1,516.8/s), derived: rate x 3.0166 s" in remark for remark in found.remarks)


def test_means_of_few_digits_are_their_sum_over_the_events() -> None:
    found = only("sysbench-1.0-fileio.txt")
    assert found.load.latency_us is not None
    assert found.load.latency_us.mean == pytest.approx(5969.27 / 118869 * 1000)  # printed as 0.05 ms
    assert any("(printed as 0.05)" in remark for remark in found.remarks)


@pytest.mark.parametrize("printed", ["0.06", "0.95"])
def test_a_mean_that_is_not_its_sum_is_kept_and_fails(tmp_path: Path, printed: str) -> None:
    text = (OUTPUTS / "sysbench-1.0-fileio.txt").read_text()
    (found,) = results_of(written(tmp_path, text.replace("0.05\n", f"{printed}\n")))
    assert found.load.latency_us is not None
    assert found.load.latency_us.mean == pytest.approx(float(printed) * 1000)
    said = f"its mean of {printed} ms is not its sum: 5,969.27 ms / 118,869 events = 0.05022 ms"
    assert said in found.remarks
    assert littles_law.outcome(evidence_of(found)).state == "failed"


def test_a_mean_is_not_derived_from_events_that_are_derived_from_it(tmp_path: Path) -> None:
    text = (OUTPUTS / "sysbench-1.0-oltp.txt").read_text()
    lines = [line for line in text.splitlines() if "total number of events" not in line]
    told = "\n".join("avg: 0.42" if "avg:" in line else line for line in lines)
    (found,) = results_of(written(tmp_path, told))
    assert found.load.latency_us is not None
    assert found.load.latency_us.mean == pytest.approx(420.0)


def test_files_of_sysbench_1_1_do_not_tell_how_long_they_took() -> None:
    found = only("sysbench-1.1-fileio.txt")
    assert found.load.transactions_per_s == pytest.approx(15230.73 + 10153.99)
    assert found.load.seconds is None
    assert found.load.clients == 2


def test_excerpts_tell_less_and_what_follows_is_derived() -> None:
    oltp, files = results_of(OUTPUTS / "sysbench-excerpts.txt")
    assert oltp.load.clients == 10
    assert any("34753 events / 3475.3000 events a thread" in remark for remark in oltp.remarks)
    assert oltp.source.tool is files.source.tool is None
    assert (oltp.source.line, files.source.line) == (2, 31)
    assert files.load.clients == 1
    moved = files_of(files)
    assert (moved.block_bytes, moved.direct, moved.files) == (16384, None, None)
    assert moved.read_bytes == 208123 * 16384
    assert files.load.mix == "rndrw"  # no other mode reads and writes


def test_clients_that_do_not_follow_are_not_told(tmp_path: Path) -> None:
    text = (OUTPUTS / "sysbench-excerpts.txt").read_text().replace("3475.3000", "3333.3000")
    assert results_of(written(tmp_path, text))[0].load.clients is None


def test_a_command_above_tells_its_options_and_no_secret(tmp_path: Path) -> None:
    command = (
        "$ sysbench --mysql-user=root --mysql-password=sesame --mysql-host=db1 --threads=10 --time=150 "
        "--report-interval=2 oltp_read_write run\n"
    )
    text = command + (OUTPUTS / "sysbench-excerpts.txt").read_text().partition("\n")[2]
    found = results_of(written(tmp_path, text))[0]
    assert found.asked == {"threads": "10", "time": "150", "report-interval": "2"}
    assert found.load.mix == "oltp_read_write"
    assert "sesame" not in found.model_dump_json()


def test_a_command_for_other_threads_is_of_another_run(tmp_path: Path) -> None:
    text = "$ sysbench --threads=1 --time=300 oltp_read_write run\n## Report\n"
    text += (OUTPUTS / "sysbench-excerpts.txt").read_text().partition("\n")[2]
    found = results_of(written(tmp_path, text))[0]
    assert (found.load.clients, found.load.mix, found.asked) == (10, None, {})


def test_what_stands_around_an_output_does_not_matter(tmp_path: Path) -> None:
    whole = (OUTPUTS / "sysbench-0.5-oltp.txt").read_text()
    logged = "".join(
        f"2026-03-14T09:01:{at % 60:02}.123Z {line}\n" for at, line in enumerate(whole.split("\n"))
    )
    coloured = whole.replace("transactions:", "\x1b[1mtransactions:\x1b[0m").replace("\n", "\r\n")
    quoted = "".join(f"> {line}\n" for line in whole.split("\n"))
    plain = only("sysbench-0.5-oltp.txt").load
    for text in (logged, coloured, quoted):
        (found,) = results_of(written(tmp_path, text))
        assert found.load == plain


def test_several_runs_in_one_file_are_all_found(tmp_path: Path) -> None:
    names = ("0.4-oltp", "0.4-fileio", "1.0-oltp", "1.1-fileio", "1.0-fileio", "1.0-oltp-rate")
    text = "".join((OUTPUTS / f"sysbench-{name}.txt").read_text() for name in names)
    found = results_of(written(tmp_path, text))
    assert [one.load for one in found] == [only(f"sysbench-{name}.txt").load for name in names]


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    whole = (OUTPUTS / "sysbench-0.5-oltp.txt").read_text()
    with pytest.raises(ImportRefusedError, match="neither a database nor files"):
        read_file(OUTPUTS.parent / "refused" / "sysbench-1.0-cpu.txt")
    with pytest.raises(ImportRefusedError, match="line 22: transactions"):
        read_file(
            written(tmp_path, whole.replace("transactions:                        2024", "transactions: -5"))
        )


def test_interval_lines_in_microseconds(tmp_path: Path) -> None:
    whole = (OUTPUTS / "sysbench-1.0-oltp.txt").read_text()
    at = whole.splitlines().index("Threads started!") + 1
    lines = [line for line in whole.splitlines() if not line.startswith("[ ")]
    micro = "[  1s] threads: 4, tps: 700.50, reads: 9800.10, writes: 2800.00, response time: 19650.00us (95%)"
    (found,) = results_of(written(tmp_path, "\n".join([*lines[:at], micro, *lines[at:]])))
    assert found.intervals_latency_us == [19650.0]


def test_a_latency_of_0_is_below_the_last_digit(tmp_path: Path) -> None:
    text = (
        "File operations:\n    reads/s:                      200000.00\n    writes/s:  0.00\n"
        "    fsyncs/s: 0.00\n\nThroughput:\n    read, MiB/s:                  3125.00\n"
        "    written, MiB/s:               0.00\n\nGeneral statistics:\n"
        "    total time:                          10.0000s\n"
        "    total number of events:              2000000\n\nLatency (ms):\n"
        "         min:                                  0.00\n         avg:                0.00\n"
        "         max:                                  8.50\n"
        "         95th percentile:                      0.00\n         sum:         9800.00\n\n"
        "Threads fairness:\n    events (avg/stddev):           2000000.0000/0.00\n"
    )
    (found,) = results_of(written(tmp_path, text))
    latency = found.load.latency_us
    assert latency is not None
    assert latency.mean == pytest.approx(4.9)
    assert (latency.min, latency.max) == (0.0, 8500.0)
    assert latency.percentiles == {"95": 5.0}
    assert "p95 printed as 0.00 ms: below 0.005 ms" in found.remarks
    evidence = evidence_of(found)
    checks = (rate_arithmetic, statement_arithmetic, latency_order, mean_bounds)
    assert not [check.name for check in checks if check.outcome(evidence).state == "failed"]


def test_requests_that_leave_time_to_the_syncs_say_so() -> None:
    """sysbench 0.4 times no syncs: its event execution is less than the wall time of its threads."""
    found = only("sysbench-0.4-fileio.txt")
    assert found.load.latency_us
    slow = change(found, load__seconds=4 * found.load.known_seconds)
    outcome = littles_law.outcome(evidence_of(slow))
    assert [problem.severity for problem in outcome.problems] == ["warning"]
    assert "the request latencies explain" in outcome.problems[0].message.text
    assert "syncs are probably the rest" in outcome.problems[0].message.text


def test_a_percentile_at_the_end_of_the_histogram_is_a_lower_bound(tmp_path: Path) -> None:
    whole = (OUTPUTS / "sysbench-1.0-oltp-rate.txt").read_text()
    line = next(one for one in whole.splitlines() if "th percentile:" in one)
    told = whole.replace(line, "         95th percentile:                   100000.00")
    (found,) = results_of(written(tmp_path, told))
    assert found.load.latency_us
    assert found.load.latency_us.is_bound("95")
    assert "p95 lie at the end of its histogram: >= 100,000 ms" in found.remarks
    assert only("sysbench-1.0-oltp-rate.txt").load.latency_us.histogram_end is None  # type: ignore[union-attr]
