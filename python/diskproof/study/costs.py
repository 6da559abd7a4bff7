"""Estimates of what a plan costs: bytes that are copied, bytes that loads write."""

from collections import Counter
from collections.abc import Iterable

from diskproof.results.plan import Cell
from diskproof.study.model import Study

COPY_BYTES_PER_S = 250e6
"""A cautious rate of copying."""

WRITE_BYTES_PER_S = 20e6
"""An allowance for what a writing load itself puts on the disk."""


def copied_bytes(study: Study, trials: Iterable[Cell], *, wearing: bool = False) -> int:
    """Return what is copied before the trials of these cells: a data set each time, or once if it is kept.

    `wearing`: only to storage that wears.
    """
    uses = Counter(
        (cell.storage, cell.server, cell.workload) for cell in trials if study.places(cell.storage)
    )
    return sum(
        study.load(workload).data_bytes * (1 if study.data_place(storage).keeps_data_sets else times)
        for (storage, _, workload), times in uses.items()
        if not (wearing and study.data_place(storage).in_memory)
    )


def written_bytes(study: Study, storage: str, load_s: float) -> int:
    """Estimate what writing loads put on storage that wears: nothing if the data is in memory."""
    return 0 if study.data_place(storage).in_memory else round(load_s * WRITE_BYTES_PER_S)
