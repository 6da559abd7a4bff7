"""The operations of jobs: what each took in every cell, and the ratio if there are two cells."""

from collections.abc import Sequence

from diskproof.analysis.answers import OperationAnswer, OperationFigure
from diskproof.analysis.gather import Audited, Gathered
from diskproof.results.load import Operation
from diskproof.results.plan import Cell
from diskproof.stats.intervals import Interval, geometric_mean_interval


def answer_operations(gathered: Gathered) -> list[OperationAnswer]:
    """Return every operation that a valid trial knows, in the order in which they were run.

    Iterations are no operations: they are one thing again and again, and stand with the cell.
    """
    cells = [cell for cell in gathered.plan.cells if any(map(_parts, gathered.valid(cell)))]
    known = {part.key: part for cell in cells for one in gathered.valid(cell) for part in _parts(one)}
    return [_answer(gathered, cells, key, part) for key, part in known.items()]


def _answer(gathered: Gathered, cells: Sequence[Cell], key: str, part: Operation) -> OperationAnswer:
    found = {cell.id: _of_cell(gathered, cell, key) for cell in cells}
    return OperationAnswer(
        test=part.test,
        name=part.name,
        cells={cell_id: _figure(list(parts.values())) for cell_id, parts in found.items() if parts},
        ratio=_ratio(gathered, cells, *found.values()) if len(cells) == 2 else None,
    )


def _of_cell(gathered: Gathered, cell: Cell, key: str) -> dict[int, Operation]:
    """Return an operation of each valid trial, by block."""
    return {one.trial.block: part for one in gathered.valid(cell) for part in _parts(one) if part.key == key}


def _figure(parts: Sequence[Operation]) -> OperationFigure:
    seconds = [part.whole_s for part in parts if part.whole_s]
    return OperationFigure(
        planned=max(part.planned for part in parts),
        seconds=geometric_mean_interval(seconds) if seconds else None,
        extrapolated=any(part.estimated for part in parts),
        skipped=next((part.skipped for part in parts if part.skipped), None),
    )


def _ratio(
    gathered: Gathered, cells: Sequence[Cell], one: dict[int, Operation], other: dict[int, Operation]
) -> Interval | None:
    """Return the speed of the second over that of the first: seconds, turned over."""
    first, second = (
        {block: part.whole_s for block, part in parts.items() if part.whole_s} for parts in (one, other)
    )
    test = gathered.ratio(first, second, on_one_host=len({cell.host for cell in cells}) == 1)
    return test.interval if test else None


def _parts(one: Audited) -> list[Operation]:
    return [] if one.load.iterations else one.load.operations
