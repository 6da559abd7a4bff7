"""Checks of loads on bare files: busy threads, requests that reach the storage, reads from memory."""

from collections.abc import Iterator

from diskproof.audit.check import (
    Evidence,
    NothingToCheckError,
    Problem,
    Said,
    Untold,
    check,
    invalid,
    note,
    warning,
)
from diskproof.results.load import FileRequests, Latency, LoadResult
from diskproof.results.machine import Place
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import NOTHING, bytes_, counted, ms, printed, say, seconds, share, us

BUSY_TOLERANCE = 0.03

LONG_REQUEST = 0.1
"""Share of the phase. If one request takes more, the sum of latencies proves nothing."""

OWN_US = 10.0
"""fio and the system need a few microseconds between two requests; that is no error of measurement."""

SATURATED = 0.8
"""If this share of the CPUs is busy, threads wait for a CPU between their requests."""

FEW_BETWEEN = 0.15
"""Share of the threads that may be between two requests. The storage then serves fewer at a time than
planned, and serves these as usual."""

FEWEST_BYTES = 16 * 2**20
"""Of less, the edges of the phase are too large a part."""

ARRIVED_SHARE = 0.95

MORE_CPUS = "fewer `clients`, or a machine with more CPUs"

WHOLE_PHASE = 0.95
"""Share of its time that a phase lasts if nothing ended it early."""


def busy_threads(evidence: Evidence) -> Iterator[Said]:
    """Find threads that were not always in a request, beyond what fio itself takes between two.

    Threads wait for syncs as for reads and writes. The sync that ends a pass is no request, and not judged.
    """
    load, moved = evidence.load, evidence.bare_files
    if moved.one_pass:
        raise NothingToCheckError("one pass over the files: each thread ends when its files are done")
    measured_s, clients, statements = load.known_seconds, load.known_clients, load.known_statements
    if measured_s <= 0 or not statements:
        raise NothingToCheckError("no request was measured")
    by_kind = [one.latency_us for one in load.statement_types if one.latency_us]
    waits = by_kind or [recorded(load.latency_us, "the mean latency")]
    in_service = sum(wait.mean * wait.known_count for wait in waits) / 1e6 / measured_s
    if evidence.imported and not by_kind and moved.syncs != 0 and not _holds_syncs(load):
        if in_service < clients * (1 - BUSY_TOLERANCE):
            yield _without_syncs(in_service / clients, measured_s, clients, moved.syncs)
        else:
            yield Untold("the latency of the syncs")  # threads waited for them too
        return
    longest = max(recorded(wait.max, "the longest latency") for wait in waits) / 1e6 / measured_s
    tolerance = BUSY_TOLERANCE + min(longest, LONG_REQUEST)
    off = in_service / clients - 1
    if abs(off) <= tolerance:
        return
    if off < 0 and evidence.imported and moved.direct is None:
        yield Untold("the options, which may hold a load back")
        return
    busy = say(
        "requests and syncs account for {busy:,.2f} of {threads}",
        busy=in_service,
        threads=counted(clients, "thread"),
    )
    between_us = (clients - in_service) * measured_s * 1e6 / statements
    if off < 0 and between_us <= OWN_US:
        yield note(
            "{busy}: {tool} itself took {time:.1f} between two requests of a thread; so fast a storage is "
            "measured together with {tool}",
            "",
            busy=busy,
            tool=_tool(evidence),
            time=us(between_us),
        )
    elif off < 0 and (cpus := _cpu_share(evidence)) >= SATURATED:
        yield warning(
            "{busy}: the others waited for a CPU, {cpus} of which were busy; the CPUs limit the figure as "
            "much as the storage",
            MORE_CPUS,
            busy=busy,
            cpus=share(cpus),
        )
    elif off < 0 and -off <= FEW_BETWEEN:
        yield warning(
            "{busy}: the others were between two requests, {time} each time, which no latency includes. The "
            "storage served {mean:.1f} at a time; its requests a second are right",
            MORE_CPUS,
            busy=busy,
            time=us(between_us),
            mean=in_service,
        )
    else:
        yield invalid("{busy}, but all should be in one all the time", busy=busy)


