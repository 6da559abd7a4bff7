"""The comparison of two runs, on a terminal, as Markdown and as JSON."""

import io
import json
from collections.abc import Callable
from pathlib import Path

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis, Comparison
from diskproof.analysis.compare import compare
from diskproof.analysis.folder import analyse_folder
from diskproof.analysis.regression import Demand
from diskproof.cli.screen import Screen
from diskproof.report.compose.comparison import compose, failed
from diskproof.report.write import markdown, one_screen
from diskproof.results.plan import Cell
from diskproof.results.trial import Setting, Trial
from diskproof.study.condition import parse_condition
from support.cuts import make_crash_plan, make_cuts, make_ledger
from support.limits import make_limits
from support.runs import write_run
from support.safety import analysed
from support.snapshots import assert_matches_snapshot
from support.trials import change, make_machine, make_plan, make_trials, typical_rate

SNAPSHOTS = Path(__file__).parent / "snapshots"
PLAN = make_plan(tunings=("safest",), clients=(8,))


def run(
    slower: float = 1.0, alter: Callable[[Trial], Trial] = lambda trial: trial, **machine: object
) -> Analysis:
    """Return a run whose disk has so many times the typical throughput."""

    def rate(cell: Cell) -> float:
        return typical_rate(cell) * (slower if cell.storage == "disk" else 1)

    trials = [alter(trial) for trial in make_trials(PLAN, rate, spread=0.004, seed=round(100 * slower))]
    return analyse(PLAN, make_machine(PLAN, **machine), trials, {})


def summary(made: Comparison) -> dict[str, str]:
    """Return what one screen says below its rows, by its lead."""
    return {"Compared": compose(made).facts, **dict(compose(made).lines)}


def test_two_runs_on_different_kernels(tmp_path: Path) -> None:
    before, after = make_plan(), make_plan(storages=("dram", "disk", "nvme"))
    first = write_run(tmp_path / "a", before, make_trials(before), make_machine(before))
    faster = make_trials(
        after, lambda cell: typical_rate(cell) * (1.3 if cell.storage == "disk" else 1), seed=2
    )
    second = write_run(tmp_path / "b", after, faster, make_machine(after, kernel="6.12.0-1-amd64"))
    made = compare(analyse_folder(first), analyse_folder(second), ("march", "april"))

    file = io.StringIO()
    one_screen.write(compose(made), Screen(file=file, width=80))
    printed = file.getvalue()
    assert max(map(len, printed.splitlines())) <= 80 and len(printed.splitlines()) <= 24
    assert "6.12.0-1-amd64" in printed
    assert "only in april" in printed
    assert "30% faster" in printed
    assert_matches_snapshot(printed, SNAPSHOTS / "comparison.txt")
    assert_matches_snapshot(markdown.write(compose(made)), SNAPSHOTS / "comparison.md")


def test_rows_have_the_results_and_lines_what_to_know() -> None:
    made = compare(run(), run(0.8, kernel="6.12.1"), ("main", "branch"))
    said = summary(made)
    assert list(said) == ["Compared", "Else changed", "To do"]
    rows = compose(made).blocks[0].rows
    assert [(row.levels, row.said) for row in rows] == [(("dram",), "same"), (("disk",), "20% slower")]
    assert said["Else changed"] == "kernel: 6.1.0-31-amd64 before, 6.12.1 now"
    assert said["To do"].startswith("Measure again with one of the changes undone")
    assert said["Compared"].startswith("2 cells of `quickstart`; main: bench1, 2026-03-14 09:")
    assert "; main: 2026-03-14 09:" in compose(change(made, a__host=None)).facts


def test_a_variable_with_another_value_is_a_change() -> None:
    def altered(trial: Trial) -> Trial:
        other = Setting(name="sync_binlog", requested="100", observed="100", holds=True, level=True)
        return change(trial, settings=[*(one for one in trial.settings if one.name != "sync_binlog"), other])

    said = summary(compare(run(), run(alter=altered)))
    assert said["Else changed"] == "`sync_binlog` was 1, then 100"
    assert said["To do"] == "Nothing."


