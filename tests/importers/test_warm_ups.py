"""A warm-up is read wherever a tool writes it down."""

import pytest

from diskproof.audit.imported import evidence_of
from diskproof.audit.intervals import warm_up
from support.samples import SAMPLES, results_of

SYSBENCH = (SAMPLES / "sysbench-1.0-oltp.txt").read_text()
HAMMER = "Vuser 1:{said}\nVuser 1:TEST RESULT : System achieved 12000 NOPM from 28000 MySQL TPM\n"


@pytest.mark.parametrize(
    ("output", "seconds"),
    [
        (SYSBENCH.replace("Number of threads: 4", "Number of threads: 4\nWarmup time: 60s"), 60),
        (SYSBENCH.replace("Threads started!", "Threads started!\n\nWarming up for 45 seconds..."), 45),
        (f"$ sysbench oltp_read_write --threads=4 --warmup-time=30 run\n{SYSBENCH}", 30),
        (HAMMER.format(said="Beginning rampup time of 2 minutes"), 120),
        (HAMMER.format(said="Rampup 3 minutes complete ..."), 180),
    ],
)
def test_a_warm_up_is_read(output: str, seconds: float) -> None:
    (result,) = results_of(output)
    assert result.warm_up_s == seconds
    assert warm_up.outcome(evidence_of(result)).state in {"passed", "does not apply"}


def test_no_warm_up_is_none() -> None:
    (result,) = results_of(SYSBENCH)
    assert result.warm_up_s is None
