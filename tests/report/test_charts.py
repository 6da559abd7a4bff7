"""Charts tell every cell apart, choose honest axes, and can be drawn as still pictures."""

from itertools import combinations

import numpy as np
import pytest

from diskproof.report.charts import cells, still
from diskproof.report.charts.parts import Span, log_ticks
from diskproof.report.charts.split import COLOUR_OF_PART, NINTH
from diskproof.report.charts.style import COLOURS, DASHES, SHAPES, encode
from diskproof.report.write.ink import PAPER
from diskproof.results.trial import Finding
from support.runs import MakeRun, Run
from support.trials import MIB, change, make_plan, make_trials


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.1."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [*COLOURS, NINTH])
def test_data_stand_out_from_the_light_and_the_dark_page(colour: str) -> None:
    for paper in (PAPER, "#15181b", "#fbfaf7"):
        assert contrast(colour, paper) >= 3


# Machado, Oliveira and Fernandes 2009, severity 1; they work on linear light.
DICHROMATS = {
    "deuteranope": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanope": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}


def oklab(colour: str, sees: list[list[float]]) -> np.ndarray:
    """Return where a colour lies in Oklab (Ottosson 2020), times 100, as somebody sees it."""
    rgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    seen: np.ndarray = 100 * lab @ np.cbrt(cones @ np.clip(np.array(sees) @ linear, 0, 1))
    return seen


@pytest.mark.parametrize("sees", DICHROMATS.values(), ids=DICHROMATS)
def test_colours_are_told_apart_without_red_and_green(sees: list[list[float]]) -> None:
    """The page has the same colours in light and dark; 2 is a difference that is just seen."""
    for one, other in combinations([*COLOURS, NINTH], 2):
        assert np.linalg.norm(oklab(one, sees) - oklab(other, sees)) > 8, (one, other)


def test_the_parts_of_a_transaction_have_a_colour_each() -> None:
    assert set(COLOUR_OF_PART.values()) == {*COLOURS, NINTH}


def test_a_legend_names_what_is_drawn_alone(make_run: MakeRun) -> None:
    plan = make_plan(blocks=2)
    died = Finding(check="server", severity="invalid", message="ended by signal 9")
    trials = [change(trial, findings=[died] if "/disk/" in trial.cell else []) for trial in make_trials(plan)]
    _, analysis = make_run(plan, trials)
    [figure] = cells.throughput(analysis)
    assert [key.words for key in figure.keys] == [
        "dram = main memory",
        "safest = commits wait for the disk",
        "fast = commits do not wait",
        "bar: 95% interval",
    ]


def test_storage_has_colour_tuning_has_shape_and_the_rest_makes_panels() -> None:
    plan = make_plan(servers=("mariadb", "postgresql"), memory_bytes=(128 * MIB, 1024 * MIB))
    encoding = encode(plan.cells)
    assert (encoding.colour, encoding.shape, encoding.panels) == ("storage", "tuning", ("server", "memory"))
    assert list(encoding.colours) == ["dram", "disk"]
    assert list(encoding.shapes) == ["safest", "fast"]


@pytest.mark.parametrize("storages", [1, 2, 8, 9, 40])
def test_cells_are_told_apart_by_colour_shape_and_panel(storages: int) -> None:
    plan = make_plan(storages=[f"s{number}" for number in range(storages)], blocks=1, clients=(1,))
    encoding = encode(plan.cells)
    drawn = {
        (
            encoding.colours[cell.level(encoding.colour)],
            encoding.shapes[cell.level(encoding.shape)] if encoding.shape else None,
            encoding.panel(cell),
        )
        for cell in plan.cells
    }
    assert len(drawn) == len(plan.cells)


def test_every_shape_has_a_dash() -> None:
    assert len(SHAPES) == len(DASHES) == len(set(DASHES))


def test_an_axis_is_logarithmic_only_where_the_span_demands_it() -> None:
    assert Span.of([100, 500]).scale["type"] == "linear"
    assert Span.of([100, 500]).scale["domain"][0] == 0
    assert Span.of([10, 500]).scale["type"] == "log"
    assert Span.of([0, 500]).scale["type"] == "linear"  # zero has no logarithm
    assert log_ticks(80, 1200) == [100, 200, 500, 1000]


def test_still_pictures(quickstart: Run) -> None:
    _, analysis = quickstart
    [figure] = cells.throughput(analysis)
    picture = still.png(figure)
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000
    drawing = still.svg(figure)
    assert all(name in drawing for name in ("dram", "disk", "safest", "fast", "transactions/s"))
