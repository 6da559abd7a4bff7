"""Control groups of the kernel, of version 2 or 1: where they are, and one for processes of a run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from diskproof.system.journal import Journal
from diskproof.system.mounts import mounts

Version = Literal[1, 2]


def controller(first: str, second: str) -> tuple[Version, Path] | None:
    """Return the version and the root of the group tree with a controller; None if none has it.

    It is called `first` in version 1 and `second` in version 2.
    """
    for mount in mounts():
        root = Path(mount.mount_point)
        if mount.filesystem == "cgroup" and first in mount.options.split(","):
            return 1, root
        if mount.filesystem == "cgroup2" and second in words(root / "cgroup.controllers"):
            return 2, root
    return None


def why_off(found: tuple[Version, Path], name: str) -> str | None:
    """Return that a controller of version 2 is off for groups, and how to turn it on; None if it is not."""
    version, root = found
    if version == 1 or name in words(root / "cgroup.subtree_control"):
        return None
    return (
        f"the `{name}` controller is off for groups below {root}; "
        f"`echo +{name} > {root}/cgroup.subtree_control` turns it on for the whole machine"
    )


class ControlGroup:
    """A group of a run; whoever makes it limits it."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        """Make a group; it is in the journal first."""
        self.folder = folder
        journal.cgroup(folder)
        folder.mkdir()

    def enter(self, processes: Iterable[int]) -> None:
        """Put processes into the group, with all their threads; ended ones are skipped."""
        for process in processes:
            try:
                (self.folder / "cgroup.procs").write_text(str(process))
            except ProcessLookupError:
                continue

    def holds(self) -> set[int]:
        """Return the processes in the group."""
        return {int(word) for word in words(self.folder / "cgroup.procs")}


def words(path: Path) -> list[str]:
    """Return the words of one of the kernel's files; none if it cannot be read."""
    try:
        return path.read_text().split()
    except OSError:
        return []
