"""Why a published ratio was not met: each reason a function, recorded evidence in, sentences or none out.

Nothing is guessed, and each sentence has its figure. A reason that explains a smaller difference (the CPU was
the limit) is not offered for a larger one, and none where it is open whether there is a difference. What the
original may have had in common (data in memory) is no reason but a condition: so it is here.
"""

import math
from collections.abc import Callable, Iterator

from diskproof.analysis.evidence import FULL_SHARE, IDLE_SHARE, Side
from diskproof.analysis.limits.name import OF_A_DISK
from diskproof.analysis.limits.shapes import CellLimit
from diskproof.analysis.limits.words import plain
from diskproof.analysis.published.case import Case
from diskproof.analysis.published.join import untold
from diskproof.analysis.published.marks import SIZE_BAND
from diskproof.analysis.words import clients, digits, listed, percent
from diskproof.results.limit import Limit
from diskproof.results.record import format_bytes

SELDOM = 0.01
"""Fewer of something than one in a hundred transactions decide no throughput."""

OFTEN = 0.05
"""From one flush in twenty transactions on commits wait for it: dozens of clients may share one."""

WITHOUT_TRANSACTIONS = frozenset({"myisam", "aria", "memory", "csv", "archive"})
"""Storage engines of the MySQL family that know no commit; Aria survives a crash, but has none either."""

TELLING = (
    "settings",
    "held-cpus",
    "placement",
    "engine",
    "unused-place",
    "physics",
    "common-settings",
    "rate",
)
"""Checks whose findings may say why figures are others than expected."""

NO_DISK: dict[Limit, str] = {
    "CPU": "CPU-bound here",
    "load generator": "bound by the load generator here",
    "arrivals": "bound by the rate of arrivals here",
}
"""Limits under which no disk shows, as a reason says them. Locks are none: they may be held until a flush."""

SIGNALS = 2
"""Of a limit: it takes two instruments to name it."""

NOT_ESTABLISHED = "what holds it back is not established"

WHOLE_JOB = " (over the whole job)"

UNEXPLAINED = "not explained by what was recorded"

TELLING_AS_NOTES = ("common-settings", "physics")

Reason = Callable[[Case], Iterator[str]]


def reasons(case: Case) -> list[str]:
    """Return why a measured ratio is another: the strongest evidence first, its conditions last.

    Where the evidence gives no reason, that is said.
    """
    # How many trials count explains an interval that leaves something open, and no difference that is shown.
    found = _said(REASONS if case.differs else (*REASONS, invalid_trials), case) or [UNEXPLAINED]
    return list(dict.fromkeys(found + _said(CONDITIONS, case)))


def obstacles(case: Case) -> list[str]:
    """Return what was found on two sides that could not be compared."""
    return list(dict.fromkeys(_said(OBSTACLES, case)))


def _said(asked: tuple[Reason, ...], case: Case) -> list[str]:
    """Return what reasons say, and of counters that cover more than the ratio does that they do."""
    return [
        sentence + (WHOLE_JOB if case.of_whole_job and reason in COUNTED else "")
        for reason in asked
        for sentence in reason(case)
    ]


def no_disk_is_the_limit(case: Case) -> Iterator[str]:
    """Find sides that something else than a disk holds back: there no disk shows."""
    if not case.gap_is_smaller:
        return
    for limit, said in NO_DISK.items():
        held = [(side, found) for side in case.sides if (found := case.limit(side)) and found.limit == limit]
        if held:
            yield f"{said}: {'; '.join(f'on {case.name(side)} {_signals(found)}' for side, found in held)}"


def cpus_are_full(case: Case) -> Iterator[str]:
    """Find sides whose CPUs were busy nearly all the time, though not established as the limit."""
    full = [side for side in case.sides if side.cpu_bound and case.limit(side) is None]
    if full and case.gap_is_smaller:
        said = listed([f"{_cpus(side)} on {case.name(side)}" for side in full])
        yield f"{_who(case)} worked on {said}: full, though {NOT_ESTABLISHED}"


def machine_is_busy(case: Case) -> Iterator[str]:
    """Find sides on which the machine's CPUs were full, though not by the server and its load alone."""
    for side in case.sides:
        all_told = side.machine_share
        told = side.cpu_bound or case.limit(side) is not None
        if case.gap_is_smaller and not told and all_told is not None and all_told >= FULL_SHARE:
            yield (
                f"the machine's CPUs were busy {_share(all_told)} of the time on {case.name(side)}, "
                f"{_who(case)} on {_cpus(side)}"
            )


