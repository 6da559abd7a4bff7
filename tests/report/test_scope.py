"""What an answer says that was not measured."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import scope
from support.cuts import make_crash_plan
from support.runs import MakeRun
from support.safety import analysed
from support.trials import change, make_plan


def with_data(analysis: Analysis, data_bytes: int) -> Analysis:
    """Return a run's analysis with another size of its data."""
    return change(analysis, cells=[change(one, data__data_bytes=data_bytes) for one in analysis.cells])


def test_a_run_says_what_it_leaves_open(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(clients=(8, 1), blocks=2))
    assert scope.not_measured(analysis) == (
        "Not measured: reads from a disk (the data fit in memory) and power cuts."
    )
    assert scope.not_measured(with_data(analysis, 2**40)) == "Not measured: power cuts."


def test_a_run_of_one_level_with_much_data_leaves_nothing_open(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(tunings=("safest",), clients=(8,), blocks=2))
    assert scope.not_measured(with_data(analysis, 2**40)) == ""


def test_a_run_without_a_valid_trial_leaves_all_open_and_says_so_elsewhere(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=2))
    assert scope.not_measured(change(analysis, trials_valid=0)) == ""


def test_cuts_say_which_speeds_were_not_measured() -> None:
    assert scope.not_measured(analysed(make_crash_plan(cuts=5))) == "Not measured: speed."
    both = analysed(make_crash_plan(storages=("ssd", "liar"), cuts=5), speed=True)
    on_ssd = [one for one in both.plan.cells if one.storage == "ssd"]
    without = change(both, plan=change(both.plan, cells=on_ssd))
    assert scope.not_measured(without) == "Not measured: speed on liar."
