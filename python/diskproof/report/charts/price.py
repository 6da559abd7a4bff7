"""The picture of an advice: what each disk is predicted to do against its price."""

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

HEIGHT_PX = 310

ADVISED, TO_BUY = "advised", "to buy"
MEETS, MAY, MISSES = "meets the target", "may meet it", "misses the target"
MEASURED = "measured on a virtual disk"
ANSWERS = dict(zip((ADVISED, MEETS, TO_BUY, MISSES, MAY, MEASURED), COLOURS, strict=False))


def throughput_by_price(advice: Advice) -> Figure | None:
    """Return what each disk is predicted to do against its price of a month; None if nothing is predicted."""
    known = [one for one in advice.candidates if one.predicted.per_s]
    if not known:
        return None
    points = [*(_disk(advice, one) for one in known), *_measured(advice)]
    target = advice.target.per_s
    drawn = {row["answer"] for row in points}
    keys = [Key(name, colour) for name, colour in ANSWERS.items() if name in drawn]
    if target is not None:
        keys.append(Key(f"target: {number(target)} transactions/s", dash=(6, 4)))
    return Figure(
        "advice",
        "Throughput against price",
        f"Predicted throughput with its interval. Meets the target: with {percent(SURE)} or more; may meet "
        f"it: with {percent(LIKELY)} or more. All parts of the target count.",
        (_panel(f"{known[0].configuration.currency} a month", points, target),),
        tuple(keys),
    )


def _panel(priced: str, points: list[Row], target: float | None) -> Panel:
    """Draw speeds with their intervals against prices, the names of disks, and a line at the target."""
    across = parts.Span.of([row["price"] for row in points])
    up = parts.Span.of([row[end] for row in points for end in ("speed", "low", "high") if row[end]])
    x = alt.X("price:Q", title=priced, scale=across.scale, axis=across.axis())
    y = alt.Y("speed:Q", title="transactions/s", scale=up.scale, axis=up.axis())
    base = alt.Chart().transform_filter("datum.kind == 'point'").encode(x=x)
    coloured = base.encode(color=parts.colours("answer", ANSWERS))
    marks = parts.points(coloured, size=80).encode(y=y, tooltip=parts.tooltip("figure"))
    labels = base.mark_text(align="left", baseline="middle", dx=9).encode(y=y, text="label:N")
    rules = alt.Chart().transform_filter("datum.kind == 'line'").mark_rule(strokeWidth=1.5, opacity=0.7)
    rules = rules.encode(x=x, y=y, x2="price2:Q", y2="speed:Q", strokeDash=alt.value([6, 4]))
    line = {"kind": "line", "price": across.low, "price2": across.high, "speed": target}
    rows = [*points, *([] if target is None else [line])]
    intervals = parts.intervals(coloured, "transactions/s")
    spec = parts.layered(rules, intervals, marks, labels, height_px=HEIGHT_PX)
    described = parts.described(f"transactions/s against {priced}", points, "figure")
    return Panel("", described, spec, rows, len(points))


def _disk(advice: Advice, one: Candidate) -> Row:
    assert one.predicted.per_s is not None
    answer = MEETS if one.meets_with(SURE) else MAY if one.meets_with(LIKELY) else MISSES
    if advice.verification is not None and one.configuration.name == advice.verification.cheapest:
        answer = TO_BUY
    elif advice.verification is None and one == advice.chosen:
        answer = ADVISED
    return {
        "kind": "point",
        "name": one.configuration.name,
        "answer": answer,
        "label": one.configuration.name if answer in (ADVISED, TO_BUY) else "",
        "price": one.configuration.a_month,
        "speed": one.predicted.per_s.estimate,
        "low": one.predicted.per_s.low,
        "high": one.predicted.per_s.high,
        "figure": f"{with_bounds(one.predicted.per_s)} transactions/s",
    }


def _measured(advice: Advice) -> Iterator[Row]:
    sold = {one.configuration.name: one for one in advice.candidates}
    for seen in advice.verification.runs if advice.verification else ():
        if seen.per_s is not None:
            point = _disk(advice, sold[seen.name])
            measured = {"speed": seen.per_s, "figure": f"measured: {number(seen.per_s)} transactions/s"}
            yield {**point, "answer": MEASURED, "label": "", "low": None, "high": None, **measured}
