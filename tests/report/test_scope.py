"""What an answer says that was not measured."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import scope
from support.cuts import make_crash_plan
from support.runs import MakeRun
from support.safety import analysed
from support.trials import change, make_plan


def with_reads(analysis: Analysis, reads: float | None) -> Analysis:
    """Return a run's analysis with other reads a transaction; None: they were not counted."""
    return change(analysis, cells=[change(one, cost=one.cost | {"reads": reads}) for one in analysis.cells])


def test_a_run_says_what_it_leaves_open(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(clients=(8, 1), blocks=2))
    assert scope.not_measured(with_reads(analysis, 0.04)) == (
        "Not measured: reads from a disk (there were few) and power cuts."
    )
    assert scope.not_measured(with_reads(analysis, 0.5)) == "Not measured: power cuts."
    assert scope.not_measured(with_reads(analysis, None)) == "Not measured: power cuts."


def test_a_storage_is_measured_if_it_has_a_valid_trial(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=2))
    disk = {one.cell.id for one in analysis.cells if one.cell.storage == "disk"}
    invalid = [change(one, valid=0) if one.cell.id in disk else one for one in analysis.cells]
    assert scope.not_measured(change(analysis, cells=invalid)).startswith("Not measured: speed on disk")
    barred = [change(one, outcome="not comparable") for one in analysis.verdicts]
    assert "speed" not in scope.not_measured(change(analysis, verdicts=barred))


def test_a_run_of_one_level_with_reads_leaves_nothing_open(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(tunings=("safest",), clients=(8,), blocks=2))
    assert scope.not_measured(with_reads(analysis, 0.5)) == ""


def test_a_run_without_a_valid_trial_leaves_all_open_and_says_so_elsewhere(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=2))
    assert scope.not_measured(change(analysis, trials_valid=0)) == ""


def test_cuts_say_which_speeds_were_not_measured() -> None:
    assert scope.not_measured(analysed(make_crash_plan(cuts=5))) == "Not measured: speed."
    both = analysed(make_crash_plan(storages=("ssd", "liar"), cuts=5), speed=True)
    on_ssd = [one for one in both.plan.cells if one.storage == "ssd"]
    cells = [change(one, cost=one.cost | {"reads": 0.5}) for one in both.cells if one.cell.storage == "ssd"]
    without = change(both, plan=change(both.plan, cells=on_ssd), cells=cells)
    assert scope.not_measured(without) == "Not measured: speed on liar."
    assert scope.not_measured(with_reads(without, 0.0)) == (
        "Not measured: speed on liar and reads from a disk (there were few)."
    )
