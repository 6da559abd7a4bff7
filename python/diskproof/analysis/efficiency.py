"""What part of its storage's raw peak a cell made use of: bytes moved over bytes that could be."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Efficiency
from diskproof.analysis.gather import Audited, Gathered
from diskproof.results.plan import Cell
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import geometric_mean_interval

MB = 1e6


def answer_efficiency(gathered: Gathered) -> list[Efficiency]:
    """Return the efficiency of every cell whose storage's raw peak was measured in the same run.

    The peak is the fastest sequential pass over files of the storage: the best cell of such loads, by its
    geometric mean over blocks. A cell's bytes are those that reached the disks below its storage, in both
    directions; a storage without disks of its own (tmpfs) has none, and a cell that moved nothing has no
    efficiency; nor has one that must not be compared, and no such cell is the peak. Shares are paired by
    block, as all ratios are.
    """
    return [
        one
        for cells in grouped(gathered.plan.cells, lambda cell: (cell.storage, cell.host)).values()
        if (peak := _peak(gathered, cells))
        for one in _of_storage(gathered, cells, peak)
    ]


def _of_storage(gathered: Gathered, cells: Sequence[Cell], peak: Cell) -> Iterator[Efficiency]:
    could = _by_block(gathered, peak)
    for cell in cells:
        if not cell.has_server or gathered.bars(cell, peak):
            continue
        moved = {one.trial.block: rate for one in gathered.valid(cell) if (rate := _moved(one))}
        if share := gathered.ratio(moved, could):
            yield Efficiency(
                cell=cell,
                peak_cell=peak.id,
                moved_mb_per_s=geometric_mean_interval([*moved.values()]),
                peak_mb_per_s=geometric_mean_interval([*could.values()]),
                share=share.interval,
            )


def _peak(gathered: Gathered, cells: Sequence[Cell]) -> Cell | None:
    """Return the cell with the fastest sequential pass on a storage; None if none was measured."""
    passes = {
        cell.id: (geometric_mean_interval(list(rates.values())).estimate, cell)
        for cell in cells
        if not cell.has_server and not gathered.bars_of(cell) and (rates := _by_block(gathered, cell))
    }
    return max(passes.values(), key=lambda one: one[0])[1] if passes else None


def _by_block(gathered: Gathered, cell: Cell) -> dict[int, float]:
    """Return the megabytes a second of a cell's sequential passes, by block; empty for any other load."""
    return {
        one.trial.block: rate
        for one in gathered.valid(cell)
        if one.load.asks_files == "in sequence" and (rate := one.load.megabytes_per_s)
    }


def _moved(one: Audited) -> float | None:
    """Return the megabytes a second that reached the disks; None if there are none, or none moved."""
    usage = one.trial.usage
    if usage is None or not usage.devices or not usage.seconds:
        return None
    moved = sum(device.read_bytes + device.written_bytes for device in usage.devices.values())
    return moved / MB / usage.seconds or None
