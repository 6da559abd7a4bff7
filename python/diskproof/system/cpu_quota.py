"""Holds processes to a share of the CPUs' time, through control groups (version 2 or 1)."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from diskproof.refusal import RefusalError
from diskproof.system.journal import Journal
from diskproof.system.kernel import kernel_says
from diskproof.system.mounts import mounts
from diskproof.system.undoing import QUOTA_SLICE

LEAST_QUOTA_US = 1000
"""The kernel takes no shorter one (Documentation/scheduler/sched-bwc.rst)."""

SLICE_US = 100
"""How much of the quota a CPU takes at a time. With the kernel's 5,000 one CPU takes it all, and what waits
for the other stands still: MariaDB and PostgreSQL had 0.62 of their throughput."""


def why_no_quota() -> str | None:
    """Return what is missing to hold processes to a share of CPU time; None if nothing is."""
    found = controller()
    if found is None:
        return "no control group here limits CPU time: leave `cpus_count` out"
    version, root = found
    if not os.access(root, os.W_OK):
        return (
            f"only root may limit CPU time ({root} is not writable): run as root, or leave `cpus_count` out"
        )
    if not os.access(QUOTA_SLICE, os.W_OK):
        return f"a quota of CPU time needs {QUOTA_SLICE}, which is not writable here: leave `cpus_count` out"
    if version == 1 or "cpu" in _words(root / "cgroup.subtree_control"):
        return None
    return (
        f"the `cpu` controller is off for groups below {root}; "
        f"`echo +cpu > {root}/cgroup.subtree_control` turns it on for the whole machine"
    )


def controller() -> tuple[Literal[1, 2], Path] | None:
    """Return the version and the root of the group tree that can limit CPU time; None if none can."""
    for mount in mounts():
        root = Path(mount.mount_point)
        if mount.filesystem == "cgroup" and "cpu" in mount.options.split(","):
            return 1, root
        if mount.filesystem == "cgroup2" and "cpu" in _words(root / "cgroup.controllers"):
            return 2, root
    return None


def _words(path: Path) -> list[str]:
    """Return the words of one of the kernel's files; none if it cannot be read."""
    return (kernel_says(path) or "").split()


class CpuQuota:
    """A control group whose processes together get a share of some CPUs' time."""

    def __init__(self, share: float, cpus: int, journal: Journal) -> None:
        """Make a group that gets `share` of the time of `cpus`; RefusalError if the kernel refuses it.

        It is in the journal first. Processes that have used their quota stand still until its period ends, so
        both are as short as they can be.
        """
        found = controller()
        assert found is not None  # it was looked for before the run
        version, root = found
        period_us = max(round(LEAST_QUOTA_US / (share * cpus)), LEAST_QUOTA_US)
        quota_us = round(period_us * share * cpus)
        self.folder = root / f"diskproof-{journal.mark}-cpus"
        journal.cgroup(self.folder)
        try:
            self.folder.mkdir()
            if version == 2:
                (self.folder / "cpu.max").write_text(f"{quota_us} {period_us}")
            else:
                (self.folder / "cpu.cfs_period_us").write_text(str(period_us))
                (self.folder / "cpu.cfs_quota_us").write_text(str(quota_us))
            if (before_us := QUOTA_SLICE.read_text().strip()) != str(SLICE_US):
                journal.quota_slice(before_us, str(SLICE_US))
                QUOTA_SLICE.write_text(str(SLICE_US))
        except OSError as error:
            raise RefusalError(f"CPU time cannot be limited: {error.strerror} ({root})") from None

    def enter(self, processes: Iterable[int]) -> None:
        """Put processes into the group, with all their threads; ended ones are skipped."""
        for process in processes:
            try:
                (self.folder / "cgroup.procs").write_text(str(process))
            except ProcessLookupError:
                continue
