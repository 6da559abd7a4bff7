"""The picture of the cuts: speed against loss."""

import math
from collections.abc import Sequence
from dataclasses import replace

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.analysis.safety.speed import cells_of, speeds_of
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row, Spec
from diskproof.report.charts.style import Encoding, encode
from diskproof.report.compose import cut_words as said
from diskproof.report.compose.safety import levels_shown, ways
from diskproof.report.document import Figure, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.stats.intervals import Interval

HEIGHT_PX = 280


def loss_encoding(analysis: Analysis, safety: Safety) -> Encoding:
    """Return how the cells that are cut look: storages in the colours that they have in the other charts."""
    made = encode(cells_of(safety))
    if made.colour != "storage" or not analysis.plan.cells:
        return made
    usual = encode(analysis.plan.cells)
    known = usual.colours if usual.colour == "storage" else {}
    return replace(made, colours={level: known.get(level, own) for level, own in made.colours.items()})


def speed_against_loss(analysis: Analysis) -> Figure | None:
    """Return commits a second against the transactions that the worst cut took, a panel a way and server.

    None if the speed of nothing that was cut is known.
    """
    safety = analysis.safety
    if safety is None:
        return None
    encoding, speeds = loss_encoding(analysis, safety), speeds_of(safety)
    servers = list(dict.fromkeys(cell.server for cell in cells_of(safety)))
    # All panels share one axis of losses, so that ways to die can be compared by eye.
    most = max((one.lost.worst for one in safety.answers if one.lost), default=0.0)
    panels = []
    for way in ways(safety):
        for server in servers:
            answers = [one for one in safety.answers if one.way == way and one.cell.server == server]
            known = [(one, speed) for one in answers if one.lost and (speed := speeds.get(one.cell.id))]
            if known:
                of_server = f" in {server}" if len(servers) > 1 else ""
                panels.append(_panel(safety, f"{said.TITLES[way]}{of_server}", known, encoding, most))
    if not panels:
        return None
    caption = (
        "Commits a second against the acknowledged transactions that the worst cut took; a line leads to the "
        "median cut. A lost database is at the right end. A hollow mark lost none: beside it are the cuts "
        "made, and the share of cuts that may still lose some (one-sided 95% bound). Upright bars: "
        f"{confidence(analysis)} intervals."
    )
    keys = parts.keys(analysis, encoding, panels)
    return Figure("speed-loss", "Speed against loss", caption, tuple(panels), keys)


def _panel(
    safety: Safety,
    title: str,
    known: Sequence[tuple[CutAnswer, Interval]],
    encoding: Encoding,
    most: float,
) -> Panel:
    # As the key has them: of two shapes in one place, the smaller lies above.
    rows = sorted(
        (_point(safety, answer, speed, encoding, most) for answer, speed in known),
        key=lambda row: [*encoding.shapes].index(row["shape"]) if encoding.shape else 0,
    )
    tops = [row[end] for row in rows for end in ("speed", "low", "high") if row[end] is not None]
    x = {"x": _lost_axis("lost", most, "commits lost in the worst cut")}
    y = {"y": parts.Span.of(tops).channel("speed", "commits/s")}
    bars = x | y | parts.colour(encoding)
    spans = bars | {"x": _lost_axis("median", most, ""), "x2": {"field": "lost"}}
    marks = bars | parts.tooltip("figure") | parts.shape(encoding)
    notes = x | y | {"text": parts.words("note")}
    return parts.panel(
        title,
        f"{title}: speed against loss",
        rows,
        "figure",
        parts.layer("rule", spans, strokeWidth=2, opacity=0.45),
        parts.intervals(bars, "commits/s"),
        parts.points(marks, "datum.lost > 0", size=70),
        parts.points(marks, "datum.lost == 0", size=70, filled=False, strokeWidth=2),
        parts.layer("text", notes, "!datum.gone", align="left", baseline="middle", dx=9),
        parts.layer("text", notes, "datum.gone", align="right", dx=-9, dy=-8, fontWeight="bold"),
        height_px=HEIGHT_PX,
    )


def _point(safety: Safety, answer: CutAnswer, speed: Interval, encoding: Encoding, most: float) -> Row:
    assert answer.lost is not None
    cell = answer.cell
    name = ", ".join(cell.level(level) for level in levels_shown(cells_of(safety)))
    return {
        **parts.identity(cell, name, encoding),
        "speed": speed.estimate,
        "low": speed.low,
        "high": speed.high,
        "median": answer.lost.median,
        "lost": most if answer.gone else answer.lost.worst,
        "note": _note(answer),
        "gone": answer.gone,
        "figure": f"{with_bounds(speed)} commits/s; {said.outcome(answer)}",
    }


def _note(answer: CutAnswer) -> str:
    """Say what none in so many cuts bounds, or that the database was lost, as short as a note must be."""
    if answer.gone:
        return f"DATABASE LOST: {said.cuts(answer.gone)}"
    if answer.with_loss or answer.loss_share is None:
        return ""
    if answer.states:
        return said.outcome(answer)
    return f"none in {answer.telling}: ≤ {said.points(answer.loss_share.high)}"


def _lost_axis(field: str, most: float, title: str) -> Spec:
    """Return the axis of losses: from none over one to many, each power of ten as wide as the other.

    Symmetric logarithm (Webber, "A bi-symmetric log transformation for wide-range data", Measurement
    Science and Technology 24, 2013): 0 has a place on it.
    """
    low, high = -0.35, max(most * 1.35, 2.0)
    powers = [10.0**power for power in range(math.ceil(math.log10(high)))]
    ticks = [0.0, *powers] if high > 10 else [0.0, 1.0, *([2.0, 5.0] if high > 5 else [2.0])]
    scale = {"type": "symlog", "constant": 1, "domain": [low, high], "nice": False}
    axis = {"values": [tick for tick in ticks if tick <= high], "format": ",.3~r"}
    return parts.figures(field, title=title, scale=scale, axis=axis)