def _tool(evidence: Evidence) -> str:
    """Return the program that asked for files: fio, unless it was another's."""
    told = evidence.trial.imported
    return told.format.split()[0] if told else "fio"


def _without_syncs(explained: float, measured_s: float, clients: int, syncs: int | None) -> Problem:
    """Return how much of the threads' time the requests took, if the tool times no syncs."""
    return warning(
        "the request latencies explain {share} of the {time} of {threads}; {rest}",
        "print the time of the syncs beside that of the requests",
        share=share(explained),
        time=seconds(measured_s),
        threads=counted(clients, "thread"),
        rest=say("the {n} syncs are probably the rest", n=syncs) if syncs else "the rest is not shown",
    )


def _holds_syncs(load: LoadResult) -> bool:
    """Tell whether the latency includes syncs, as sysbench's does since 1.0."""
    waited = load.latency_us.count if load.latency_us else None
    return waited == load.statements and (load.statements or 0) > (load.transactions or 0)


def _cpu_share(evidence: Evidence) -> float:
    """Return how busy the CPUs were: all of the machine's, or those that fio's threads can use."""
    load, usage, machine = evidence.load, evidence.trial.usage, evidence.machine
    cpus = evidence.plan.cpus or (machine.cpus if machine else load.known_clients)
    usable = max(min(load.known_clients, cpus), 1)
    own = load.known_client.cpu_s / (load.known_seconds * usable)
    if usage is None or machine is None or not usage.seconds:
        return own
    if usage.held_cpu_busy_s is not None and machine.held_cpus:
        return max(own, usage.held_cpu_busy_s / (usage.host_seconds * len(machine.held_cpus)))
    # A CPU that the hypervisor withholds is waited for as well.
    taken_s = (usage.host_cpu_busy_s or 0.0) + (usage.host_cpu_steal_s or 0.0)
    busy = taken_s / (usage.host_seconds * (machine.host_cpus or machine.cpus))
    return max(own, busy)


@check(
    "arrived",
    reason="A request that a cache answered says nothing about the device behind it.",
    remedy="`direct = true` and a larger `total_size` in `[workloads.NAME]`; a ZFS pool has a cache of its "
    "own, limited by `arc_size`",
    source="bytes that fio asked for against /proc/diskstats of the devices below the files",
)
def arrived(evidence: Evidence) -> Iterator[Said]:
    """Find bytes that were asked for but never read from or written to a device.

    That is an error if requests bypass the page cache and there is no pool.
    """
    moved = evidence.bare_files
    place = recorded(evidence.place("data"), "where the files lay")
    if place.in_memory:
        raise NothingToCheckError("the files lay in memory")
    if "compress" in place.mount_options:
        raise NothingToCheckError("the file system compresses what it writes")
    names = _devices(place)
    usage = evidence.trial.usage
    seen = [usage.devices[name] for name in names if name in usage.devices] if usage else []
    if not names or len(seen) < len(names):
        raise NotRecordedError("what reached the devices below the files")
    for what, asked, done in (
        ("read", moved.read_bytes, sum(device.read_bytes for device in seen)),
        ("written", moved.written_bytes, sum(device.written_bytes for device in seen)),
    ):
        asked_bytes = recorded(asked, f"how much was {what}")
        if asked_bytes >= FEWEST_BYTES and done < ARRIVED_SHARE * asked_bytes:
            yield _absent(moved, place, what, asked_bytes, done, names)


@check(
    "whole-phase",
    reason="A replay ends with its log: the figures are of a shorter phase than was asked for.",
    remedy="a `warm_up_s`, which shows how long the log must be; if there is one, a shorter `measure_s` "
    "or a larger `sync_every`, in `[workloads.NAME]`",
    source="a log holds twice the rate of the warm-up, and at most two million requests and syncs",
)
def whole_phase(evidence: Evidence) -> Iterator[Said]:
    """Find phases that ended early."""
    moved = evidence.bare_files
    if moved.one_pass or evidence.imported:
        raise NothingToCheckError("no log of requests is replayed")
    asked_s, measured_s = evidence.plan.phases_of(evidence.cell).measure_s, evidence.load.known_seconds
    if measured_s < WHOLE_PHASE * asked_s:
        yield warning(
            "{measured} of {asked} were measured: then the log of requests ended",
            measured=seconds(measured_s),
            asked=seconds(asked_s),
        )


