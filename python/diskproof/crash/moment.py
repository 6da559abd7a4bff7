"""The moment of a cut: its clock, and what each disk was doing."""

import time
from collections.abc import Sequence

from diskproof.disk import Facts
from diskproof.results.cut import DiskAtCut
from diskproof.results.trial import Finding
from diskproof.storage.virtual import ServedDisk

LARGE_SPREAD_S = 0.001
"""A fast disk has flushed in less, and what lies between the cuts of two disks can hide a loss."""


def now_us() -> int:
    """Return the moment on the clock of the disks and of the clients: CLOCK_MONOTONIC."""
    return time.monotonic_ns() // 1000


def disk_at_cut(disk: ServedDisk, facts: Facts, began_us: int, cut_us: int) -> DiskAtCut:
    """Return the record of what a disk answered to its cut.

    `began_us`: when the load began; `cut_us`: when the first disk of the layout was cut.
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
    """Return what is to be said where the disks of a layout were not cut at one moment."""
    spread_s = max((disk.after_first_s for disk in disks), default=0.0)
    if spread_s <= LARGE_SPREAD_S:
        return []
    return [
        Finding(
            check="one cut",
            severity="warning",
            message=f"its disks were cut {spread_s * 1000:.1f} ms apart: what the later one flushed "
            "meanwhile it has kept, and an acknowledged commit with it",
            remedy="end what else keeps this machine's cores busy",
        )
    ]
