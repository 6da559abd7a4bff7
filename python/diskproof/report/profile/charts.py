"""The pictures of a profile: throughput and latency against queue depth, and how long a flush takes."""

from collections.abc import Callable, Sequence
from itertools import accumulate

import altair as alt

from diskproof.report import words
from diskproof.report.chart_parts import (
    Drawing,
    Figure,
    Key,
    Panel,
    Row,
    Spec,
    axis,
    described,
    layered,
    log_ticks,
    scale,
)
from diskproof.report.chart_style import COLOURS, DASHES, SHAPES
from diskproof.report.profile.words import PATTERNS, RANDOM, SEQUENTIAL, SYNCED
from diskproof.results.profile import Pattern, Profile, ProfileCell, Stream

PANEL_HEIGHT_PX = 260
MOST_STEPS = 300
"""Steps of a curve that are drawn; fio's bins are finer than a screen."""

DIRECTIONS = ("read", "write")
SIZES = ("4 KiB, or 256 KiB where sequential", "16 KiB, or 1 MiB where sequential")


def drawings(profile: Profile, *, legend: bool = False) -> list[Drawing]:
    """Return the figures of a profile; one for which nothing was measured is left out."""
    made = (
        throughput(profile, legend=legend),
        latency(profile, legend=legend),
        flushes(profile, legend=legend),
    )
    return [drawing for drawing in made if drawing]


# ---------------------------------------------------------------- against queue depth


def throughput(profile: Profile, *, legend: bool = False) -> Drawing | None:
    """Return requests a second (random) and MB/s (sequential) against queue depth."""
    panels = [
        _panel(profile, RANDOM, "Random", "requests/s", lambda one: one.per_s, legend=legend),
        _panel(profile, SEQUENTIAL, "Sequential", "MB/s", lambda one: one.megabytes_per_s, legend=legend),
    ]
    caption = "How much more a disk answers when more requests are under way at a time."
    return _by_depth("throughput", "Throughput by queue depth", caption, panels)


def latency(profile: Profile, *, legend: bool = False) -> Drawing | None:
    """Return mean latency, with a rule up to the 99th percentile, against queue depth."""
    panels = [
        _panel(
            profile, patterns, name, "milliseconds", lambda one: one.mean_us / 1000, tail=True, legend=legend
        )
        for patterns, name in ((RANDOM, "Random"), (SEQUENTIAL, "Sequential"))
    ]
    caption = "Mean latency; a rule goes up to the 99th percentile where enough requests lie beyond it."
    return _by_depth("latency", "Latency by queue depth", caption, panels)


def _panel(
    profile: Profile,
    patterns: Sequence[Pattern],
    name: str,
    unit: str,
    figure: Callable[[Stream], float],
    *,
    tail: bool = False,
    legend: bool,
) -> Panel | None:
    rows = [_row(profile, cell, figure, unit) for pattern in patterns for cell in profile.measured(pattern)]
    if not rows:
        return None
    figures = [value for row in rows for value in (row["figure"], row["tail"] if tail else None) if value]
    depths = sorted({row["depth"] for row in rows})
    x = alt.X(
        "depth:Q",
        title="queue depth",
        scale=alt.Scale(type="log", base=2, domain=[depths[0] / 1.2, depths[-1] * 1.2], nice=False),
        axis=alt.Axis(values=depths, format="d", grid=False, labelOverlap=True),
    )
    y = alt.Y("figure:Q", title=unit, scale=scale(figures), axis=axis(figures))
    base = alt.Chart().encode(x=x, y=y, color=_colour(DIRECTIONS, "direction", legend=legend))
    blocks = alt.Legend(title=None, labelLimit=260)
    shown_blocks = blocks if legend else None
    dashes = alt.Scale(domain=SIZES, range=[list(dash) for dash in DASHES[:2]])
    lines = base.mark_line(strokeWidth=2, opacity=0.8).encode(
        strokeDash=alt.StrokeDash("size:N", scale=dashes, legend=shown_blocks)
    )
    points = base.mark_point(size=60, filled=True, opacity=1).encode(
        shape=alt.Shape(
            "size:N",
            scale=alt.Scale(domain=SIZES, range=list(SHAPES[:2])),
            legend=shown_blocks,
        ),
        tooltip=[alt.Tooltip("name:N", title="cell"), alt.Tooltip("shown:N", title="figure")],
    )
    tails = base.transform_filter("isValid(datum.tail)").mark_rule(strokeWidth=2, opacity=0.35)
    layers = [tails.encode(y2="tail:Q")] if tail else []
    spec = layered(*layers, lines, points, height_px=PANEL_HEIGHT_PX)
    return Panel(name, described(f"{name}, {unit} by queue depth", rows, "shown"), spec, rows, len(rows))