def _absent(
    moved: FileRequests, place: Place, what: str, asked_bytes: float, done_bytes: float, names: list[str]
) -> Problem:
    found = say(
        "{asked} were {what}, {done} of them at {devices}",
        asked=bytes_(asked_bytes),
        what=what,
        done=bytes_(done_bytes),
        devices=names,
    )
    if place.pool:
        return warning("{found}: the pool's cache had the rest", found=found)
    if moved.direct:
        return invalid(
            "{found}, though requests bypass the page cache",
            "check that the files have no holes and that nothing between them and the device caches",
            found=found,
        )
    return note("{found}: the page cache had the rest", found=found)


def _devices(place: Place) -> list[str]:
    """Return the devices that hold the files: of a pool, those of its data."""
    if place.pool:
        devices = [member.device for member in place.pool.of("data")]
    else:
        devices = [place.device] if place.device else []
    return list(dict.fromkeys(name for device in devices for name in device.counted))


FASTEST_READ_US = 8.0
"""No disk answers faster: 3D XPoint over PCIe takes 8 to 10 us, flash 50 and more."""

FLASH_READ_US = 45.0
"""A page of flash (tR) and its way to the CPU; over SATA more, and a spinning disk's own cache is no faster.
A disk reads what it has just written faster, from its own memory: only held against reads through the page
cache."""


@check(
    "cached-reads",
    reason="A read from the system's page cache takes microseconds on any disk. A mean over such reads shows "
    "how much was cached, not how fast the disk is.",
    remedy="`--file-extra-flags=direct` of sysbench, `--direct=1` of fio, or files several times as large as "
    "the memory, and caches dropped before",
    source="latency floors: Intel Optane P4800X 10 us, NAND flash 50 us (tR) and more, SATA 600 MB/s",
)
def cached_reads(evidence: Evidence) -> Iterator[Said]:
    """Find reads of files that were faster than any disk, and those that may have been cached."""
    moved = evidence.bare_files
    if moved.read_bytes == 0:
        raise NothingToCheckError("nothing was read")
    if not evidence.imported:
        raise NothingToCheckError("what reached the devices was counted")  # by `arrived`
    latency = _read_latency(evidence)
    through_cache = moved.direct is False
    floor_us, whose = (FLASH_READ_US, "flash") if through_cache else (FASTEST_READ_US, "the fastest disk")
    if latency is not None and latency.min is not None and 0 < latency.min < floor_us:
        below = _percent_below(latency, floor_us)
        yield warning(
            "the fastest request took {min}, but {disk} takes {floor} or more{below}: memory answered some "
            "of them. The mean of {mean} is of both",
            min=ms(latency.min),
            disk=whose,
            floor=ms(floor_us),
            below=say("; {percent}% took less than that", percent=printed(below)) if below else NOTHING,
            mean=ms(latency.mean),
        )
    elif latency is not None and latency.min is None and (below := _percent_below(latency, floor_us)):
        yield warning(
            "{percent}% of the requests took {most} or less, but {disk} takes {floor} or more: memory "
            "answered them",
            percent=printed(below),
            most=ms(latency.percentiles[f"{below:g}"]),
            disk=whose,
            floor=ms(floor_us),
        )
    if moved.direct is None:
        yield Untold("whether requests bypassed the page cache")
    elif not moved.direct:
        yield Untold("the memory beside the size of the files")


def _percent_below(latency: Latency, floor_us: float) -> float | None:
    """Return the highest percentile below a floor; a tool may have rounded the minimum away."""
    return max(
        (float(name) for name, at_us in latency.percentiles.items() if 0 < at_us < floor_us), default=None
    )


def _read_latency(evidence: Evidence) -> Latency | None:
    """Return the latency of reads; None if it is one with that of writes, which caches take by design."""
    reads = [one.latency_us for one in evidence.load.statement_types if one.kind == "read"]
    alone = evidence.load.latency_us if evidence.bare_files.written_bytes == 0 else None
    return next((one for one in reads if one), alone)
