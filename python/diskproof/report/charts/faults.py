"""Throughput over time with the fault drawn in: a panel a cell, beside the same cell without a fault."""

from collections.abc import Iterator

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.report.charts.parts import Row, Spec, figures, layer, lines, looks
from diskproof.report.charts.style import COLOURS, INVALID_COLOUR
from diskproof.report.compose import faults
from diskproof.report.document import Figure, Panel
from diskproof.results.fault import NO_FAULT

HEIGHT_PX = 150

WITH, WITHOUT = "with the fault", "without"


def over_time(analysis: Analysis) -> Figure | None:
    """Return commits over time of every cell with a fault; None if no try tells any."""
    safety = analysis.safety
    if safety is None or not safety.faults:
        return None
    panels = []
    for answer, _ in faults.worst_of_cells(safety):
        if answer.cell.fault == NO_FAULT:
            continue
        title = faults.name(safety, answer.cell)
        rows = [*_lines(safety, answer), *_windows(safety, answer)]
        described = f"Commits a second over time: {title}."
        panels.append(Panel(title, described, _spec(), rows, answer.telling))
    if not panels:
        return None
    caption = (
        "Acknowledged commits a second since the first answer, the mean of the tries. Shaded: the fault. The "
        "dashed line is the same without a fault."
    )
    return Figure("faults", "Throughput with the fault", caption, tuple(panels))


def _lines(safety: Safety, answer: CutAnswer) -> Iterator[Row]:
    both = {WITH: answer.faulted, WITHOUT: faults.without(safety, answer.cell)}
    for level, met in both.items():
        if met:
            for number, rate in enumerate(met.course):
                yield {"level": level, "t": round((number + 0.5) * met.bin_s, 3), "v": float(f"{rate:.4g}")}


def _windows(safety: Safety, answer: CutAnswer) -> Iterator[Row]:
    met, fault = answer.faulted, safety.faults[answer.cell.fault]
    assert met is not None
    end_s = len(met.course) * met.bin_s
    for start, end in fault.windows_s:
        if start < end_s:
            until = end or (end_s if fault.times is None else start + met.bin_s)
            yield {"from": start, "to": min(until, end_s)}


def _spec() -> Spec:
    axis = {"grid": False, "tickCount": 5}
    shaded = {"x": figures("from", title="seconds", axis=axis), "x2": {"field": "to"}}
    courses = {
        "x": figures("t", title="seconds", axis=axis),
        "y": figures("v", title=None, axis={"tickCount": 4, "format": ",.3~r"}),
        "color": looks("level", {WITH: COLOURS[0], WITHOUT: INVALID_COLOUR}),
        "strokeDash": looks("level", {WITH: (1, 0), WITHOUT: (4, 3)}),
    }
    return {
        "layer": [
            layer("rect", shaded, "isValid(datum.from)", opacity=0.18, color=COLOURS[3]),
            lines(courses, "isValid(datum.t)", strokeWidth=1.6, opacity=1),
        ],
        "height": HEIGHT_PX,
    }
