"""Jobs and loads at a set rate: times are turned over into speeds, and operations stand side by side."""

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.compare import compare
from diskproof.audit.check import Evidence
from diskproof.audit.registry import audit_trial
from diskproof.cli.progress import _trial_line
from diskproof.report import markdown
from diskproof.report.compose import cells, further, verdict_words
from diskproof.report.write.markdown import table
from diskproof.results.load import Operation, Rate
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from support.trials import change, load_of, make_machine, make_plan, make_trials
from support.words import compared


def operation(name: str, seconds: float | None, **changes: object) -> Operation:
    made = Operation(test="insert", name=name, clients=1, planned=100, count=100, seconds=seconds)
    return change(made, **changes)


SKIPPED = operation("insert_commit", None, count=0, skipped="engine MyISAM has none")


def job_plan() -> Plan:
    plan = make_plan(tunings=("fast",), clients=(1,), workloads=("bench",))
    return change(plan, metrics={"bench": "seconds"})


def job_trials(plan: Plan, dram: list[Operation], disk: list[Operation]) -> list[Trial]:
    """Return a trial for each planned one; operations take a little longer from block to block."""
    trials = []
    for trial in make_trials(plan):
        storage = plan.cell(trial.cell).storage
        parts = [
            change(part, seconds=part.seconds and part.seconds * (1 + 0.001 * trial.block))
            for part in (dram if storage == "dram" else disk)
        ]
        trials.append(change(trial, load__operations=parts))
    return trials


def analysed(plan: Plan, trials: list[Trial]) -> Analysis:
    return analyse(plan, make_machine(plan), trials, {})


def test_a_job_that_takes_twice_as_long_is_half_as_fast() -> None:
    plan = job_plan()
    made = analysed(plan, job_trials(plan, [operation("select", 2.0)], [operation("select", 4.0)]))
    [verdict] = made.verdicts
    assert verdict.outcome == "slower"
    assert verdict.ratio is not None
    assert verdict.ratio.estimate == pytest.approx(0.5)
    figures = [cell.figure.estimate for cell in made.cells if cell.figure]
    assert figures == pytest.approx([2.0, 4.0], rel=0.01)
    assert all(cell.throughput_per_s is None for cell in made.cells)


def test_what_one_side_skipped_is_in_neither_total() -> None:
    plan = job_plan()
    dram = [operation("select", 2.0), operation("insert_commit", 50.0)]
    made = analysed(plan, job_trials(plan, dram, [operation("select", 2.0), SKIPPED]))
    [verdict] = made.verdicts
    assert verdict.outcome == "the same"
    assert "over the 1 operation that both ran" in verdict_words.verdict(verdict)
    select, commit = made.operations
    assert select.ratio is not None
    assert select.ratio.estimate == pytest.approx(1.0)
    disk = made.cells[1].cell.id
    assert (commit.cells[disk].seconds, commit.ratio) == (None, None)
    assert commit.cells[disk].skipped == "engine MyISAM has none"
    assert "| insert | insert_commit | 100 | 50.1 | skipped | n/a |" in markdown.render(made)
    assert "skipped" in markdown.render(made)


def test_an_extrapolated_time_counts_whole_and_is_marked() -> None:
    plan = job_plan()
    cut = operation("select", 600.0, count=50, extrapolated_s=1200.0)
    trials = [
        change(
            trial,
            load__operations=[
                cut if part.name == "select" else part for part in [operation("select", 600.0)]
            ],
        )
        for trial in make_trials(plan)
    ]
    made = analysed(plan, trials)
    assert made.cells[0].figure is not None
    assert made.cells[0].figure.estimate == pytest.approx(1200)
    [(_, one)] = further.operations(made)
    of_cells, of_operations = (table(shown) for shown in (cells.cells(made), one))
    assert (of_cells.count("1,200+"), of_operations.count("1,200+")) == (2, 2)
    assert "+: seconds of operations that a time limit cut short are extrapolated" in cells.note(made)
    [verdict] = made.verdicts
    assert verdict_words.verdict(verdict).endswith("; by partly extrapolated seconds")
    assert compared(compare(made, made))[0].endswith("; by partly extrapolated seconds")
    assert _trial_line(plan, trials[0], []).endswith(": 1,200+ s")
    assert any("cut short" in one.finding.message.text for one in made.findings)


def test_what_was_cut_short_without_a_pace_is_marked_too() -> None:
    plan = job_plan()
    parts = [operation("select", 600.0, count=0, cut=True)]
    assert all(cell.extrapolated for cell in analysed(plan, job_trials(plan, parts, parts)).cells)


