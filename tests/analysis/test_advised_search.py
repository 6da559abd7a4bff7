"""The search for the cheapest disk: which are run, in which order, and when it ends."""

from collections.abc import Mapping

import pytest

from diskproof.analysis.advised.advise import advise
from diskproof.analysis.advised.records import Candidate, Configuration, Measured, Target, Verification
from diskproof.analysis.advised.search import MOST_RUNS, search
from diskproof.analysis.advised.verified import verified
from diskproof.analysis.gather import Gathered
from diskproof.analysis.other_disk.records import Predicted
from diskproof.stats.intervals import Interval
from support.limited import MAKERS, one_cell, virtual_machine
from support.trials import change, make_plan

(CELL,) = make_plan(storages=("disk",), tunings=("safest",), clients=(8,)).cells
TARGET = Target(per_s=800.0)

Disks = Mapping[str, tuple[float, float, float | None]]
"""Price, throughput as predicted and as measured (None: no valid trial), by name: `card` or `card.size`."""


def sold(name: str, a_month: float) -> Configuration:
    card = name.partition(".")[0]
    return Configuration(name=name, card=card, currency="USD", a_month=a_month, source="chosen")


def predicted(name: str, per_s: float) -> Predicted:
    interval = Interval(estimate=per_s, low=per_s / 1.4, high=per_s * 1.4, n=1, confidence=0.9)
    return Predicted(device=name, cell=CELL, recorded={"disk": 100.0}, per_s=interval)


def searched(disks: Disks) -> Verification | None:
    known = [predicted(name, per_s) for name, (_, per_s, _) in disks.items()]

    def run(one: Candidate) -> Measured:
        per_s = disks[one.configuration.name][2]
        meets = None if per_s is None else per_s >= 800.0
        return Measured(name=one.configuration.name, study="s.toml", run="runs/s", per_s=per_s, meets=meets)

    on_sale = [sold(name, price) for name, (price, *_) in disks.items()]
    candidates = advise(TARGET, on_sale, known, {}, durable_only=False).candidates
    steps = list(search(TARGET, candidates, run))
    return steps[-1] if steps else None


@pytest.mark.parametrize(
    ("disks", "ran", "cheapest"),
    [
        ({"cheap": (10, 300, 0), "sure": (30, 1500, 1500), "dear": (90, 3000, 0)}, ["sure"], "sure"),
        ({"likely": (10, 850, 900), "sure": (30, 1500, 0)}, ["likely"], "likely"),
        ({"likely": (10, 850, 700), "sure": (30, 1500, 1500)}, ["likely", "sure"], "sure"),
        ({"less": (10, 700, 810), "sure": (12, 1500, 1500)}, ["sure", "less"], "less"),
        ({"less": (10, 700, 790), "sure": (12, 1500, 1500)}, ["sure", "less"], "sure"),
        ({"only": (10, 850, 700), "unlikely": (30, 400, 400)}, ["only"], None),
        ({"late": (10, 1500, None), "sure": (30, 1500, 1500)}, ["late", "sure"], "sure"),
        ({"free": (0, 1500, 1500)}, ["free"], "free"),
    ],
)
def test_it_ends_at_the_cheapest_that_meets_the_target(
    disks: Disks, ran: list[str], cheapest: str | None
) -> None:
    made = searched(disks)
    assert made is not None
    assert ([one.name for one in made.runs], made.cheapest) == (ran, cheapest)
    assert made.not_run == []


def test_a_saving_of_some_cents_is_not_worth_a_run() -> None:
    made = searched({"a": (10.0, 1500, 1500), "b": (9.8, 700, 900)})
    assert made is not None
    assert [one.name for one in made.runs] == ["a"]


def test_a_run_corrects_the_predictions_of_its_card_alone() -> None:
    """Both are predicted to do 700; the card's other disk did half of what was predicted."""
    of_x = {"x.small": (5, 700, 0), "x.big": (20, 1000, 500)}
    made = searched({**of_x, "y.small": (6, 700, 0), "z": (40, 2000, 2000)})
    assert made is not None
    ran = [one.name for one in made.runs]
    assert ran[0] == "x.big"
    assert "x.small" not in ran
    assert "y.small" in ran


def test_it_ends_after_some_runs_and_names_what_was_not_run() -> None:
    disks = {f"disk {number}": (1.5**number, 800.0, 700.0) for number in range(MOST_RUNS + 2)}
    made = searched(disks)
    assert made is not None
    assert len(made.runs) == MOST_RUNS
    assert made.cheapest is None
    assert len(made.not_run) == 2


@pytest.mark.parametrize(
    ("busy_s", "target", "meets"),
    [
        (None, 600.0, False),
        (None, 400.0, True),
        (60.0, 600.0, None),
        (60.0, 5000.0, False),
        (60.0, 400.0, True),
    ],
)
def test_a_miss_that_other_work_explains_is_not_one(
    busy_s: float | None, target: float, meets: bool | None
) -> None:
    """The disk did 508 transactions/s; on two CPUs, 60 s are all of their time."""
    plan = one_cell(8)
    busy = {} if busy_s is None else {"usage__host_cpu_busy_s": busy_s}
    trials = [change(MAKERS["log flush"](plan, number), **busy) for number in range(len(plan.trials))]
    (one,) = advise(TARGET, [sold("disk", 10)], [predicted("disk", 900)], {}, durable_only=False).candidates
    found = verified(
        Target(per_s=target), one, Gathered(plan, virtual_machine(plan), trials, {}), "s.toml", "runs/s"
    )
    assert found.per_s == pytest.approx(508, abs=1)
    assert (found.meets, found.taken is None) == (meets, meets is not None)


def test_nothing_is_run_that_surely_misses() -> None:
    assert searched({"cheap": (10, 100, 100), "dear": (30, 200, 200)}) is None
