"""Figures with a comma: refused, and never cut."""

import pytest

from diskproof.importers.base import ImportRefusedError
from diskproof.importers.numbers import count, number
from diskproof.results.imported import ImportedResult
from support.samples import SAMPLES, as_text, found_in


@pytest.mark.parametrize(
    ("printed", "edited"),
    [
        ("transactions:                        34753", "transactions:                        34,753"),
        ("transactions:                        34753", "transactions:                        34753k"),
        ("(231.62 per sec.)", "(231,62 per sec.)"),
        ("avg:                                   43.16", "avg:                                   43,16"),
        ("total time:                          150.0362s", "total time:                          150,0362s"),
    ],
)
def test_sysbench_with_a_comma_is_refused_and_never_cut(printed: str, edited: str) -> None:
    whole = (SAMPLES / "sysbench-excerpts.txt").read_text()
    assert printed in whole
    with pytest.raises(ImportRefusedError, match="not a figure"):
        found_in(whole.replace(printed, edited, 1))


def test_threads_with_a_comma_are_not_told() -> None:
    whole = (SAMPLES / "sysbench-1.0-oltp.txt").read_text()
    (told,) = found_in(whole.replace("Number of threads: 4", "Number of threads: 4,096"))
    assert isinstance(told, ImportedResult)
    assert any(remark.startswith("clients 4, derived") for remark in told.remarks), "from other figures"


@pytest.mark.parametrize("told", ["1,5", "1_000", "\u0661\u0662", "1e999", "", "-1"])
def test_what_is_no_figure(told: str) -> None:
    with pytest.raises(ImportRefusedError):
        number(as_text(""), 1, told, "a figure")
    with pytest.raises(ImportRefusedError):
        count(as_text(""), 1, told, "a count")
