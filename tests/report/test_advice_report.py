"""An advice as a report: its picture and its answer."""

from collections.abc import Mapping

from diskproof.analysis.advised.advise import advise
from diskproof.analysis.advised.records import Advice, Configuration, Target
from diskproof.analysis.other_disk.records import Predicted
from diskproof.report.compose.advised import compose
from diskproof.report.write import markdown
from diskproof.stats.intervals import Interval
from diskproof.wording import say
from support.trials import make_plan

(CELL,) = make_plan(storages=("disk",), tunings=("safest",), clients=(8,)).cells


def advice(disks: Mapping[str, tuple[float, float | None]]) -> Advice:
    """Return the advice for 800/s among disks with a price and a predicted throughput."""
    sold = [
        Configuration(name=name, device=name, card=name, currency="USD", a_month=price, source="chosen")
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


def lead(made: Advice) -> str:
    return " ".join(text for _, text in compose(made).lines)


def answered(disks: Mapping[str, tuple[float, float | None]]) -> str:
    return lead(advice(disks))


def test_the_likely_disk_is_named_beside_the_sure_one() -> None:
    disks = {"likely": (10, 850.0), "sure": (30, 1000.0), "miss": (5, 500.0)}
    said = answered(disks)
    assert "(probability 90% or more) is sure, for 30.00 USD a month:" in said
    assert "A cheaper one meets it more probably than not: likely, for 10.00 USD a month:" in said
    assert "probability 71%" in said


def test_an_unlikely_disk_is_not_named_beside_a_sure_one() -> None:
    assert "A cheaper one" not in answered({"cheap": (10, 500.0), "sure": (30, 1000.0)})


def test_if_no_disk_is_sure_the_cheapest_likely_one_is_named() -> None:
    said = answered({"likely": (10, 850.0), "likelier": (30, 870.0)})
    assert "None of 2 disks meets the target with a probability of at least 90%" in said
    assert "The nearest is likely, for 10.00 USD a month" in said


def test_measured_and_disturbed_figures_say_so() -> None:
    made = advice({"cheap": (10, 1000.0)})
    known = made.candidates[0].predicted.model_copy(
        update={"measured": True, "weakened_by": {"host-busy": say("other processes took 31%")}}
    )
    candidate = made.candidates[0].model_copy(update={"predicted": known})
    said = markdown.write(compose(made.model_copy(update={"candidates": [candidate], "chosen": candidate})))
    assert "1,000 (833 to 1,200) transactions/s measured" in said
    assert "The record was disturbed: host-busy." in said
    assert "measured, disturbed: host-busy" in said, "in the disk's own line"
    assert "other processes took 31%" in said


def test_disks_that_could_not_be_predicted_are_not_said_to_miss() -> None:
    said = markdown.write(compose(advice({"slow": (10, 100.0), "unknown": (1, None)})))
    assert "None of 1 disk meets the target" in said
    assert "; 1 could not be predicted." in said
    assert "unknown" not in said, "it has no row of its own"
