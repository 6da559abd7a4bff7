"""Curves over a property of a disk, from made trials of a known truth."""

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.dials import crossing, figure_at
from diskproof.report.charts.dials import curve
from diskproof.report.compose import rows
from diskproof.report.compose.answer import answer as sentence
from diskproof.report.compose.dials import answer, blocks, here
from diskproof.results.dial import DialPoint, Dials, Mark, PredictedPoint
from diskproof.results.plan import Cell, Plan
from support.trials import change, make_machine, make_plan, make_trials

FLUSHES_US = (100.0, 1_000.0, 10_000.0)
CPU_US = 1_000.0


def of_flush(cell: Cell) -> float:
    return cell.clients * 1e6 / (CPU_US + float(cell.storage.removeprefix("dial-")))


def dial_plan(key: str = "flush_us") -> Plan:
    names = tuple(f"dial-{value:g}" for value in FLUSHES_US)
    plan = make_plan(storages=names, tunings=("safest",), clients=(1, 8))
    points = {
        name: DialPoint(dial="dial", device="dial", values={key: value})
        for name, value in zip(names, FLUSHES_US, strict=True)
    }
    return change(plan, dials=points)


def analysed(plan: Plan, dials: Dials | None = None) -> Analysis:
    return analyse(plan, make_machine(plan), make_trials(plan, of_flush, spread=0.001), {}, dials=dials)


def test_a_curve_has_a_point_for_each_value_of_equal_conditions() -> None:
    one, eight = analysed(dial_plan()).curves
    assert (one.key, one.held, eight.held) == ("flush_us", {"clients": "1"}, {"clients": "8"})
    assert [point.value for point in one.points] == list(FLUSHES_US)
    assert eight.points[1].figure.estimate == pytest.approx(8 * 500, rel=0.01)
    assert one.best.value == 100


def test_what_is_needed_lies_where_the_share_is_lost() -> None:
    (curve, _) = analysed(dial_plan()).curves
    _, _, half = curve.needs
    # Half of 909/s is lost at 1.1 ms; the straight line between the points is near that.
    assert (half.low, half.value, half.high) == pytest.approx((1_130, 1_130, 1_130), rel=0.1)


def test_a_prediction_is_drawn_only_where_there_is_one() -> None:
    plan = dial_plan()
    with_one = Dials(predicted=[PredictedPoint(cell=plan.cells[2].id, per_s=480)])
    for known, drawn in ((Dials(), False), (with_one, True)):
        figure = curve(analysed(plan, known))
        assert figure is not None
        shown = [row for panel in figure.panels for row in panel.rows if row.get("predicted") is not None]
        assert [len(shown) > 0, any("predicted" in key.words for key in figure.keys)] == [drawn, drawn]


def test_a_single_block_has_no_interval_of_what_is_needed() -> None:
    plan = change(make_plan(storages=tuple(dial_plan().dials), tunings=("safest",), clients=(8,), blocks=1))
    (found,) = analysed(change(plan, dials=dial_plan().dials)).curves
    assert found.needs[-1].value is not None
    assert (found.needs[-1].low, found.needs[-1].high) == (None, None)


def test_other_storages_stay_beside_a_curve() -> None:
    dial = dial_plan()
    plan = make_plan(storages=("dram", *dial.dials), tunings=("safest",), clients=(1,))
    plan = change(plan, dials=dial.dials)
    trials = make_trials(plan, lambda cell: 950 if cell.storage == "dram" else of_flush(cell), spread=0.001)
    shown = rows.blocks(analyse(plan, make_machine(plan), trials, {}), ())
    assert any("dram" in level for block in shown for row in block.rows for level in row.levels)


def test_two_levels_are_compared_at_each_value() -> None:
    dial = dial_plan()
    plan = make_plan(storages=tuple(dial.dials), tunings=("safest", "fast"), clients=(1, 8))
    plan = change(plan, dials=dial.dials)

    def twice(cell: Cell) -> float:
        return of_flush(cell) * (2 if cell.tuning == "fast" and cell.clients == 1 else 1)

    analysis = analyse(plan, make_machine(plan), make_trials(plan, twice, spread=0.001), {})
    ratios, *curves = rows.blocks(analysis, ())
    assert (ratios.title, ratios.columns) == ("fast against safest, ratio", ("100 µs", "1.0 ms", "10 ms"))
    assert [row.levels for row in ratios.rows] == [("1 client",), ("8 clients",)]
    assert [float(figure.removesuffix(" open")) for figure in ratios.rows[0].figures] == pytest.approx(
        [2, 2, 2], rel=0.01
    )
    assert [float(figure.removesuffix(" open")) for figure in ratios.rows[1].figures] == pytest.approx(
        [1, 1, 1], rel=0.01
    )
    assert not any("fast against safest" in one.title for one in curves)
    assert "`fast` is 2.0 times as fast as `safest`" in sentence(analysis)


def test_two_varied_disks_are_apart_in_what_levels_compare() -> None:
    dials = dial_plan().dials | {
        f"volume-{iops}": DialPoint(dial="volume", device="ebs-gp3", values={"iops.fixed": float(iops)})
        for iops in (1_000, 3_000)
    }
    plan = make_plan(storages=tuple(dials), tunings=("safest", "fast"), clients=(1,))
    analysis = analyse(change(plan, dials=dials), make_machine(plan), make_trials(plan, spread=0.001), {})
    columns = [one.columns for one in rows.blocks(analysis, ()) if one.title == "fast against safest, ratio"]
    assert columns == [("100 µs", "1.0 ms", "10 ms"), ("1,000", "3,000")]


def test_more_may_be_better() -> None:
    plan = dial_plan("iops.fixed")
    rising = make_trials(plan, lambda cell: float(cell.storage[5:]) / 10, spread=0.001)
    (curve, _) = analyse(plan, make_machine(plan), rising, {}).curves
    assert curve.best.value == 10_000
    assert curve.needs[-1].value == pytest.approx(5_000, rel=0.02)


def test_a_curve_that_never_comes_so_low_says_so() -> None:
    assert crossing([(1, 100), (10, 90)], 50) is None
    assert crossing([(1, 100), (10, 25)], 50) == pytest.approx(10**0.5)
    assert crossing([(1, 40), (10, 25)], 50) == 1


def test_a_disk_between_two_points_has_the_figure_between_theirs() -> None:
    (curve, _) = analysed(dial_plan()).curves
    found = figure_at(curve, 316.2)
    assert found is not None
    assert found.estimate == pytest.approx((909 * 500) ** 0.5, rel=0.02)
    assert figure_at(curve, 50) is None
    assert "not between the ends" in here([curve], Mark(name="mine", value=50)).lead[0].text


def test_rows_name_values_and_limits_and_the_sentence_the_loss() -> None:
    plan = dial_plan()
    middle = plan.cells[2].id
    known = Dials(predicted=[PredictedPoint(cell=middle, per_s=480)], marks=[Mark(name="mine", value=300)])
    analysis = analysed(plan, known)
    assert analysis.curves[0].points[1].predicted == 480
    first, _, needs = blocks(analysis)
    assert [row.levels for row in first.rows] == [("100 µs",), ("1.0 ms",), ("10 ms",)]
    assert needs.columns == ("lose 5%", "lose 10%", "lose 50%")
    assert answer(analysis.curves).startswith("50% of the throughput at flush 100 µs is lost at 1.1 ms")
