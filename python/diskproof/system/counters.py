"""The kernel's counters: CPU, disks, and what a set of processes used. Reading them costs a millisecond."""

import os
from dataclasses import dataclass
from pathlib import Path

from diskproof.results.records import DeviceUsage

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SECTOR_BYTES = 512
"""/proc/diskstats counts in 512-byte sectors whatever the disk's own sector is."""


@dataclass(frozen=True)
class HostCounters:
    """CPU seconds of the whole machine since it started (/proc/stat), summed over its CPUs."""

    busy_s: float
    iowait_s: float
    steal_s: float
    context_switches: int


@dataclass(frozen=True)
class ProcessCounters:
    """What a set of processes has used since they started, with their children that have ended."""

    cpu_s: float
    read_bytes: int | None
    written_bytes: int | None


def host_counters() -> HostCounters:
    """Read /proc/stat."""
    lines = Path("/proc/stat").read_text().splitlines()
    ticks = [int(field) for field in lines[0].split()[1:9]]
    user, nice, system, _idle, iowait, irq, softirq, steal = ticks
    switches = next(int(line.split()[1]) for line in lines if line.startswith("ctxt "))
    return HostCounters(
        busy_s=(user + nice + system + irq + softirq) / TICKS_PER_S,
        iowait_s=iowait / TICKS_PER_S,
        steal_s=steal / TICKS_PER_S,
        context_switches=switches,
    )


def device_counters(name: str) -> DeviceUsage | None:
    """Read one disk's counters since it appeared; None if the kernel does not list it.

    Fields: Documentation/admin-guide/iostats.rst of the Linux kernel; flushes since 5.5. Times are sums
    over requests, in whole milliseconds.
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


def usage_between(earlier: DeviceUsage, later: DeviceUsage) -> DeviceUsage:
    """Return what one disk did between two readings of its counters."""
    before, after = earlier.model_dump(), later.model_dump()
    moved = {
        name: None if count is None or before[name] is None else count - before[name]
        for name, count in after.items()
    }
    return DeviceUsage.model_validate(moved)


def process_counters(pids: list[int]) -> ProcessCounters:
    """Sum the CPU time and the storage traffic of live processes; traffic is None without permission.

    What a child used that has ended counts for the parent that waited for it, or PostgreSQL's figures
    would fall with every backend that goes. The kernel adds its traffic to the parent's by itself.
    """
    cpu_s = 0.0
    read_bytes: int | None = 0
    written_bytes: int | None = 0
    for pid in pids:
        try:
            # The name, in parentheses, may hold spaces and parentheses of its own.
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            # utime, stime, and cutime, cstime of the children waited for (proc(5)).
            cpu_s += sum(int(ticks) for ticks in fields[11:15]) / TICKS_PER_S
        except OSError:
            continue
        try:
            io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        except OSError:
            read_bytes = written_bytes = None
            continue
        if read_bytes is not None and written_bytes is not None:
            read_bytes += int(io["read_bytes"])
            written_bytes += int(io["write_bytes"])
    return ProcessCounters(cpu_s, read_bytes, written_bytes)


def open_files(pids: list[int]) -> list[tuple[str, str]]:
    """List the regular files that processes hold open for writing, as (path, ``major:minor``), once each.

    Libraries and other files that are only read say nothing about where data lies, except those of
    the server itself, which it opens for writing anyway.
    """
    found: dict[str, str] = {}
    for pid in pids:
        try:
            descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
        except OSError:
            continue
        for descriptor in descriptors:
            entry = _open_for_writing(pid, descriptor)
            if entry:
                found[entry[0]] = entry[1]
    return sorted(found.items())


def _open_for_writing(pid: int, descriptor: Path) -> tuple[str, str] | None:
    try:
        stat = descriptor.stat()  # of the file behind it, even where it has been deleted
        path = str(descriptor.readlink())
        info = Path(f"/proc/{pid}/fdinfo/{descriptor.name}").read_text()
    except OSError:
        return None  # closed meanwhile
    regular = path.startswith("/") and (stat.st_mode & 0o170000) == 0o100000
    flags = int(next(line.split()[1] for line in info.splitlines() if line.startswith("flags:")), 8)
    if not regular or flags & os.O_ACCMODE == os.O_RDONLY or path.startswith("/memfd:"):
        return None
    return path, f"{os.major(stat.st_dev)}:{os.minor(stat.st_dev)}"
