"""What a reader must know before the figures of a profile can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.audit.host import OTHER_SHARE, STEAL_SHARE
from diskproof.results.profile import DOUBTFUL, ProfileCell, ProfilePlace
from diskproof.wording import Message, counted, say, share

CPU_BOUND = 0.9
"""From this share of one CPU on, fio's one job has no time left for more requests."""

MEMORY_FILESYSTEMS = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Taken:
    """Shares of the machine's CPU time that a profile did not get."""

    other: float
    """Taken by other work."""
    stolen: float
    """Withheld by the hypervisor."""


UNTAKEN = Taken(0.0, 0.0)


def notes(place: ProfilePlace, cells: Sequence[ProfileCell], taken: Taken = UNTAKEN) -> list[Message]:
    """Return the remarks on a profile, the gravest first."""
    said = [
        say("{cell} could not be measured: {error}", cell=cell.probe.name, error=cell.error)
        for cell in cells
        if cell.error
    ]
    said += busy(place, taken)
    if not place.direct:
        said.append(
            say(
                "{filesystem} takes no direct I/O, so all requests went through the page cache: reads show "
                "main memory, and only one request is under way at a time, whatever the queue depth",
                filesystem=place.filesystem or place.kind,
            )
        )
    if place.filesystem in MEMORY_FILESYSTEMS:
        said.append(
            say("{filesystem} is main memory: these figures show no disk", filesystem=place.filesystem)
        )
    if place.used_by:
        said.append(
            say(
                "{use}: what that asked for meanwhile makes the disk look slower than it is; measure while "
                "nothing uses it",
                use=place.used_by,
            )
        )
    if place.kind == "block device" and not place.writable:
        said.append(say("nothing was written; to measure writes, repeat the device's name with --write"))
    if place.kind == "block device":
        said.append(
            say("an SSD answers reads of blocks that were never written, or were trimmed, without reading")
        )
    doubtful = [
        say("{cell} ({doubt})", cell=cell.probe.name, doubt=cell.doubt)
        for cell in cells
        if cell.doubt and not cell.error
    ]
    if doubtful:
        said.append(
            say(
                "{number} of {cells}, marked {mark}, may be too short to show the disk; measure longer, with "
                "--seconds: {doubtful:/, }",
                number=len(doubtful),
                cells=counted(len(cells), "cell"),
                mark=DOUBTFUL,
                doubtful=first(doubtful),
            )
        )
    bound = [cell.probe.name for cell in cells if (cell.cpu_share or 0) >= CPU_BOUND]
    if bound:
        said.append(
            say(
                "one CPU was the limit, not the disk, in {number} of {cells}: {bound:/, }",
                number=len(bound),
                cells=counted(len(cells), "cell"),
                bound=first(bound),
            )
        )
    return said


def busy(place: ProfilePlace, taken: Taken) -> list[Message]:
    """Say if a profile lacked CPU time, by the limits of a trial."""
    said = []
    if taken.stolen > STEAL_SHARE:
        said.append(say("the hypervisor withheld {share} of the CPU time", share=share(taken.stolen)))
    if taken.other > OTHER_SHARE and not place.virtual:  # a virtual disk's own program takes CPU time
        beside = share(taken.other)
        said.append(say("other processes took {share} of the machine's CPU time", share=beside))
    return [
        say(
            "{why} meanwhile. Requests may have waited for a CPU, which makes a disk look slower than it is: "
            "measure again when the machine is idle",
            why=one,
        )
        for one in said
    ]


def first(names: Sequence[Message | str], most: int = 6) -> list[Message | str]:
    """Return the first of many names, and how many more there are."""
    more = [say("and {more} more", more=len(names) - most)] if len(names) > most else []
    return [*names[:most], *more]
