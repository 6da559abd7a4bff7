import pytest

from diskproof.analysis.answers import Outcome
from diskproof.report.compose import verdict_words
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import listed


@pytest.mark.parametrize(
    ("outcome", "estimate", "low", "high", "said"),
    [
        ("slower", 0.2123, 0.1812, 0.2468, "4.1 to 5.5"),
        ("slower", 0.75, 0.72, 0.78, "22% to 28%"),
        ("slower", 0.75, 0.75, 0.75, "25%"),
        ("faster", 250.3, 230.0, 272.0, "230 to 270"),
        ("faster", 1.25, 1.2, 1.31, "20% to 31%"),
        ("faster", 1.5, 0.9, 2.5, "-10% to x2.5"),
        ("the same", 1.0061, 0.9981, 1.0142, "-0.2% to +1.4%"),
        ("the same", 1.005, 0.9997, 1.01, "0.0% to +1.0%"),
        ("the same", 0.995, 0.99, 1.0003, "-1.0% to 0.0%"),
        ("inconclusive", 1.1, 1.05, 1.2, "+5.0% to +20%"),
    ],
)
def test_an_interval_goes_in_the_direction_of_its_outcome(
    outcome: Outcome, estimate: float, low: float, high: float, said: str
) -> None:
    assert verdict_words.interval(outcome, Interval(estimate=estimate, low=low, high=high, n=5)) == said


def test_conditions_stand_in_the_order_of_speech() -> None:
    held: dict[Factor, str] = {
        "clients": "1",
        "tuning": "fast",
        "server": "mariadb",
        "memory": "1 GiB",
        "storage": "disk",
    }
    assert verdict_words.conditions(held) == " in mariadb on disk at `fast` with 1 GiB of memory and 1 client"
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
