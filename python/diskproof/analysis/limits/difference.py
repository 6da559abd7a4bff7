"""The parts of a difference between two cells: where a transaction's longer time goes."""

from collections.abc import Sequence

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.observed import observe
from diskproof.analysis.limits.records import Difference, Split
from diskproof.analysis.limits.split import split_of
from diskproof.families import of
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
    waits = [_no_commit_waits(gathered, one) for one in (cell, baseline)] == [True, False]
    return waits and not _logs_in_memory(gathered, baseline)


def _logs_in_memory(gathered: Gathered, cell: Cell) -> bool:
    """Tell whether no commit of a cell can be durable, because a log lies in main memory."""
    machine = gathered.machine_of(cell)
    facts = machine.server(cell.server) if machine else None
    roles = of(facts.family).log_roles if facts and facts.family else ()
    places = machine.places if machine else []
    return any(one.in_memory for one in places if one.storage == cell.storage and one.role in roles)


def _no_commit_waits(gathered: Gathered, cell: Cell) -> bool | None:
    """Tell whether no commit of a cell waits for a flush; None: nothing commits, or it is not known."""
    seen = gathered.once(observe, cell)
    if seen is None or seen.family is None or not seen.writes_anything:
        return None
    awaited = awaited_flush(seen.family, seen.settings)
    return None if awaited is None else awaited == "nothing"


def _splits(gathered: Gathered, cell: Cell) -> dict[int, Split]:
    """Return the time of a transaction in parts, by block; none of a job or a load on bare files."""
    seen = gathered.once(observe, cell)
    return {
        block: split
        for block, alone in (seen.by_block() if seen else {}).items()
        if alone.transactional and not alone.bare and (split := split_of(alone))
    }
