"""Predictions as a report: what was measured stands beside them."""

import io

from diskproof.analysis.other_disk.records import Predicted, Predictions
from diskproof.cli.screen import Screen
from diskproof.report.compose.predicted import compose, weakened
from diskproof.report.intervals import bounds, with_bounds
from diskproof.report.write import markdown, one_screen
from diskproof.stats.intervals import Interval
from diskproof.wording import say, share
from support.trials import make_plan

(CELL,) = make_plan(storages=("disk",), tunings=("safest",), clients=(8,)).cells


def test_what_was_measured_stands_beside_a_prediction_and_an_abstention() -> None:
    recorded = {"dram": 900.0, "usb": 30.0, "disk": 130.0}
    per_s = Interval(estimate=400, low=300, high=500, n=1, confidence=0.9)
    known = Predicted(device="quick", cell=CELL, recorded=recorded, per_s=per_s)
    unknown = Predicted(device="slow", cell=CELL, recorded={"disk": 130.0}, missing=say("nothing tells"))
    also = unknown.model_copy(update={"device": "slower"})
    said = markdown.write(compose(Predictions(run="mine", cells=[known, unknown, also])))
    assert "| disk 130 |" in said, "the record that it rests on"
    assert said.count("nothing tells") == 1, "a reason stands once, with the disks that it is about"
    assert "1 load on 2 disks (slow, slower): nothing tells" in said


def test_a_narrow_screen_leaves_out_the_record_and_not_the_prediction() -> None:
    per_s = Interval(estimate=227, low=147, high=352, n=1, confidence=0.9)
    known = Predicted(device="quick", cell=CELL, recorded={"dram": 21_289.0}, per_s=per_s)
    file = io.StringIO()
    one_screen.write(compose(Predictions(run="mine", cells=[known])), Screen(file=file, width=60), ())
    assert "predicted" in file.getvalue()
    assert "227" in file.getvalue()


def test_a_warning_stands_once_with_the_range_of_its_figures() -> None:
    per_s = Interval(estimate=227, low=147, high=352, n=1, confidence=0.9)
    figures = [
        Predicted(
            device=device,
            cell=CELL,
            recorded={},
            per_s=per_s,
            weakened_by={"host-busy": say("{x} busy", x=share(x))},
        )
        for device, x in (("a", 0.4), ("b", 0.9))
    ]
    [said] = weakened(figures)
    assert "40% to 90% busy" in said


def test_an_interval_that_tells_nothing_is_open() -> None:
    wide = Interval(estimate=158, low=0.00158, high=15_859_833, n=2)
    assert (bounds(wide), with_bounds(wide)) == ("open", "158 (interval open)")
    assert bounds(Interval(estimate=1, low=-0.5, high=200, n=2)) == "-0.500 to 200"
    assert with_bounds(Interval(estimate=20, low=5, high=80, n=2)) == "20.0 (5.00 to 80.0)"
