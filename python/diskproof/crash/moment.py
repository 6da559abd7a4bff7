"""The moment of a cut: its clock, and what each disk was doing."""

from collections.abc import Sequence

from diskproof.disk import Facts
from diskproof.results.cut import DiskAtCut
from diskproof.results.findings import ONE_CUT
from diskproof.results.trial import Finding
from diskproof.storage.virtual import ServedDisk
from diskproof.wording import as_message, say

LARGE_SPREAD_S = 0.001
"""A fast disk flushes in less time, so a larger gap between the cuts of two disks can hide a loss."""


def disk_at_cut(disk: ServedDisk, facts: Facts, began_us: int, cut_us: int) -> DiskAtCut:
    """Return the record of a disk's answer to its cut.

    `began_us`: start of the load; `cut_us`: when the first disk of the layout was cut.
    """
    flushed_us = facts["last_flush_monotonic_us"]
    since_load = flushed_us is not None and flushed_us >= began_us
    known = {name: facts[name] for name in DiskAtCut.model_fields if name in facts}
    return DiskAtCut(
        **known,
        name=disk.facts.name,
        device=disk.facts.device,
        last_flush_before_s=(facts["at_monotonic_us"] - flushed_us) / 1e6 if since_load else None,
        after_first_s=(facts["at_monotonic_us"] - cut_us) / 1e6,
    )


def apart(disks: Sequence[DiskAtCut]) -> list[Finding]:
    """Return a warning if the disks of a layout were not cut at the same moment."""
    spread_s = max((disk.after_first_s for disk in disks), default=0.0)
    if spread_s <= LARGE_SPREAD_S:
        return []
    return [
        Finding(
            check=ONE_CUT,
            severity="warning",
            message=say(
                "the disks were cut {ms:.1f} ms apart: a flush of the later one in that time may have kept "
                "an acknowledged commit",
                ms=spread_s * 1000,
            ),
            remedy=as_message("Stop other work on this machine's cores."),
        )
    ]
