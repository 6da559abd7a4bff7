"""What the report says of faults: wrong and unnoticed first, then what was lost, then time."""

from typing import Any

from diskproof.analysis.answers import Analysis
from diskproof.report.charts import faults as charts
from diskproof.report.compose import to_do
from diskproof.report.compose.answer import answer
from diskproof.report.compose.faults import rows
from diskproof.report.compose.one_screen import run
from diskproof.results.cut import CutTrial
from diskproof.results.fault import Fault, Trouble
from diskproof.results.plan import Cuts
from support.cuts import make_crash_plan, make_cut, make_ledger, refused
from support.safety import analysed

LYING, FLUSH = Fault(kind="lying-flush"), Fault(kind="error", on="flush", times=1)
STALLS = Fault(kind="stall", for_s=0.3, every_s=1, repeat=3)


def met(commits_per_s: int = 100, **changes: Any) -> Trouble:
    course = [commits_per_s] * 4
    known = {
        "lasted_s": 4.0,
        "hits": 1,
        "bin_s": 1.0,
        "course": course,
        "silent_s": 0.02,
        "serves_again_s": 0.5,
    }
    return Trouble(**known | changes)


def plan_with(**faults: Fault) -> Cuts:
    """Return a plan of one cell with each fault, and without."""
    plain = make_crash_plan(tunings=("safest",), cuts=1)
    [cell], [planned] = plain.cells, plain.trials
    cells = [cell.model_copy(update={"id": f"{cell.id}/{one}", "fault": one}) for one in ("none", *faults)]
    trials = [
        planned.model_copy(update={"id": f"c001-{number:02}", "position": number, "cell": one.id})
        for number, one in enumerate(cells, start=1)
    ]
    return plain.model_copy(update={"cells": cells, "trials": trials, "faults": faults, "controls": []})


def of(crash: Cuts, troubles: list[Trouble], lost: dict[int, int] | None = None) -> Analysis:
    def made(number: int) -> CutTrial:
        cut = make_cut(crash, crash.trials[number])
        ledger = make_ledger(400, lost=(lost or {}).get(number, 0), window_s=0.5)
        return cut.model_copy(update={"trouble": troubles[number], "ledger": ledger})

    return analysed(crash, [made(number) for number in range(len(troubles))])


def test_what_is_lost_and_unnoticed_stands_first() -> None:
    crash = plan_with(lying=LYING, flush=FLUSH)
    told = met(0, errors={"1030": 7}, stopped=True, serves_again_s=None, silent_s=3.0)
    analysis = of(crash, [met(hits=None), met(), told], {1: 9})
    assert answer(analysis).startswith("Lost or wrong, and unnoticed: with lying (1 of 1).")
    assert "1 of 2 settings with a fault kept every commit." in answer(analysis)
    assert analysis.safety
    [block] = rows(analysis.safety)
    assert [(row.levels[-1], row.figures[0], row.tone) for row in block.rows] == [
        ("none", "0 of 1", "plain"),
        ("lying", "1 of 1, 1 unnoticed", "alarm"),
        ("flush", "0 of 1", "plain"),
    ]
    assert block.rows[2].figures[1:3] == ("for good in 1", "clients, end")
    assert run(analysis).blocks


def test_what_the_server_reports_is_noticed_and_a_clients_error_is_not() -> None:
    crash = plan_with(lying=LYING)
    for trouble, noticed in (
        (met(errors={"5": 1}), False),
        (met(complaints=["corrupt"]), True),
        (met(read_only=True), True),
        (met(gave_up=True), True),
    ):
        analysis = of(crash, [met(), trouble], {1: 3})
        assert ("and unnoticed" in answer(analysis)) is not noticed
        assert ("and reported" in answer(analysis)) is noticed
    gone = refused(make_cut(crash, crash.trials[1])).model_copy(update={"trouble": met()})
    assert not gone.is_unnoticed
    said = answer(analysed(crash, [of_none(crash), gone]))
    assert "Lost or damaged, and reported: with lying (1 of 1)." in said


def of_none(crash: Cuts) -> CutTrial:
    return make_cut(crash, crash.trials[0]).model_copy(update={"trouble": met()})


def test_faults_that_only_take_time_are_answered_by_what_is_left() -> None:
    crash = plan_with(stalls=STALLS)
    analysis = of(crash, [met(200), met(140, silent_s=0.31)])
    assert answer(analysis) == (
        "1 of 1 setting with a fault kept every commit. The longest silence was 0.31 s (with stalls). "
        "Commits fell to 70% (with stalls) of those without a fault."
    )
    assert analysis.safety
    [block] = rows(analysis.safety)
    [row] = block.rows
    assert row.figures == ("70%", "140", "0.31 s", "0 of 1")
    assert "durable commits" not in " ".join(one.text for one in to_do.actions(analysis))


def test_a_fault_that_hit_nothing_proves_nothing() -> None:
    crash = plan_with(lying=LYING, flush=FLUSH)
    analysis = of(crash, [met(hits=None), met(hits=0), met()])
    assert answer(analysis) == "1 of 1 setting with a fault kept every commit."
    assert analysis.safety
    [block] = rows(analysis.safety)
    assert [row.figures[0] for row in block.rows] == ["0 of 1", "0 of 1, hit nothing", "0 of 1"]
    lost = of(crash, [met(hits=None), met(hits=0), met()], {1: 3})
    assert "Lost or wrong, and unnoticed: with lying (1 of 1)." in answer(lost), "a loss counts in any case"
    assert lost.safety
    assert next(iter(rows(lost.safety))).rows[1].figures[0] == "1 of 1, 1 unnoticed, hit nothing"


def test_a_stall_in_which_nothing_was_asked_is_no_measurement() -> None:
    analysis = of(plan_with(stalls=STALLS), [met(200), met(199, hits=0)])
    assert answer(analysis) == "No try with a fault tells anything yet."


def test_the_fault_is_drawn_into_the_throughput() -> None:
    crash = plan_with(stalls=STALLS, flush=FLUSH)
    figure = charts.over_time(of(crash, [met(200), met(140), met(50)]))
    assert figure
    stalls, flush = figure.panels
    windows = [(row["from"], row["to"]) for row in stalls.rows if "from" in row]
    assert windows == [(1.0, 1.3), (2.0, 2.3), (3.0, 3.3)]
    assert [row["to"] for row in flush.rows if "from" in row] == [2.0], "a moment is as long as a bin"
    assert {row["v"] for row in stalls.rows if row.get("level") == "without"} == {200.0}