def test_a_time_that_no_total_holds_marks_no_verdict() -> None:
    """What one side alone ran is left out of the comparison, and so is its estimate."""
    plan = job_plan()
    dram = [operation("select", 2.0), operation("insert_commit", 600.0, extrapolated_s=1200.0)]
    made = analysed(plan, job_trials(plan, dram, [operation("select", 2.0), SKIPPED]))
    assert [cell.extrapolated for cell in made.cells] == [True, False]
    assert "extrapolated" not in verdict_words.verdict(made.verdicts[0])


def test_a_job_with_errors_does_not_count() -> None:
    plan = job_plan()
    [first, *_] = job_trials(plan, [operation("select", 2.0, errors=3)], [operation("select", 2.0, errors=3)])
    found = audit_trial(Evidence(first, plan.cell(first.cell), plan, make_machine(plan)))
    assert [one.severity for one in found if one.check == "operations"] == ["invalid"]


def test_a_job_is_asked_for_neither_littles_law_nor_a_steady_state() -> None:
    plan = job_plan()
    trial = change(
        job_trials(plan, [operation("select", 2.0)], [operation("select", 2.0)])[0], load__clients=64
    )
    falling = [float(100 - second) for second in range(60)]
    found = audit_trial(Evidence(trial, plan.cell(trial.cell), plan, make_machine(plan), falling))
    assert not {one.check for one in found} & {"littles-law", "steady", "tail"}


def test_at_a_set_rate_the_verdict_is_about_latency() -> None:
    plan = change(make_plan(tunings=("fast",), clients=(8,)), metrics={"complex": "latency_mean_us"})
    made = analysed(plan, make_trials(plan))
    [verdict] = made.verdicts
    assert "by mean latency" in verdict_words.verdict(verdict)
    latencies = [cell.latency_mean_us.estimate for cell in made.cells if cell.latency_mean_us]
    assert verdict.ratio is not None
    assert verdict.ratio.estimate == pytest.approx(latencies[0] / latencies[1])


@pytest.mark.parametrize(("held", "severities"), [(True, []), (False, ["warning"])])
def test_a_rate_that_was_not_held_is_told(held: bool, severities: list[str]) -> None:
    plan = change(make_plan(), metrics={"complex": "latency_mean_us"})
    trial = make_trials(plan)[0]
    rate = Rate(
        asked_per_s=500,
        arrivals="poisson",
        achieved_per_s=load_of(trial).transactions_per_s,
        arrived=15_000,
        waiting=0 if held else 4000,
        behind_s=0 if held else 8,
        most_waiting=3 if held else 4000,
        most_behind_s=0.01 if held else 8,
        held=held,
        start_delay_mean_us=0.1,
    )
    trial = change(trial, load__rate=rate)
    found = audit_trial(Evidence(trial, plan.cell(trial.cell), plan, make_machine(plan)))
    assert [one.severity for one in found if one.check == "rate"] == severities


def test_a_job_and_a_load_are_not_comparable() -> None:
    plan = make_plan(storages=("dram",), tunings=("fast",), clients=(1,), workloads=("complex", "bench"))
    plan = change(plan, metrics={"bench": "seconds"})
    trials = [
        change(trial, load__operations=[operation("select", 2.0)]) if "bench" in trial.cell else trial
        for trial in make_trials(plan)
    ]
    [verdict] = analysed(plan, trials).verdicts
    assert verdict.outcome == "not comparable"
    assert "measure" in verdict_words.verdict(verdict)


def test_many_cells_have_a_table_of_operations_a_workload() -> None:
    """Columns of all cells would fit no page; and a workload has its own number of statements."""
    storages, workloads = ("a", "b", "c", "d"), ("small", "large")
    plan = make_plan(tunings=("fast",), clients=(1,), storages=storages, workloads=workloads)
    plan = change(plan, metrics=dict.fromkeys(workloads, "seconds"))
    trials = []
    for trial in make_trials(plan):
        is_small = plan.cell(trial.cell).workload == "small"
        parts = [operation("select", 1.0, planned=10 if is_small else 500)]
        parts += [] if is_small else [operation("insert", 9.0)]
        trials.append(change(trial, load__operations=parts))
    (one, small), (other, large) = further.operations(analysed(plan, trials))
    assert (one, other) == workloads
    titles = [column.title for column in small.columns]
    assert titles == ["Test", "Operation", "Planned", "a s", "b s", "c s", "d s"]
    assert small.rows == (("insert", "select", "10", "1.00", "1.00", "1.00", "1.00"),)
    assert [row[1:3] for row in large.rows] == [("select", "500"), ("insert", "100")]
    shown = markdown.render(analysed(plan, trials))
    assert shown.index("## Operations small") < shown.index("## Operations large")
    few = change(plan, cells=[cell for cell in plan.cells if cell.storage == "a"])
    kept = {cell.id for cell in few.cells}
    [(workload, together)] = further.operations(
        analysed(few, [trial for trial in trials if trial.cell in kept])
    )
    assert (workload, together.rows[0][2]) == ("", "10 to 500")
