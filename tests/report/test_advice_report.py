"""An advice as a report: its picture and its answer."""

from collections.abc import Mapping

from diskproof.analysis.advised.advise import advise
from diskproof.analysis.advised.records import Advice, Configuration, Measured, Target, Verification
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


def run(name: str, per_s: float | None, *, meets: bool | None) -> Measured:
    return Measured(name=name, study=f"{name}.toml", run=f"runs/{name}", per_s=per_s, meets=meets)


def verified(
    disks: Mapping[str, tuple[float, float | None]],
    runs: list[Measured],
    cheapest: str | None,
    not_run: tuple[str, ...] = (),
) -> Advice:
    found = Verification(runs=runs, cheapest=cheapest, not_run=list(not_run))
    return advice(disks).model_copy(update={"verification": found})


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


DISKS = {"least": (5, 700.0), "likely": (10, 850.0), "sure": (30, 1000.0), "dear": (90, 2000.0)}


def test_a_cheaper_disk_that_met_the_target_is_the_one_to_buy() -> None:
    said = lead(
        verified(DISKS, [run("likely", 820.0, meets=True), run("least", 700.0, meets=False)], "likely")
    )
    assert "Buy likely, for 10.00 USD a month. As a virtual disk it did 820 transactions/s." in said
    assert "Advised was sure, for 30.00 USD a month; the target: not run." in said
    assert "Not run" not in said, "all that may meet it were run"


def test_a_chosen_disk_that_missed_did_not_hold() -> None:
    runs = [
        run("likely", 700.0, meets=False),
        run("sure", 780.0, meets=False),
        run("dear", 1500.0, meets=True),
    ]
    said = lead(verified(DISKS, runs, "dear"))
    assert "Buy dear" in said
    assert "Advised was sure, for 30.00 USD a month; the target: missed." in said


def test_a_cheaper_disk_whose_run_tested_nothing_may_do() -> None:
    runs = [run("likely", None, meets=None), run("sure", 900.0, meets=True)]
    said = lead(verified(DISKS, runs, "sure"))
    assert "Buy sure" in said and "Advised was sure, for 30.00 USD a month; the target: met." in said
    assert "| not tested |" in markdown.write(compose(verified(DISKS, runs, "sure")))


def test_without_a_disk_to_buy_the_dearest_that_was_run_is_named() -> None:
    said = lead(verified(DISKS, [run("sure", 780.0, meets=False)], None, ("dear",)))
    assert "No disk met the target when it was run as a virtual disk." in said
    assert "Not run: 1 disk that may meet the target, first dear." in said


def test_a_run_without_a_valid_trial_tests_nothing() -> None:
    said = lead(verified(DISKS, [run("sure", None, meets=None)], None))
    assert "No run tested the target, so which disk to buy is not known." in said
    assert "the target: not tested." in said


def test_measured_and_disturbed_figures_say_so() -> None:
    made = advice({"cheap": (10, 1000.0)})
    known = made.candidates[0].predicted.model_copy(
        update={"measured": True, "weakened_by": {"host-busy": say("other work took 31%")}}
    )
    candidate = made.candidates[0].model_copy(update={"predicted": known})
    said = markdown.write(compose(made.model_copy(update={"candidates": [candidate], "chosen": candidate})))
    assert "1,000 (833 to 1,200) transactions/s measured" in said
    assert "The record was disturbed: host-busy." in said
    assert "measured, disturbed: host-busy" in said, "in the disk's own line"
    assert "other work took 31%" in said


def test_disks_that_could_not_be_predicted_are_not_said_to_miss() -> None:
    said = markdown.write(compose(advice({"slow": (10, 100.0), "unknown": (1, None)})))
    assert "None of 1 disk meets the target" in said
    assert "; 1 could not be predicted." in said
    assert "unknown" not in said, "it has no row of its own"
