"""Checks of the storage: that the load reached it, and that it did no more than its kind can do."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.in_force import family_in_force, pool_bytes, without_waiting
from diskproof.audit.told_data import data_of
from diskproof.results.load import FileRequests
from diskproof.results.machine import BlockDevice, Place
from diskproof.results.record import ROLES, format_bytes, recorded
from diskproof.server.durability import LOG_ROLE

FASTEST_SPINDLE_RPM = 15_000
"""No disk sold turns faster; the kernel does not tell a disk's real speed."""


WRITTEN_BACK_S = 60.0
"""Twice what a page stays dirty before the kernel writes it (vm.dirty_expire_centisecs: 30 s)."""

READS_ARRIVE = 0.5
"""Reads that are seen at the devices, of the pages that the server asked for (else of a transaction): from
here on a page cache is not what serves them."""

FEWEST_BYTES = 64 * 2**20

DEVICE_BELOW = "the device below the place"

NO_DEVICE = Apart("no block device of its own below the log")

DEVICE_SHARE = 0.25
"""In the worst case the last 35 of 60 s are still in the page cache; the journal's own writes add to it."""


@check(
    "bytes-written",
    reason="What the server wrote must arrive at the device that was declared; "
    "a device that saw far less is perhaps not the one that was written to.",
    remedy="see that the device named in the run's machine.json is the one under the directory "
    "(`findmnt --target DIRECTORY`, `lsblk --inverse`), and that no cache lies between",
    source="/proc/PID/io (write_bytes) against /proc/diskstats; Documentation/filesystems/proc.rst",
)
def bytes_written(evidence: Evidence) -> Iterator[Said]:
    """Find devices that saw far fewer bytes than a server that waits for its flushes wrote.

    A phase shorter than a minute is not judged: pages written through the page cache reach the device
    up to half a minute later. Nor is a file system that compresses.
    """
    if not evidence.cell.has_server:
        yield Apart("no server")
        return
    usage = recorded(evidence.trial.usage, "what was written to the devices")
    places = [recorded(evidence.place(role), "where the files lay") for role in ROLES]
    devices = {device.name: device for place in places for device in _devices(place)}
    if not all(_devices(place) and not _compresses(place) for place in places):
        yield Apart("not everything lay on a block device that is written what it is given")
        return
    if usage.seconds < WRITTEN_BACK_S:
        yield Apart("in less than a minute the kernel need not have written back what it was given")
        return
    if unwaited := without_waiting(evidence):
        yield unwaited
        return
    disks = dict.fromkeys(disk for device in devices.values() for disk in device.counted)
    written = recorded(usage.server_written_bytes, "what the server wrote")
    if not disks.keys() <= usage.devices.keys():
        yield Untold("what was written to the devices")
        return
    if written < FEWEST_BYTES:
        yield Apart("the server wrote too little to be looked for")
        return
    arrived = sum(usage.devices[disk].written_bytes for disk in disks)
    if arrived < DEVICE_SHARE * written:
        yield Problem(
            "note",
            f"the server wrote {format_bytes(written)}, of which {' and '.join(disks)} saw "
            f"{format_bytes(arrived)}: the rest went elsewhere, or the kernel had not written it back yet",
        )


def _devices(place: Place) -> list[BlockDevice]:
    """Return the devices that a place's bytes are written to: of a pool, those of its data and its log."""
    if place.pool:
        return [member.device for member in place.pool.members if member.part != "cache"]
    return [place.device] if place.device else []


def _compresses(place: Place) -> bool:
    return "compress" in place.mount_options or bool(place.pool and place.pool.compression != "off")


