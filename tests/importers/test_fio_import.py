"""fio's answers, as fio 3.33 gave them, and of the older shapes."""

import pytest

from diskproof.importers.base import ImportRefusedError
from support.samples import SAMPLES, found_in, results_in


def test_json_of_two_jobs() -> None:
    reads, mixed = results_in("fio-two-jobs.json")
    assert (reads.source.tool, reads.source.format, reads.name) == ("fio 3.33", "fio JSON", "reads")
    assert (reads.load.clients, reads.load.seconds, reads.load.transactions) == (2, 1.002, 14275)
    assert reads.load.transactions_per_s == pytest.approx(14246.507)
    latency = reads.load.latency_us
    assert latency
    assert latency.mean == pytest.approx(139.479, abs=1e-3)
    assert (latency.percentiles["50"], latency.percentiles["99.9"]) == (61.184, 6848.512)
    files = reads.load.file_requests
    assert files
    assert (files.block_bytes, files.direct, files.read_bytes, files.one_pass) == (
        4096,
        False,
        58470400,
        False,
    )
    assert reads.asked["rw"] == "randread"
    # A cap: nobody knows how many requests were under way; reads and writes have percentiles of their own.
    assert mixed.load.clients is None
    assert mixed.load.latency_us is not None
    assert mixed.load.latency_us.percentiles == {}
    assert "it was held back (rate_iops=500,)" in mixed.remarks
    assert [(one.name, one.count) for one in mixed.load.statement_types] == [
        ("read", 411),
        ("write", 1504),
        ("sync", 431),
    ]
    assert mixed.load.file_requests
    assert mixed.load.file_requests.sync_every is None


def test_bins_tell_the_percentiles_of_reads_and_writes_together() -> None:
    (both,) = results_in("fio-plus.json")
    assert (both.load.reads, both.load.writes) == (15, 17)
    latency = both.load.latency_us
    assert latency
    # 17 quick writes and 15 slow reads: the median lies among the writes, at their slow end.
    assert latency.percentiles == {"50": 5.92}
    assert latency.mean == pytest.approx((15 * 112.362 + 17 * 3.7025) / 32, rel=1e-4)


def test_clones_are_added_up() -> None:
    (both,) = results_in("fio-clones.json")
    assert (both.load.clients, both.load.transactions, both.load.seconds) == (2, 1024, 0.002)
    assert both.load.file_requests
    assert both.load.file_requests.written_bytes == 2 * 2 * 2**20
    assert "2 jobs of this name, added up" in both.remarks


def test_version_2_counts_in_microseconds_and_kib() -> None:
    (old,) = results_in("fio-2.json")
    assert old.source.line == 2
    assert (old.load.clients, old.load.transactions_per_s) == (32, 10_000)
    assert old.load.latency_us
    assert (old.load.latency_us.mean, old.load.latency_us.percentiles["95"]) == (3200, 4100)
    assert old.load.file_requests
    assert old.load.file_requests.read_bytes == 400_000 * 1024


@pytest.mark.parametrize(("place", "rate", "p99", "largest"), [(0, 8000, 115, 115), (1, 5333, 94, 94),
                                                                (2, 6400, 53, 55)])  # fmt: skip
def test_terse_lines(place: int, rate: float, p99: float, largest: float) -> None:
    terse = results_in("fio-terse.txt")[place]
    assert terse.source.format == f"fio terse {place + 3}"
    assert terse.load.transactions_per_s == rate
    assert terse.load.transactions is None
    assert terse.load.latency_us
    assert (terse.load.latency_us.percentiles["99"], terse.load.latency_us.max) == (p99, largest)
    assert terse.load.file_requests
    assert (terse.load.file_requests.written_bytes, terse.load.file_requests.block_bytes) == (4 * 2**20, None)


def test_broken_json_is_refused_with_its_line() -> None:
    content = "a warning\n" + (SAMPLES / "fio-two-jobs.json").read_text()[:900]
    with pytest.raises(ImportRefusedError, match=r"old\.txt, line 2: the JSON that begins here is broken"):
        found_in(content)
