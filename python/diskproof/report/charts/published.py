"""The picture of what was published beside what was measured: ratios."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.published.shapes import BesideRatio, Mark
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row, Span
from diskproof.report.charts.style import COLOURS, INVALID_COLOUR
from diskproof.report.compose.published_groups import Group, groups
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, extrapolated, with_bounds
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import number

AGREES, DIFFERS, OPEN = "agrees", "differs", "open"
FATES: dict[Mark, str] = {
    "agrees": AGREES,
    "order agrees": AGREES,
    "size differs": DIFFERS,
    "order differs": DIFFERS,
    "inconclusive": OPEN,
}
"""How a mark is drawn; a ratio with another has none to be drawn."""

COLOUR_OF_FATE = {AGREES: COLOURS[0], DIFFERS: COLOURS[1], OPEN: INVALID_COLOUR}


def ratios(analysis: Analysis) -> Figure | None:
    """Return each ratio as published and as measured, a panel a published table, on one logarithmic scale."""
    shown = map(Group.in_short, groups(analysis))
    drawn = [(group, rows) for group in shown if (rows := _drawn(group))]
    if not drawn:
        return None
    scale = _scale([pair for _, rows in drawn for pair in rows])
    panels = tuple(_ratio_panel(group, rows, scale) for group, rows in drawn)
    caption = (
        "How many times as fast the first is as the second: hollow as it was published, solid as it was "
        f"measured, with its {confidence(analysis)} interval. The axis is logarithmic; what was not measured "
        "is left out."
    )
    present = {FATES[row.mark] for _, rows in drawn for row, _ in rows}
    legend_keys = tuple(Key(fate, colour=ink) for fate, ink in COLOUR_OF_FATE.items() if fate in present)
    return Figure("published", "Ratios as published and as measured", caption, panels, legend_keys)


def _drawn(group: Group) -> list[tuple[BesideRatio, Interval]]:
    return [(row, row.measured) for row in group.ratios if row.measured and row.mark in FATES]


def _scale(rows: Sequence[tuple[BesideRatio, Interval]]) -> tuple[float, float]:
    """Return the scale that shows all ratios and 1; longer intervals are cut off at its ends."""
    middle = [1.0, *(one for row, measured in rows for one in (row.published.ratio, measured.estimate))]
    return min(middle) / 1.5, max(middle) * 1.5


def _ratio_panel(
    group: Group, rows: Sequence[tuple[BesideRatio, Interval]], scale: tuple[float, float]
) -> Panel:
    data: list[Row] = [
        {
            "cell": f"{index}",
            "name": group.name(row),
            "published": row.published.ratio,
            "measured": measured.estimate,
            "low": parts.within(measured.low, scale),
            "high": parts.within(measured.high, scale),
            "fate": FATES[row.mark],
            "first": index == 0,
            "shown": f"published {number(row.published.ratio)}, measured "
            f"{with_bounds(measured)}{extrapolated(row.extrapolated)}: {row.mark}",
        }
        for index, (row, measured) in enumerate(rows)
    ]
    shown = parts.tooltip("shown")
    span, title = Span(*scale, log=True), "ratio of speeds"
    published = parts.STACKED | {
        "x": span.channel("published", title, format="~g", orient=parts.orient(data))
    }
    coloured = published | {"color": parts.looks("fate", COLOUR_OF_FATE)}
    solid = coloured | {"x": parts.figures("measured", scale=span.scale)}
    way = published | {"x2": {"field": "measured"}}
    return parts.stacked_panel(
        group.title,
        f"Published and measured ratios of {group.title}",
        data,
        "shown",
        parts.layer("rule", {"x": {"datum": 1}}, "datum.first", strokeWidth=1.5, opacity=0.7),
        parts.layer("rule", way, strokeWidth=1.5, strokeDash=[2, 2], opacity=0.6, yOffset=8),
        parts.level_intervals(coloured, span.scale, strokeWidth=4, opacity=0.45),
        parts.points(coloured | shown, size=70, filled=False, strokeWidth=2, yOffset=8),
        parts.points(solid | shown, size=70, yOffset=8),
    )
