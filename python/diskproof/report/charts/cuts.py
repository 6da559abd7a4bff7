"""The pictures of the cuts: speed against loss, and how much was lost in each cut."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import CutAnswer, Safety, SpeedBeside
from diskproof.analysis.safety.speed import typical
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import Encoding, encode
from diskproof.report.compose import cut_words as said
from diskproof.report.compose.safety import cells_of, levels_shown, ways
from diskproof.report.document import Figure, Panel
from diskproof.report.intervals import confidence, with_bounds
from diskproof.results.plan import Cell

HEIGHT_PX = 280


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
                title = f"{said.TITLES[way]}{of_server}"
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
    rows = [_speed_point(safety, answer, speed, encoding) for answer, speed in known]
    tops = [row[end] for row in rows for end in ("speed", "low", "high") if row[end] is not None]
    x = _lost_axis("lost:Q", most, "acknowledged and lost in the worst cut")
    y = alt.Y(
        "speed:Q",
        title="transactions/s",
        scale=alt.Scale(domain=[0, max(tops) * 1.1], nice=False),
        axis=alt.Axis(format=",.3~r", tickCount=5),
    )
    of_cells = alt.Chart().encode(color=parts.colour(encoding))
    spans = of_cells.mark_rule(strokeWidth=2, opacity=0.45).encode(
        x=_lost_axis("median:Q", most, ""), x2="lost:Q", y=y
    )
    marks = of_cells.encode(x=x, y=y, tooltip=parts.tooltip("figure"), **parts.shape(encoding))
    lost = parts.points(marks.transform_filter("datum.lost > 0"), size=70)
    none = marks.transform_filter("datum.lost == 0").mark_point(size=70, filled=False, strokeWidth=2)
    noted = alt.Chart().encode(x=x, y=y, text="note:N")
    beside = noted.transform_filter("!datum.gone").mark_text(align="left", baseline="middle", dx=9)
    gone = noted.transform_filter("datum.gone").mark_text(align="right", dx=-9, fontWeight="bold")
    bars = parts.intervals(of_cells.encode(x=x), "transactions/s")
    spec = parts.layered(spans, bars, lost, none, beside, gone, height_px=HEIGHT_PX)
    return Panel(
        title, parts.described(f"{title}: speed against loss", rows, "figure"), spec, rows, len(rows)
    )


def _speed_point(safety: Safety, answer: CutAnswer, speed: SpeedBeside, encoding: Encoding) -> Row:
    assert answer.lost is not None
    throughput = speed.throughput_per_s
    assert throughput is not None
    return {
        **_identity(safety, answer.cell, encoding),
        "speed": throughput.estimate,
        "low": throughput.low,
        "high": throughput.high,
        "median": answer.lost.median,
        "lost": answer.lost.worst,
        "note": _note(answer),
        "gone": answer.gone,
        "figure": f"{with_bounds(throughput)} transactions/s; {said.outcome(answer)}",
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
            title = said.TITLES[way]
            panels.append(_losses_panel(safety, title, answers, encoding, most))
    caption = "Acknowledged transactions that each telling cut took; a larger mark: more cuts took as many."
    title = "What each cut took"
    return Figure("losses", title, caption, tuple(panels), parts.keys(analysis, encoding, panels))


def _losses_panel(
    safety: Safety, title: str, answers: Sequence[CutAnswer], encoding: Encoding, most: int
) -> Panel:
    rows = [row for answer in answers for row in _loss_rows(safety, answer, encoding)]
    most_cuts = max([2, *(row["cuts"] for row in rows if row["cuts"])])
    scrolled = len(answers) > parts.MOST_CELLS_SHOWN
    x = _lost_axis("lost:Q", most, "acknowledged and lost", scrolled=scrolled)
    size = alt.Size("cuts:Q", scale=alt.Scale(type="sqrt", domain=[1, most_cuts], range=[40, 200]))
    base = parts.stacked().encode(color=parts.colour(encoding)).transform_filter("isValid(datum.cuts)")
    marks = base.mark_circle(opacity=0.55, yOffset=8)
    cuts = marks.encode(x=x, size=size, tooltip=parts.tooltip("figure"))
    return parts.stacked_panel(title, parts.described(title, rows, "figure"), rows, cuts)


def _loss_rows(safety: Safety, answer: CutAnswer, encoding: Encoding) -> Iterator[Row]:
    identity = _identity(safety, answer.cell, encoding)
    others = Counter(answer.losses) - Counter(answer.losses_of_gone)
    if answer.gone:  # in words: a mark on the axis would stand for a number of transactions
        identity["name"] += f"; DATABASE LOST: {said.cuts(answer.gone)}"
        yield {**identity, "lost": 0, "cuts": None, "figure": said.outcome(answer)}
    for lost, cuts in sorted(others.items()):
        figure = f"{said.transactions(lost)} lost in {said.cuts(cuts)}"
        yield {**identity, "lost": lost, "cuts": cuts, "figure": figure}


# ---------------------------------------------------------------- an axis with room for none


def _lost_axis(field: str, most: float, title: str, *, scrolled: bool = False) -> alt.X:
    """Return the axis of losses: from none over one to many, each power of ten as wide as the other.

    Symmetric logarithm (Webber, "A bi-symmetric log transformation for wide-range data", Measurement
    Science and Technology 24, 2013): 0 has a place on it.
    """
    low, high = -0.35, max(most * 1.35, 2.0)
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
