"""fio's answers, as fio 3.33 gave them, and of the older shapes."""

import json
from pathlib import Path

import pytest

from diskproof.analysis.audited.audit import audit_result
from diskproof.audit.imported import evidence_of
from diskproof.audit.load import littles_law
from diskproof.importers.base import ImportRefusedError
from diskproof.importers.read import read_files
from diskproof.results.imported import ImportedResult
from diskproof.results.load import Latency
from support.samples import SAMPLES, found_in, results_in, results_of


def test_json_of_two_jobs() -> None:
    reads, mixed = results_in("fio-two-jobs.json")
    assert (reads.source.tool, reads.source.format, reads.name) == ("fio 3.33", "fio JSON", "reads")
    assert (reads.load.clients, reads.load.seconds, reads.load.transactions) == (2, 1.002, 14275)
    assert reads.load.transactions_per_s == pytest.approx(14246.507)
    latency = reads.load.latency_us
    assert latency
    assert latency.mean == pytest.approx(139.445, abs=1e-3), "of the clock that its percentiles are of"
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


def test_bins_tell_the_percentiles_of_reads_and_writes_together() -> None:
    (both,) = results_in("fio-plus.json")
    assert (both.load.reads, both.load.writes) == (15, 17)
    latency = both.load.latency_us
    assert latency
    # 17 quick writes and 15 slow reads: the median lies among the writes, at their slow end.
    assert latency.percentiles == {"50": 5.92}
    assert latency.mean == pytest.approx((15 * 112.291 + 17 * 3.6371) / 32, rel=1e-4)


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
    assert (old.load.latency_us.mean, old.load.latency_us.percentiles["95"]) == (3195, 4100)
    assert old.load.file_requests
    assert old.load.file_requests.read_bytes == 400_000 * 1024


def test_where_submitting_is_most_of_a_request_percentiles_of_completion_are_left_out() -> None:
    """The buffered writes of libaio are done when they are submitted: completion alone takes 0.5 us."""
    (one,) = results_in("fio-submitting.json")
    latency = one.load.latency_us
    assert latency
    assert latency.min == 8.203
    assert latency.mean == pytest.approx(26.40726)
    assert not latency.percentiles
    assert any("its percentiles are of completion alone and are left out" in said for said in one.remarks)
    states = {check.check: check.state for check in audit_result(one).checks}
    assert states["latency-order"] != "failed"
    assert states["mean-bounds"] == "cannot be told"


def test_the_rate_is_as_fio_tells_it() -> None:
    """A rate that was worked out of count and time would never contradict them."""
    whole = (SAMPLES / "fio-submitting.json").read_text()
    (one,) = results_in("fio-submitting.json")
    assert (one.load.transactions_per_s, one.load.derived) == (_printed_iops(whole), [])
    (wrong,) = found_in(whole.replace(f'"iops" : {_printed_iops(whole):.6f}', '"iops" : 50000.000000'))
    assert isinstance(wrong, ImportedResult)
    states = {check.check: check.state for check in audit_result(wrong).checks}
    assert states["rate-arithmetic"] == "failed"
    _, mixed = results_in("fio-two-jobs.json")
    states = {check.check: check.state for check in audit_result(mixed).checks}
    assert states["rate-arithmetic"] == "cannot be told"


def _printed_iops(content: str) -> float:
    return next(rate for told in content.split('"iops" : ')[1:] if (rate := float(told.split(",")[0])))


def test_an_error_that_fio_tells_is_judged() -> None:
    content = (SAMPLES / "fio-submitting.json").read_text().replace('"error" : 0', '"error" : 5')
    (one,) = found_in(content)
    assert isinstance(one, ImportedResult)
    (answer,) = [check for check in audit_result(one).checks if check.check == "finished"]
    assert answer.state == "failed"
    assert answer.raised[0].severity == "invalid"
    assert "error 5" in answer.raised[0].message.text


def test_answers_in_a_list_are_read_however_it_is_laid_out(tmp_path: Path) -> None:
    answers = [json.loads((SAMPLES / f"fio-{name}.json").read_text()) for name in ("two-jobs", "plus")]
    later = json.loads(json.dumps(answers[1]).replace('"total_ios": 15', '"total_ios": 16'))
    later["timestamp_ms"] += 60_000
    answers.append(later)
    file = tmp_path / "all.json"
    for text in (
        json.dumps(answers),
        f"note: both iodepth >= 1 and synchronous I/O engine are selected\n{json.dumps(answers)}\n",
        "[\n" + ",\n".join(map(json.dumps, answers)) + "\n]\n",
        "[" + "\n,\n".join(map(json.dumps, answers)) + "]",
        json.dumps(answers, indent=2),
    ):
        file.write_text(text)
        found, refused = read_files([file])
        results = [one for one in found if isinstance(one, ImportedResult)]
        assert (refused, [one.name for one in results]) == ([], ["reads", "mixed", "both", "both"])
        assert [one.load.reads for one in results[2:]] == [15, 16]


