"""Checks of loads on bare files: that every thread was busy, and that requests reached the storage."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.results.load import FileRequests, LoadResult
from diskproof.results.machine import Place
from diskproof.results.record import format_bytes, recorded

BUSY_TOLERANCE = 0.03

LONG_REQUEST = 0.1
"""Share of the phase from which one request leaves the account of the threads open."""

OWN_US = 10.0
"""fio and the system need a few microseconds between two requests; that much is no error of measurement."""

SATURATED = 0.8
"""Share of the CPUs from which threads wait for one between their requests."""

FEW_BETWEEN = 0.15
"""Share of the threads that may be between two requests: the storage is then asked by fewer at a time than
was meant, and serves these no otherwise."""

FEWEST_BYTES = 16 * 2**20
"""Of less, what lies at the edges of the phase is too large a part."""

ARRIVED_SHARE = 0.95

ENOUGH_ROUNDS = 10

WHOLE_PHASE = 0.95
"""Share of its time that a phase lasts where nothing ended it early."""

NO_FILES = Apart("no load on bare files")


def busy_threads(evidence: Evidence) -> Iterator[Said]:
    """Find threads that were not always in a request, beyond what fio itself takes between two.

    Syncs are waited for like reads and writes. The sync that ends a pass is no request, and not judged.
    """
    load, moved = evidence.load, evidence.load.file_requests
    if moved is None:
        yield NO_FILES
        return
    if moved.one_pass:
        yield Apart("one pass over the files: threads end when theirs are done")
        return
    seconds, clients, statements = load.known_seconds, load.known_clients, load.known_statements
    if seconds <= 0 or not statements:
        yield Apart("no request was measured")
        return
    by_kind = [one.latency_us for one in load.statement_types if one.latency_us]
    if evidence.imported and not by_kind and moved.syncs != 0 and not _holds_syncs(load):
        yield Untold("the latency of the syncs")  # threads waited for them too
        return
    waits = by_kind or [recorded(load.latency_us, "the mean latency")]
    in_service = sum(wait.mean * wait.count for wait in waits) / 1e6 / seconds
    longest = max(recorded(wait.max, "the longest latency") for wait in waits) / 1e6 / seconds
    tolerance = BUSY_TOLERANCE + min(longest, LONG_REQUEST)
    off = in_service / clients - 1
    if abs(off) <= tolerance:
        return
    said = f"requests and syncs account for {in_service:.2f} of {clients} threads"
    between_us = (clients - in_service) * seconds * 1e6 / statements
    if off < 0 and between_us <= OWN_US:
        yield Problem(
            "note",
            f"{said}: {between_us:.1f} us between two requests of a thread were fio's own; so fast a storage "
            "is measured together with what asks it",
            "",
        )
    elif off < 0 and _cpu_share(evidence) >= SATURATED:
        yield Problem(
            "warning",
            f"{said}: the others waited for a CPU, and hardly one was idle; the figure is the CPUs' as much "
            "as the storage's",
            "fewer `clients`, or a machine with more CPUs",
        )
    elif off < 0 and -off <= FEW_BETWEEN:
        yield Problem(
            "warning",
            f"{said}: the others were between two requests, {between_us:.0f} us each time, which no latency "
            f"holds. The storage was asked by {in_service:.1f} at a time; its requests a second stand",
            "fewer `clients`, or a machine with more CPUs",
        )
    else:
        yield Problem("invalid", f"{said}, but all were to be in one all the time")


def _holds_syncs(load: LoadResult) -> bool:
    """Tell whether the latency is of syncs too, as sysbench's is since 1.0."""
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
    reason="A request that a cache answered tells nothing of the device behind it.",
    remedy="`direct = true` and a larger `total_size` in `[workloads.NAME]`; a ZFS pool has a cache of its "
    "own, which its `arc_size` bounds",
    source="bytes that fio asked for against /proc/diskstats of the devices below the files",
)
def arrived(evidence: Evidence) -> Iterator[Said]:
    """Find bytes that were asked for and never read from or written to a device.

    Where requests pass the page cache by and no pool stands between, that can not rightly be.
    """
    moved = evidence.load.file_requests
    if moved is None:
        yield NO_FILES
        return
    place = recorded(evidence.place("data"), "where the files lay")
    if place.in_memory:
        yield Apart("the files lay in memory")
        return
    if "compress" in place.mount_options:
        yield Apart("the file system compresses what it writes")
        return
    names = _devices(place)
    usage = evidence.trial.usage
    seen = [usage.devices[name] for name in names if name in usage.devices] if usage else []
    if not names or len(seen) < len(names):
        yield Untold("what reached the devices below the files")
        return
    for what, asked, done in (
        ("read", moved.read_bytes, sum(device.read_bytes for device in seen)),
        ("written", moved.written_bytes, sum(device.written_bytes for device in seen)),
    ):
        asked_bytes = recorded(asked, f"how much was {what}")
        if asked_bytes >= FEWEST_BYTES and done < ARRIVED_SHARE * asked_bytes:
            yield _absent(
                moved, place, f"{format_bytes(asked_bytes)} were {what}, {format_bytes(done)} of them", names
            )


