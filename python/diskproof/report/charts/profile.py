"""The pictures of a profile: throughput and latency against queue depth, and how long a flush takes."""

from collections.abc import Callable, Sequence
from itertools import accumulate

from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row, Spec
from diskproof.report.charts.style import COLOURS, DASHES, SHAPES
from diskproof.report.compose.profile import PATTERNS, RANDOM, SEQUENTIAL, SYNCED
from diskproof.report.document import Figure, Key, Panel
from diskproof.results.profile import Pattern, Profile, ProfileCell, Stream
from diskproof.wording.numbers import number, size

PANEL_HEIGHT_PX = 260
MOST_STEPS = 300
"""Steps of a curve that are drawn; fio's bins are finer than a screen."""

DIRECTIONS = {"read": COLOURS[0], "write": COLOURS[1]}
SIZES = ("4 KiB, or 256 KiB if sequential", "16 KiB, or 1 MiB if sequential")

KEYS = (
    *(Key(words, colour=colour) for words, colour in DIRECTIONS.items()),
    *(Key(size, dash=dash, shape=sign) for size, dash, sign in zip(SIZES, DASHES, SHAPES, strict=False)),
)


def drawings(profile: Profile) -> list[Figure]:
    """Return the figures of a profile; one for which nothing was measured is left out."""
    panels = (
        _panel(profile, RANDOM, "Random", "requests/s", lambda one: one.per_s),
        _panel(profile, SEQUENTIAL, "Sequential", "MB/s", lambda one: one.megabytes_per_s),
    )
    drawn = tuple(panel for panel in panels if panel)
    caption = "How much more a disk answers when more requests are in flight."
    throughput = Figure("throughput", "Throughput by queue depth", caption, drawn, KEYS) if drawn else None
    return [figure for figure in (throughput, flushes(profile)) if figure]


# ---------------------------------------------------------------- against queue depth


def _panel(
    profile: Profile,
    patterns: Sequence[Pattern],
    name: str,
    unit: str,
    figure: Callable[[Stream], float],
) -> Panel | None:
    rows = [_row(profile, cell, figure, unit) for pattern in patterns for cell in profile.measured(pattern)]
    if not rows:
        return None
    x = parts.doubling("depth", [row["depth"] for row in rows], "queue depth")
    y = parts.Span.of([row["figure"] for row in rows]).channel("figure", unit)
    channels = x | {"y": y, "color": parts.looks("direction", DIRECTIONS)}
    dash, sign = (parts.looks("size", dict(zip(SIZES, some, strict=False))) for some in (DASHES, SHAPES))
    return parts.panel(
        name,
        f"{name}, {unit} by queue depth",
        rows,
        "shown",
        parts.lines(channels | {"strokeDash": dash}),
        parts.points(channels | {"shape": sign} | parts.tooltip("shown")),
        height_px=PANEL_HEIGHT_PX,
    )


def _row(profile: Profile, cell: ProfileCell, figure: Callable[[Stream], float], unit: str) -> Row:
    assert cell.requests is not None
    probe = cell.probe
    blocks = sorted({other.probe.block_bytes for other in profile.measured(probe.pattern)})
    value = figure(cell.requests)
    return {
        "name": f"{PATTERNS[probe.pattern]} {size(probe.block_bytes)}, depth {probe.depth}",
        "direction": "read" if probe.pattern.endswith("read") else "write",
        "size": SIZES[0 if probe.block_bytes == blocks[0] else 1],
        "depth": probe.depth,
        "figure": value,
        "shown": f"{number(value)} {unit}",
    }


# ---------------------------------------------------------------- the flush


def flushes(profile: Profile) -> Figure | None:
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
    inks = dict(zip(curves, COLOURS, strict=False))
    summary = "; ".join(f"{name}: half within {number(_half(curve))} ms" for name, curve in curves.items())
    title = "How long a flush takes"
    panel = Panel("", f"{title}. {summary}.", _steps(rows, inks), rows, len(curves))
    caption = (
        "The share of flushes that took no longer: fdatasync after one write, or for fileio after 100 "
        "requests; with O_DSYNC, the write with its flush. What is left of 100 % at the right is the slow "
        "tail."
    )
    keys = tuple(Key(name, colour=ink) for name, ink in inks.items())
    return Figure("flush", title, caption, (panel,), keys)


def _steps(rows: Sequence[Row], inks: dict[str, str]) -> Spec:
    times = [row["ms"] for row in rows]
    channels = {
        "x": parts.Span(min(times) / 1.25, max(times) * 1.25, log=True).channel("ms", "milliseconds"),
        "y": parts.figures(
            "share",
            title="share of flushes",
            scale={"domain": [0, 1]},
            axis={"format": "%", "tickCount": 5},
        ),
        "color": parts.looks("name", inks),
    }
    return {"layer": [parts.lines(channels, opacity=1, interpolate="step-after")], "height": PANEL_HEIGHT_PX}


def _curve(stream: Stream) -> list[tuple[float, float]]:
    """Return the cumulated histogram as (milliseconds, share), beginning at 0."""
    total = sum(count for _, count in stream.bins_us)
    shares = accumulate(count / total for _, count in stream.bins_us)
    points = [(us / 1000, min(1.0, share)) for (us, _), share in zip(stream.bins_us, shares, strict=True)]
    step = max(1, len(points) // MOST_STEPS)
    return [(points[0][0], 0.0), *points[:-1:step], points[-1]]


def _half(curve: Sequence[tuple[float, float]]) -> float:
    return next(ms for ms, share in curve if share >= 0.5)
