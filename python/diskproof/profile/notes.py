"""What a reader must know before the figures of a profile are believed."""

from collections.abc import Sequence

from diskproof.results.profile import DOUBTFUL, ProfileCell, ProfilePlace

CPU_BOUND = 0.9
"""From this share of one CPU on, fio's one job has no time left to ask for more."""

MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")


def notes(place: ProfilePlace, cells: Sequence[ProfileCell]) -> list[str]:
    """Return what must be said of a profile, the gravest first."""
    said = [f"{cell.probe.name} could not be measured: {cell.error}" for cell in cells if cell.error]
    if not place.direct:
        said.append(
            f"{place.filesystem} takes no direct I/O, so that all requests went through the page cache: "
            "reads "
            "are main memory's, and one request is under way at a time whatever the queue depth"
        )
    if place.filesystem in MEMORY_FILESYSTEMS:
        said.append(f"{place.filesystem} is main memory: there is no disk below these figures")
    if place.kind == "block device" and not place.writable:
        said.append("nothing was written; to measure writes, name the device once more with --write")
    if place.kind == "block device":
        said.append(
            "an SSD answers reads of blocks that were never written, or were trimmed, without reading"
        )
    doubtful = [f"{cell.probe.name} ({cell.doubt})" for cell in cells if cell.doubt and not cell.error]
    if doubtful:
        said.append(
            f"{len(doubtful)} of {len(cells)} cells, marked {DOUBTFUL}, may show a moment rather than "
            f"the disk; measure longer, with --seconds: {_listed(doubtful)}"
        )
    bound = [cell.probe.name for cell in cells if (cell.cpu_share or 0) >= CPU_BOUND]
    if bound:
        said.append(
            f"one CPU was the limit, not the disk, in {len(bound)} of {len(cells)} cells: {_listed(bound)}"
        )
    return said


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
