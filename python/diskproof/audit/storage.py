"""Checks of the storage: that the load reached it and all disks of its pool, and what a disk can do."""

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
from diskproof.audit.data_size import data_of
from diskproof.audit.in_force import family_in_force, pool_bytes, without_waiting
from diskproof.families import of
from diskproof.results.load import FileRequests
from diskproof.results.machine import BlockDevice, Place, PoolMember, PoolPart
from diskproof.results.record import recorded
from diskproof.wording import Message, bytes_, say

FASTEST_SPINDLE_RPM = 15_000
"""No disk sold turns faster; the kernel does not report a disk's real speed."""

READS_ARRIVE = 0.5
"""Reads at the devices per page that the server asked for (else per transaction). Above it, the page cache
does not serve the reads."""


@check(
    "data-size",
    reason="Data that fits in memory is read once. After that, reads test memory, not storage.",
    remedy="more `rows` or `tables` in `[workloads.NAME]`, or less `memory` in `[design]`, "
    "if reading from storage is the question",
    source="TPC and Callaghan's in-memory and IO-bound set-ups: the ratio is part of the result",
)
def data_size(evidence: Evidence) -> Iterator[Said]:
    """Say what the size of the data against memory means for the result.

    Jobs are left out: a job creates and drops its own tables, whose size is not measured.
    """
    if evidence.metric == "seconds":
        raise NothingToCheckError("a job makes its tables itself")
    if evidence.load.file_requests:
        raise NothingToCheckError("whether requests for files reached the device is counted")  # by `arrived`
    data = data_of(evidence)
    if data.size_bytes == 0:
        raise NothingToCheckError("no data was loaded")
    pool = pool_bytes(evidence)
    compares_storages = len({cell.storage for cell in evidence.plan.cells}) > 1
    if data.fits_in(pool):
        fits = say("the data ({data}) fits in the buffer pool ({pool})", data=data.words, pool=bytes_(pool))
    elif _no_cache_serves(evidence):
        return
    elif evidence.machine is None or evidence.elsewhere:
        yield Untold(
            "the machine's memory"
            if data.exceeds(pool)
            else "the size of the data more exactly than its options say"
        )
        return
    elif data.size_bytes <= evidence.machine.memory_bytes:
        fits = say(
            "the data ({data}) fits in the machine's memory ({memory}), so the page cache may serve all "
            "reads",
            data=data.words,
            memory=bytes_(evidence.machine.memory_bytes),
        )
    else:
        return
    if evidence.load.writes is None and evidence.imported:
        yield note("{fits}: reads test memory, not storage", fits=fits)
    elif evidence.load.known_writes == 0 and compares_storages:
        yield warning("{fits} and nothing is written: this tests memory, not storage", fits=fits)
    elif evidence.load.known_writes == 0:
        yield note("{fits} and nothing is written: storage has no effect", fits=fits)
    else:
        yield note("{fits}: storage is tested by commits and page writes, not by reads", fits=fits)


def _no_cache_serves(evidence: Evidence) -> bool:
    """Tell whether no page cache serves all reads: some arrive at the devices, or memory is under test."""
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
    reason="A commit that is faster than any disk of the kind was answered by a cache, and may be lost with "
    "it.",
    remedy="turn the volatile write cache off or prove it safe, then run again; "
    "otherwise no tuning is durable on this disk, whatever the server's settings say",
    source="one write to the same place a rotation: rpm/60 a second; flushes: /proc/diskstats",
    bars_from="warning",
)
def physics(evidence: Evidence) -> Iterator[Said]:
    """Find durable commits that are faster than the disk can be, or never reached it as flushes.

    If the study itself turns barriers off, that is a note: it measures what they cost.
    """
    if (moved := evidence.load.file_requests) is not None:
        yield from _syncs_of_files(evidence, moved)
        return
    if unwaited := without_waiting(evidence):
        yield unwaited
        return
    log = recorded(evidence.place(of(family_in_force(evidence)).log_roles[0]), "where the log lay")
    device = _device_of(log)
    writing = min(evidence.load.known_writes, evidence.load.known_transactions)
    if writing == 0:
        raise NothingToCheckError("nothing was written")
    if log.virtual is None:  # a virtual disk's speed is its model's, not guessed from rpm
        yield from _too_fast_for_a_spindle(evidence, device, writing)
    yield from _no_flush(evidence, log, device, say("{n} transactions that wait for a flush", n=writing))


def _syncs_of_files(evidence: Evidence, moved: FileRequests) -> Iterator[Said]:
    """Compare syncs of bare files with the device's flushes.

    They are not compared with rotations, because a sync of a clean file may cost nothing.
    """
    syncs = recorded(moved.syncs, "the number of syncs") if moved.written_bytes else 0
    if not syncs:
        raise NothingToCheckError("no file was written and synced")
    data = recorded(evidence.place("data"), "where the files lay")
    yield from _no_flush(evidence, data, _device_of(data), say("{n} syncs of files", n=syncs))


def _device_of(place: Place) -> BlockDevice:
    """Return the device below a place; NothingToCheckError if it lies in memory or in a pool."""
    if place.device is None and (place.in_memory or place.pool):
        raise NothingToCheckError("no block device of its own below the log")
    return recorded(place.device, "the device below the place")


