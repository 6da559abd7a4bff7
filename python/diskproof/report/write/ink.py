"""The look of everything in a chart that is no data, in light and dark."""

from dataclasses import dataclass
from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


@dataclass(frozen=True)
class Ink:
    """The colours of everything in a still picture that is no data."""

    paper: str
    text: str
    soft: str
    grid: str


LIGHT = Ink(paper="#ffffff", text="#1d2125", soft="#596068", grid="#e4e2dc")
DARK = Ink(paper="#15181b", text="#e9e7e2", soft="#a3a9af", grid="#2d3237")


def config(ink: Ink) -> dict[str, Any]:
    """Return the Vega-Lite configuration shared by all charts."""
    return {
        "background": None,
        "padding": {"left": 0, "top": 6, "right": 10, "bottom": 4},
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": ink.soft,
            "titleColor": ink.soft,
            "gridColor": ink.grid,
            "domain": False,
            "ticks": False,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelPadding": 6,
            "titlePadding": 8,
        },
        "legend": {"disable": True},  # a figure has its keys
        "title": {
            "color": ink.text,
            "fontSize": 12,
            "fontWeight": 600,
            "anchor": "start",
            "subtitleColor": ink.soft,
        },
        "text": {"color": ink.text, "fontSize": 11},
        "rule": {"color": ink.soft},
    }
