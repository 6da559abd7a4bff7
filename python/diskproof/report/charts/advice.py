"""The picture of an advice: throughput on each disk against its price, and the target."""

from collections.abc import Iterator

import altair as alt

from diskproof.analysis.advised.advise import LIKELY, SURE
from diskproof.analysis.advised.records import Advice, Candidate
from diskproof.report.charts import parts
from diskproof.report.charts.parts import Row
from diskproof.report.charts.style import COLOURS
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.intervals import with_bounds
from diskproof.wording.numbers import number, percent

HEIGHT_PX = 320

ADVISED, TO_BUY, MEETS, MAY, MISSES, MEASURED = (
    "advised",
    "to buy",
    "meets the target",
    "may meet it",
    "misses the target",
    "measured on a virtual disk",
)
SHAPES = {
    ADVISED: "diamond",
    TO_BUY: "diamond",
    MEETS: "circle",
    MAY: "square",
    MISSES: "triangle-up",
    MEASURED: "cross",
}

OTHERS = "other cards"
"""Cards beyond the colours share the last one."""


def throughput_by_price(advice: Advice) -> Figure | None:
    """Return what each disk is predicted to do against its price of a month; None if nothing is predicted."""
    known = [one for one in advice.candidates if one.predicted.per_s]
    if not known:
        return None
    cards = list(dict.fromkeys(one.configuration.card for one in known))
    colours = dict(zip(cards, COLOURS, strict=False))
    if len(cards) > len(COLOURS):
        colours = {**dict(zip(cards, COLOURS[:-1], strict=False)), OTHERS: COLOURS[-1]}
    rows = [_point(advice, one, colours) for one in known]
    rows += _measured(advice, colours)
    points = list(rows)
    across = parts.Span.of([row["price"] for row in rows])
    up = parts.Span.of([row[key] for row in rows for key in ("speed", "low", "high") if row.get(key)])
    if advice.target.per_s is not None:
        rows.append({"kind": "target", "speed": advice.target.per_s})
    currency = known[0].configuration.currency
    x = alt.X("price:Q", title=f"{currency} a month", scale=across.scale, axis=across.axis())
    y = alt.Y("speed:Q", title="transactions/s", scale=up.scale, axis=up.axis())
    base = alt.Chart().transform_filter("datum.kind == 'point'").encode(x=x)
    coloured = base.encode(color=parts.colours("card", colours))
    marks = parts.points(coloured, size=90).encode(
        y=y, shape=parts.shapes("answer", SHAPES), tooltip=parts.tooltip("figure", "disk")
    )
    named = f"datum.answer == '{ADVISED}' || datum.answer == '{TO_BUY}'"
    chosen = base.transform_filter(named).encode(y=y, text="answer:N")
    labels = chosen.mark_text(align="left", dx=9, fontWeight="bold")
    target = alt.Chart().transform_filter("datum.kind == 'target'")
    line = target.mark_rule(strokeDash=[6, 4], strokeWidth=1.5, clip=True).encode(y=y)
    spec = parts.layered(
        line, parts.intervals(coloured, "transactions/s"), marks, labels, height_px=HEIGHT_PX
    )
    described = parts.described("Transactions a second against the price of a month", points, "figure")
    drawn = {row["answer"] for row in points}
    keys = [Key(name, colour) for name, colour in colours.items()]
    keys += [Key(name, shape=shape) for name, shape in SHAPES.items() if name in drawn]
    if advice.target.per_s is not None:
        keys.append(Key(f"target: {number(advice.target.per_s)} transactions/s", dash=(6, 4)))
    return Figure(
        "advice",
        "Throughput against price",
        f"Predicted throughput with its interval. Meets the target: with {percent(SURE)} or more; may meet "
        f"it: with {percent(LIKELY)} or more. All parts of the target count.",
        (Panel("", described, spec, rows, len(points)),),
        tuple(keys),
    )


def _point(advice: Advice, one: Candidate, colours: dict[str, str]) -> Row:
    assert one.predicted.per_s is not None
    answer = MEETS if one.meets_with(SURE) else MAY if one.meets_with(LIKELY) else MISSES
    if advice.verification is not None and one.configuration.name == advice.verification.cheapest:
        answer = TO_BUY
    elif advice.verification is None and one == advice.chosen:
        answer = ADVISED
    return {
        "kind": "point",
        "name": one.configuration.name,
        "card": one.configuration.card if one.configuration.card in colours else OTHERS,
        "answer": answer,
        "price": one.configuration.a_month,
        "speed": one.predicted.per_s.estimate,
        "low": one.predicted.per_s.low,
        "high": one.predicted.per_s.high,
        "figure": f"{with_bounds(one.predicted.per_s)} transactions/s",
    }


def _measured(advice: Advice, colours: dict[str, str]) -> Iterator[Row]:
    sold = {one.configuration.name: one for one in advice.candidates}
    for seen in advice.verification.runs if advice.verification else ():
        if seen.per_s is not None:
            point = _point(advice, sold[seen.name], colours)
            measured = {"speed": seen.per_s, "figure": f"measured: {number(seen.per_s)} transactions/s"}
            yield {**point, "answer": MEASURED, "low": None, "high": None, **measured}
