"""The picture of a mean transaction's time: a stacked bar a cell."""

from collections.abc import Iterator

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.records import CellLimit
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import COLOURS, INVALID_COLOUR
from diskproof.report.compose import limits_words as said
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Figure, Key
from diskproof.wording.numbers import milliseconds
from diskproof.wording.numbers import whole_percent as share_of

NINTH = "#6090C0"
"""A colour beside the eight of all charts, found as they were."""

COLOUR_OF_PART: dict[str, str] = {
    "log flush": COLOURS[0],
    "data reads": COLOURS[2],
    "page writes": COLOURS[4],
    "locks": COLOURS[5],
    "CPU": COLOURS[1],
    "waiting for a CPU": COLOURS[3],
    "load generator": COLOURS[6],
    "network": NINTH,
    said.UNEXPLAINED: INVALID_COLOUR,
}
"""In the order of the bars; neighbours are told apart best."""

ROOM = 1.03


def time_split(analysis: Analysis) -> Figure | None:
    """Return where the time of a mean transaction goes; None if no cell's can be split."""
    cells = [one for one in analysis.limits.cells if one.split] if analysis.limits else []
    if not cells:
        return None
    shares = parts.is_wide([one.split.latency_us for one in cells if one.split])
    rows = [row for one in cells for row in _rows(analysis, one, shares=shares)]
    present = {row["part"] for row in rows}
    axis = {
        "format": ".0%" if shares else ",.3~r",
        "labelOverlap": True,
        "tickCount": 5,
        "orient": "top" if len(cells) > parts.MOST_CELLS_SHOWN else "bottom",
    }
    scale = {"domain": [0, max(row["until"] for row in rows) * ROOM], "nice": False}
    title = "share of the mean time" if shares else "milliseconds"
    present_colours = {name: ink for name, ink in COLOUR_OF_PART.items() if name in present}
    channels = {
        "x": parts.figures("begin", title=title, scale=scale, axis=axis),
        "x2": {"field": "until"},
        "color": parts.looks("part", present_colours),
    }
    bars = parts.STACKED | channels | parts.tooltip("shown")
    panel = parts.stacked_panel(
        "", said.split_title(analysis), rows, "split", parts.layer("bar", bars, size=13, yOffset=9, opacity=1)
    )
    caption = (
        "The parts of the mean time, over all clients and valid trials. Grey: what no part explains. Where "
        "parts overlap, they add up to more than it takes."
    )
    keys = tuple(Key(name, colour=ink) for name, ink in present_colours.items())
    return Figure("split", said.split_title(analysis), caption, (panel,), keys)


def _rows(analysis: Analysis, cell: CellLimit, *, shares: bool) -> Iterator[Row]:
    split = cell.split
    assert split is not None
    unit = split.latency_us if shares else 1000.0
    left_us = said.unexplained_us(split)
    over = f", the parts overlap by {milliseconds(-left_us)} ms" if left_us < 0 else ""
    identity = {
        "cell": cell.cell.id,
        "name": f"{cell_words(cell.cell, analysis.varying)}: {milliseconds(split.latency_us)} ms{over}",
        "split": said.main_parts(split),
    }
    at_us, by_name = 0.0, dict(said.parts(split))
    for name in COLOUR_OF_PART:
        if (time_us := by_name.get(name, 0.0)) <= 0:
            continue
        share = f", {share_of(time_us / split.latency_us)}" if split.latency_us > 0 else ""
        yield {
            **identity,
            "part": name,
            "begin": at_us / unit,
            "until": (at_us + time_us) / unit,
            "shown": f"{name} {milliseconds(time_us)} ms{share}",
        }
        at_us += time_us
