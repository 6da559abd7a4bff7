"""Still pictures of figures, with their legends, for files and documents."""

import textwrap

import vl_convert

from diskproof.report.charts.parts import Spec
from diskproof.report.document import Figure
from diskproof.report.write.ink import LIGHT, Ink, config, drawable

LETTER_PX = 6.0
"""Mean width of a letter of the charts' text, set in 11 px: a little more than that of most names."""

WIDTH_PX = 420
COLUMNS = 2
SIGN_PX, GAP_PX, LINE_PX = 30, 24, 20
"""Width of a legend's sign, what is left free behind an entry, and height of a line of entries."""


def png(figure: Figure, ink: Ink = LIGHT, scale_factor: float = 2) -> bytes:
    """Return a figure as a PNG picture."""
    picture: bytes = vl_convert.vegalite_to_png(drawable(_still(figure, ink)), scale=scale_factor)
    return picture


def svg(figure: Figure, ink: Ink = LIGHT) -> str:
    """Return a figure as an SVG picture."""
    picture: str = vl_convert.vegalite_to_svg(drawable(_still(figure, ink)))
    return picture


def _still(figure: Figure, ink: Ink) -> Spec:
    drawings = [{**panel.complete_spec(), "width": WIDTH_PX, "title": panel.title} for panel in figure.panels]
    columns = len(drawings[:COLUMNS])
    legend = [_legend(figure, WIDTH_PX * columns, ink)] if figure.keys else []
    return {
        "title": {
            "text": figure.title,
            "subtitle": _wrapped(figure.caption, WIDTH_PX * columns),
            "offset": 14,
        },
        "vconcat": [*legend, {"concat": drawings, "columns": COLUMNS}],
        "config": config(ink),
        "background": ink.paper,
        "padding": 16,
    }


def _wrapped(text: str, width_px: float) -> list[str]:
    return textwrap.wrap(text, int(width_px / LETTER_PX))


def _legend(figure: Figure, width_px: float, ink: Ink) -> Spec:
    """Draw the keys in lines as wide as the picture."""
    rows, x, y, lines = [], 0.0, LINE_PX / 2, 1
    for number, key in enumerate(figure.keys):
        words = _wrapped(key.words, width_px - SIGN_PX)
        wide = SIGN_PX + max(map(len, words)) * LETTER_PX + GAP_PX
        if x and x + wide > width_px:
            x, y, lines = 0.0, y + lines * LINE_PX, 1
        lines = max(lines, len(words))
        row = {"x": x, "y": y, "end": x + SIGN_PX - 6, "middle": x + SIGN_PX / 2 - 3, "at": x + SIGN_PX}
        ink_of_key = key.colour or ink.soft
        shape = key.shape or ("square" if key.colour else "")
        rows.append({**row, "key": number, "words": words, "colour": ink_of_key, "shape": shape})
        x += wide
    position = {"type": "quantitative", "scale": None, "axis": None}
    y_channel = {"field": "y", **position}
    colour = {"field": "colour", "type": "nominal", "scale": None}

    def layer(mark: Spec, x: str, condition: str, **more: Spec) -> Spec:
        encoding = {"x": {"field": x, **position}, "y": y_channel, "color": colour, **more}
        return {"mark": mark, "encoding": encoding, "transform": [{"filter": condition}]}

    shapes = {"field": "shape", "type": "nominal", "scale": None}
    rule = {"type": "rule", "strokeWidth": 2}
    point = {"type": "point", "filled": True, "opacity": 1, "size": 90}
    text = {"type": "text", "align": "left", "baseline": "middle", "color": ink.text, "lineHeight": LINE_PX}
    dashes = [
        layer({**rule, "strokeDash": list(key.dash)}, "x", f"datum.key == {number}", x2={"field": "end"})
        for number, key in enumerate(figure.keys)
        if key.dash
    ]
    return {
        "width": width_px,
        "height": y + (lines - 0.5) * LINE_PX,
        "data": {"values": rows},
        "layer": [
            *dashes,
            layer(point, "middle", "datum.shape", shape=shapes),
            {
                "mark": text,
                "encoding": {
                    "x": {"field": "at", **position},
                    "y": y_channel,
                    "text": {"field": "words"},
                },
            },
        ],
    }
