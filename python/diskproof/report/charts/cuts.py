"""The pictures of the cuts: speed against loss, how much was lost in each cut, and the worst cuts in time."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import CutAnswer, Moments, Safety, SpeedBeside
from diskproof.analysis.safety.speed import typical
from diskproof.report.charts import labels, parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import COLOURS, INVALID_COLOUR, Encoding, encode
from diskproof.report.compose import cut_words as said
from diskproof.report.compose import safety_words
from diskproof.report.compose.safety import cells_of, levels_shown, ways
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.results.plan import Cell

HEIGHT_PX = 280
NARROW_PX = 400
"""Width for which notes are placed; on a wider drawing points lie farther apart, and so do their notes."""

MOST_MOMENTS = 8
"""The worst cuts that are drawn in time."""

LINE_PX = 16
"""Height of a note, with a little air."""

ROOM = 0.06
"""Share of an axis that is left free at its ends."""


def loss_encoding(analysis: Analysis, safety: Safety) -> Encoding:
    """Return how the cells that are cut look: storages in the colours that they have in the other charts."""
    made = encode(cells_of(safety))
    if made.colour != "storage" or not analysis.plan.cells:
        return made
    usual = encode(analysis.plan.cells)
    known = usual.colours if usual.colour == "storage" else {}
    return replace(made, colours={level: known.get(level, own) for level, own in made.colours.items()})


def _name(safety: Safety, cell: Cell) -> str:
    return ", ".join(cell.level(level) for level in levels_shown(cells_of(safety)))


def _identity(safety: Safety, cell: Cell, encoding: Encoding) -> Row:
    row: Row = {"cell": cell.id, "name": _name(safety, cell), "colour": cell.level(encoding.colour)}
    return {**row, "shape": cell.level(encoding.shape)} if encoding.shape else row


# ---------------------------------------------------------------- speed against loss


def speed_against_loss(analysis: Analysis) -> Figure | None:
    """Return throughput against the transactions that the worst cut took, a panel a way to die and server.

    None if nothing that was cut was measured for speed as well.
    """
    safety = analysis.safety
    if safety is None:
        return None
    encoding = loss_encoding(analysis, safety)
    servers = list(dict.fromkeys(cell.server for cell in cells_of(safety)))
    # All panels share one axis of losses, so that ways to die can be compared by eye.
    most = max((one.lost.worst for one in safety.answers if one.lost), default=0.0)
    panels = []
    for way in ways(safety):
        for server in servers:
            answers = [one for one in safety.answers if one.way == way and one.cell.server == server]
            known = [
                (one, speed)
                for one in answers
                if one.lost is not None
                and (speed := typical(safety.speeds, one.cell)) is not None
                and speed.throughput_per_s is not None
            ]
            if known:
                of_server = f" in {server}" if len(servers) > 1 else ""
                title = f"{safety_words.TITLES[way]}{of_server}"
                panels.append(_speed_panel(safety, title, known, encoding, most))
    if not panels:
        return None
    caption = (
        "Throughput against the acknowledged transactions that the worst cut took; a line leads to the "
        "median cut. A hollow mark lost none: beside it are the cuts made, and the share of cuts that may "
        f"still lose some (one-sided 95% bound). Upright bars: {confidence(analysis)} intervals."
    )
    title = "Speed against loss"
    return Figure(
        "speed-loss", title, caption, tuple(panels), parts.keys(analysis, encoding, panels, with_shapes=True)
    )


def _speed_panel(
    safety: Safety,
    title: str,
    known: Sequence[tuple[CutAnswer, SpeedBeside]],
    encoding: Encoding,
    most: float,
) -> Panel:
    cells = [_speed_point(safety, answer, speed, encoding) for answer, speed in known]
    tops = [row[end] for row in cells for end in ("speed", "low", "high") if row[end] is not None]
    rows = [*cells, *_bounds(cells, most, max(tops) * 1.1)]
    x = _lost_axis("lost:Q", most, "acknowledged transactions lost in the worst cut")
    y = alt.Y(
        "speed:Q",
        title="transactions/s",
        scale=alt.Scale(domain=[0, max(tops) * 1.1], nice=False),
        axis=alt.Axis(format=",.3~r", tickCount=5),
    )
    of_cells = alt.Chart().transform_filter("datum.kind == 'point'").encode(color=parts.colour(encoding))
    spans = of_cells.mark_rule(strokeWidth=2, opacity=0.45).encode(
        x=_lost_axis("median:Q", most, ""), x2="lost:Q", y=y
    )
    marks = of_cells.encode(x=x, y=y, tooltip=parts.tooltip("figure"), **parts.shape(encoding))
    lost = parts.points(marks.transform_filter("datum.lost > 0"), size=70)
    none = marks.transform_filter("datum.lost == 0").mark_point(size=70, filled=False, strokeWidth=2)
    notes = parts.placed(alt.Chart().transform_filter("datum.kind == 'note'").encode(x=x, y=y), "note")
    bars = parts.intervals(of_cells.encode(x=x), "transactions/s")
    spec = parts.layered(spans, bars, lost, none, notes, height_px=HEIGHT_PX)
    return Panel(
        title, parts.described(f"{title}: speed against loss", cells, "figure"), spec, rows, len(cells)
    )


def _speed_point(safety: Safety, answer: CutAnswer, speed: SpeedBeside, encoding: Encoding) -> Row:
    assert answer.lost is not None
    throughput = speed.throughput_per_s
    assert throughput is not None
    return {
        **_identity(safety, answer.cell, encoding),
        "kind": "point",
        "speed": throughput.estimate,
        "low": throughput.low,
        "high": throughput.high,
        "median": answer.lost.median,
        "lost": answer.lost.worst,
        "none": _none(answer),
        "figure": f"{with_bounds(throughput)} transactions/s; {said.outcome(answer)}",
    }


def _none(answer: CutAnswer) -> str:
    """Say what none in so many cuts bounds, as short as a mark's note must be."""
    if answer.with_loss or answer.loss_share is None:
        return ""
    return f"none in {answer.telling}: ≤ {said.points(answer.loss_share.high)}"


