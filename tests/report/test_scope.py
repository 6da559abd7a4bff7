"""What an answer holds for, and what was not measured."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import scope
from support.cuts import make_crash_plan
from support.runs import MakeRun
from support.safety import analysed
from support.trials import change, make_plan


def with_data(analysis: Analysis, data_bytes: int) -> Analysis:
    """Return a run's analysis with another size of its data."""
    return change(analysis, cells=[change(one, data__data_bytes=data_bytes) for one in analysis.cells])


def test_a_run_says_its_loads_storages_and_clients_and_what_it_leaves_open(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(clients=(8, 1), blocks=2))
    assert scope.sentence(analysis) == (
        "For `complex` on dram and disk with 1 and 8 clients; not measured: reads from a disk (the data fit "
        "in memory) and what a power cut takes."
    )
    large = with_data(analysis, 2**40)
    assert scope.sentence(large).endswith("; not measured: what a power cut takes.")


def test_a_run_of_one_level_with_much_data_leaves_nothing_open(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(tunings=("safest",), clients=(8,), blocks=2))
    assert scope.sentence(with_data(analysis, 2**40)) == "For `complex` on dram and disk with 8 clients."


def test_many_clients_are_a_range(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(tunings=("safest",), clients=(1, 2, 4, 8, 16, 32), blocks=2))
    assert " on dram and disk with 1 to 32 clients" in scope.sentence(analysis)
    assert scope.of_limits(analysis) == (
        "What holds a database back for `complex` on dram and disk with 1 to 32 clients:"
    )


def test_a_run_without_a_valid_trial_holds_for_nothing(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=2))
    assert scope.sentence(change(analysis, trials_valid=0)) == ""


def test_cuts_say_which_speeds_were_not_measured() -> None:
    assert scope.sentence(analysed(make_crash_plan(cuts=5))) == (
        "Cuts during transfers on ssd with 8 clients; not measured: speed."
    )
    both = analysed(make_crash_plan(storages=("ssd", "liar"), cuts=5), speed=True)
    on_ssd = [one for one in both.plan.cells if one.storage == "ssd"]
    assert scope.sentence(change(both, plan=change(both.plan, cells=on_ssd))) == (
        "Speed for `complex` on ssd with 1 and 8 clients; cuts during transfers on ssd and liar with 8 "
        "clients; not measured: speed on liar."
    )
