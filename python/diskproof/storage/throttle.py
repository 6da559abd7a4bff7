"""Throttles a real device for the server only, through control groups (version 2 or 1)."""

import os
from collections.abc import Mapping
from pathlib import Path

from diskproof.storage.kinds.base import StorageError, unused
from diskproof.system import control_group
from diskproof.system.control_group import ControlGroup, Version, why_off
from diskproof.system.journal import Journal
from diskproof.wording import Message, say

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
    return control_group.controller("blkio", "io")


def check_throttle(what: str) -> None:
    """Refuse throttling if the machine has no means for it, or the user no permission."""
    found = controller()
    if found is None:
        raise StorageError(
            f"{what}: no control group here can throttle a disk (neither `io` of version 2 nor `blkio` of "
            "version 1 exists); leave `throttle` out, or use a virtual disk"
        )
    if not os.access(found[1], os.W_OK):
        raise StorageError(f"{what}: only root may throttle ({found[1]} is not writable); run as root")
    if why := why_off(found, "io"):
        raise StorageError(f"{what}: {why}")


class ThrottledGroup(ControlGroup):
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
        super().__init__(unused(root / f"diskproof-{journal.mark}"), journal)
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
