"""What a case must leave: everything as it was before."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import psutil

ROOTS = (Path("/tmp"), Path("/dev/shm"), Path("/run"))
"""Where a run writes beside what its study names: each is a tmpfs of the case."""

CONNECTIONS = Path("/sys/fs/fuse/connections")
CGROUPS = Path("/sys/fs/cgroup")
BLOCKS = Path("/sys/block")
SYSTEM_V = ("shm", "sem", "msg")


class Mount(NamedTuple):
    """A line of the kernel's table of mounts."""

    point: str
    kind: str
    source: str
    minor: int


@dataclass
class Seen:
    """What belonged to the work while it ran: what the kernel keeps outside of any namespace."""

    marks: set[str] = field(default_factory=set)
    """Marks of the runs."""
    connections: set[int] = field(default_factory=set)
    """FUSE connections, by number."""

    def look(self, state: Path) -> bool:
        """Note what is there now; return whether any run has begun."""
        self.marks |= {path.stem for path in state.rglob("*.jsonl") if re.fullmatch("[0-9a-f]{8}", path.stem)}
        self.connections |= {mount.minor for mount in mounts() if mount.kind.startswith("fuse")}
        return bool(self.marks)

    def is_named(self, text: str) -> bool:
        """Return whether a text has one of the marks in it."""
        return any(mark in text for mark in self.marks)


Things = dict[str, str]
"""Everything that is there: its name with its kind, and what must not change of it."""


def everything(own: Path, seen: Seen, may_change: tuple[Path, ...]) -> Things:
    """Return all that is there; `own` is the case's folder, and what is below `may_change` does not count."""
    there: Things = {}
    for root in ROOTS:
        there |= dict(_files(root, may_change))
    there |= {
        f"mount {mount.point}": f"{mount.kind} {mount.source}"
        for mount in mounts()
        if not mount.point.startswith("/run/netns/")  # another's network namespace; diskproof makes none
    }
    there |= {f"process {pid}": name for pid, name in processes().items()}
    for kind in SYSTEM_V:
        lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
        there |= {f"System V {kind} {line.split()[1]}": line.split()[0] for line in lines}
    for file in BLOCKS.glob("loop*/loop/backing_file"):
        backing = _text(file)
        if str(own) in backing or seen.is_named(backing):
            there[f"loop device {file.parts[3]}"] = backing
    for number in seen.connections:
        if (CONNECTIONS / str(number)).exists():
            there[f"FUSE connection {number}"] = ""
    groups = [path for path in CGROUPS.glob("*/diskproof-*") if seen.is_named(path.name)]
    return there | {f"control group {path}": "" for path in groups}


def differences(before: Things, after: Things) -> list[str]:
    """Say what was left, what is gone, and what has changed."""
    left = [f"left: {name} {what}".rstrip() for name, what in after.items() if name not in before]
    gone = [f"harmed: {name} is gone" for name in before if name not in after]
    other = [
        f"harmed: {name} was {what}, is {after[name]}"
        for name, what in before.items()
        if name in after and after[name] != what
    ]
    return [*left, *gone, *other]


def mounts(pid: int | str = "self") -> list[Mount]:
    """Return the mounts of a process's namespace; none if it is gone."""
    found = []
    for line in _text(Path(f"/proc/{pid}/mountinfo")).splitlines():
        fields, _, rest = line.partition(" - ")
        words = fields.split()
        found.append(Mount(words[4], rest.split()[0], rest.split()[1], int(words[2].partition(":")[2])))
    return found


def processes() -> dict[int, str]:
    """Return the live processes of this namespace, without the case's own."""
    found = {}
    for process in psutil.process_iter(["name", "status", "cmdline"]):
        if process.pid not in {1, os.getpid()} and process.info["status"] != psutil.STATUS_ZOMBIE:
            found[process.pid] = " ".join(process.info["cmdline"] or [process.info["name"]])[:200]
    return found


def _files(root: Path, may_change: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """Yield each file and folder of a tree, with its owner, rights, size and contents."""
    for path in sorted(root.iterdir()):
        if path in may_change:
            continue
        try:
            status = path.lstat()
            what = f"{status.st_uid}:{status.st_gid} {status.st_mode:o}"
            if path.is_symlink():
                what += f" -> {path.readlink()}"
            elif path.is_file():
                what += f" {status.st_size} {sha256(path.read_bytes()).hexdigest()[:8]}"
            elif path.is_dir():
                yield from _files(path, may_change)
        except OSError as error:
            what = str(error)
        yield f"file {path}", what


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
