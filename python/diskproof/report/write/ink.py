"""The look of everything in a chart that is no data, in still pictures."""

from collections.abc import Mapping
from typing import Any

from diskproof.visible import visible

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


PAPER, TEXT, SOFT, GRID = "#ffffff", "#1d2125", "#596068", "#e4e2dc"
"""The colours of everything in a still picture that is no data; a page has its own."""


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


def config() -> dict[str, Any]:
    """Return the Vega-Lite configuration shared by all charts."""
    return {
        "background": None,
        "padding": {"left": 0, "top": 6, "right": 10, "bottom": 4},
        "font": FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": SOFT,
            "titleColor": SOFT,
            "gridColor": GRID,
            "domain": False,
            "ticks": False,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelPadding": 6,
            "titlePadding": 8,
        },
        "legend": {"disable": True},  # a figure has its keys
        "title": {"color": TEXT, "fontSize": 12, "fontWeight": 600, "anchor": "start", "subtitleColor": SOFT},
        "text": {"color": TEXT, "fontSize": 11},
        "rule": {"color": SOFT},
    }
