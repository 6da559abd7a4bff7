"""Figures, intervals and texts read as a person would say them."""

import json

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import RunFinding
from diskproof.report import intervals
from diskproof.report.compose import head, machine
from diskproof.report.compose.findings import section
from diskproof.report.document import Items
from diskproof.results.plan import Phases
from diskproof.results.trial import Finding
from diskproof.stats.intervals import Interval
from diskproof.visible import visible, visible_json
from support.runs import MakeRun
from support.trials import change, make_plan, make_trials


def test_an_interval_says_so_where_it_has_no_ends() -> None:
    alone = Interval(estimate=1234.5, low=None, high=None, n=1)
    assert intervals.with_bounds(alone) == "1,234 (one block, no interval)"
    assert intervals.bounds(alone) == "none: one block"
    assert intervals.with_bounds(Interval(estimate=0.2, low=0.18, high=0.22, n=5)) == "0.200 (0.180 to 0.220)"
    assert intervals.with_bounds(None) == "n/a"


def test_control_characters_are_shown_and_not_obeyed() -> None:
    assert visible("a\x1b[2Jb\r\nc\x07\x9b") == "a\N{REPLACEMENT CHARACTER}[2Jb\nc" + "\ufffd" * 2
    assert visible("left\u202eright") == "left\ufffdright"
    assert visible("half \udcff") == "half \ufffd"
    assert (
        visible("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
        == "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    )
    assert json.loads(visible_json('"a\x9b\u202eb\udcff"')) == "a\x9b\u202eb\udcff"


def test_phases_of_a_workloads_own_are_told_beside_those_of_the_others() -> None:
    plan = make_plan(workloads=("a", "b", "dd", "job"), measure_s=30)
    own = change(plan, phases={"dd": Phases(warm_up_s=0, measure_s=5)}, metrics={"job": "seconds"})
    said = "30 s measured after 10 s of warm-up; `dd` 5 s measured, no warm-up"
    assert head.speed_design(own).endswith(f"5 blocks, {said}")
    facts = dict(machine.method_facts(analyse(own, None, make_trials(own), {})))
    assert facts["A trial"].endswith(said)


def test_phases_that_no_workload_has_are_not_told() -> None:
    plan = make_plan(measure_s=30)
    own = change(plan, phases={"complex": Phases(warm_up_s=1, measure_s=5)})
    assert head.speed_design(own).endswith("5 blocks, 5 s measured after 1 s of warm-up")


def test_severe_findings_come_first(make_run: MakeRun) -> None:
    severities = ["note", "invalid", "warning"]
    findings = [
        RunFinding(
            finding=Finding.model_validate({"check": "c", "severity": one, "message": "m"}),
            trials=[],
            cells=[],
        )
        for one in severities
    ]
    _, analysis = make_run(make_plan())
    [listed] = section(change(analysis, findings=findings)).blocks
    assert isinstance(listed, Items)
    assert [one.lead for one in listed.items] == ["invalid", "warning", "note"]
