"""Throttles a real device for the server only, through control groups (version 2 or 1)."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from diskproof.storage.kinds.base import StorageError, unused
from diskproof.system.journal import Journal
from diskproof.system.mounts import mounts
from diskproof.wording import Message, say

Version = Literal[1, 2]

V1_FILES = {
    "read_iops": "blkio.throttle.read_iops_device",
    "write_iops": "blkio.throttle.write_iops_device",
    "read_bytes_per_s": "blkio.throttle.read_bps_device",
    "write_bytes_per_s": "blkio.throttle.write_bps_device",
}
"""Documentation/admin-guide/cgroup-v1/blkio-controller.rst of the Linux kernel."""

V2_WORDS = {
    "read_iops": "riops",
    "write_iops": "wiops",
    "read_bytes_per_s": "rbps",
    "write_bytes_per_s": "wbps",
}
"""The keys of io.max: Documentation/admin-guide/cgroup-v2.rst."""

PAST_THE_THROTTLE: dict[Version, str] = {
    1: "it limits requests of the server's own processes; control groups of version 1 do not limit the "
    "kernel's write-back or a journal's own writes",
    2: "it limits requests of the server's processes and, on ext4, xfs and btrfs, the kernel's write-back "
    "for them; it does not limit a journal's own writes",
}


def controller() -> tuple[Version, Path] | None:
    """Return the version and the root of the group tree that can throttle disks; None if none can."""
    for mount in mounts():
        root = Path(mount.mount_point)
        if mount.filesystem == "cgroup" and "blkio" in mount.options.split(","):
            return 1, root
        if mount.filesystem == "cgroup2" and "io" in _words(root / "cgroup.controllers"):
            return 2, root
    return None


def check_throttle(what: str) -> None:
    """Refuse throttling if the machine has no means for it, or the user no permission."""
    found = controller()
    if found is None:
        raise StorageError(
            f"{what}: no control group here can throttle a disk (neither `io` of version 2 nor `blkio` of "
            "version 1 exists); leave `throttle` out, or use a virtual disk"
        )
    version, root = found
    if not os.access(root, os.W_OK):
        raise StorageError(f"{what}: only root may throttle ({root} is not writable); run as root")
    if version == 2 and "io" not in _words(root / "cgroup.subtree_control"):
        raise StorageError(
            f"{what}: the `io` controller is off for groups below {root}; "
            f"`echo +io > {root}/cgroup.subtree_control` turns it on for the whole machine"
        )


class ThrottledGroup:
    """A control group that limits its processes to the rates of some disks."""

    def __init__(self, limits: Mapping[str, Mapping[str, int]], journal: Journal) -> None:
        """Make a group; `limits` are by kernel name of the disk, by the keys of `throttle`.

        The group is in the journal first.
        """
        found = controller()
        if found is None:
            raise StorageError("no control group here can throttle a disk; leave `throttle` out")
        self.version, root = found
        self._limits = limits
        self.folder = unused(root / f"diskproof-{journal.mark}")
        journal.cgroup(self.folder)
        self.folder.mkdir()
        for disk, rates in limits.items():
            self._limit(disk, rates)

    @property
    def note(self) -> Message:
        """The server's limits, and what they do not cover."""
        rates = "; ".join(
            f"{disk}: {', '.join(f'{key} {value}' for key, value in rates.items())}"
            for disk, rates in self._limits.items()
        )
        return say("throttled ({rates}): " + PAST_THE_THROTTLE[self.version], rates=rates)

    def enter(self, processes: Iterable[int]) -> None:
        """Put processes into the group, with all their threads; ended ones are skipped."""
        for process in processes:
            try:
                (self.folder / "cgroup.procs").write_text(str(process))
            except ProcessLookupError:
                continue

    def holds(self) -> set[int]:
        """Return the processes in the group."""
        return {int(word) for word in _words(self.folder / "cgroup.procs")}

    def _limit(self, disk: str, rates: Mapping[str, int]) -> None:
        number = (Path("/sys/block") / disk / "dev").read_text().strip()
        try:
            if self.version == 2:
                words = " ".join(f"{V2_WORDS[key]}={value}" for key, value in rates.items())
                (self.folder / "io.max").write_text(f"{number} {words}")
                return
            for key, value in rates.items():
                (self.folder / V1_FILES[key]).write_text(f"{number} {value}")
        except OSError as error:
            raise StorageError(f"{disk} cannot be throttled: {error.strerror} ({self.folder})") from None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
