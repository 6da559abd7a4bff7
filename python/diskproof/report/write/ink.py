"""The look of everything in a chart that is no data, in light and dark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diskproof.wording.visible import visible

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


def drawable(part: Any) -> Any:  # noqa: ANN401 - any part of a specification
    """Return a specification whose texts have no control characters: the library ends the program at one."""
    match part:
        case str():
            return visible(part)
        case Mapping():
            return {drawable(key): drawable(value) for key, value in part.items()}
        case list() | tuple():
            return [drawable(one) for one in part]
        case _:
            return part


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
