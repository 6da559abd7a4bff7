"""The pictures of what was published beside what was measured: ratios, and the seconds of jobs."""

from collections.abc import Iterator, Sequence

import altair as alt

from diskproof.analysis.answers import Analysis
from diskproof.analysis.published.shapes import BesideFigure, BesideRatio, Mark
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import COLOURS, INVALID_COLOUR, encode
from diskproof.report.compose.published_groups import Group, groups
from diskproof.report.compose.verdict_words import subject
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, extrapolated, with_bounds
from diskproof.report.ratio_scale import ticks
from diskproof.results.factor import FACTORS
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import count, number, printed

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

FAR = 10.0
"""Ends of intervals that lie further from all ratios than this factor are cut off: they would press the
ratios together."""

BARS_HEIGHT_PX = 56
"""Of a name and two bars."""


def drawings(analysis: Analysis) -> list[Figure]:
    """Return the pictures of a run that has published figures; one without anything to draw is left out."""
    drawn = (ratios(analysis), seconds(analysis))
    return [one for one in drawn if one]


# ---------------------------------------------------------------- ratios


def ratios(analysis: Analysis) -> Figure | None:
    """Return each ratio as published and as measured, a panel a published table, on one logarithmic scale."""
    shown = [(group.in_short(), _drawn(group.in_short())) for group in groups(analysis) if group.ratios]
    drawn = [(group, rows) for group, rows in shown if rows]
    if not drawn:
        return None
    scale = _scale([row for _, rows in drawn for row in rows])
    panels = tuple(_ratio_panel(group, rows, scale) for group, rows in drawn)
    left_out = sum(len(group.ratios) for group, _ in shown) - sum(len(rows) for _, rows in drawn)
    rest = (
        f" {count(left_out, 'ratio that was', 'ratios that were')} not measured: left out."
        if left_out
        else ""
    )
    caption = (
        "How many times as fast the first is as the second: hollow as it was published, solid as it was "
        f"measured, with its {confidence(analysis)} interval. The axis is logarithmic.{rest}"
    )
    present = {FATES[row.mark] for _, rows in drawn for row in rows}
    legend_keys = tuple(
        Key(fate, colour=colour) for fate, colour in COLOUR_OF_FATE.items() if fate in present
    )
    return Figure("published", "Ratios as published and as measured", caption, panels, legend_keys)


def _drawn(group: Group) -> list[BesideRatio]:
    return [row for row in group.ratios if row.measured and row.mark in FATES]


def _scale(rows: Sequence[BesideRatio]) -> tuple[float, float]:
    """Return the scale that shows all ratios and 1, and their intervals as far as they are near."""
    middle = [1.0, *(row.published.ratio for row in rows), *(_of(row).estimate for row in rows)]
    low, high = min(middle), max(middle)
    ends = [end for row in rows for end in (_of(row).low, _of(row).high) if end is not None]
    near = [min(max(end, low / FAR), high * FAR) for end in ends]
    low, high = min(middle + near), max(middle + near)
    margin = max((high / low) ** 0.04, 1.02)
    return low / margin, high * margin


def _ratio_panel(group: Group, rows: Sequence[BesideRatio], scale: tuple[float, float]) -> Panel:
    data: list[Row] = [
        {
            "cell": f"{index}",
            "name": _name(group, row, rows),
            "published": row.published.ratio,
            "measured": _of(row).estimate,
            "low": parts.within(_of(row).low, scale),
            "high": parts.within(_of(row).high, scale),
            "fate": FATES[row.mark],
            "first": index == 0,
            "shown": f"published {number(row.published.ratio)}, measured "
            f"{with_bounds(row.measured)}{extrapolated(row.extrapolated)}: {row.mark}",
        }
        for index, row in enumerate(rows)
    ]
    axis = alt.Axis(values=ticks(*scale), format="~g", labelOverlap=True, orient=parts.orient(data))
    x_scale = alt.Scale(type="log", domain=list(scale), nice=False)
    fate = parts.colours("fate", COLOUR_OF_FATE)
    base = parts.stacked().encode(x=alt.X("published:Q", title="ratio of speeds", scale=x_scale, axis=axis))
    one = (
        alt.Chart()
        .transform_filter("datum.first")
        .mark_rule(strokeWidth=1.5, opacity=0.7)
        .encode(x=alt.datum(1))
    )
    way = base.mark_rule(strokeWidth=1.5, strokeDash=[2, 2], opacity=0.6, yOffset=8).encode(x2="measured:Q")
    intervals = parts.level_intervals(base.encode(color=fate), x_scale, strokeWidth=4, opacity=0.45)
    hollow = base.mark_point(size=70, filled=False, strokeWidth=2, opacity=1, yOffset=8).encode(
        color=fate, tooltip=parts.tooltip("shown")
    )
    solid = parts.points(base, size=70, yOffset=8).encode(
        x=alt.X("measured:Q", scale=x_scale), color=fate, tooltip=parts.tooltip("shown")
    )
    title = f"Published and measured ratios of {group.title}"
    return parts.stacked_panel(
        group.title, parts.described(title, data, "shown"), data, one, way, intervals, hollow, solid
    )