@check(
    "data-size",
    reason="Data that fits in memory is read once: from then on reads test memory, not storage.",
    remedy="more `rows` or `tables` in `[workloads.NAME]`, or less `memory` in `[design]`, "
    "if reading from storage is the question",
    source="TPC and Callaghan's in-memory and IO-bound set-ups: the ratio is part of the result",
)
def data_size(evidence: Evidence) -> Iterator[Said]:
    """Say what the size of the data against memory means for the result.

    A job is not judged: it begins with an empty database, and creates and drops tables whose size nobody
    has measured.
    """
    if evidence.metric == "seconds":
        yield Apart("a job makes its tables itself")
        return
    if evidence.load.file_requests:
        yield Apart("whether requests for files reached the device is counted")  # by `arrived`
        return
    data = data_of(evidence)
    if data.size_bytes == 0:
        yield Apart("no data was loaded")
        return
    pool = pool_bytes(evidence)
    compares_storages = len({cell.storage for cell in evidence.plan.cells}) > 1
    if data.fits_in(pool):
        fits = f"the data ({data.words}) fits in the buffer pool ({format_bytes(pool)})"
    elif _no_cache_serves(evidence):
        return
    elif evidence.machine is None:
        yield Untold(
            "the machine's memory"
            if data.exceeds(pool)
            else "the size of the data more exactly than its options tell"
        )
        return
    elif data.size_bytes <= evidence.machine.memory_bytes:
        fits = (
            f"the data ({data.words}) fits in the machine's memory "
            f"({format_bytes(evidence.machine.memory_bytes)}), so the page cache may serve all reads"
        )
    else:
        return
    if evidence.load.writes is None and evidence.imported:
        yield Problem("note", f"{fits}: reads test memory, not storage")
    elif evidence.load.known_writes == 0 and compares_storages:
        yield Problem("warning", f"{fits} and nothing is written: this tests memory, not storage")
    elif evidence.load.known_writes == 0:
        yield Problem("note", f"{fits} and nothing is written: storage plays no part")
    else:
        yield Problem("note", f"{fits}: storage is tested by commits and page writes, not by reads")


def _no_cache_serves(evidence: Evidence) -> bool:
    """Tell whether no page cache serves all reads: some are seen at the devices, or memory is under test."""
    place = evidence.place("data")
    if place is not None and place.in_memory:
        return True
    usage = evidence.trial.usage
    reads = sum(device.reads for device in usage.devices.values()) if usage else 0
    asked = usage.account.page_reads if usage and usage.account else None
    done = evidence.load.transactions if asked is None else asked
    return bool(done) and reads >= READS_ARRIVE * (done or 0)


@check(
    "physics",
    reason="A commit that no disk of the kind could have made so fast was answered by a cache, and may "
    "be lost with it.",
    remedy="turn the volatile write cache off or prove it safe, then run again; "
    "without that, no tuning is durable on this disk, whatever the server's settings say",
    source="one write to the same place a rotation: rpm/60 a second; flushes: /proc/diskstats",
    bars_from="warning",
)
def physics(evidence: Evidence) -> Iterator[Said]:
    """Find durable commits that are faster than the disk can be, or never reached it as flushes.

    That a study itself asks for barriers off is a note: it measures what they cost, and promises nothing.
    """
    if (moved := evidence.load.file_requests) is not None:
        yield from _syncs_of_files(evidence, moved)
        return
    if unwaited := without_waiting(evidence):
        yield unwaited
        return
    log = _flushed_place(evidence)
    if log.device is None:
        yield NO_DEVICE if log.in_memory or log.pool else Untold(DEVICE_BELOW)
        return
    writing = min(evidence.load.known_writes, evidence.load.known_transactions)
    if writing == 0:
        yield Apart("nothing was written")
        return
    if log.virtual is None:  # what a virtual one can do is said by its model, not guessed from its rpm
        yield from _too_fast_for_a_spindle(evidence, log.device, writing)
    yield from _no_flush(evidence, log, log.device, f"{writing:,} transactions that wait for a flush")


def _syncs_of_files(evidence: Evidence, moved: FileRequests) -> Iterator[Said]:
    """Hold syncs of bare files against the device's flushes.

    A sync of a file that is clean already may cost nothing: they are not held against rotations.
    """
    if not moved.written_bytes or not recorded(moved.syncs, "the number of syncs"):
        yield Apart("no file was written and synced")
        return
    data = recorded(evidence.place("data"), "where the files lay")
    if data.device is None:
        yield NO_DEVICE if data.in_memory or data.pool else Untold(DEVICE_BELOW)
        return
    yield from _no_flush(evidence, data, data.device, f"{moved.syncs:,} syncs of files")