def _row(profile: Profile, cell: ProfileCell, figure: Callable[[Stream], float], unit: str) -> Row:
    assert cell.requests is not None
    probe, tail = cell.probe, cell.requests.percentiles_us.get("99")
    blocks = sorted({other.probe.block_bytes for other in profile.measured(probe.pattern)})
    value = figure(cell.requests)
    return {
        "name": f"{PATTERNS[probe.pattern]} {words.size(probe.block_bytes)}, depth {probe.depth}",
        "direction": "read" if probe.pattern.endswith("read") else "write",
        "size": SIZES[0 if probe.block_bytes == blocks[0] else 1],
        "depth": probe.depth,
        "figure": value,
        "tail": None if tail is None else tail / 1000,
        "shown": f"{words.number(value)} {unit}",
    }


def _by_depth(name: str, title: str, caption: str, panels: Sequence[Panel | None]) -> Drawing | None:
    drawn = tuple(panel for panel in panels if panel)
    if not drawn:
        return None
    keys = (
        *(Key(words, colour=colour) for words, colour in zip(DIRECTIONS, COLOURS, strict=False)),
        *(Key(size, dash=dash, shape=sign) for size, dash, sign in zip(SIZES, DASHES, SHAPES, strict=False)),
    )
    return Drawing(Figure(name, title, caption, drawn), keys)


# ---------------------------------------------------------------- the flush


def flushes(profile: Profile, *, legend: bool = False) -> Drawing | None:
    """Return the distribution of the flush: the share that took no longer than a time."""
    curves = {
        PATTERNS[cell.probe.pattern]: _curve(stream)
        for pattern in SYNCED
        for cell in profile.measured(pattern)
        if (stream := cell.flushes or (cell.writes if pattern == "dsync-append" else None)) and stream.bins_us
    }
    if not curves:
        return None
    rows: list[Row] = [
        {"name": name, "ms": ms, "share": share} for name, curve in curves.items() for ms, share in curve
    ]
    names = tuple(curves)
    summary = "; ".join(
        f"{name}: half within {words.number(_half(curve))} ms" for name, curve in curves.items()
    )
    title = "How long a flush takes"
    panel = Panel("", f"{title}. {summary}.", _steps(rows, names, legend=legend), rows, len(curves))
    caption = (
        "The share of flushes that took no longer: fdatasync after one write, or for fileio after 100 "
        "requests; "
        "with O_DSYNC, the write with its flush. What is left of 100 % at the right is the slow tail."
    )
    keys = tuple(Key(name, colour=colour) for name, colour in zip(names, COLOURS, strict=False))
    return Drawing(Figure("flush", title, caption, (panel,)), keys)


def _steps(rows: Sequence[Row], names: Sequence[str], *, legend: bool) -> Spec:
    times = [row["ms"] for row in rows]
    low, high = min(times) / 1.25, max(times) * 1.25
    x = alt.X(
        "ms:Q",
        title="milliseconds",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(format=",.3~r", labelOverlap=True, values=log_ticks(low, high)),
    )
    y = alt.Y(
        "share:Q",
        title="share of flushes",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format="%", tickCount=5),
    )
    lines = (
        alt.Chart()
        .mark_line(strokeWidth=2, interpolate="step-after")
        .encode(
            x=x,
            y=y,
            color=_colour(names, "name", legend=legend),
            tooltip=[
                alt.Tooltip("name:N", title="cell"),
                alt.Tooltip("ms:Q", title="ms", format=",.3~r"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
    )
    return layered(lines, height_px=PANEL_HEIGHT_PX)


def _curve(stream: Stream) -> list[tuple[float, float]]:
    """Return the cumulated histogram as (milliseconds, share), beginning at 0."""
    total = sum(count for _, count in stream.bins_us)
    shares = accumulate(count / total for _, count in stream.bins_us)
    points = [(us / 1000, min(1.0, share)) for (us, _), share in zip(stream.bins_us, shares, strict=True)]
    step = max(1, len(points) // MOST_STEPS)
    return [(points[0][0], 0.0), *points[:-1:step], points[-1]]


def _half(curve: Sequence[tuple[float, float]]) -> float:
    return next(ms for ms, share in curve if share >= 0.5)


def _colour(names: Sequence[str], field: str, *, legend: bool) -> alt.Color:
    colours = alt.Scale(domain=list(names), range=list(COLOURS[: len(names)]))
    return alt.Color(
        f"{field}:N", scale=colours, legend=alt.Legend(title=None, symbolOpacity=1) if legend else None
    )
