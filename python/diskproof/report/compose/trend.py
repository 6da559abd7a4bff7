"""A trend over runs: for each cell a row a run, held against the first."""

from diskproof.analysis.trend import Trend
from diskproof.report.compose import verdict_words
from diskproof.report.compose.rows import UNITS, ratio_row, ratio_scale
from diskproof.report.intervals import estimate
from diskproof.report.one_screen import Block, OneScreen, Row
from diskproof.wording.numbers import count, listed


def compose(trend: Trend) -> OneScreen:
    """Return the figures of each cell over the runs, with intervals; those of cells that two runs have."""
    first = trend.steps[0]
    every = {one.cell.id: one for step in reversed(trend.steps) for one in step.cells}
    scale = ratio_scale([one.ratio for step in trend.steps for one in step.cells if one.ratio])
    blocks = []
    for cell, known in every.items():
        rows = [Row((first.a.label,), figures=(estimate(known.a),))]
        for step in trend.steps:
            rows += [
                ratio_row((step.b.label,), one, (estimate(one.b),))
                for one in step.cells
                if one.cell.id == cell
            ]
        title = verdict_words.cell_words(known.cell, first.varying)
        blocks.append(Block(title, tuple(rows), (UNITS[known.metric],), scale))
    changed = dict.fromkeys(
        f"{change.fact} since {step.b.label}" for step in trend.steps for change in step.differences
    )
    lines = (("Else changed", listed(list(changed))),) if changed else ()
    return OneScreen(
        question=f"{count(len(trend.steps) + 1, 'run')} of {first.a.study}, each against {first.a.label}",
        facts=f"{count(len(every), 'cell')}.",
        answer="",
        blocks=tuple(blocks),
        lines=lines,
        whole="--format markdown",
    )