def _bounds(points: Sequence[Row], most: float, top: float) -> Iterator[Row]:
    """Yield the notes of cells that lost nothing, placed so that they cover no mark and no other note."""

    def at(row: Row) -> tuple[float, float]:
        return _along(row["lost"], most) * NARROW_PX, (1 - row["speed"] / top) * HEIGHT_PX

    wanted: list[Row] = []
    for row in sorted((row for row in points if row["none"]), key=lambda row: -row["speed"]):
        # Marks that lie on each other and say the same say it once.
        if not any(row["none"] == one["none"] and at(one)[1] + LINE_PX > at(row)[1] for one in wanted):
            wanted.append(row)
    marks = [labels.around(at(row), at(row)) for row in points]
    placed = labels.place([(*at(row), row["none"]) for row in wanted], marks, NARROW_PX, HEIGHT_PX)
    for row, label in zip(wanted, placed, strict=True):
        place = {"dx": label.dx, "dy": label.dy, "align": label.align}
        yield {"kind": "note", "lost": row["lost"], "speed": row["speed"], "note": row["none"], **place}


# ---------------------------------------------------------------- what each cut took


def losses(analysis: Analysis) -> Figure | None:
    """Return the transactions that each cut took, a panel a way to die and a row a cell.

    None if no cut took any: then all are zeros.
    """
    safety = analysis.safety
    if safety is None or not any(one.with_loss and one.losses for one in safety.answers):
        return None
    encoding = loss_encoding(analysis, safety)
    others = (Counter(one.losses) - Counter(one.losses_of_gone) for one in safety.answers)
    most = max((lost for counted in others for lost in counted), default=0)
    panels = []
    for way in ways(safety):
        answers = [one for one in safety.answers if one.way == way and one.losses]
        if answers:
            title = safety_words.TITLES[way]
            panels.append(_losses_panel(safety, title, answers, encoding, most))
    caption = (
        "Acknowledged transactions that each telling cut took; a larger mark: more cuts took as many. "
        "The bar marks the median."
    )
    title = "What each cut took"
    return Figure("losses", title, caption, tuple(panels), parts.keys(analysis, encoding, panels))


