"""`diskproof doctor`: what this machine can do, and a remedy for what is missing."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import psutil
from rich.table import Table

from diskproof import disk, load
from diskproof.cli.exits import DONE, REFUSED
from diskproof.cli.screen import results
from diskproof.families import FAMILIES, Family
from diskproof.fio import program as fio
from diskproof.server.choice import named_folders
from diskproof.server.registry import installed
from diskproof.storage import zfs
from diskproof.storage.filesystem import maker_missing
from diskproof.storage.kinds.ram import can_mount
from diskproof.storage.kinds.virtual import as_directory
from diskproof.storage.virtual import missing_means
from diskproof.study.places import FileSystem
from diskproof.system.containers import engines
from diskproof.system.cpus import usable
from diskproof.system.idle import may_keep_cores_awake
from diskproof.system.mounts import block_device, mount_of
from diskproof.wording import numbers


@dataclass(frozen=True)
class Check:
    """One line: what was looked at, what was found, and what to do if it is not good."""

    what: str
    found: str
    remedy: str = ""
    needed: bool = False
    """Without it nothing can be run at all."""


def doctor(*, basedir: list[str] | None = None) -> int:
    """Report what this machine can do, with a remedy for what is missing.

    Parameters
    ----------
    basedir
        Folder of a server to report in place of the installed one, `FAMILY=DIR`. Several are allowed, one a
        family.

    """
    checks = [
        _load_program(),
        *_fence(),
        *_servers(named_folders(basedir or [], FAMILIES, whose="diskproof")),
        _privileges(),
        _setpriv(),
        _virtual_disks(),
        _idle_cores(),
        _containers(),
        _fio(),
        _zfs(),
        _memory(),
        _working_directory(),
    ]
    table = Table(box=None, show_header=False, pad_edge=False)
    for check in checks:
        table.add_row("!" if check.remedy else "ok", check.what, check.found)
        if check.remedy:
            table.add_row("", "", f"-> {check.remedy}")
    results.print(table)
    return REFUSED if any(check.needed and check.remedy for check in checks) else DONE


def _load_program() -> Check:
    try:
        return Check("load generator", f"diskproof-load {load.version()}, {load.program()}")
    except load.LoadFailedError as error:
        return Check("load generator", "missing", remedy=str(error), needed=True)


def _fence() -> list[Check]:
    """Say whether the kernel can hold a script in Lua."""
    if not load.is_installed():
        return []
    if gap := load.why_no_fence():
        return [Check("scripts in Lua", "not held by the kernel alone", remedy=gap)]
    return [Check("scripts in Lua", "run in a fence of the kernel: Landlock and seccomp")]


def _servers(basedirs: Mapping[Family, Path]) -> list[Check]:
    return [
        Check(
            found.family, f"{found.facts.flavour} {found.facts.version}, {found.facts.binary or 'embedded'}"
        )
        if found.facts
        else Check(found.family, "missing", remedy=found.remedy)
        for found in installed(basedirs)
    ]


def _privileges() -> Check:
    who = "root" if os.geteuid() == 0 else "not root"
    if can_mount():
        return Check("privileges", f"{who}: can mount a tmpfs of a stated size")
    return Check(
        "privileges",
        f"{who}: cannot mount, so /dev/shm is main memory; MariaDB maps its redo log there, and writes it "
        "without system calls",
        remedy="run as root (a container with `--privileged`) for a tmpfs of a stated size",
    )


def _virtual_disks() -> Check:
    """Say whether virtual disks can be attached, and with which file systems."""
    if lacking := missing_means(block=not as_directory()):
        return Check("virtual disks", "cannot be attached", remedy=lacking)
    if as_directory():
        found = f"{len(disk.devices())} devices, as directories: block devices need root"
        return Check("virtual disks", found)
    makers = {filesystem: maker_missing(filesystem) for filesystem in get_args(FileSystem)}
    can = ", ".join(filesystem for filesystem, why in makers.items() if why is None)
    missing = "; ".join(why for why in makers.values() if why)
    return Check("virtual disks", f"{len(disk.devices())} devices, on {can or 'no file system'}", missing)


def _containers() -> Check:
    """Say which engine can run servers of an image."""
    found = engines()
    if answering := [engine for engine, why in found.items() if why is None]:
        return Check("containers", f"{' and '.join(answering)} can run servers of an `image`")
    remedy = "; ".join(why for why in found.values() if why) or "install podman"
    return Check("containers", "no engine answers: servers of an `image` cannot be run", remedy=remedy)


def _fio() -> Check:
    """Say whether disks can be measured: `disk profile` and `disk clone` do so with fio."""
    try:
        return Check("fio", f"{fio.version()}, {fio.engine()}")
    except fio.FioError as error:
        return Check("fio", "missing or too old: disks cannot be profiled", remedy=str(error))


def _zfs() -> Check:
    """Say whether pools can be made: by the kernel's ZFS, or by zfs-fuse."""
    if found := zfs.flavour():
        can = "pools can be made" if os.geteuid() == 0 else "only root can make pools"
        return Check("ZFS", f"{found}: {can}")
    return Check("ZFS", "missing: pools cannot be made", remedy="install zfsutils-linux, or zfs-fuse")


def _idle_cores() -> Check:
    if may_keep_cores_awake():
        return Check("idle cores", "can be kept awake during a run")
    remedy = "give this user /dev/cpu_dma_latency, or boot with processor.max_cstate=1"
    return Check(
        "idle cores",
        "may sleep deeply during a run: requests take longer, and virtual disks are late",
        remedy,
    )


def _memory() -> Check:
    memory = psutil.virtual_memory()
    cpus = len(usable())
    found = f"{numbers.size(memory.available)} of {numbers.size(memory.total)} free, {cpus} CPUs"
    if cpus < 2:
        return Check(
            "machine",
            found,
            remedy="use two CPUs or more: with one, the load generator slows the server down",
        )
    return Check("machine", found)


def _setpriv() -> Check:
    if shutil.which("setpriv"):
        return Check("setpriv", "servers of a killed run end with it")
    remedy = "install util-linux; until then use `diskproof clean` after a kill"
    return Check("setpriv", "missing", remedy)


def _working_directory() -> Check:
    """Say what the working directory lies on: a study may name none, and main memory is no disk."""
    try:
        mount = mount_of(Path.cwd())
    except OSError as error:
        return Check("working directory", "missing", f"change to another: {error.strerror}")
    device = block_device(mount)
    on = f"disk {device.name}" if device else "no single disk below it"
    found = f"{mount.filesystem}, {on}, {numbers.size(shutil.disk_usage('.').free)} free"
    in_memory = mount.filesystem in ("tmpfs", "ramfs")
    remedy = "this is main memory: name a directory on a disk in the study" if in_memory else ""
    return Check("working directory", found, remedy)
