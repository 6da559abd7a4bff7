"""Checks of virtual disks: that each behaved as the disk that it models, and got its requests."""

from collections.abc import Iterator

from diskproof.audit.check import (
    Apart,
    Evidence,
    NothingToCheckError,
    Problem,
    Run,
    Said,
    Untold,
    check,
    invalid,
    note,
    problem,
    warning,
)
from diskproof.results.machine import PoolMember
from diskproof.results.plan import NO_LEVEL
from diskproof.results.record import recorded
from diskproof.results.usage import ALLOWED_LATENESS_SHARE, VirtualUse, Waiting
from diskproof.wording import NOTHING, Message, bytes_, counted, say, share, us

EDGE_BYTES = 4 * 2**20
"""Requests under way at either end of the measured phase, which one side has counted and the other not."""

POOL_EDGE_BYTES = 64 * 2**20
"""The same of a disk of a ZFS pool, which writes seconds of work at once (a transaction group)."""

DISAGREEMENT = 0.02

SELDOM = 0.02
"""Of the time, and never more than a study calls the same. Late answers that took no more together change a
throughput by at most as much. A judgement."""


@check(
    "lateness",
    reason="If answers of a virtual disk leave late, or its requests wait in the kernel first, it is slower "
    "than the disk that it models.",
    remedy="use a quieter machine, more CPUs, fewer `clients`, or the model of a slower disk; "
    "`diskproof doctor` says whether idle cores can be kept quick to wake",
    source="docs/disk.md: the 99th percentile of lateness against the mean modelled latency; and the block "
    "layer's own mean time of a request (/proc/diskstats of the loop device) against the model's",
    bars_from="invalid",
)
def lateness(evidence: Evidence) -> Iterator[Said]:
    """Find disks that were slower than their model by more than is allowed, by either account.

    Late answers and waits in the kernel that together cannot have held the clients for long are notes, if the
    load takes all that it can get: at a set rate clients have time to spare, and the latency is the answer.
    A pool fills its cache devices in the background: no request of the database waits for such a write.
    """
    disks = _disks(evidence)
    held = sum(_held_share(evidence, disk) for disk in disks)
    late = sum(_late_share(disk) for disk in disks)
    seldom = min(SELDOM, evidence.plan.same_within)
    # A replay is judged by its latency, too.
    takes_all = evidence.load.rate is None and evidence.metric != "latency_mean_us"
    for disk in disks:
        only_cache = {member.part for member in _members(evidence, disk)} == {"cache"}
        if disk.waiting and disk.waiting.late:
            unheeded = only_cache and disk.waiting.kinds == ["write"]
            unheeded |= held <= ALLOWED_LATENESS_SHARE and takes_all
            yield Problem("note" if unheeded else "invalid", _waited(disk, disk.waiting, held))
        if disk.late and disk.lateness_us and disk.lateness_share is not None:
            mean_us = disk.lateness_us.p99 / disk.lateness_share if disk.lateness_share else 0.0
            unheeded = only_cache and not disk.read.requests
            unheeded |= late <= seldom and takes_all
            yield problem(
                "note" if unheeded else "invalid",
                "this machine was too slow for the disk {disk}: 1 in 100 answers left {late} late or "
                "more, {share} of the modelled mean latency ({mean}); {allowed} is allowed{end}",
                disk=disk.name,
                late=us(disk.lateness_us.p99),
                share=share(disk.lateness_share),
                mean=us(mean_us),
                allowed=share(ALLOWED_LATENESS_SHARE),
                end=_together(late, seldom) if takes_all else NOTHING,
            )


def _together(late: float, seldom: float) -> Message:
    """Say what the late answers took; if that is little, percentiles are in doubt before throughput."""
    if late <= seldom:
        return say(
            "; all took {all} of the time: throughput may be so much too low, percentiles more too high",
            all=share(late),
        )
    return say(
        ", or {seldom} of the time for all of them together, here {all}",
        seldom=share(seldom),
        all=share(late),
    )


def _late_share(disk: VirtualUse) -> float:
    """Return the largest share of the time for which late answers can have held the clients."""
    if disk.lateness_us is None:
        return 0.0
    requests = sum(one.requests for one in (disk.read, disk.write, disk.flush, disk.discard))
    return requests * disk.lateness_us.mean / (disk.seconds * 1e6)


def _held_share(evidence: Evidence, disk: VirtualUse) -> float:
    """Return the largest share of the clients' time that the wait in the kernel can have taken at a disk.

    A read of a load that only reads holds one client. A flush, the write of a log, or a read with a row
    locked may hold all of them.
    """
    waiting = disk.waiting
    if waiting is None or not waiting.late:
        return 0.0
    pending = waiting.requests * waiting.late_us / (disk.seconds * 1e6)
    alone = waiting.kinds == ["read"] and evidence.load.writes == 0
    return pending / max(evidence.cell.clients, 1) if alone else pending


