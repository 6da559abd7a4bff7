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
        "title": {
            "text": figure.title,
            "subtitle": textwrap.wrap(figure.caption, letters),
            "offset": 14,
        },
        "vconcat": [
            *([_legend(figure, letters)] if figure.keys else []),
            {"concat": drawings, "columns": COLUMNS},
        ],
        "config": config(),
        "background": PAPER,
        "padding": 16,
    }


def _legend(figure: Figure, letters: int) -> Spec:
    """Draw a line a key: its sign, its dash, its words."""
    rows: list[Spec] = []
    y = LINE_PX / 2
    for number, key in enumerate(figure.keys):
        words = textwrap.wrap(key.words, letters - SIGN_PX // 6)
        shape = key.shape or ("square" if key.colour else "")
        rows.append({"y": y, "key": number, "words": words, "colour": key.colour or SOFT, "shape": shape})
        y += LINE_PX * len(words)
    y_channel = alt.Y("y:Q", scale=None, axis=None)
    base = alt.Chart().encode(y=y_channel, color=alt.Color("colour:N", scale=None))
    dashes = [
        base.transform_filter(f"datum.key == {number}")
        .mark_rule(strokeWidth=2, strokeDash=list(key.dash))
        .encode(x=alt.value(0), x2=alt.value(SIGN_PX - 6))
        for number, key in enumerate(figure.keys)
        if key.dash
    ]
    signs = base.transform_filter("datum.shape").mark_point(filled=True, opacity=1, size=90)
    words = alt.Chart().mark_text(align="left", baseline="middle", lineHeight=LINE_PX)
    layers = (
        signs.encode(x=alt.value(SIGN_PX / 2 - 3), shape=alt.Shape("shape:N", scale=None)),
        words.encode(x=alt.value(SIGN_PX), y=y_channel, text="words:N"),
    )
    width_px = letters * LETTER_PX
    return {**layered(*dashes, *layers, height_px=y), "width": width_px, "data": {"values": rows}}