def data_in_memory(case: Case) -> Iterator[str]:
    """Find data that are read from memory on both sides."""
    reads = [side.reads for side in case.sides]
    asked = all(side.reads_anything for side in case.sides)
    if not (case.gap_is_smaller and asked) or any(one is None or one >= SELDOM for one in reads):
        return
    sizes = [
        f"{format_bytes(side.data_bytes)} of data"
        + (f", {format_bytes(side.cell.memory_bytes)} of buffers" if side.cell.has_server else "")
        for side in case.sides
        if side.data_bytes is not None
    ]
    fits = f" ({sizes[0]})" if sizes else ""
    yield f"here the data lies in memory{fits}: {_both(case, reads)} reads a {case.work} reached the disks"


def disk_is_idle(case: Case) -> Iterator[str]:
    """Find that the slower side's disk has so little to do that it cannot cost what was published.

    While the disk is idle nobody waits for it, nor for who waits for it: without it all that time would
    still pass, and the load be at most 1 / (1 - share) times as fast, by Amdahl's law.
    """
    share, name = case.slower.disk_share_at_most, case.name(case.slower)
    if not case.gap_is_smaller or share is None or share > IDLE_SHARE:
        return
    at_most = math.ceil(100 / (1 - share)) / 100
    if at_most < math.exp(case.published_gap):
        yield (
            f"on {name} the disk is busy for {_share(share)} of the time here: without it the load would be "
            f"at most {at_most:.2f} times as fast"
        )


def commits_do_not_wait(case: Case) -> Iterator[str]:
    """Find writing loads whose commits flush nothing on either side."""
    flushes = [side.flushes for side in case.sides]
    writes = all(side.writes_anything and side.cell.has_server for side in case.sides)
    if case.gap_is_smaller and writes and all(one is not None and one < SELDOM for one in flushes):
        yield f"here no commit waits for the disks: {_both(case, flushes)} flushes a {case.work} reached them"


def engine_without_transactions(case: Case) -> Iterator[str]:
    """Find tables of an engine that has no commit to wait for.

    The engine is the workload's: a published ratio that names the workload is of that engine too.
    """
    if "workload" in case.published.at:
        return
    engines = {side.engine for side in case.sides if side.engine}
    for engine in sorted(engines):
        if case.gap_is_smaller and engine.lower() in WITHOUT_TRANSACTIONS:
            yield f"here the tables are {engine}'s, which has no transactions: no commit waits for a disk"


def skipped_operations(case: Case) -> Iterator[str]:
    """Find parts of a job that were not run."""
    for side in case.sides:
        skipped = {
            part.key: part.skipped
            for one in side.trials
            for part in one.load.operations
            if part.skipped and case.published.part in {None, part.test}
        }
        if skipped:
            why = listed(list(dict.fromkeys(skipped.values())), 2)
            count = "1 operation was" if len(skipped) == 1 else f"{len(skipped)} operations were"
            yield f"{count} skipped on {case.name(side)}: {why}"


def slower_side_is_held_back(case: Case) -> Iterator[str]:
    """Find what holds the slower side back, where it is slower than was published."""
    found = case.limit(case.slower)
    if found is not None and (case.gap_is_larger or case.reversed):
        told = "what else held the published one back is not told"
        yield f"{case.name(case.slower)} is held back by {_limit(found)} here: {_signals(found)}; {told}"


def disk_is_busy(case: Case) -> Iterator[str]:
    """Find a slower disk that is busy nearly all the time, though not established as the limit."""
    if case.gap_is_larger and case.slower.disk_bound and case.limit(case.slower) is None:
        name = case.name(case.slower)
        yield f"on {name} the disk is {_shares(case.slower)}: full, though {NOT_ESTABLISHED}"


def faster_disk_is_the_limit(case: Case) -> Iterator[str]:
    """Find that even the faster disk is what its side waits for, where the difference is smaller."""
    if not case.gap_is_smaller:
        return
    found, name = case.limit(case.faster), case.name(case.faster)
    if found is not None and found.limit in OF_A_DISK:
        yield f"even {name} is held back by {_limit(found)} here: {_signals(found)}"
    elif found is None and case.faster.disk_bound:
        yield f"even on {name} the disk is {_shares(case.faster)}: full, though {NOT_ESTABLISHED}"


def commits_reach_the_disks(case: Case) -> Iterator[str]:
    """Find that commits wait for the slower disk here, where the order or a larger difference asks for it."""
    if not (case.reversed or case.gap_is_larger) or not case.slower.writes_anything:
        return
    if (case.slower.flushes or 0) >= OFTEN:
        flushes = [side.flushes for side in case.sides]
        yield (
            f"here commits reach the disks: {_both(case, flushes)} flushes a {case.work}; what answered the "
            "published ones is not told"
        )


def telling_findings(case: Case) -> Iterator[str]:
    """Find what the checks said: a setting that did not hold, a place that was never used, and the like.

    Notes tell how a trial was run; few of them have a part in a ratio, and none where there is none.
    """
    telling = TELLING_AS_NOTES if case.measured is not None else ()
    for found in case.findings():
        finding = found.finding
        if finding.check in (telling if finding.severity == "note" else TELLING):
            yield finding.message


