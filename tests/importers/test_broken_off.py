"""A run that broke off, or a part of it, is the first finding of any tool, and supports nothing."""

import json

import pytest

from diskproof.analysis.audited.audit import audit_result
from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.analysis.audited.shared import failures, passed
from diskproof.importers.base import ImportRefusedError
from diskproof.report.compose import audited
from diskproof.results.imported import ImportedResult
from support.samples import SAMPLES, found_in, results_of

HEAD = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 8
Initializing random number generator from current time

Threads started!

"""
FULL = "FATAL: The event queue is full. The worker threads are unable to keep up"
INTERVALS = "".join(
    f"[ {at}s ] thds: 8 tps: {rate} qps: 20000.00 (r/w/o: 14000/4000/2000) lat (ms,95%): 20.00 "
    "err/s: 0.00 reconn/s: 0.00\n"
    for at, rate in ((10, "400.00"), (20, "600.00"))
)
FILEIO = "8 files, 1GiB each\n8GiB total file size\nBlock size 16KiB\nDoing random write test\n"
FSYNC = "FATAL: Failed to fsync file! file: 0 errno = 22 (Invalid argument)"

PEOPLE = """job: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=psync, iodepth=1
fio-3.33
Starting 1 process

fio: terminating on signal 15

job: (groupid=0, jobs=1): err= 0: pid=7: Sat Nov 28 04:13:33 2026
  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(117MiB/3000msec)
     lat (usec): min=27, max=4489, avg=99.00, stdev=48.74
     issued rwts: total=30000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""

PGBENCH = (SAMPLES / "pgbench-tries.txt").read_text()
STARTED = "pgbench (15.18 (Debian 15.18-0+deb12u1))\nstarting vacuum...end.\n"
ABORTED = """pgbench: error: client 1 script 0 aborted in command 0 query 0: ERROR:  division by zero
transaction type: bad.sql
number of clients: 1
duration: 2 s
number of transactions actually processed: 0
number of failed transactions: 0 (NaN%)
pgbench: error: Run was aborted; the above results are incomplete.
"""
HAMMER = "Vuser 1:5 Active Virtual Users configured\nVuser 1:Timing test period of 2 in minutes\n"
ACHIEVED = "Vuser 1:TEST RESULT : System achieved 12000 NOPM from 28000 MySQL TPM\n"


def fio(**options: str) -> str:
    """Return fio's JSON of a job of 4 KiB that moved 64 MiB in 2 s."""
    latency = {"N": 16384, "min": 9000, "max": 900_000, "mean": 120_000.0, "stddev": 9000.0}
    read = {
        "io_bytes": 64 * 2**20,
        "io_kbytes": 64 * 2**10,
        "iops": 8192.0,
        "runtime": 2000,
        "total_ios": 16384,
        "lat_ns": latency,
    }
    told = {"name": "job", "rw": "randread", "bs": "4k", **options}
    job = {"jobname": "job", "groupid": 0, "error": 0, "job options": told, "read": read}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]})


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (HEAD + FULL, "The event queue is full"),
        (HEAD + INTERVALS + "FATAL: `thread_run' function failed: SQL error, errno = 1205", "errno = 1205"),
        (HEAD + FILEIO + FSYNC, "Failed to fsync file!"),
        (PEOPLE, "fio: terminating on signal 15"),
        (f"fio: terminating on signal 2\n{fio()}", "fio: terminating on signal 2"),
        (f"{fio()}\nfio: terminating on signal 2\n", "fio: terminating on signal 2"),
        (fio(size="1g", runtime="60"), "after 2 s of the 60 s asked for, and after 0.06 passes"),
        (fio(size="32m", runtime="60"), "and after 2.00 passes over its files"),
        (fio(size="64m", runtime="60", time_based="1"), "it ended after 2 s of the 60 s asked for"),
        (fio().replace('"error": 0', '"error": 28'), "No space left on device"),
        (
            PGBENCH.replace("transaction type", "pgbench: error: client 3 aborted\ntransaction type"),
            "client 3",
        ),
        (STARTED, "it ended before its summary"),
        (f"{STARTED}{ABORTED}", "client 1 script 0 aborted"),
        ("pgbench: error: connection to server failed: no such role\n", "no such role"),
        (HAMMER + "Vuser 2:Payment Procedure Error set RAISEERROR for Details\n" + ACHIEVED, "Payment Proc"),
        (HAMMER, "it ended before its summary"),
        (HAMMER + "Error in Virtual User 3: connection lost\n", "connection lost"),
    ],
)
def test_a_run_that_broke_off_is_the_first_finding(output: str, said: str) -> None:
    result = next(one for one in found_in(output) if isinstance(one, ImportedResult) and one.load.errors)
    answer = audit_result(result)
    found = failures(AuditAnswer(subjects=[answer]))
    assert (found[0].check.check, audited.word(found[0])) == ("finished", "error")
    assert said in found[0].raised.message.text
    assert "finished" not in passed(AuditAnswer(subjects=[answer]))
    assert answer.verdict.text.startswith("It supports nothing")
    assert "broke off" in answer.verdict.text


@pytest.mark.parametrize(
    "output",
    [
        fio(size="64m", runtime="60"),
        fio(size="64m"),
        fio(runtime="2"),
        fio(size="1g", runtime="60", io_size="64m"),
        HAMMER + ACHIEVED,
        PGBENCH,
    ],
)
def test_a_run_that_ended_as_it_was_asked_to_has_passed(output: str) -> None:
    (result,) = results_of(output)
    assert [one.state for one in audit_result(result).checks if one.check == "finished"] == ["passed"]


def test_a_run_that_broke_off_is_no_lost_part_of_a_sweep() -> None:
    whole = (SAMPLES / "sysbench-1.0-oltp.txt").read_text()
    first, second = results_of(f"{whole}\n{HEAD}{FULL}\n")
    assert not any(one.ended for one in first.load.errors)
    assert (second.load.clients, second.load.transactions_per_s) == (8, 0.0)
    assert second.load.errors[0].ended


def test_interval_lines_without_a_summary_do_not_say_whether_the_run_ended() -> None:
    report = "time_total(s), events, trans/time_total(per sec)\n 20, 10000, 500.00\n"
    (result,) = results_of(HEAD + INTERVALS + report)
    assert (result.load.transactions_per_s, result.load.seconds, result.load.clients) == (500.0, 20.0, 8)
    assert any("its script prints a report of its own" in one for one in result.remarks)
    states = {one.check: one.state for one in audit_result(result).checks}
    assert states["finished"] == "cannot be told"


def test_a_head_alone_is_no_result() -> None:
    with pytest.raises(ImportRefusedError, match="sysbench's output has no result"):
        found_in(HEAD)
