"""How each kind of journal entry is undone, whether or not the thing was ever made."""

import ctypes
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from diskproof.database.secret import Secret
from diskproof.families.address import parse
from diskproof.refusal import RefusalError
from diskproof.system import programs, shared_memory
from diskproof.system.containers import remove_labelled
from diskproof.system.loops import lies_on, loops_on, wait_until_free
from diskproof.system.mounts import comes_from, mounted_at, mounts_within
from diskproof.system.own_folder import OwnFolder

PATIENCE_S = 2.0
"""A server that was killed a moment ago may still hold its files."""

POLL_S = 0.05

COMMAND_LIMIT_S = 600.0
"""Limit for a command, such as a device's last write."""

STEP_LIMIT_S = 5.0
"""Limit for a command of the system that undoes something. A file system that is still
writing then is detached; the kernel finishes the writes in the background."""

MNT_FORCE, UMOUNT_NOFOLLOW = 1, 8
"""From sys/mount.h and linux/fs.h."""

FUSE_CONNECTIONS = Path("/sys/fs/fuse/connections")

QUOTA_SLICE = Path("/proc/sys/kernel/sched_cfs_bandwidth_slice_us")
"""What a CPU takes of a group's quota at a time: Documentation/scheduler/sched-bwc.rst."""

GONE_WITH_THE_KERNEL = frozenset({"mount", "loop", "cgroup", "quota_slice", "shared_memory"})
"""What a restart of the machine removes."""

DISKPROOF = "diskproof"
"""Source of our virtual disks' mounts; a journal of an earlier version has no sources, and only these."""

Entry = dict[str, str]
"""A line of a journal: its first key is the kind, its value names the thing."""


@dataclass(frozen=True)
class Undone:
    """One thing that was cleared away, or could not be."""

    what: str
    done: bool


def unmount(entry: Entry) -> list[Undone]:
    """Unmount a file system; a busy one is detached now and released when its users leave.

    What somebody else mounted there stays.
    """
    path = Path(entry["mount"])
    if not any(_is_ours(entry)):
        return []
    if not is_seen_mounted(entry):
        return [_undone(f"mount {path}", "another mount covers it: unmount that first")]
    # An ordinary user unmounts FUSE with another program.
    argv = ["umount"] if os.geteuid() == 0 else [_fusermount(), "-u"]
    lazily = "--lazy" if os.geteuid() == 0 else "-z"
    failure = _patiently([*argv, str(path)])
    if failure and is_seen_mounted(entry):
        failure = _run([*argv, lazily, str(path)])
    if failure and not any(_is_ours(entry)):
        failure = None  # a program that was killed amid the last writes had begun
    return [_undone(f"mount {path}", failure)]


def abort(entry: Entry) -> None:
    """Let every request to a FUSE file system of ours fail: its program may be dead or stopped.

    A process that waits for an answer cannot be killed, and `umount` would wait too. Nothing here asks the
    file system itself.
    """
    if "mount" not in entry or not is_seen_mounted(entry):
        return
    path = Path(entry["mount"])
    mount = mounted_at(path)[-1]
    if not mount.filesystem.startswith("fuse") or mount.source != DISKPROOF:
        return
    number = mount.device_number.partition(":")[2]
    try:
        (FUSE_CONNECTIONS / number / "abort").write_text("1")
    except OSError:  # in most containers it is not mounted
        if os.geteuid() == 0:
            ctypes.CDLL(None).umount2(os.fsencode(mount.mount_point), MNT_FORCE | UMOUNT_NOFOLLOW)


def is_seen_mounted(entry: Entry) -> bool:
    """Return whether the visible mount at a mount point of a journal is the journal's."""
    here = _is_ours(entry)
    return bool(here) and here[-1]


def _is_ours(entry: Entry) -> list[bool]:
    """Return for each mount at a mount point whether it is the journal's, the visible one last."""
    source = entry.get("source", DISKPROOF)
    if "on" in entry and not lies_on(Path(source), Path(entry["on"])):
        return []  # the loop device's number was reused
    return [comes_from(mount, source) for mount in mounted_at(Path(entry["mount"]))]


def _fusermount() -> str:
    """Return the program that unmounts for ordinary users: older systems have it without the 3."""
    return next(
        (
            name
            for name in ("fusermount3", "fusermount")
            if shutil.which(name, path=programs.environment()["PATH"])
        ),
        "fusermount3",
    )


def detach_loops(entry: Entry) -> list[Undone]:
    """Detach the loop devices on a file, unless it was replaced: a busy one detaches itself later."""
    backing_file = entry["loop"]
    with suppress(OSError):  # it is gone, or its file system is dead
        if str(Path(backing_file).stat().st_ino) != entry.get("inode"):
            return []
    undone = []
    for device in loops_on(Path(backing_file)):
        failure = _run(["losetup", "--detach", str(device)])
        if failure is None and not wait_until_free(device, Path(backing_file)):
            failure = "still in use"
        undone.append(_undone(f"loop device {device} on {backing_file}", failure))
    return undone


def identity(status: os.stat_result) -> str:
    """Return what identifies a file of ours, even if another file has its name now.

    The size belongs to it: the inode of a removed file is soon reused, and an overwritten file is somebody
    else's.
    """
    return f"{status.st_dev} {status.st_ino} {status.st_size}"