def invalid_trials(case: Case) -> Iterator[str]:
    """Find trials that do not count, and why not."""
    for side in case.sides:
        of_cell = case.gathered.of(side.cell)
        refused = [finding for one in of_cell for finding in one.findings if finding.severity == "invalid"]
        count = len(of_cell) - len(side.trials)
        if refused and refused[0].check not in TELLING:
            yield f"{count} of {len(of_cell)} trials on {case.name(side)} do not count: {refused[0].message}"


def extrapolated_seconds(case: Case) -> Iterator[str]:
    """Find seconds that are in part worked out."""
    sides = [side for side in case.sides if side.extrapolated]
    if sides and case.published.measure == "seconds":
        names = listed([case.name(side) for side in sides])
        yield f"the seconds on {names} are in part extrapolated, since a time limit cut operations short"


def open_order(case: Case) -> Iterator[str]:
    """Find an interval that holds more than one order."""
    if case.order != "open" or case.measured is None:
        return
    if case.size == "agrees":
        yield "the order is open: the size agrees, and published figures scatter by as much as is between"
    else:
        yield f"the order is open: the interval holds more than one ({_n_blocks(case)})"


def open_size(case: Case) -> Iterator[str]:
    """Find an interval of measured over published that reaches over the band's edge."""
    of_published = case.of_published
    if case.size == "open" and of_published is not None and of_published.low and of_published.high:
        yield (
            f"the size is open: {digits(of_published.low, 2)} to {digits(of_published.high, 2)} times the "
            f"published, where {1 / SIZE_BAND:g} to {SIZE_BAND:g} agree ({_n_blocks(case)})"
        )


def untold_levels(case: Case) -> Iterator[str]:
    """Name the levels that the publication leaves open where the study has several."""
    cell, published = case.level.cell, case.published
    here = [
        clients(cell.level(factor)) if factor == "clients" else f"{factor} `{cell.level(factor)}`"
        for factor in untold(case.gathered.plan, published)
    ]
    if here:
        yield f"the publication does not tell what is here {listed(here)}"


def smaller_scale(case: Case) -> Iterator[str]:
    """Say that the run is of another size; what it makes smaller stands at a report's head."""
    scale = case.gathered.plan.scale
    if scale:
        yield f"scale `{scale.name}`: what it makes smaller is told at the head"


REASONS: tuple[Reason, ...] = (
    open_order,
    open_size,
    no_disk_is_the_limit,
    cpus_are_full,
    machine_is_busy,
    disk_is_idle,
    slower_side_is_held_back,
    disk_is_busy,
    faster_disk_is_the_limit,
    commits_reach_the_disks,
    telling_findings,
    skipped_operations,
    extrapolated_seconds,
)
"""The strongest evidence first."""

OBSTACLES: tuple[Reason, ...] = (telling_findings, invalid_trials, skipped_operations)

CONDITIONS: tuple[Reason, ...] = (
    data_in_memory,
    commits_do_not_wait,
    engine_without_transactions,
    untold_levels,
    smaller_scale,
)
"""What is so here, and may have been so in the original, and what differs by the study's own words."""

COUNTED: tuple[Reason, ...] = (
    no_disk_is_the_limit,
    cpus_are_full,
    machine_is_busy,
    disk_is_idle,
    slower_side_is_held_back,
    disk_is_busy,
    faster_disk_is_the_limit,
    commits_reach_the_disks,
    data_in_memory,
    commits_do_not_wait,
)
"""Those that rest on counters of the whole measured phase."""


def _limit(found: CellLimit) -> str:
    assert found.limit is not None
    return plain(found.limit)


def _signals(found: CellLimit) -> str:
    return "; ".join(one.says for one in found.supporting[:SIGNALS])


def _who(case: Case) -> str:
    return "the server and its load" if case.level.cell.has_server else "the load"


def _cpus(side: Side) -> str:
    busy, cpus = side.cpus_busy or 0, side.cpus or 0
    of_clients = f" for {clients(str(side.cell.clients))}" if side.cell.clients < cpus else ""
    # The kernel counts in ticks: full CPUs may seem to be a little more than that.
    return f"{min(busy, cpus):.2g} of {cpus} CPUs{of_clients}"


def _shares(side: Side) -> str:
    disk, cpu = side.arm_share_at_least or 0, side.cpu_share or 0
    return f"busy for {_share(disk)} of the time, the CPUs {_share(cpu)}"


def _both(case: Case, figures: list[float | None]) -> str:
    told = [(side, figure) for side, figure in zip(case.sides, figures, strict=True) if figure is not None]
    return " and ".join(f"{figure:.2g} ({case.name(side)})" for side, figure in told)


def _share(share: float) -> str:
    return percent(round(share, 2))


def _n_blocks(case: Case) -> str:
    blocks = case.measured.n if case.measured else 0
    return "a single block has no interval" if blocks == 1 else f"from {blocks} blocks; more narrow it"