def test_a_busy_machine_is_warned_of_with_the_run_that_it_disturbed() -> None:
    def busy(trial: Trial) -> Trial:
        return change(trial, usage__host_cpu_steal_s=20.0)

    said = summary(compare(run(), run(0.8, alter=busy), ("march", "april")))
    assert "in april the hypervisor withheld" in said["Beware"]
    assert "(10 trials)" in said["Beware"]
    assert said["To do"] == "Measure april again when the machine is idle."


def test_the_same_difference_with_nothing_else_changed_asks_for_a_repeat() -> None:
    said = summary(compare(run(), run(0.8)))
    assert said["Else changed"] == "nothing that is recorded"
    assert said["To do"].startswith("Measure again: ")


def test_runs_are_named_by_what_tells_them_apart() -> None:
    def labels(second: Analysis) -> tuple[str, str]:
        made = compare(run(), second)
        return made.a.label, made.b.label

    later = run(alter=lambda trial: change(trial, started_at="2026-04-14T10:00:00Z"))
    same_day = run(alter=lambda trial: change(trial, started_at="2026-03-14T18:00:00Z"))
    assert labels(change(run(host="bench2"), plan__study="other")) == ("quickstart", "other")
    assert labels(run(host="bench2")) == ("bench1", "bench2")
    assert labels(later) == ("2026-03-14", "2026-04-14")
    assert labels(same_day)[1] == "2026-03-14 18:00"
    assert labels(run()) == ("the first run", "the second run")


def test_a_difference_is_explained_by_its_parts() -> None:
    first, second = (change(one, limits=make_limits(PLAN)) for one in (run(), run(0.5)))
    disk = next(at for at, one in enumerate(PLAN.cells) if one.storage == "disk")
    assert second.limits
    limit = second.limits.cells[disk]
    assert limit.split
    parts = [
        change(part, mean_us=part.mean_us + 4_000) if part.name == "log flush" else part
        for part in limit.split.parts
    ]
    longer = change(limit, split__parts=parts, split__latency_us=limit.split.latency_us + 4_000)
    cells = [longer if at == disk else one for at, one in enumerate(second.limits.cells)]
    said = markdown.write(compose(compare(first, change(second, limits__cells=cells))))
    assert "| Mean time | ms | Instead of ms | Log flush |" in said
    assert "+4.00 |" in said


def test_json_has_every_figure_with_its_interval() -> None:
    made = json.loads(compare(run(), run(0.8), ("main", "branch")).model_dump_json())
    assert made["b"]["label"] == "branch"
    disk = next(one for one in made["cells"] if one["cell"]["storage"] == "disk")
    assert disk["outcome"] == "slower"
    assert disk["ratio"]["low"] < 0.8 < disk["ratio"]["high"]


def test_the_answer_says_which_conditions_are_kept() -> None:
    conditions = [
        Demand("--fail-if slower", "slower"),
        Demand("--threshold p99 < 1 s", parse_condition("p99 < 1 s"), must_hold=True),
    ]
    made = compare(run(), run(0.8), conditions=conditions)
    kept = summary(made)["Conditions"]
    assert kept == "`--fail-if slower` failed in 1 cell, `--threshold p99 < 1 s` kept"
    [missed] = made.failed
    assert failed(missed).startswith("--fail-if slower: mariadb/disk/safest/complex/128MiB/8c: 0.8")
    nowhere = compare(run(), run(), conditions=[Demand("--fail-if losing-more", "losing-more")])
    assert summary(nowhere)["Conditions"] == "`--fail-if losing-more` failed: no such cell"


def test_a_loss_beyond_its_bound_is_a_whole_number() -> None:
    crash = make_crash_plan(tunings=("fast",), cuts=5)
    losing = [change(cut, ledger=make_ledger(900, lost=5, window_s=0.5)) for cut in make_cuts(crash)]
    cut = analysed(crash, losing)
    made = compare(
        cut, cut, conditions=[Demand("--threshold lost <= 0", parse_condition("lost <= 0"), must_hold=True)]
    )
    [missed] = made.failed
    assert failed(missed) == "--threshold lost <= 0: mariadb/ssd/fast: 5 in the worst cut"
