"""What was published is joined to the cells that repeat it, and marked by a rule that intervals decide."""

import math
from collections.abc import Mapping

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.compare import compare
from diskproof.analysis.published.marks import mark_of, order_agreement, size_agreement
from diskproof.analysis.published.shapes import Beside, BesideRatio
from diskproof.results.load import Iterations, Operation
from diskproof.results.plan import Cell, Plan, Scale
from diskproof.results.published import PublishedMeasure
from diskproof.results.trial import Finding, Trial
from diskproof.stats.intervals import Interval
from diskproof.wording import as_message
from support.intervals import given
from support.published import figure, publish, ratio
from support.trials import change, make_machine, make_plan, make_trials
from support.words import texts

LATE = Finding(check="lateness", severity="invalid", message="the disk was late", remedy="fewer clients")

OTHER = change(LATE, check="settings", message=as_message("`sync_binlog` reads back as 0"))


def small_plan(**levels: object) -> Plan:
    return make_plan(**({"tunings": ("safest",), "clients": (8,)} | levels))  # type: ignore[arg-type]


def at_rates(plan: Plan, dram: float, disk: float, spread: float = 0.01) -> list[Trial]:
    return make_trials(plan, lambda cell: dram if cell.storage == "dram" else disk, spread=spread)


def beside(plan: Plan, trials: list[Trial]) -> Beside:
    made = analysed(plan, trials).beside
    assert made is not None
    return made


def analysed(plan: Plan, trials: list[Trial]) -> Analysis:
    return analyse(plan, make_machine(plan), trials, {})


def only_ratio(plan: Plan, trials: list[Trial]) -> BesideRatio:
    [row] = beside(plan, trials).ratios
    return row


def between(low: float, high: float) -> Interval:
    return Interval(estimate=math.sqrt(low * high), low=low, high=high, n=5)


# ---------------------------------------------------------------- the rule


@pytest.mark.parametrize(
    ("published", "low", "high", "agreement"),
    [
        (8.0, 6.0, 7.0, "agrees"),
        (8.0, 1.01, 7.0, "agrees"),
        (8.0, 0.9, 7.0, "open"),
        (8.0, 0.5, 0.9, "differs"),
        (8.0, 0.98, 1.02, "differs"),  # the same, where one was published to be faster
        (8.0, 1.01, 1.02, "differs"),  # excludes 1, but lies within what counts as the same
        (0.1, 0.2, 0.5, "agrees"),
        (0.1, 0.2, 1.1, "open"),
        (0.1, 0.98, 1.5, "differs"),
        (1.0, 0.95, 1.05, "agrees"),
        (0.95, 1.01, 1.02, "agrees"),  # a single run cannot show five percent: published as the same
        (0.863, 0.98, 1.02, "agrees"),  # two figures, each off by a tenth
        (1.0, 0.8, 1.02, "open"),
        (1.0, 1.12, 1.2, "agrees"),
        (1.0, 1.26, 1.4, "differs"),
        (1.05, 0.7, 0.8, "differs"),
        (1.24, 0.995, 1.005, "open"),  # another order, but of about the size
        (1.2, 1.22, 1.4, "open"),
    ],
)
def test_the_order_differs_where_the_interval_excludes_the_published_one(
    published: float, low: float, high: float, agreement: str
) -> None:
    assert order_agreement(published, between(low, high), same_within=0.03) == agreement


@pytest.mark.parametrize(
    ("low", "high", "agreement"),
    [
        (0.9, 1.1, "agrees"),
        (0.8, 1.25, "agrees"),
        (0.7, 1.1, "open"),
        (0.1, 10.0, "open"),
        (1.3, 1.6, "differs"),
        (0.3, 0.79, "differs"),
    ],
)
def test_the_size_agrees_within_a_band_and_differs_beyond_it(low: float, high: float, agreement: str) -> None:
    assert size_agreement(between(low, high)) == agreement


def test_one_block_decides_nothing() -> None:
    alone = Interval(estimate=8.0, low=None, high=None, n=1)
    assert order_agreement(8.0, alone, same_within=0.03) == "open"
    assert size_agreement(alone) == "open"


def test_a_mark_is_the_gravest_that_is_proved() -> None:
    assert mark_of("agrees", "agrees") == "agrees"
    assert mark_of("agrees", "open") == "order agrees"
    assert mark_of("open", "agrees") == "inconclusive"
    assert mark_of("open", "differs") == "size differs"
    assert mark_of("differs", "differs") == "order differs"