def _waited(disk: VirtualUse, waiting: Waiting, held: float) -> Message:
    in_line = (
        say(" (and {time} for flushes before them)", time=us(waiting.in_line_us))
        if waiting.in_line_us >= 1
        else NOTHING
    )
    queued = (
        say(" (and {time} while the disk's queue was full)", time=us(waiting.queued_us))
        if waiting.queued_us >= 1
        else NOTHING
    )
    return say(
        "this machine was too slow for the disk {disk}: {kinds} took {took} on average at {at}, and "
        "{modelled} by the model{in_line}{queued}, {share} more; they waited in the kernel, before the disk "
        "got them. All such waits took at most {held} of the clients' time; {allowed} is allowed",
        disk=disk.name,
        kinds=[f"{kind}{'es' if kind == 'flush' else 's'}" for kind in waiting.kinds],
        took=us(waiting.await_us),
        at=disk.block or "its loop devices",
        modelled=us(waiting.modelled_us),
        in_line=in_line,
        queued=queued,
        share=share(waiting.share),
        held=share(min(held, 1.0)),
        allowed=share(ALLOWED_LATENESS_SHARE),
    )


@check(
    "disk-errors",
    reason="A request that failed was never served. The database went on without it, or stopped.",
    remedy="a larger `size`, more memory, or fewer `rows`: a virtual disk fails a write if the "
    "machine's memory has no room for it",
    source="docs/disk.md: `errors` in the disk's statistics",
)
def disk_errors(evidence: Evidence) -> Iterator[Said]:
    """Find disks that failed requests."""
    for disk in _disks(evidence):
        if disk.errors:
            yield invalid(
                "the virtual disk {disk} failed {errors}; its contents took {size} of memory",
                disk=disk.name,
                errors=counted(disk.errors, "request"),
                size=bytes_(disk.contents_bytes),
            )


@check(
    "virtual-bytes",
    reason="What the kernel sent to the loop device must arrive at the virtual disk below it. If not, "
    "something between them answered.",
    remedy="check that the loop device does direct I/O (`losetup --list`, column DIO) and that no other "
    "file system was mounted over the place",
    source="the disk's own statistics against /proc/diskstats of its loop device",
    bars_from="warning",
)
def virtual_bytes(evidence: Evidence) -> Iterator[Said]:
    """Find disks that counted other bytes than their loop device."""
    usage = evidence.trial.usage
    for disk in _disks(evidence):
        stretches = list(dict.fromkeys(member.device.name for member in _members(evidence, disk)))
        names = stretches or ([disk.block] if disk.block else [])
        loops = [usage.devices[name] for name in names if name in usage.devices] if usage else []
        if not names:
            yield Apart("a virtual disk that is served as a directory has no loop device")
            continue
        if len(loops) < len(names):
            yield Untold("the requests of {devices}", devices=names)
            continue
        for what, sent, arrived in (
            ("read from", sum(loop.read_bytes for loop in loops), disk.read.bytes),
            ("written to", sum(loop.written_bytes for loop in loops), disk.write.bytes),
        ):
            edge_bytes = POOL_EDGE_BYTES if stretches else EDGE_BYTES
            if abs(sent - arrived) > edge_bytes + DISAGREEMENT * max(sent, arrived):
                yield warning(
                    "{sent} were {what} {devices}, but {arrived} {what} the virtual disk {disk} below",
                    sent=bytes_(sent),
                    what=what,
                    devices=names,
                    arrived=bytes_(arrived),
                    disk=disk.name,
                )


def _disks(evidence: Evidence) -> list[VirtualUse]:
    if not evidence.trial.virtual_disks:
        raise NothingToCheckError("no virtual disk of ours")
    return evidence.trial.virtual_disks


def _members(evidence: Evidence, disk: VirtualUse) -> list[PoolMember]:
    """Return the members of pools that are a disk or a stretch of it."""
    members = [member for pool in evidence.pools for member in pool.members]
    return [member for member in members if member.virtual and member.virtual.name == disk.name]


@check(
    "virtual-label",
    reason="A virtual disk is only as good as the machine that serves it and the path to it.",
    remedy="say so wherever the figures are shown, or measure on the real disk",
    source="docs/disk.md; drivers/block/loop.c of the Linux kernel, which turns a flush into an fsync",
)
def virtual_label(run: Run) -> Iterator[Said]:
    """Name what must be said with the figures of some disks."""
    machine = recorded(run.machine, "where the storages lay")
    labelled: dict[tuple[str, str | None, bool], dict[str, None]] = {}
    for host, one in (machine.others or {NO_LEVEL: machine}).items():
        for place in one.places:
            here = [
                cell.id
                for cell in run.plan.cells
                if cell.storage == place.storage and cell.host in (host, NO_LEVEL)
            ]
            for disk in place.virtual_disks:
                labelled.setdefault((disk.name, disk.label, disk.fua), {}).update(dict.fromkeys(here))
    if not labelled:
        raise NothingToCheckError("no virtual disk of ours")
    for (name, label, fua), cells in labelled.items():
        if label:
            yield note("the virtual disk {disk}: {label}", cells=list(cells), disk=name, label=label)
        if fua:
            yield note(
                "the virtual disk {disk} gets a whole flush for each durable write: a loop device cannot "
                "pass on single durable writes (FUA). Commits cost at least as much as on the real disk",
                cells=list(cells),
                disk=name,
            )
