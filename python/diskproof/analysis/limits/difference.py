"""The parts of a difference between two cells: where a transaction's longer time goes."""

from collections.abc import Sequence

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.observed import Observed, observe
from diskproof.analysis.limits.records import Difference, Split
from diskproof.analysis.limits.split import split_of
from diskproof.families.durability import awaited_flush
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell
from diskproof.stats.intervals import mean_interval

EXPLAINED: tuple[Factor, ...] = ("server", "storage", "tuning", "memory")
"""Factors whose levels run the same transactions with the same clients, so that their times compare."""

FEWEST_BLOCKS = 2
"""One block has no interval."""


def difference_of(gathered: Gathered, factor: Factor, cell: Cell, baseline: Cell) -> Difference | None:
    """Return how much longer a transaction of `cell` takes than one of `baseline`, and in which parts.

    The parts of both cells are subtracted block by block, as a verdict pairs them. None for other factors,
    and if fewer than two blocks have the time of a transaction on both sides.
    """
    if factor not in EXPLAINED:
        return None
    ours, theirs = gathered.once(_splits, cell), gathered.once(_splits, baseline)
    pairs = [(ours[block], theirs[block]) for block in sorted(ours.keys() & theirs.keys())]
    return difference_between(pairs) if len(pairs) >= FEWEST_BLOCKS else None


def difference_between(pairs: Sequence[tuple[Split, Split]]) -> Difference:
    """Return how much longer the first of each pair takes than the second; one pair has no interval."""
    names = dict.fromkeys(part.name for pair in pairs for split in pair for part in split.parts)
    return Difference(
        whole_us=mean_interval([one.latency_us - other.latency_us for one, other in pairs]),
        baseline_us=mean_interval([other.latency_us for _, other in pairs]),
        parts={
            name: mean_interval([one.part(name) - other.part(name) for one, other in pairs]) for name in names
        },
        unexplained_us=mean_interval([one.unexplained_us - other.unexplained_us for one, other in pairs]),
    )


def flush_spared(gathered: Gathered, cell: Cell, baseline: Cell) -> bool:
    """Tell whether commits of `baseline` wait for a disk's flush, and those of `cell` do not."""
    ours, theirs = (gathered.once(observe, one) for one in (cell, baseline))
    if ours is None or theirs is None or _awaits_flush(ours) is not False or not _awaits_flush(theirs):
        return False
    return not any(one.in_memory for one in theirs.places if one.role in theirs.log_roles)


def _awaits_flush(seen: Observed) -> bool | None:
    """Tell whether commits of a cell wait for a flush; None: nothing commits, or it is not known."""
    if seen.family is None or not seen.writes_anything:
        return None
    awaited = awaited_flush(seen.family, seen.settings)
    return None if awaited is None else awaited != "nothing"


def _splits(gathered: Gathered, cell: Cell) -> dict[int, Split]:
    """Return the time of a transaction in parts, by block; none of a job or a load on bare files."""
    seen = gathered.once(observe, cell)
    return {
        block: split
        for block, alone in (seen.by_block() if seen else {}).items()
        if alone.transactional and not alone.bare and (split := split_of(alone))
    }