def _name(group: Group, row: BesideRatio, rows: Sequence[BesideRatio]) -> str:
    """Return a row's name; rows of the same name are numbered."""
    name = group.name(row)
    alike = [other for other in rows if group.name(other) == name]
    return name if len(alike) == 1 else f"{name} ({alike.index(row) + 1})"


def _of(row: BesideRatio | BesideFigure) -> Interval:
    assert row.measured is not None
    return row.measured


# ---------------------------------------------------------------- seconds


def seconds(analysis: Analysis) -> Figure | None:
    """Return the seconds of jobs, published above measured, a panel a test or a published level."""
    panels = tuple(panel for group in groups(analysis) for panel in _seconds_panels(analysis, group))
    if not panels:
        return None
    caption = (
        "Pale: as published. Full: as measured. A row a storage. Within a panel each of the two has its own "
        "scale, because other machines and other sizes take other times: compare the proportions."
    )
    encoding = encode(analysis.plan.cells)
    colours = parts.keys(analysis, encoding, panels) if encoding.colour == "storage" else ()
    return Figure("published-seconds", "Seconds as published and as measured", caption, panels, colours)


def _seconds_panels(analysis: Analysis, group: Group) -> Iterator[Panel]:
    found = [one for one in group.figures if one.published.measure == "seconds" and one.measured and one.cell]
    for title, rows in grouped(found, lambda one: _panel_title(group, one)).items():
        yield _seconds_panel(analysis, title, rows)


def _panel_title(group: Group, row: BesideFigure) -> str:
    """Return the test and the published levels, but for the storage, that a panel is for."""
    at = row.published.at
    parts = [
        subject(factor, at[factor]) for factor in group.figure_factors if factor in at and factor != "storage"
    ]
    return ", ".join([group.title, *([row.published.part] if row.published.part else []), *parts])


def _seconds_panel(analysis: Analysis, title: str, rows: Sequence[BesideFigure]) -> Panel:
    encoding = encode(analysis.plan.cells)
    levels = [analysis.plan.cell(row.cell or "") for row in rows]
    differing = [factor for factor in FACTORS if len({cell.level(factor) for cell in levels}) > 1] or [
        "storage"
    ]
    most_published = max(row.published.value for row in rows)
    most_measured = max(_of(row).estimate for row in rows)
    data: list[Row] = [
        {
            "cell": cell.id,
            "name": ", ".join(subject(factor, cell.level(factor)) for factor in differing),
            "colour": cell.level(encoding.colour),
            "published": row.published.value / most_published,
            "measured": _of(row).estimate / most_measured,
            "of_published": f"{printed(row.published.value)} s published",
            "of_measured": f"{number(_of(row).estimate)}{extrapolated(row.extrapolated)} s",
            "shown": f"published {printed(row.published.value)} s, measured "
            f"{with_bounds(row.measured)}{extrapolated(row.extrapolated)} s",
        }
        for row, cell in zip(rows, levels, strict=True)
    ]
    domain = alt.Scale(domain=[0, 1.45], nice=False)
    layers = []
    for field, offset_px, opacity in (("published", -1, 0.4), ("measured", 14, 1.0)):
        base = parts.stacked().encode(x=alt.X(f"{field}:Q", scale=domain, axis=None))
        layers.append(
            base.mark_bar(size=11, yOffset=offset_px, opacity=opacity, cornerRadiusEnd=2).encode(
                color=parts.colour(encoding), tooltip=parts.tooltip("shown")
            )
        )
        layers.append(
            base.mark_text(align="left", baseline="middle", dx=5, yOffset=offset_px).encode(
                text=f"of_{field}:N"
            )
        )
    told = parts.described(title, data, "shown")
    return parts.stacked_panel(title, told, data, *layers, row_px=BARS_HEIGHT_PX, names=parts.row_names(-16))