def _losses_panel(
    safety: Safety, title: str, answers: Sequence[CutAnswer], encoding: Encoding, most: int
) -> Panel:
    rows = [row for answer in answers for row in _loss_rows(safety, answer, encoding)]
    most_cuts = max(row.get("cuts", 0) for row in rows)
    x = _lost_axis(
        "lost:Q", most, "acknowledged transactions lost", scrolled=len(answers) > parts.MOST_CELLS_SHOWN
    )
    base = parts.stacked().encode(color=parts.colour(encoding))
    cuts = (
        base.transform_filter("isValid(datum.cuts)")
        .mark_circle(opacity=0.55, yOffset=8)
        .encode(
            x=x,
            size=alt.Size(
                "cuts:Q", scale=alt.Scale(type="sqrt", domain=[1, max(most_cuts, 2)], range=[40, 200])
            ),
            tooltip=parts.tooltip("figure"),
        )
    )
    gone = (
        base.transform_filter("isValid(datum.gone)")
        .mark_text(align="right", baseline="middle", fontWeight="bold", yOffset=-7)
        .encode(x=alt.value("width"), text="gone:N", tooltip=parts.tooltip("figure"))
    )
    medians = (
        base.transform_filter("isValid(datum.median)")
        .mark_tick(thickness=3, size=15, yOffset=8)
        .encode(x=_lost_axis("median:Q", most, "", scrolled=len(answers) > parts.MOST_CELLS_SHOWN))
    )
    told = [row for row in rows if "median" in row]
    panel = parts.stacked_panel(title, parts.described(title, told, "figure"), rows, cuts, medians, gone)
    return Panel(panel.title, panel.description, panel.spec, rows, len(rows), tall=panel.tall)


def _loss_rows(safety: Safety, answer: CutAnswer, encoding: Encoding) -> Iterator[Row]:
    identity = _identity(safety, answer.cell, encoding)
    assert answer.lost is not None
    middle = f"{answer.lost.median:,.10g}"
    yield {
        **identity,
        "median": answer.lost.median,
        "figure": f"{said.outcome(answer)}; {middle} in the median cut",
    }
    all_gone = Counter(answer.losses_of_gone)
    for lost, cuts in sorted((Counter(answer.losses) - all_gone).items()):
        figure = f"{said.transactions(lost)} lost in {said.cuts(cuts)}"
        yield {**identity, "lost": lost, "cuts": cuts, "figure": figure}
    if answer.gone:  # in words: a mark on the axis would stand for a number of transactions
        figure = f"DATABASE LOST: {said.cuts(answer.gone)}"
        yield {**identity, "gone": figure, "figure": figure}


# ---------------------------------------------------------------- the worst cuts in time

MOMENTS: dict[str, tuple[str, str, str]] = {
    "flush": ("last flush of a disk", "diamond", INVALID_COLOUR),
    "kept": ("last acknowledgement kept", "circle", COLOURS[0]),
    "lost": ("first one lost", "triangle-up", COLOURS[1]),
    "told": ("last one before the cut", "square", COLOURS[3]),
}
"""Of each moment: what it is, its shape and its colour."""

MOMENT_KEYS = tuple(Key(what, colour=ink, shape=sign) for what, sign, ink in MOMENTS.values())


