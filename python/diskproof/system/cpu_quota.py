"""Holds processes to a share of the CPUs' time, through control groups (version 2 or 1)."""

import os
from collections.abc import Iterable
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.system.journal import Journal
from diskproof.system.mounts import mounts

LEAST_QUOTA_US = 1000
"""The kernel takes no shorter one (Documentation/scheduler/sched-bwc.rst)."""

PERIOD_US = 10_000
"""A period of the quota, longer if the quota would be too short: processes that have used theirs stand still
until its end."""


def why_no_quota() -> str | None:
    """Return what is missing to hold processes to a share of CPU time; None if nothing is."""
    root = _root()
    if root is None:
        return "no control group here limits CPU time: leave `cpus_count` out"
    if not os.access(root, os.W_OK):
        return (
            f"only root may limit CPU time ({root} is not writable): run as root, or leave `cpus_count` out"
        )
    return None


class CpuQuota:
    """A control group whose processes together get a share of some CPUs' time."""

    def __init__(self, share: float, cpus: int, journal: Journal) -> None:
        """Make a group that gets `share` of the time of `cpus`; it is in the journal first."""
        root = _root()
        assert root is not None  # it was looked for before the run
        quota_us = max(round(share * cpus * PERIOD_US), LEAST_QUOTA_US)
        period_us = round(quota_us / (share * cpus))
        self._folder = root / f"diskproof-{journal.mark}-cpus"
        journal.cgroup(self._folder)
        try:
            self._folder.mkdir()
            if (self._folder / "cpu.max").exists():
                (self._folder / "cpu.max").write_text(f"{quota_us} {period_us}")
            else:
                (self._folder / "cpu.cfs_period_us").write_text(str(period_us))
                (self._folder / "cpu.cfs_quota_us").write_text(str(quota_us))
        except OSError as error:
            raise RefusalError(f"CPU time cannot be limited: {error.strerror} ({self._folder})") from None

    def enter(self, processes: Iterable[int]) -> None:
        """Put processes into the group, with all their threads; ended ones are skipped."""
        for process in processes:
            try:
                (self._folder / "cgroup.procs").write_text(str(process))
            except ProcessLookupError:
                continue


def _root() -> Path | None:
    """Return the root of the group tree that can limit CPU time; None if none can."""
    for mount in mounts():
        root = Path(mount.mount_point)
        if mount.filesystem == "cgroup" and "cpu" in mount.options.split(","):
            return root
        if mount.filesystem == "cgroup2" and "cpu" in _words(root / "cgroup.subtree_control"):
            return root
    return None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