def remove_file(entry: Entry) -> list[Undone]:
    """Remove a file if it is still the one that was made."""
    path = Path(entry["file"])
    try:
        if identity(path.lstat()) != entry.get("identity"):
            return []
    except FileNotFoundError:
        return []
    path.unlink()
    return [Undone(f"file {path}", done=True)]


def remove_shared_memory(entry: Entry) -> list[Undone]:
    """Remove the shared memory of a database server that was killed."""
    owner = shared_memory.Owner.parse(entry["owner"])
    return [Undone(what, done=True) for what in shared_memory.remove(owner)]


def destroy_pool(entry: Entry) -> list[Undone]:
    """Destroy a ZFS pool; if its daemon is gone, the pool is gone too."""
    name = entry["pool"]
    if name not in _output(["zpool", "list", "-H", "-o", "name"]).split():
        return []
    return [_undone(f"pool {name}", _patiently(["zpool", "destroy", "-f", name]))]


def remove_cgroup(entry: Entry) -> list[Undone]:
    """Remove a control group; its processes go back to the group above."""
    path = Path(entry["cgroup"])
    if not path.is_dir():
        return []
    for process in (path / "cgroup.procs").read_text().split():
        try:
            (path.parent / "cgroup.procs").write_text(process)
        except OSError:
            continue  # it has ended
    try:
        path.rmdir()
    except OSError as error:
        return [_undone(f"control group {path}", str(error))]
    return [Undone(f"control group {path}", done=True)]


def put_slice_back(entry: Entry) -> list[Undone]:
    """Set the kernel's slice of quotas as it was, unless somebody has set it since."""
    if QUOTA_SLICE.read_text().strip() != entry["ours"]:
        return []
    QUOTA_SLICE.write_text(str(int(entry["quota_slice"])))
    return [Undone(f"{QUOTA_SLICE}: as it was", done=True)]


def put_variable_back(entry: Entry) -> list[Undone]:
    """Set a variable of a server that is there already as it was, unless somebody has set it since."""
    from diskproof.database.variables import put_back  # noqa: PLC0415 - it loads a driver

    name, ours, address = entry["variable"], entry["ours"], parse(entry["url"])
    what = f"`{name}` = {ours} on {address}"
    secret = Secret(entry.get("password_file"), entry.get("password_env"))
    try:
        was_ours = put_back(address, secret, name, ours, entry["before"])
    except RefusalError as error:
        return [_undone(what, str(error))]
    return [Undone(f"{what}: as it was", done=True)] if was_ours else []


def remove_containers(entry: Entry) -> list[Undone]:
    """Remove the containers of a run, which the engine may still have after a restart of the machine."""
    engine, label = entry["containers"], entry["label"]
    try:
        count, failure = remove_labelled(engine, label)
    except programs.TimedOut:
        count, failure = 0, f"{engine} does not answer"
    what = f"containers of {engine} with label {label}"
    return [_undone(what, failure)] if count or failure else []


def remove_parent(entry: Entry) -> list[Undone]:
    """Remove a directory that was made on the way; what somebody else made, put or mounted there stays."""
    path = Path(entry["parent"])
    with suppress(OSError):
        if str(path.lstat().st_ino) == entry.get("inode"):
            path.rmdir()
    return []


def remove_directory(path: Path, mark: str) -> list[Undone]:
    """Remove a directory that has a run's mark; never with what is mounted in it."""
    if within := mounts_within(path):
        return [_undone(f"directory {path}", f"something is mounted at {within[-1]}: unmount it first")]
    if not os.path.lexists(path):
        return []
    try:
        OwnFolder(path, mark).remove()
    except RefusalError as error:
        return [Undone(str(error), done=False)]
    except OSError as error:
        return [_undone(f"directory {path}", f"{error.filename}: {error.strerror}")]
    return [Undone(f"directory {path}", done=True)]


UNDOING: dict[str, Callable[[Entry], list[Undone]]] = {
    "mount": unmount,
    "loop": detach_loops,
    "file": remove_file,
    "shared_memory": remove_shared_memory,
    "pool": destroy_pool,
    "cgroup": remove_cgroup,
    "quota_slice": put_slice_back,
    "variable": put_variable_back,
    "containers": remove_containers,
    "parent": remove_parent,
}
"""By kind of entry."""


def _undone(what: str, failure: str | None) -> Undone:
    return Undone(what if failure is None else f"{what} ({failure})", done=failure is None)


def _patiently(argv: list[str]) -> str | None:
    """Run a command until it succeeds or the time is over; return why it failed."""
    end = time.monotonic() + PATIENCE_S
    while (failure := _run(argv)) and time.monotonic() < end:
        time.sleep(POLL_S)
    return failure


def _run(argv: list[str]) -> str | None:
    """Run a command that belongs to no run; return why it failed."""
    try:
        ended = programs.run(argv, limit_s=STEP_LIMIT_S, marked=False)
    except programs.TimedOut:
        return f"it did not end within {STEP_LIMIT_S:g} s"
    except OSError as error:
        return str(error)
    return ended.complaint if ended.code else None


def _output(argv: list[str]) -> str:
    """Return the output of a command; nothing if it fails or does not exist."""
    try:
        return programs.run(argv, limit_s=STEP_LIMIT_S, marked=False).out
    except (OSError, programs.TimedOut):
        return ""