def test_broken_json_is_refused_with_its_line() -> None:
    content = "a warning\n" + (SAMPLES / "fio-two-jobs.json").read_text()[:900]
    with pytest.raises(ImportRefusedError, match=r"old\.txt, line 2: the JSON that begins here is broken"):
        found_in(content)


def test_output_for_people() -> None:
    write, read, old = results_in("fio-people.txt")
    load = write.load
    assert (write.source.line, write.source.tool, load.mix) == (1, "fio 3.7", "rndwr")
    assert (load.clients, load.seconds, load.transactions) == (2, 30.001, 31080)
    assert load.transactions_per_s == pytest.approx(31080 / 30.001)
    assert load.latency_us
    assert (load.latency_us.mean, load.latency_us.percentiles["95"]) == (1908.88, 2540)
    assert load.file_requests
    assert load.file_requests.written_bytes == 31080 * 4096
    assert load.file_requests.direct is None
    assert load.client
    assert load.client.cpu_system_s == pytest.approx(0.0201 * 30.001)
    assert read.load.latency_us
    assert (read.load.latency_us.max, read.load.latency_us.percentiles) == (
        2_171_000,
        {"1": 3000, "99.99": 2_165_000},
    )
    assert (old.source.tool, old.load.transactions) == ("fio 2.2.10", 117757)
    assert old.load.file_requests
    assert old.load.file_requests.direct is True
    for one in (write, read, old):
        assert littles_law.outcome(evidence_of(one)).state != "failed"


def test_people_are_not_told_whether_a_job_was_held_back() -> None:
    text = (SAMPLES / "fio-people.txt").read_text()
    (write, *_) = found_in(text.replace("avg=1908.88", "avg=908.88").replace("avg=1927.64", "avg=927.64"))
    assert isinstance(write, ImportedResult)
    assert littles_law.outcome(evidence_of(write)).state == "cannot be told"


def test_an_excerpt_without_its_number_of_requests_has_a_rate() -> None:
    (one,) = found_in(
        "test: (groupid=0, jobs=1): err= 0: pid=5508: Sun Jan  4 23:09:40 2026\n"
        "  read: IOPS=1611, BW=201MiB/s (211MB/s)(4040MiB/20051msec)\n"
    )
    assert isinstance(one, ImportedResult)
    assert one.load.transactions_per_s == pytest.approx(1611, rel=1e-3)


def test_version_2_prints_a_space_before_commas_and_a_large_k() -> None:
    (one,) = found_in(
        "test: (groupid=0, jobs=1): err= 0: pid=21423: Thu May  9 16:33:14 2013\n"
        "  write: io=4096KB, bw=1023.3KB/s, iops=170 , runt=  6000msec\n"
        "    clat (usec): min=22 , max=1805.8K, avg=5876.66, stdev=281965.67\n"
        "     issued    : total=r=0/w=1024/d=0, short=r=0/w=0/d=0\n"
    )
    assert isinstance(one, ImportedResult)
    assert one.load.latency_us
    assert (one.load.latency_us.min, one.load.latency_us.max) == (22.0, 1_805_801.0)


