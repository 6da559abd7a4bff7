"""How charts look, and how cells are told apart in them: by colour, and by shape and dash as well."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import NO_LEVEL, Cell

COLOURS = ("#0072B2", "#D07746", "#317434", "#B06DF7", "#D8080D", "#6E42F2", "#725F7A", "#8A8A8A")
"""Found by a search: each two are far apart for a deuteranope and a protanope too, and each has a contrast of
3:1 and more against the light and the dark page. The first four are farthest apart."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
DASHES = ((1, 0), (5, 3), (1.5, 2.5), (8, 3, 1.5, 3), (3, 1.5))
INVALID_COLOUR = "#8A8A8A"


@dataclass(frozen=True)
class Encoding:
    """Which factor colour stands for, which one shape and dash, and which ones split a chart into panels."""

    colour: Factor
    colours: dict[str, str]
    """By level of the colour factor."""
    shape: Factor | None
    shapes: dict[str, tuple[str, tuple[float, ...]]]
    """Shape and dash by level of the shape factor; empty without one."""
    panels: tuple[Factor, ...]

    def panel(self, cell: Cell) -> tuple[str, ...]:
        """Return the levels that say which panel a cell belongs to."""
        return tuple(cell.level(factor) for factor in self.panels)


def encode(cells: Sequence[Cell]) -> Encoding:
    """Choose how to tell cells apart: storage by colour and tuning by shape if both vary."""
    levels = {factor: list(dict.fromkeys(cell.level(factor) for cell in cells)) for factor in FACTORS}
    varying = [
        factor for factor in FACTORS if factor != "clients" and len({*levels[factor]} - {NO_LEVEL}) > 1
    ]
    colour = (
        _first(("storage", "server", "tuning", "memory", "workload"), varying, levels, len(COLOURS))
        or "storage"
    )
    rest = [factor for factor in varying if factor != colour]
    shape = _first(("tuning", "server", "memory", "workload", "storage"), rest, levels, len(SHAPES))
    return Encoding(
        colour=colour,
        colours=dict(zip(levels[colour], cycle(COLOURS), strict=False)),
        shape=shape,
        shapes=dict(zip(levels[shape], zip(SHAPES, DASHES, strict=True), strict=False)) if shape else {},
        panels=tuple(factor for factor in rest if factor != shape),
    )


def _first(
    preferred: Sequence[Factor], varying: Sequence[Factor], levels: dict[Factor, list[str]], most: int
) -> Factor | None:
    """Return the first preferred factor that varies and has no more levels than can be told apart."""
    return next((one for one in preferred if one in varying and len(levels[one]) <= most), None)
