"""Credits of a cloud volume, seen as a fall of its rate while it was measured."""

from collections.abc import Sequence

from diskproof.profile.clone.cells import MARKER
from diskproof.profile.clone.sight import Credits
from diskproof.results.profile import Probe, ProfileCell

FALLEN = 0.6
"""A marker that is served below this share of its first rate fell; noise is much less."""

NEAR = 1.3
"""A deep cell of random requests below this many times the last rate was measured after the fall."""

IO_BYTES = 256 * 2**10
"""Most bytes of one I/O, by AWS's account."""

Fall = tuple[list[ProfileCell], Credits]


def fall(cells: Sequence[ProfileCell], ramp_s: float) -> Fall | None:
    """Return the cells before a fall, and the credits that it shows; None if the rate did not fall."""
    markers = [cell for cell in cells if _is_marker(cell.probe)]
    rates = [cell.requests.per_s for cell in markers if cell.requests and cell.probe == markers[0].probe]
    if len(rates) < 2:
        return None
    first, last = rates[0], rates[-1]
    if last >= FALLEN * first:
        return None
    after = next(
        number
        for number, cell in enumerate(cells)
        if cell.requests
        and _is_random(cell.probe)
        and cell.probe.depth >= MARKER.depth
        and cell.requests.per_s <= NEAR * last
    )
    deep = [
        cell.requests.per_s
        for cell in cells[after:]
        if cell.requests and _is_random(cell.probe) and cell.probe.depth >= MARKER.depth
    ]
    if max(deep) > NEAR * last:
        return None  # it rose again: something else slowed it down meanwhile
    before = list(cells[:after])
    seconds = sum(cell.seconds + ramp_s for cell in before)
    spent = sum(_ios(cell, ramp_s) for cell in before)
    return before, Credits(first, last, max(spent - last * seconds, 1.0))


def _is_random(probe: Probe) -> bool:
    return probe.pattern in ("random-read", "random-write")


def _is_marker(probe: Probe) -> bool:
    """Return whether a probe is the marker, within whatever span."""
    return probe.model_copy(update={"span_bytes": None}) == MARKER


def _ios(cell: ProfileCell, ramp_s: float) -> float:
    """Return the I/Os of a cell, with those of the time before it that was not measured."""
    if cell.requests is None:
        return 0.0
    return cell.requests.per_s * (cell.seconds + ramp_s) * -(-cell.probe.block_bytes // IO_BYTES)