def test_sections_in_one_report_are_not_taken_for_the_first() -> None:
    whole = json.loads((SAMPLES / "fio-plus.json").read_text())
    whole["jobs"] = whole["jobs"][:1]
    runtime_ms = max(whole["jobs"][0][kind]["runtime"] for kind in ("read", "write"))
    whole["jobs"][0]["job_runtime"] = 6 * runtime_ms
    (one,) = found_in(json.dumps(whole))
    assert isinstance(one, ImportedResult)
    assert one.load.clients is None
    assert "6 jobs in one report, which prints the options of the first" in one.remarks


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ("-size=1G -runtime=10", True),
        ("-size=1G -runtime=10 -time_based", False),
        ("-size=2G -runtime=5", False),
        ("-size=2G -runtime=1m", False),
        ("-size=1G", True),
    ],
)
def test_a_runtime_is_the_longest_that_a_job_may_take(options: str, ends: bool) -> None:
    (one,) = found_in(
        f"fio -name=file -direct=1 -rw=randread -bs=4k -ioengine=psync -numjobs=4 {options}\n"
        "file: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync\n"
        "file: (groupid=0, jobs=4): err= 0: pid=37018: Fri Oct 16 12:12:25 2020\n"
        "   read: IOPS=210k, BW=819MiB/s (859MB/s)(4096MiB/5000msec)\n"
        "     issued rwts: total=1048576,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    )
    assert isinstance(one, ImportedResult)
    assert one.load.file_requests
    assert one.load.file_requests.one_pass is ends


def test_excerpts_of_one_job_in_an_indented_block_are_two_results() -> None:
    once = (
        "   mytest: (groupid=0, jobs=1): err= 0: pid=5508: Sun Jan  4 23:09:40 2026\n"
        "     write: IOPS=189, BW=756KiB/s (775kB/s)(443MiB/600014msec)\n"
    )
    first, second = found_in(once + "\n" + once.replace("189", "529"))
    assert isinstance(first, ImportedResult)
    assert isinstance(second, ImportedResult)
    assert second.load.transactions_per_s == pytest.approx(529, rel=1e-3)


def test_an_excerpt_under_a_command_with_a_job_file_has_its_bytes_and_no_clients() -> None:
    (one,) = found_in(
        "$ fio --output-format=normal jobfile.conf\n\n"
        "write: (groupid=0, jobs=16): err= 0: pid=1442: Wed Jan 22 02:37:36 2025\n"
        "  write: IOPS=13.9k, BW=54.4MiB/s (57.0MB/s)(6544MiB/120336msec); 0 zone resets\n"
        "     issued rwts: total=0,1671170,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
    )
    assert isinstance(one, ImportedResult)
    assert one.load.clients is None
    assert one.load.file_requests
    assert one.load.file_requests.written_bytes == 6544 * 2**20


def test_percentiles_in_milliseconds_are_kept_with_their_rounding() -> None:
    text = (SAMPLES / "fio-people.txt").read_text()
    (_, read, _) = results_of(text)
    latency = read.load.latency_us
    assert latency
    assert latency.percentile_digit == 1000
    assert latency.percentiles["1"] == 3000
    assert "its percentiles are rounded to 1 ms" in rounded("39").remarks
    assert latency_of("39").percentiles["95"] == 39_000


def latency_of(p95_ms: str) -> Latency:
    latency = rounded(p95_ms).load.latency_us
    assert latency
    return latency


def rounded(p95_ms: str) -> ImportedResult:
    """Return a job whose percentiles are printed in ms."""
    (one,) = results_of(
        "job: (groupid=0, jobs=1): err= 0: pid=3188: Fri Apr  7 19:07:04 2017\n"
        "  write: io=40960KB, bw=286KB/s, iops=71, runt=143000msec\n"
        "     lat (usec): min=414, max=227702, avg=17816.73, stdev=10681.04\n"
        "    clat (usec): min=46, max=227693, avg=17798.73, stdev=10675.75\n"
        "    clat percentiles (msec):\n"
        f"     |  1.00th=[    0], 50.00th=[   15], 95.00th=[ {p95_ms}], 99.00th=[   59]\n"
        "     issued    : total=r=0/w=10240/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0\n"
    )
    return one


def test_a_percentile_of_0_is_below_the_unit() -> None:
    assert "1" not in latency_of("39").percentiles


def test_a_percentile_at_the_end_of_fios_histogram_is_a_lower_bound() -> None:
    latency = latency_of("17113")
    assert latency.is_bound("95")
    assert not latency.is_bound("50")
    assert latency.exact("95") is None
    assert "p95 lie at the end of its histogram: >= 16,712 ms" in rounded("17113").remarks


def test_with_a_status_interval_the_last_report_of_a_run_counts() -> None:
    def report(at_ms: int, runtime_ms: int) -> str:
        read = {"io_bytes": runtime_ms * 4096, "runtime": runtime_ms, "total_ios": runtime_ms, "iops": 1000.0}
        job = {"jobname": "job", "groupid": 0, "error": 0, "read": read}
        return json.dumps({"fio version": "fio-3.33", "timestamp_ms": at_ms, "jobs": [job]}) + "\n"

    def people(pid: int, requests: int) -> str:
        return (
            f"job: (groupid=0, jobs=1): err= 0: pid={pid}: Sat Nov 28 13:46:10 2026\n"
            f"  read: IOPS=1000, BW=4000KiB/s (4096kB/s)({requests * 4}KiB/{requests}msec)\n"
            f"     issued rwts: total={requests},0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
        )

    of_one = report(1_795_873_862_198, 808) + report(1_795_873_863_198, 1807)
    assert [one.load.transactions for one in results_of(of_one)] == [1807]
    assert len(results_of(of_one + report(1_795_873_869_000, 1807))) == 2
    head = "job: (g=0): rw=randread, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n"
    [one] = results_of(head + people(7, 808) + people(7, 1807))
    assert (one.load.transactions, one.load.clients) == (1807, 1)