def _flushed_place(evidence: Evidence) -> Place:
    """Return where the log is flushed to; NotRecordedError where server or place are not known."""
    return recorded(evidence.place(LOG_ROLE[family_in_force(evidence)]), "where the log lay")


def _too_fast_for_a_spindle(evidence: Evidence, device: BlockDevice, writing: int) -> Iterator[Said]:
    """Hold each client's commits against rotations: it waits for one, however many share the flush."""
    each_per_s = writing / evidence.load.known_seconds / evidence.load.known_clients
    bound_per_s = FASTEST_SPINDLE_RPM / 60
    if device.rotational is None:
        yield Untold("whether the disk spins")
    if not device.rotational or each_per_s <= bound_per_s:
        return
    said = (
        f"{each_per_s:,.0f} durable commits a second and client, where a spinning disk makes at most "
        f"{bound_per_s:.0f} (15,000 rpm)"
    )
    # Hypervisors call most of their disks rotational; such a disk has no model of its own.
    if device.model is None or (evidence.machine and evidence.machine.virtualised):
        yield Problem(
            "note",
            f"{device.name} calls itself a spinning disk but is a virtual one: {said}",
            "find out what lies behind the virtual disk, and whether its cache survives a power cut",
        )
    else:
        yield Problem("invalid", f"a cache answered for {device.name}: {said}")


def _no_flush(evidence: Evidence, log: Place, device: BlockDevice, waiting: str) -> Iterator[Said]:
    """Find durable commits without a flush, where the kernel is known to count flushes at all."""
    if log.barriers_off:  # whatever was counted: another file system on the disk may have flushed
        yield _barriers_off(log, device, waiting, log.barriers_off)
        return
    if recorded(_flushes(evidence, device), "the flushes of the disk"):
        return
    said = f"{waiting}, and not one flush reached {_disks(device)}"
    if device.write_cache == "write through":
        yield Problem(
            "note",
            f"{said}: it claims to have no volatile cache, and durability rests on that claim",
            "a power-cut experiment on this device would tell",
        )
    elif not device.counts_flushes:
        yield Problem(
            "note",
            f"{said}, but the kernel had counted none there before either: "
            "whether commits were flushed cannot be seen",
            "a power-cut experiment on this device would tell",
        )
    elif device.fua:
        yield Problem(
            "note",
            f"{said}: commits were durable only if each log write was one that needs no flush (FUA), "
            "and the kernel counts those as any other write",
            "a server that flushes with fdatasync or fsync, its default, shows its flushes",
        )
    else:
        yield Problem(
            "warning",
            f"{said}, nor does it take writes that need none (FUA): the durability was not paid for",
            f"see that {log.mount_point} is not mounted with barriers off (now: {log.mount_options})",
        )


def _barriers_off(log: Place, device: BlockDevice, waiting: str, option: str) -> Problem:
    """Say that no flush is sent: a study may ask for that, and then it bars nothing."""
    if log.asks_for_no_barriers:
        return Problem(
            "note",
            f"{waiting}, and as the study asks (`{option}`) no flush reaches {_disks(device)}: "
            "none of them is safe from a power cut",
            "",
        )
    return Problem(
        "warning",
        f"{waiting}, and with `{option}` no flush reaches {_disks(device)}: the durability was not paid for",
        f"mount {log.mount_point} without `{option}`, and run again; to measure just that, name the option "
        "in `mount_options` of the storage",
    )


def _disks(device: BlockDevice) -> str:
    return " or ".join(device.counted)


def _flushes(evidence: Evidence, device: BlockDevice) -> int | None:
    """Return the flushes of all disks below a device; None where one of them was not seen."""
    usage = evidence.trial.usage
    seen = [usage.devices.get(name) if usage else None for name in device.counted]
    counts = [one.flushes if one else None for one in seen]
    return sum(count for count in counts if count is not None) if None not in counts else None