# ---------------------------------------------------------------- ratios


def test_a_ratio_that_holds_is_marked_so_and_needs_no_reason() -> None:
    plan = publish(small_plan(), ratios=[ratio(0.25)])
    row = only_ratio(plan, at_rates(plan, 800, 200))
    assert (row.mark, row.order, row.size, row.reasons) == ("agrees", "agrees", "agrees", [])
    assert given(row.measured).estimate == pytest.approx(0.25, rel=0.05)
    assert given(row.of_published).estimate == pytest.approx(1, rel=0.05)
    assert row.cell is not None
    assert "disk" in row.cell


@pytest.mark.parametrize(
    ("published", "mark"),
    [(0.25, "agrees"), (0.01, "size differs"), (4.0, "order differs"), (1.0, "order differs")],
)
def test_a_ratio_that_does_not_hold_is_marked_by_how(published: float, mark: str) -> None:
    plan = publish(small_plan(), ratios=[ratio(published)])
    assert only_ratio(plan, at_rates(plan, 800, 200)).mark == mark


def test_blocks_pair_the_two_sides() -> None:
    """What a block does to both sides is in neither the ratio nor its interval."""
    plan = publish(small_plan(), ratios=[ratio(0.25)])
    trials = [
        change(trial, load__transactions_per_s=rate * 10**trial.block)
        for trial, rate in ((one, 800.0 if "dram" in one.cell else 200.0) for one in at_rates(plan, 800, 200))
    ]
    measured = given(only_ratio(plan, trials).measured)
    assert measured.within(0.2499, 0.2501)


def test_a_run_until_decided_has_one_interval_of_a_ratio() -> None:
    plan = change(publish(small_plan(), ratios=[ratio(0.25)]), at_most_s=600.0)
    made = analysed(plan, at_rates(plan, 800, 200))
    assert made.beside is not None
    assert [one.measured for one in made.beside.ratios] == [one.ratio for one in made.verdicts]


def test_times_are_turned_over() -> None:
    plan = publish(
        change(small_plan(), metrics={"complex": "seconds"}), ratios=[ratio(0.25, measure="seconds")]
    )
    trials = [
        change(
            trial,
            load__iterations=Iterations(
                count=5,
                mean_s=(1.0 if "dram" in trial.cell else 4.0) * (1 + trial.block / 1000),
                min_s=0.5,
                max_s=5,
                queries_per_client=80,
            ),
        )
        for trial in make_trials(plan)
    ]
    assert given(only_ratio(plan, trials).measured).estimate == pytest.approx(0.25)


def test_a_level_that_the_publication_does_not_tell_gives_a_row_for_each_cell() -> None:
    plan = publish(small_plan(tunings=("safest", "fast")), ratios=[ratio(0.25)])
    rows = beside(plan, make_trials(plan)).ratios
    assert [plan.cell(row.cell or "").tuning for row in rows] == ["safest", "fast"]
    plan = publish(plan, ratios=[ratio(0.25, at={"tuning": "fast"})])
    assert plan.cell(only_ratio(plan, make_trials(plan)).cell or "").tuning == "fast"


def test_levels_that_no_cell_has_are_named_with_the_scale() -> None:
    scale = Scale(name="smoke", shrinks="few clients", carries="the order")
    plan = change(publish(small_plan(), ratios=[ratio(0.25, at={"clients": "100"})]), scale=scale)
    row = only_ratio(plan, make_trials(plan))
    assert (row.mark, row.cell, row.measured) == ("not measured", None, None)
    assert texts(row.reasons) == ["no cell has 100 clients at scale `smoke`"]


def test_a_side_without_a_valid_trial_says_so() -> None:
    plan = publish(small_plan(), ratios=[ratio(0.25)])
    trials = [
        change(trial, findings=[LATE]) if "disk" in trial.cell else trial for trial in make_trials(plan)
    ]
    row = only_ratio(plan, trials)
    assert row.mark == "not measured"
    assert row.reasons[0].text == "no trial of mariadb/disk/safest/complex/128MiB/8c is valid (lateness)"


def test_a_run_that_goes_on_says_what_is_not_there_yet() -> None:
    plan = publish(small_plan(), ratios=[ratio(0.25)])
    row = only_ratio(plan, [trial for trial in make_trials(plan) if "dram" in trial.cell])
    assert row.reasons[0].text == "no trial of mariadb/disk/safest/complex/128MiB/8c was run yet"


