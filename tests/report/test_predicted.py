"""Predictions as a report: what was measured stands beside them."""

from diskproof.analysis.other_disk.records import Predicted, Predictions
from diskproof.report.compose.predicted import compose
from diskproof.report.write import markdown
from diskproof.stats.intervals import Interval
from diskproof.wording import say
from support.trials import make_plan

(CELL,) = make_plan(storages=("disk",), tunings=("safest",), clients=(8,)).cells


def test_what_was_measured_stands_beside_a_prediction_and_an_abstention() -> None:
    recorded = {"dram": 900.0, "usb": 30.0, "disk": 130.0}
    per_s = Interval(estimate=400, low=300, high=500, n=1, confidence=0.9)
    known = Predicted(device="quick", cell=CELL, recorded=recorded, per_s=per_s)
    unknown = Predicted(device="slow", cell=CELL, recorded={"disk": 130.0}, missing=say("nothing tells"))
    said = markdown.write(compose(Predictions(run="mine", cells=[known, unknown])))
    assert "disk 130, dram 900, 1 more" in said, "the record that it rests on comes first"
    assert "8 clients (measured TPS: disk 130): nothing tells" in said
