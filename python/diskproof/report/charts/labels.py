"""Where the names of points go in a chart, so that none lies on another or on a point."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

LETTER_PX = 6.0
"""Mean width of a letter of the charts' text, set in 11 px: a little more than that of most names."""

LINE_PX = 13
POINT_PX = 5
"""Half the width of a point's mark, and a little air."""

Align = Literal["left", "center", "right"]

FAR_PX = 20
"""From here on a name might as well be another point's."""

AIR_PX = 3

SLANT = math.sqrt(0.5)
"""Share of a distance that goes across, and down, on a diagonal."""

DISTANCES_PX = (9, 15, 23, 33, 45, 60)
"""How far from its point a name may stand, the nearest tried first."""


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels, from the drawing's upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "Box") -> float:
        """Return the area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return width * height if width > 0 and height > 0 else 0.0

    @property
    def area(self) -> float:
        """Return its area."""
        return (self.right - self.left) * (self.bottom - self.top)


@dataclass(frozen=True)
class Label:
    """Where a name stands, measured from its point in pixels to the right and down."""

    dx: float
    dy: float
    align: Align
    """What of the name stands there: its beginning, its middle or its end."""
    box: Box

    @property
    def lead(self) -> tuple[float, float] | None:
        """Where a line to its point begins, just before the name; None if it is near enough."""
        if math.hypot(self.dx, self.dy) <= FAR_PX:
            return None
        if self.align == "center":
            return self.dx, self.dy - math.copysign(LINE_PX / 2, self.dy)
        return self.dx - math.copysign(AIR_PX, self.dx), self.dy


def place(
    points: Sequence[tuple[float, float, str]], obstacles: Sequence[Box], width: float, height: float
) -> list[Label]:
    """Place the name of each point (x, y, name) near it, one after the other.

    A greedy choice among fixed positions (Christensen, Marks and Shieber, "An Empirical Study of Algorithms
    for Point-Feature Label Placement", ACM TOG 14(3), 1995): the first that covers nothing, or else the one
    that covers least. What lies outside the drawing counts as covered.
    """
    taken, drawing, labels = list(obstacles), Box(0, 0, width, height), []
    for x, y, name in points:
        candidates = list(_candidates(x, y, len(name) * LETTER_PX))
        best = min(candidates, key=lambda one: _covered(one.box, taken, drawing))
        labels.append(best)
        taken.append(best.box)
    return labels


def around(one: tuple[float, float], other: tuple[float, float]) -> Box:
    """Return the box of a line from one point to another, upright or level, with the marks at its ends."""
    (x, y), (x2, y2) = one, other
    return Box(min(x, x2) - POINT_PX, min(y, y2) - POINT_PX, max(x, x2) + POINT_PX, max(y, y2) + POINT_PX)


def _candidates(x: float, y: float, text_px: float) -> Iterator[Label]:
    """Yield positions, the best first: beside the point, above and below it, then farther out."""
    for far in DISTANCES_PX:
        line, slant = far + LINE_PX / 2, far * SLANT
        yield _label(x, y, far, 0.0, "left", text_px)
        yield _label(x, y, -far, 0.0, "right", text_px)
        yield _label(x, y, 0.0, -line, "center", text_px)
        yield _label(x, y, 0.0, line, "center", text_px)
        for down in (-slant, slant):
            yield _label(x, y, slant, down, "left", text_px)
            yield _label(x, y, -slant, down, "right", text_px)


def _label(x: float, y: float, dx: float, dy: float, align: Align, text_px: float) -> Label:
    left = x + dx - {"left": 0.0, "center": text_px / 2, "right": text_px}[align]
    return Label(dx, dy, align, Box(left, y + dy - LINE_PX / 2, left + text_px, y + dy + LINE_PX / 2))


def _covered(box: Box, taken: Sequence[Box], drawing: Box) -> float:
    outside = box.area - box.overlap(drawing)
    return outside + sum(box.overlap(other) for other in taken)
