"""An advice as a report: its picture and its answer."""

from collections.abc import Mapping

from diskproof.analysis.advised.answer import advise
from diskproof.analysis.advised.records import Advice, Configuration, Measured, Target, Verification
from diskproof.analysis.other_disk.records import Predicted
from diskproof.report.charts.advice import (
    ADVISED,
    MAY,
    MEASURED,
    MEETS,
    MISSES,
    OTHERS,
    throughput_by_price,
)
from diskproof.report.charts.style import COLOURS
from diskproof.report.compose.advised import compose
from diskproof.report.document import Paragraph
from diskproof.stats.intervals import Interval
from support.trials import make_plan

(CELL,) = make_plan(storages=("disk",), tunings=("safest",), clients=(8,)).cells


def advice(disks: Mapping[str, tuple[float, float | None]]) -> Advice:
    """Return the advice for 800/s among disks with a price and a predicted throughput."""
    sold = [
        Configuration(name=name, card=name, currency="USD", a_month=price, source="chosen")
        for name, (price, _) in disks.items()
    ]
    known = [
        Predicted(
            device=name,
            cell=CELL,
            recorded={"disk": 100.0},
            per_s=per_s and Interval(estimate=per_s, low=per_s / 1.2, high=per_s * 1.2, n=1, confidence=0.9),
        )
        for name, (_, per_s) in disks.items()
    ]
    return advise(Target(per_s=800.0), sold, known, {CELL.id: True}, durable_only=True)


def test_it_marks_the_advised_disk_the_target_and_what_was_measured() -> None:
    made = advice(
        {"cheap": (10, 500.0), "middling": (30, 1000.0), "dear": (100, 2000.0), "unknown": (1, None)}
    )
    measured = Measured(name="middling", per_s=900.0, within=True, meets=True)
    verified = made.model_copy(
        update={"verification": Verification(study="s.toml", run="runs/s", advised=measured, cheaper=None)}
    )
    figure = throughput_by_price(verified)
    assert figure is not None
    (panel,) = figure.panels
    assert {(row.get("name"), row.get("answer"), row["speed"]) for row in panel.rows} == {
        ("cheap", MISSES, 500.0),
        ("middling", ADVISED, 1000.0),
        ("dear", MEETS, 2000.0),
        ("middling", MEASURED, 900.0),
        (None, None, 800.0),
    }
    assert {key.words for key in figure.keys} >= {"cheap", ADVISED, "target: 800 transactions/s"}


def test_cards_beyond_the_colours_share_one() -> None:
    figure = throughput_by_price(advice({f"disk {number}": (number, 1000.0) for number in range(1, 12)}))
    assert figure is not None
    rows = figure.panels[0].rows
    assert sum(row.get("card") == OTHERS for row in rows) == 11 - (len(COLOURS) - 1)


def test_without_a_prediction_there_is_no_picture() -> None:
    assert throughput_by_price(advice({"unknown": (1, None)})) is None


def answered(disks: Mapping[str, tuple[float, float | None]]) -> str:
    return " ".join(one.text for one in compose(advice(disks)).lead if isinstance(one, Paragraph))


def test_the_likely_disk_is_named_beside_the_sure_one() -> None:
    disks = {"likely": (10, 850.0), "sure": (30, 1000.0), "miss": (5, 500.0)}
    said = answered(disks)
    assert "a probability of at least 90% is sure, for 30.00 USD a month." in said
    assert "A cheaper one meets it more probably than not: likely, for 10.00 USD a month." in said
    assert "the probability is 71%" in said
    figure = throughput_by_price(advice(disks))
    assert figure is not None
    answers = {row.get("name"): row.get("answer") for row in figure.panels[0].rows}
    assert (answers["likely"], answers["sure"], answers["miss"]) == (MAY, ADVISED, MISSES)


def test_an_unlikely_disk_is_not_named_beside_a_sure_one() -> None:
    assert "A cheaper one" not in answered({"cheap": (10, 500.0), "sure": (30, 1000.0)})


def test_if_no_disk_is_sure_the_cheapest_likely_one_is_named() -> None:
    said = answered({"likely": (10, 850.0), "likelier": (30, 870.0)})
    assert "No disk here meets the target with a probability of at least 90%." in said
    assert "The cheapest that does so more probably than not is likely, for 10.00 USD a month." in said