def _too_fast_for_a_spindle(evidence: Evidence, device: BlockDevice, writing: int) -> Iterator[Said]:
    """Compare each client's commits with rotations: it waits for one, however many share the flush."""
    each_per_s = writing / evidence.load.known_seconds / evidence.load.known_clients
    bound_per_s = FASTEST_SPINDLE_RPM / 60
    if device.rotational is None:
        yield Untold("whether the disk spins")
    if not device.rotational or each_per_s <= bound_per_s:
        return
    rates = say(
        "{each} durable commits a second and client; a spinning disk makes at most {bound} (15,000 rpm)",
        each=each_per_s,
        bound=bound_per_s,
    )
    # Hypervisors call most of their disks rotational; such a disk has no model of its own.
    if device.model is None or (evidence.machine and evidence.machine.virtualised):
        yield note(
            "{device} calls itself a spinning disk but is a virtual one: {rates}",
            "find out what lies behind the virtual disk, and whether its cache survives a power cut",
            device=device.name,
            rates=rates,
        )
    else:
        yield invalid("a cache answered for {device}: {rates}", device=device.name, rates=rates)


def _no_flush(evidence: Evidence, log: Place, device: BlockDevice, waiting: Message) -> Iterator[Said]:
    """Find durable commits without a flush, if the kernel is known to count flushes at all."""
    if log.barriers_off:  # whatever was counted: another file system on the disk may have flushed
        yield _barriers_off(log, device, waiting, log.barriers_off)
        return
    if recorded(_flushes(evidence, device), "the flushes of the disk"):
        return
    none = say("{waiting}, but no flush reached {disks:/ or }", waiting=waiting, disks=device.counted)
    if device.write_cache == "write through":
        yield note(
            "{none}: the disk claims to have no volatile cache, and durability rests on that claim",
            "test this device with a power-cut experiment",
            none=none,
        )
    elif not device.counts_flushes:
        yield note(
            "{none}. The kernel had counted none there before either, so flushes cannot be seen",
            "test this device with a power-cut experiment",
            none=none,
        )
    elif device.fua:
        yield note(
            "{none}: commits were durable only if each log write was one that needs no flush (FUA), which "
            "the kernel counts as any other write",
            "use a server that flushes with fdatasync or fsync, its default: these flushes are counted",
            none=none,
        )
    else:
        yield warning(
            "{none}, and the disk takes no writes that need none (FUA): commits were not durable",
            say(
                "check that {mount} is not mounted with barriers off (now: {options})",
                mount=str(log.mount_point),
                options=log.mount_options,
            ),
            none=none,
        )


def _barriers_off(log: Place, device: BlockDevice, waiting: Message, option: str) -> Problem:
    """Report that no flush is sent; if the study asks for that, it is a note."""
    disks = tuple(device.counted)
    if log.asks_for_no_barriers:
        return note(
            "{waiting}, but the study asks for `{option}`, so no flush reaches {disks:/ or }: none of them "
            "is safe from a power cut",
            "",
            waiting=waiting,
            option=option,
            disks=disks,
        )
    return warning(
        "{waiting}, but with `{option}` no flush reaches {disks:/ or }: commits were not durable",
        say(
            "mount {mount} without `{option}`, and run again; to measure just that, name the option in "
            "`mount_options` of the storage",
            mount=str(log.mount_point),
            option=option,
        ),
        waiting=waiting,
        option=option,
        disks=disks,
    )


def _flushes(evidence: Evidence, device: BlockDevice) -> int | None:
    """Return the flushes of all disks below a device; None if one of them was not counted."""
    usage = evidence.trial.usage
    seen = [usage.devices.get(name) if usage else None for name in device.counted]
    counts = [one.flushes if one else None for one in seen]
    return sum(count for count in counts if count is not None) if None not in counts else None


UNUSED: dict[PoolPart, str] = {"log": "written to", "cache": "read from"}
"""What a part of a pool is there for."""

UNUSED_REMEDY: dict[PoolPart, str] = {
    "log": "a tuning whose commits wait for a flush (`safest`), or no "
    "`log`: without synchronous writes it has nothing to do",
    "cache": "a longer `warm_up_s` and more data than the ARC holds (`rows`, `arc_size`), because the cache "
    "fills slowly with what leaves the ARC; or no `cache`",
}


@check(
    "pool-devices",
    reason="A log that is not written to, or a cache that is not read from, has no effect on the figures, "
    "whatever the storage is called.",
    remedy="check that the server waits for its flushes (log), and that the data do not fit in the ARC "
    "(cache)",
    source="/proc/diskstats of each disk of the pool over the measured phase",
)
def pool_devices(evidence: Evidence) -> Iterator[Said]:
    """Find log and cache devices of a pool that were not used while the trial was measured."""
    pools = evidence.pools
    if not any(pool.of(part) for pool in pools for part in UNUSED):
        raise NothingToCheckError(f"no ZFS pool of ours{' with a log or a cache' if pools else ''}")
    for pool in pools:
        for part, what in UNUSED.items():
            members = pool.of(part)
            if any(_used(evidence, member) is None for member in members):
                yield Untold("what the disks of the pool's {part} did", part=part)
            if members and all(_used(evidence, member) is False for member in members):
                yield warning(
                    "the {part} of the pool, {disks}, was not {what} once while the trial was measured",
                    UNUSED_REMEDY[part],
                    part=part,
                    disks=[f"{member.disk} ({member.device.name})" for member in members],
                    what=what,
                )


def _used(evidence: Evidence, member: PoolMember) -> bool | None:
    """Tell whether a log was written or a cache read; None if the kernel's counters are missing."""
    usage = evidence.trial.usage
    seen = usage.devices.get(member.device.name) if usage else None
    if seen is None:
        return None
    return seen.writes > 0 if member.part == "log" else seen.reads > 0
