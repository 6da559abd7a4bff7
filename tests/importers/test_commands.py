"""A command above an output that asks for something else than the output shows."""

import pytest

from diskproof.analysis.audited.audit import audit_result
from support.samples import results_of

PGBENCH = """$ pgbench {options} bench
pgbench (16.2)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 100
query mode: simple
number of clients: 32
number of threads: 8
duration: 100 s
number of transactions actually processed: 100000
number of failed transactions: 0 (0.000%)
latency average = 32.010 ms
initial connection time = 33.100 ms
tps = 999.687598 (without initial connection time)
"""

SYSBENCH = """$ sysbench {options} run
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Initializing random number generator from current time

Threads started!

SQL statistics:
    queries performed:
        read:                            140000
        write:                           40000
        other:                           20000
        total:                           200000
    transactions:                        10000  (166.66 per sec.)
    queries:                             200000 (3333.20 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          60.0020s
    total number of events:              10000

Latency (ms):
         min:                                    9.40
         avg:                                   23.99
         max:                                   90.11
         95th percentile:                       41.10
         sum:                               239900.20
"""

FIO = """$ fio --name=job {options}
job: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8
job: (groupid=0, jobs=1): err= 0: pid=7: Sat Nov 28 04:13:33 2026
  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)(1172MiB/30000msec)
     lat (usec): min=27, max=4489, avg=799.00, stdev=48.74
     issued rwts: total=300000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (PGBENCH.format(options="-n -c 64 -j 8 -T 100"), [("clients", "64", "32")]),
        (PGBENCH.format(options="-nc32 -j8 -T 60"), [("seconds", "60", "100")]),
        (
            PGBENCH.format(options="--client=32 --time=100 --rate=500"),
            [("rate", "500", "999.687598")],
        ),
        (PGBENCH.format(options="-c 32 -j 8 -T 100 -U c64"), []),
        (PGBENCH.format(options="-c 32 -j 8 -T 100 -R 1000"), []),
        (SYSBENCH.format(options="oltp_read_write --threads=16 --time=60"), [("threads", "16", "4")]),
        (SYSBENCH.format(options="oltp_read_write --threads=4 --time=300"), [("seconds", "300", "60.002")]),
        (SYSBENCH.format(options="oltp_read_write --threads=4 --time=20"), [("seconds", "20", "60.002")]),
        (SYSBENCH.format(options="oltp_read_write --threads=4 --rate=50"), [("rate", "50", "none")]),
        (SYSBENCH.format(options="fileio --threads=4"), [("test", "fileio", "oltp")]),
        (SYSBENCH.format(options="oltp_read_write --threads=4 --time=60"), []),
        (SYSBENCH.format(options="oltp_read_write --threads=4 --time=300 --events=10000"), []),
        (FIO.format(options="--rw=randwrite --bs=4k --iodepth=8"), [("rw", "randwrite", "randread")]),
        (FIO.format(options="--rw=randread --bs=16k --iodepth=8"), [("bs", "16,384", "4,096")]),
        (FIO.format(options="--rw=randread --bs=4k --iodepth=8 --ioengine=libaio"), []),
    ],
)
def test_what_a_command_asks_for_and_its_output_does_not_show(
    output: str, told: list[tuple[str, str, str]]
) -> None:
    (result,) = results_of(output)
    assert [(one.option, one.asked, one.shown) for one in result.load.contradictions] == told
    answer = audit_result(result)
    state = next(one.state for one in answer.checks if one.check == "command-output")
    assert state == ("failed" if told else "passed")
    if told:
        assert answer.verdict.text.startswith("It supports nothing: its command asked for something else")


def test_nothing_is_derived_from_a_command_that_does_not_fit() -> None:
    (other,) = results_of(SYSBENCH.format(options="oltp_read_only --threads=16"))
    assert (other.load.mix, other.asked) == (None, {})