def test_too_few_valid_blocks_decide_nothing() -> None:
    plan = publish(small_plan(), ratios=[ratio(0.25)])
    trials = [
        change(trial, findings=[OTHER]) if "disk" in trial.cell and trial.block > 2 else trial
        for trial in at_rates(plan, 800, 200)
    ]
    row = only_ratio(plan, trials)
    assert row.mark == "inconclusive"
    assert any("a verdict needs 3" in reason for reason in texts(row.reasons))


def test_what_bars_a_verdict_bars_this_comparison_too() -> None:
    plan = publish(small_plan(), ratios=[ratio(0.25)])
    trials = [
        change(trial, data__rows=7) if "disk" in trial.cell else trial for trial in at_rates(plan, 800, 200)
    ]
    row = only_ratio(plan, trials)
    assert (row.mark, row.measured) == ("not comparable", None)
    assert "differ in their number of rows" in row.reasons[0].text


def test_sides_that_were_valid_in_other_blocks_are_not_comparable() -> None:
    plan = publish(small_plan(), ratios=[ratio(0.25)])
    trials = [
        change(trial, findings=[OTHER]) if ("disk" in trial.cell) == (trial.block > 2) else trial
        for trial in at_rates(plan, 800, 200)
    ]
    row = only_ratio(plan, trials)
    assert (row.mark, row.measured) == ("not comparable", None)
    assert "0 of 5 blocks have a valid trial on both sides; a verdict needs 3" in texts(row.reasons)
    assert not any("no such figure" in reason for reason in texts(row.reasons))


def test_one_block_has_a_ratio_and_no_decision() -> None:
    plan = publish(small_plan(blocks=1), ratios=[ratio(0.25)])
    row = only_ratio(plan, at_rates(plan, 800, 200))
    assert row.mark == "inconclusive"
    assert given(row.measured).low is None
    assert any("a single block gives no interval" in reason for reason in texts(row.reasons))


def test_the_side_that_has_no_cell_is_the_one_that_is_named() -> None:
    plan = publish(small_plan(), ratios=[ratio(0.25, "disk", "tape")])
    assert texts(only_ratio(plan, make_trials(plan)).reasons) == ["no cell has storage `tape`"]
    plan = publish(small_plan(), ratios=[ratio(0.25, measure="seconds")])
    assert texts(only_ratio(plan, make_trials(plan)).reasons) == ["no cell with these levels has seconds"]


def test_sides_that_differ_in_more_than_the_factor_are_no_pair() -> None:
    plan = small_plan(tunings=("safest", "fast"))
    kept = [cell for cell in plan.cells if (cell.storage == "disk") == (cell.tuning == "fast")]
    plan = change(plan, cells=kept, trials=[one for one in plan.trials if one.cell in {c.id for c in kept}])
    plan = publish(plan, ratios=[ratio(0.25)])
    assert texts(only_ratio(plan, make_trials(plan)).reasons) == [
        "no two cells with these levels are equal in everything else"
    ]


# ---------------------------------------------------------------- parts of jobs


def job_plan() -> Plan:
    return change(small_plan(clients=(1,), workloads=("bench",)), metrics={"bench": "seconds"})


def job_trials(plan: Plan, seconds: Mapping[str, tuple[float, float | None]]) -> list[Trial]:
    """Return trials of a job: seconds on dram and on disk by ``test/operation``; None: skipped there."""
    trials = []
    for trial in make_trials(plan):
        on_disk = "disk" in trial.cell
        operations = []
        for key, both in seconds.items():
            test, name = key.split("/")
            took = both[on_disk]
            operations.append(
                Operation(
                    test=test,
                    name=name,
                    clients=1,
                    planned=100,
                    count=100 if took else 0,
                    seconds=took and took * (1 + trial.block / 1000),
                    skipped=None if took else "the engine has no transactions",
                )
            )
        trials.append(change(trial, load__operations=operations))
    return trials


def test_a_part_is_the_sum_of_its_test_over_what_both_ran() -> None:
    plan = publish(
        job_plan(),
        figures=[figure(100, "seconds", part="insert", storage="disk")],
        ratios=[ratio(0.5, measure="seconds", part="insert")],
    )
    seconds = {
        "insert/a": (1.0, 2.0),
        "insert/b": (1.0, 2.0),
        "insert/c": (50.0, None),
        "select/a": (1.0, 90.0),
    }
    made = beside(plan, job_trials(plan, seconds))
    [row] = made.ratios
    assert given(row.measured).estimate == pytest.approx(0.5)
    assert row.mark == "agrees"
    [shown] = made.figures
    assert given(shown.measured).estimate == pytest.approx(4, rel=0.01)