@check(
    "rounds",
    reason="Requests are quick and the syncs between them slow: a phase that ends amid a round has more of "
    "the one than of the other.",
    remedy="a longer `measure_s`, in `[workloads.NAME]` or in `[design]`",
    source="arithmetic: half a round in ten is 5 % of the time",
)
def rounds(evidence: Evidence) -> Iterator[Said]:
    """Find phases of few rounds, each of so many requests and a sync of every file."""
    moved = evidence.load.file_requests
    if moved is None:
        yield NO_FILES
        return
    if not recorded(moved.sync_every, "how often files were synced"):
        yield Apart("no file was synced between requests")
        return
    done = recorded(moved.syncs, "the number of syncs") / recorded(moved.files, "the number of files")
    if done < 1:
        yield Problem("warning", "the measured phase ended before every file had been synced once")
    elif done < ENOUGH_ROUNDS:
        yield Problem("note", f"{done:.1f} rounds of requests and syncs were measured")


@check(
    "whole-phase",
    reason="What replays a log ends with it: the figures are of a shorter phase than was asked for.",
    remedy="a `warm_up_s`, which tells how long a log is needed; where there is one, a shorter `measure_s` "
    "or a larger `sync_every`, in `[workloads.NAME]`",
    source="a log is made for twice the pace of the warm-up, and for at most two million requests and syncs",
)
def whole_phase(evidence: Evidence) -> Iterator[Said]:
    """Find phases that were over early."""
    load, moved = evidence.load, evidence.load.file_requests
    if moved is None:
        yield NO_FILES
        return
    if moved.one_pass or evidence.imported:
        yield Apart("no log of requests is replayed")
        return
    asked_s = evidence.plan.phases_of(evidence.cell).measure_s
    if load.known_seconds < WHOLE_PHASE * asked_s:
        yield Problem(
            "warning",
            f"{load.seconds:.3g} of {asked_s:,.10g} s were measured: then the requests that had been drawn "
            f"for "
            "them were used up",
        )


def _absent(moved: FileRequests, place: Place, said: str, names: list[str]) -> Problem:
    at = " and ".join(names)
    if place.pool:
        return Problem("warning", f"{said} at {at}: the pool's cache had the rest")
    if moved.direct:
        return Problem(
            "invalid",
            f"{said} at {at}, though the page cache was passed by",
            "see that the files have no holes and that nothing between them and the device caches",
        )
    return Problem("note", f"{said} at {at}: the page cache had the rest")


def _devices(place: Place) -> list[str]:
    """Return the devices that hold the files: of a pool, those of its data."""
    if place.pool:
        devices = [member.device for member in place.pool.of("data")]
    else:
        devices = [place.device] if place.device else []
    return list(dict.fromkeys(name for device in devices for name in device.counted))
