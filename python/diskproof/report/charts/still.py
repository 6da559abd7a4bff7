"""Still pictures of figures, for files and documents; Vega-Lite draws their legends."""

import textwrap

import vl_convert

from diskproof.report.charts.parts import Spec
from diskproof.report.document import Figure
from diskproof.report.write.ink import PAPER, config, drawable

LETTER_PX = 6.0
"""Mean width of a letter of the charts' text, set in 11 px: a little more than that of most names."""

WIDTH_PX = 420
COLUMNS = 2

LEGEND = {"orient": "top", "title": None, "symbolOpacity": 1, "labelLimit": 0, "columns": 4}


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
    # What a name stands for, and a dashed line alone, are in no legend.
    keys = [key.words for key in figure.keys if " = " in key.words or (key.dash and not key.shape)]
    said = f"{figure.caption} {'; '.join(keys)}{'.' if keys else ''}".rstrip()
    return {
        "title": {"text": figure.title, "subtitle": textwrap.wrap(said, letters), "offset": 14},
        "concat": drawings,
        "columns": COLUMNS,
        "resolve": {"scale": {"color": "shared", "shape": "shared", "strokeDash": "shared"}},
        "config": {**config(), "legend": LEGEND},
        "background": PAPER,
        "padding": 16,
    }