def test_a_part_that_was_not_run_is_not_measured() -> None:
    plan = publish(job_plan(), ratios=[ratio(0.5, measure="seconds", part="ATIS")])
    row = only_ratio(plan, job_trials(plan, {"insert/a": (1.0, 2.0)}))
    assert row.mark == "not measured"
    assert "ran nothing of `ATIS`" in row.reasons[0].text


def test_a_part_is_no_prefix_of_another() -> None:
    plan = publish(job_plan(), ratios=[ratio(0.5, measure="seconds", part="insert")])
    seconds = {"insert/a": (1.0, 2.0), "insert-more/a": (1.0, 100.0)}
    assert given(only_ratio(plan, job_trials(plan, seconds)).measured).estimate == pytest.approx(0.5)


# ---------------------------------------------------------------- figures


def test_figures_come_in_the_publications_units() -> None:
    measures: tuple[PublishedMeasure, ...] = (
        "transactions_per_s",
        "statements_per_s",
        "latency_mean_ms",
        "latency_min_ms",
        "latency_max_ms",
        "latency_p95_ms",
    )
    plan = publish(small_plan(), figures=[figure(2.0, measure, storage="disk") for measure in measures])
    trials = make_trials(plan, spread=0)
    load = next(trial.load for trial in trials if "disk" in trial.cell)
    assert load is not None
    assert load.latency_us is not None
    assert load.latency_us.min is not None
    assert load.latency_us.max is not None
    expected = [
        load.transactions_per_s,
        load.known_statements / load.known_seconds,
        *(
            value / 1000
            for value in (
                load.latency_us.mean,
                load.latency_us.min,
                load.latency_us.max,
                load.latency_us.percentiles["95"],
            )
        ),
    ]
    rows = beside(plan, trials).figures
    assert [given(row.measured).estimate for row in rows] == pytest.approx(expected, rel=0.01)
    assert [given(row.of_published).estimate * 2 for row in rows] == pytest.approx(expected, rel=0.01)


def test_a_percentile_that_the_trial_cannot_carry_is_not_shown() -> None:
    plan = publish(small_plan(measure_s=0.1), figures=[figure(2.0, "latency_p95_ms", storage="disk")])
    [row] = beside(plan, at_rates(plan, 800, 200)).figures
    assert row.measured is None


def test_a_figure_without_a_cell_has_none_beside_it() -> None:
    plan = publish(small_plan(), figures=[figure(9.0, storage="disk", clients="64")])
    [row] = beside(plan, make_trials(plan)).figures
    assert (row.cell, row.measured) == (None, None)


def test_a_figure_is_held_only_against_loads_that_have_such_a_measure() -> None:
    """A table that names no workload is not about the files below a database, nor the other way round."""
    plan = small_plan()
    files = Cell(
        id="disk/random/8c",
        server="-",
        storage="disk",
        tuning="-",
        workload="random",
        memory_bytes=0,
        clients=8,
    )
    plan = change(plan, cells=[*plan.cells, files], metrics={"random": "requests_per_s"})
    plan = publish(plan, figures=[figure(9.0, storage="disk"), figure(9.0, "requests_per_s", storage="disk")])
    of_server, of_files = beside(plan, make_trials(small_plan())).figures
    assert of_server.cell == "mariadb/disk/safest/complex/128MiB/8c"
    assert of_files.cell == files.id


# ---------------------------------------------------------------- the whole


def test_a_study_that_publishes_nothing_has_nothing_beside() -> None:
    plan = small_plan()
    made = analysed(plan, make_trials(plan))
    assert made.beside is None
    older = made.model_dump(exclude={"beside"})
    assert Analysis.model_validate(older) == made


def test_runs_of_two_scales_are_said_to_differ_in_it() -> None:
    plan = small_plan()
    smoke = change(plan, scale=Scale(name="smoke", shrinks="a", carries="b"))
    differences = compare(analysed(plan, make_trials(plan)), analysed(smoke, make_trials(smoke))).differences
    [difference] = [one for one in differences if one.fact == "scale"]
    assert (difference.a.text, difference.b.text) == ("the study as it stands", "`smoke`")
    same = compare(analysed(smoke, make_trials(smoke)), analysed(smoke, make_trials(smoke)))
    assert not [one for one in same.differences if one.fact == "scale"]