def worst_cuts(analysis: Analysis) -> Figure | None:
    """Return the worst cut of each cell and way as a line of time; None if no cut took anything."""
    safety = analysis.safety
    worst = [one.worst for one in safety.answers if one.worst] if safety else []
    if safety is None or not worst:
        return None
    shown = sorted(worst, key=lambda one: -one.lost)[:MOST_MOMENTS]
    cells = {cell.id: cell for cell in cells_of(safety)}
    rows = [row for one in shown for row in _moment_rows(safety, one, cells[one.cell])]
    earliest = min(row["at_s"] for row in rows)
    domain = alt.Scale(domain=[earliest * (1 + ROOM), -earliest * ROOM], nice=False)
    x = alt.X("at_s:Q", title="seconds, the cut at 0", scale=domain, axis=alt.Axis(tickCount=6, format="~g"))
    base = parts.stacked()
    window = (
        base.transform_filter("isValid(datum.until_s)")
        .mark_bar(size=9, opacity=0.3, yOffset=8, color=MOMENTS["lost"][2])
        .encode(x=x, x2="until_s:Q", tooltip=parts.tooltip("figure"))
    )
    cut = (
        base.transform_filter("isValid(datum.until_s)")
        .mark_tick(thickness=3, size=20, yOffset=8, color="#8A8A8A")
        .encode(x=alt.X("cut_s:Q", title="", scale=domain))
    )
    moments = parts.points(base.transform_filter("isValid(datum.kind)"), size=70, yOffset=8).encode(
        x=x,
        shape=parts.shapes("kind", {what: sign for what, sign, _ in MOMENTS.values()}),
        color=parts.colours("kind", {what: ink for what, _, ink in MOMENTS.values()}),
        tooltip=parts.tooltip("figure"),
    )
    told = [row for row in rows if "until_s" in row]
    panel = parts.stacked_panel(
        "", parts.described("The worst cuts in time", told, "figure"), rows, window, cut, moments
    )
    caption = (
        "The cut with most transactions lost of each cell and way to die, the worst first. The band is the "
        "window of loss: from the first lost acknowledgement to the last; the upright line is the cut."
    )
    if any(None in one.last_flush_before_s.values() for one in shown):
        caption += " If no flush is drawn, a disk answered none since the load began."
    return Figure("worst-cuts", "The worst cuts in time", caption, (panel,), MOMENT_KEYS)


def _moment_rows(safety: Safety, one: Moments, cell: Cell) -> Iterator[Row]:
    name = f"{one.id}: {_name(safety, cell)}, {one.way}, {said.transactions(one.lost)} lost"
    identity = {"cell": f"{one.cell} {one.way}", "name": name}
    first = -(one.first_lost_before_s or 0.0)
    yield {
        **identity,
        "at_s": first,
        "until_s": -(one.last_acknowledged_before_s or 0.0),
        "cut_s": 0.0,
        "figure": f"a window of {said.seconds(-first)}",
    }
    points = [
        *(("flush", before, disk) for disk, before in one.last_flush_before_s.items()),
        ("kept", one.last_kept_before_s, ""),
        ("lost", one.first_lost_before_s, ""),
        ("told", one.last_acknowledged_before_s, ""),
    ]
    for key, before, disk in points:
        if before is not None:
            what = MOMENTS[key][0]
            figure = f"{what}{f' ({disk})' if disk else ''}, {said.seconds(before)} before the cut"
            yield {**identity, "kind": what, "at_s": -before, "figure": figure}


# ---------------------------------------------------------------- an axis with room for none


def _along(lost: float, most: float) -> float:
    """Return how far along the axis of losses a figure lies, from 0 to 1."""
    low, high = _domain(most)
    return (_symlog(lost) - _symlog(low)) / (_symlog(high) - _symlog(low))


def _symlog(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)


def _domain(most: float) -> tuple[float, float]:
    return -0.35, max(most * 1.35, 2.0)


def _lost_axis(field: str, most: float, title: str, *, scrolled: bool = False) -> alt.X:
    """Return the axis of losses: from none over one to many, each power of ten as wide as the other.

    Symmetric logarithm (Webber, "A bi-symmetric log transformation for wide-range data", Measurement
    Science and Technology 24, 2013): 0 has a place on it.
    """
    low, high = _domain(most)
    powers = [10.0**power for power in range(math.ceil(math.log10(high)))]
    ticks = [0.0, *powers] if high > 10 else [0.0, 1.0, *([2.0, 5.0] if high > 5 else [2.0])]
    return alt.X(
        field,
        title=title,
        scale=alt.Scale(type="symlog", constant=1, domain=[low, high], nice=False),
        axis=alt.Axis(
            values=[tick for tick in ticks if tick <= high],
            format=",.3~r",
            orient="top" if scrolled else "bottom",
        ),
    )
