"""Throughput over time, from the recorded series: a panel a cell, a line a trial."""

from collections.abc import Sequence
from functools import cache
from statistics import fmean

import altair as alt
import pyarrow.compute as pc

from diskproof.analysis.answers import Analysis
from diskproof.report.charts.parts import Row, Spec, colours, dashes, keys, over_seconds
from diskproof.report.charts.style import INVALID_COLOUR, encode
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Figure, Panel
from diskproof.report.validity import counting
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Metric
from diskproof.results.trial import Trial
from diskproof.wording.numbers import count

MOST_POINTS = 12_000
"""Points of all curves together: what a browser draws without a pause. Beyond it neighbouring
intervals are averaged, and the caption says so."""

FEWEST_POINTS_A_TRIAL = 24
PANEL_HEIGHT_PX = 150

_VALIDITY = ("counts", "does not count")

Curve = list[tuple[float, float]]
"""Points of (seconds since the measured phase began, transactions per second)."""


def over_time(folder: RunFolder, analysis: Analysis, trials: Sequence[Trial]) -> Figure | None:
    """Return throughput over time, a panel a cell; None if no series was written.

    Jobs are left out: one that goes from operation to operation has no throughput of its own.
    """
    valid = counting(analysis, trials)
    most = max(FEWEST_POINTS_A_TRIAL, MOST_POINTS // max(len(trials), 1))
    encoding = encode(analysis.plan.cells)
    panels = []
    for cell in (one for one in analysis.plan.cells if analysis.plan.metric(one) != "seconds"):
        metric = analysis.plan.throughput(cell.id)
        curves = [(trial, read_curve(folder, trial.id, metric)) for trial in trials if trial.cell == cell.id]
        curves = [(trial, curve) for trial, curve in curves if curve]
        if not curves:
            continue
        level = cell.level(encoding.colour)
        rows = [
            row
            for trial, curve in curves
            for row in _rows(trial, level, thin(curve, most), trial.id in valid)
        ]
        name = cell_words(cell, analysis.varying)
        described = f"Throughput over time of {name}: {count(len(curves), 'trial')}."
        spec = _spec(encoding.colours[level])
        panels.append(Panel(name, described, spec, rows, len(curves)))
    if not panels:
        return None
    caption = (
        "Per second, a line a trial. The measured phase begins at 0; what lies before it is warm-up. A "
        "dashed line is a trial that does not count. Of long runs, neighbouring intervals are averaged."
    )
    return Figure("time", "Throughput over time", caption, tuple(panels), keys(analysis, encoding, panels))


def read_curve(folder: RunFolder, trial_id: str, metric: Metric = "transactions_per_s") -> Curve:
    """Read a trial's throughput in the order of time; empty if none was recorded."""
    series = folder.series(trial_id)
    if series is None:
        return []
    is_throughput = (pc.field("source") == "load") & (pc.field("metric") == metric)
    rows = series.filter(is_throughput & pc.field("value").is_valid()).to_pylist()
    return sorted((row["t_s"], row["value"]) for row in rows)


def thin(curve: Curve, most: int) -> Curve:
    """Return the curve with at most that many points, each the mean of equally many neighbours."""
    group = max(-(-len(curve) // most), 1)
    batches = (curve[start : start + group] for start in range(0, len(curve), group))
    return [(fmean(t_s for t_s, _ in some), fmean(rate for _, rate in some)) for some in batches]


def _rows(trial: Trial, level: str, curve: Curve, valid: bool) -> list[Row]:
    validity = _VALIDITY[0] if valid else _VALIDITY[1]
    facts = {"colour": level, "trial": trial.id, "block": trial.block, "validity": validity}
    return [{**facts, "t": round(t_s, 3), "v": float(f"{rate:.5g}")} for t_s, rate in curve]


@cache
def _spec(colour: str) -> Spec:
    y = alt.Y("v:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=4, format=",.3~r"))
    counts, does_not = _VALIDITY
    return over_seconds(
        alt.Chart().mark_line(strokeWidth=1.6, opacity=0.75),
        y,
        PANEL_HEIGHT_PX,
        detail="trial:N",
        color=colours("validity", {counts: colour, does_not: INVALID_COLOUR}),
        strokeDash=dashes("validity", {counts: (1, 0), does_not: (4, 3)}),
        tooltip=[alt.Tooltip("trial:N"), alt.Tooltip("block:Q"), alt.Tooltip("validity:N", title="trial")],
    )
