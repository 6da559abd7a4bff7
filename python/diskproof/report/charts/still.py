"""Still pictures of figures, with their legends, for files and documents."""

import textwrap

import altair as alt
import vl_convert

from diskproof.report.charts.parts import Spec, layered
from diskproof.report.document import Figure
from diskproof.report.write.ink import PAPER, SOFT, config, drawable

LETTER_PX = 6.0
"""Mean width of a letter of the charts' text, set in 11 px: a little more than that of most names."""

WIDTH_PX = 420
COLUMNS = 2
SIGN_PX, LINE_PX = 30, 20
"""Width of a legend's sign, and height of a line of words."""


def png(figure: Figure, scale_factor: float = 2) -> bytes:
    """Return a figure as a PNG picture."""
    picture: bytes = vl_convert.vegalite_to_png(drawable(_still(figure)), scale=scale_factor)
    return picture


def svg(figure: Figure) -> str:
    """Return a figure as an SVG picture."""
    picture: str = vl_convert.vegalite_to_svg(drawable(_still(figure)))
    return picture


def _still(figure: Figure) -> Spec:
    drawings = [{**panel.complete_spec(), "width": WIDTH_PX, "title": panel.title} for panel in figure.panels]
    letters = int(WIDTH_PX * len(drawings[:COLUMNS]) / LETTER_PX)
    return {
        "title": {"text": figure.title, "subtitle": textwrap.wrap(figure.caption, letters), "offset": 14},
        "vconcat": [
            *([_legend(figure, letters)] if figure.keys else []),
            {"concat": drawings, "columns": COLUMNS},
        ],
        "config": config(),
        "background": PAPER,
        "padding": 16,
    }


def _legend(figure: Figure, letters: int) -> Spec:
    """Draw the keys in columns: their sign, their dash, their words."""
    wrapped = [textwrap.wrap(key.words, letters - SIGN_PX // 6) for key in figure.keys]
    column_px = 2 * SIGN_PX + LETTER_PX * max(len(line) for words in wrapped for line in words)
    columns = max(int(letters * LETTER_PX / column_px), 1)
    rows: list[Spec] = []
    y = LINE_PX / 2
    for number, (key, words) in enumerate(zip(figure.keys, wrapped, strict=True)):
        x = number % columns * column_px
        y += LINE_PX * len(wrapped[number - 1]) if number and not x else 0
        shape = key.shape or ("square" if key.colour else "")
        signs = {"colour": key.colour or SOFT, "shape": shape, "words": words}
        ends = {"x": x, "end": x + SIGN_PX - 6, "middle": x + SIGN_PX / 2 - 3, "at": x + SIGN_PX}
        rows.append({"y": y, "key": number, **signs, **ends})

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=None, axis=None)

    y_channel = alt.Y("y:Q", scale=None, axis=None)
    base = alt.Chart().encode(y=y_channel, color=alt.Color("colour:N", scale=None))
    dashes = [
        base.transform_filter(f"datum.key == {number}")
        .mark_rule(strokeWidth=2, strokeDash=list(key.dash))
        .encode(x=across("x"), x2="end:Q")
        for number, key in enumerate(figure.keys)
        if key.dash
    ]
    points = base.transform_filter("datum.shape").mark_point(filled=True, opacity=1, size=90)
    texts = alt.Chart().mark_text(align="left", baseline="middle", lineHeight=LINE_PX)
    layers = (
        points.encode(x=across("middle"), shape=alt.Shape("shape:N", scale=None)),
        texts.encode(x=across("at"), y=y_channel, text="words:N"),
    )
    return {
        **layered(*dashes, *layers, height_px=y + LINE_PX / 2),
        "width": letters * LETTER_PX,
        "data": {"values": rows},
    }
