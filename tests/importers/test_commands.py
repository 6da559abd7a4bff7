"""A command above an output of another run."""

from support.samples import results_of

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


def test_nothing_is_taken_from_a_command_that_does_not_fit() -> None:
    for options in ("oltp_read_only --threads=16", "fileio --threads=4"):
        (other,) = results_of(SYSBENCH.format(options=options))
        assert (other.load.mix, other.asked) == (None, {})
    (fitting,) = results_of(SYSBENCH.format(options="oltp_read_only --threads=4"))
    assert fitting.load.mix == "oltp_read_only"
