"""The kernel's counters of CPU, disks and processes. Reading them costs a millisecond."""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TypeVar

from diskproof.results.record import Record
from diskproof.results.usage import DeviceUsage
from diskproof.system.kernel import kernel_says
from diskproof.system.mounts import number_text

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SECTOR_BYTES = 512
"""/proc/diskstats counts sectors of 512 bytes, whatever the disk's own sector is."""


Counted = TypeVar("Counted", bound=Record)


class HostCounters(Record):
    """What the whole machine did since it started (/proc/stat), as `Usage` names it; CPUs summed."""

    host_cpu_busy_s: float
    host_cpu_iowait_s: float
    host_cpu_steal_s: float
    context_switches: int
    held_cpu_busy_s: float | None = None
    """Of the requested CPUs only; None if none were requested."""


def host_counters(cpus: Collection[int] = ()) -> HostCounters:
    """Read /proc/stat; `cpus` are counted separately too."""
    lines = Path("/proc/stat").read_text().splitlines()
    _user, _nice, _system, _idle, iowait, _irq, _softirq, steal = _ticks(lines[0])
    chosen = [line for line in lines if line.split()[0] in {f"cpu{cpu}" for cpu in cpus}]
    switches = next(int(line.split()[1]) for line in lines if line.startswith("ctxt "))
    return HostCounters(
        host_cpu_busy_s=_busy_s(lines[0]),
        host_cpu_iowait_s=iowait / TICKS_PER_S,
        host_cpu_steal_s=steal / TICKS_PER_S,
        context_switches=switches,
        held_cpu_busy_s=sum(map(_busy_s, chosen)) if chosen else None,
    )


def _busy_s(line: str) -> float:
    user, nice, system, _idle, _iowait, irq, softirq, _steal = _ticks(line)
    return (user + nice + system + irq + softirq) / TICKS_PER_S


def _ticks(line: str) -> list[int]:
    """Return the fields of one line of /proc/stat; the user time includes that of guests."""
    return [int(field) for field in line.split()[1:9]]


def device_counters(name: str) -> DeviceUsage | None:
    """Read one disk's counters since it appeared; None if the kernel does not list it.

    Fields: Documentation/admin-guide/iostats.rst of the Linux kernel; flushes since 5.5. Times are sums over
    requests, in whole milliseconds.
    """
    for line in Path("/proc/diskstats").read_text().splitlines():
        _, _, found, *fields = line.split()
        if found == name:
            values = [int(field) for field in fields]
            return DeviceUsage(
                reads=values[0],
                read_bytes=values[2] * SECTOR_BYTES,
                writes=values[4],
                written_bytes=values[6] * SECTOR_BYTES,
                flushes=values[15] if len(values) > 15 else None,
                busy_s=values[9] / 1000,
                read_s=values[3] / 1000,
                write_s=values[7] / 1000,
                flush_s=values[16] / 1000 if len(values) > 16 else None,
            )
    return None


def between(earlier: Counted, later: Counted) -> Counted:
    """Return the differences of two readings of the same counters; None if either is unknown."""
    before = earlier.model_dump()
    moved = {
        name: None if count is None or before[name] is None else count - before[name]
        for name, count in later.model_dump().items()
    }
    return type(later).model_validate(moved)


def cpu_time_s(pids: list[int]) -> float:
    """Sum the CPU time of live processes.

    An ended child counts for the parent that waited for it, or PostgreSQL's figure would fall with every
    backend that ends.
    """
    cpu_s = 0.0
    for pid in pids:
        # The name, in parentheses, may hold spaces and parentheses of its own.
        fields = (kernel_says(f"/proc/{pid}/stat") or "").rpartition(")")[2].split()
        # utime, stime, and cutime, cstime of the children waited for (proc(5)).
        cpu_s += sum(int(ticks) for ticks in fields[11:15]) / TICKS_PER_S
    return cpu_s


def open_files(
    pids: list[int], *, read_too: Callable[[str], bool] = lambda _path: False
) -> list[tuple[str, str]]:
    """List the regular files that processes hold open for writing, as (path, ``major:minor``), once each.

    Files that are only read, such as libraries, do not show where data lies. A load on bare files may open
    them only for reading: `read_too` returns for which paths that is enough.
    """
    found: dict[str, str] = {}
    for pid in pids:
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - of thousands, names alone
        except OSError:
            continue
        for descriptor in descriptors:
            link = f"/proc/{pid}/fd/{descriptor}"
            try:
                path = os.readlink(link)  # noqa: PTH115 - likewise
                # Threads of fio each hold every file: one descriptor of each is enough.
                if path in found or not path.startswith("/") or path.startswith("/memfd:"):
                    continue
                if (number := _device_number(link)) and (read_too(path) or _is_written(pid, descriptor)):
                    found[path] = number
            except OSError:
                continue  # closed meanwhile
    return sorted(found.items())


def _device_number(link: str) -> str | None:
    """Return the device of the file behind a descriptor, even if it was deleted; None if it is no file."""
    stat = os.stat(link)  # noqa: PTH116 - one of thousands
    if (stat.st_mode & 0o170000) != 0o100000:
        return None
    return number_text(stat.st_dev)


def _is_written(pid: int, descriptor: str) -> bool:
    info = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text()
    flags = int(next(line.split()[1] for line in info.splitlines() if line.startswith("flags:")), 8)
    return flags & os.O_ACCMODE != os.O_RDONLY
