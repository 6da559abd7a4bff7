import pytest

from diskproof.report.compose import verdict_words
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import listed


@pytest.mark.parametrize(
    ("estimate", "low", "high", "said"),
    [
        (0.2123, 0.1812, 0.2468, "0.212, 95% interval 0.18 to 0.25"),
        (1.0061, 0.9981, 1.0142, "1.006, 95% interval 0.998 to 1.014"),
        (4.7012, 4.1912, 5.2112, "4.70, 95% interval 4.19 to 5.21"),
        (250.3, 230.0, 272.0, "250, 95% interval 230 to 272"),
        (0.00213, 0.00211, 0.00215, "0.0021, 95% interval 0.0021 to 0.0022"),
        (0.5, 0.041, 6.2, "0.500, 95% interval 0.041 to 6.2"),
        (144.0, 0.00002, 81_420.0, "144, 95% interval 2.0e-05 to 81,000"),
        (2.0, 2.0, 2.0, "2.000, 95% interval 2.000 to 2.000"),
    ],
)
def test_figures_show_as_many_digits_as_the_interval_warrants(
    estimate: float, low: float, high: float, said: str
) -> None:
    assert verdict_words.figures(Interval(estimate=estimate, low=low, high=high, n=5)) == said


def test_a_ratio_without_an_interval_says_so() -> None:
    assert (
        verdict_words.figures(Interval(estimate=1.5, low=None, high=None, n=1)) == "1.50, without an interval"
    )


def test_conditions_stand_in_the_order_of_speech() -> None:
    held: dict[Factor, str] = {
        "clients": "1",
        "tuning": "fast",
        "server": "mariadb",
        "memory": "1 GiB",
        "storage": "disk",
    }
    assert verdict_words.conditions(held) == " in mariadb on disk at fast with 1 GiB of memory and 1 client"
    assert verdict_words.conditions({}) == ""


def test_a_load_on_bare_files_is_at_no_tuning() -> None:
    assert (
        verdict_words.conditions({"workload": "fileio", "tuning": "-", "clients": "1"})
        == " for `fileio` with 1 client"
    )
    files = Cell(
        id="sas/fileio/64c",
        server="-",
        storage="sas",
        tuning="-",
        workload="fileio",
        memory_bytes=0,
        clients=64,
    )
    varying: list[Factor] = ["server", "storage", "tuning", "memory", "clients"]
    assert verdict_words.cell_words(files, varying) == "sas, 64 clients"
    assert verdict_words.cell_words(files, []) == "sas", "a single cell is named by its storage"


def test_lists_are_counted_where_they_are_long() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert listed([]) == ""
