"""Checks of virtual disks: that each was the disk it claims to be, and saw what was meant for it."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Run, Said, Untold, check
from diskproof.results.machine import PoolMember, PoolPart, VirtualFacts
from diskproof.results.record import ROLES, format_bytes
from diskproof.results.usage import ALLOWED_LATENESS_SHARE, VirtualUse, Waiting

EDGE_BYTES = 4 * 2**20
"""What may be under way at either end of the measured phase, when one has counted it and the other not."""

POOL_EDGE_BYTES = 64 * 2**20
"""The same of a disk of a ZFS pool, which writes seconds of work at once (a transaction group)."""

DISAGREEMENT = 0.02

MODELS_WITH_FUA = frozenset({"flash"})
"""Kinds of disk that take writes which are durable by themselves, without a flush."""


@check(
    "lateness",
    reason="A virtual disk whose answers leave late, or whose requests wait in the kernel before it sees "
    "them, is slower than the disk that it stands for.",
    remedy="a quieter machine or one with more CPUs, fewer `clients`, or a slower disk; "
    "`diskproof doctor` says whether idle cores can be kept quick to wake",
    source="docs/disk.md: the 99th percentile of lateness against the mean modelled latency; and the block "
    "layer's own mean time of a request (/proc/diskstats of the loop device) against the model's",
    bars_from="invalid",
)
def lateness(evidence: Evidence) -> Iterator[Said]:
    """Find disks that were slower than their model by more than is allowed: by either account.

    A pool fills its cache devices behind the database's back: no request of it waits for such a write.
    """
    yield from _without_any(evidence)
    for disk in evidence.trial.virtual_disks:
        only_cache = _parts(evidence, disk) == {"cache"}
        if disk.waiting and disk.waiting.late:
            unheeded = only_cache and disk.waiting.kinds == ["write"]
            yield Problem("note" if unheeded else "invalid", _waited(disk, disk.waiting))
        if disk.late and disk.lateness_us and disk.lateness_share is not None:
            mean_us = disk.lateness_us.p99 / disk.lateness_share if disk.lateness_share else 0.0
            unheeded = only_cache and not disk.read.requests
            yield Problem(
                "note" if unheeded else "invalid",
                f"the virtual disk {disk.name} was not itself: of its answers 1 in 100 left "
                f"{disk.lateness_us.p99:.0f} us late or more, {disk.lateness_share:.0%} of the modelled "
                f"latency ({mean_us:.0f} us in the mean); at most {ALLOWED_LATENESS_SHARE:.0%} is allowed",
            )


def _waited(disk: VirtualUse, waiting: Waiting) -> str:
    kinds = " and ".join(f"{kind}{'es' if kind == 'flush' else 's'}" for kind in waiting.kinds)
    at = f"at {disk.block}" if disk.block else "at its loop devices"
    in_line = f" (and {waiting.in_line_us:.0f} us for flushes before them)" if waiting.in_line_us >= 1 else ""
    return (
        f"the virtual disk {disk.name} was not itself: {kinds} took {waiting.await_us:.0f} us {at} in the "
        f"mean, and {waiting.modelled_us:.0f} us by its model{in_line}, {waiting.share:.0%} more; at most "
        f"{ALLOWED_LATENESS_SHARE:.0%} is allowed. They waited in the kernel, before the disk saw them"
    )


@check(
    "disk-errors",
    reason="A request that failed was never served, and the database went on without it or stopped.",
    remedy="a larger `size`, more memory, or fewer `rows`: a virtual disk fails a write where the "
    "machine's memory has no room for it",
    source="docs/disk.md: `errors` in the disk's statistics",
)
def disk_errors(evidence: Evidence) -> Iterator[Said]:
    """Find disks that failed requests."""
    yield from _without_any(evidence)
    for disk in evidence.trial.virtual_disks:
        if disk.errors:
            yield Problem(
                "invalid",
                f"the virtual disk {disk.name} failed {disk.errors} requests; its contents took "
                f"{format_bytes(disk.contents_bytes)} of memory",
            )


@check(
    "virtual-bytes",
    reason="What the kernel sent to the loop device must arrive at the virtual disk below it, "
    "or something between them answered in its place.",
    remedy="see that the loop device does direct I/O (`losetup --list`, column DIO) and that no other "
    "file system was mounted over the place",
    source="the disk's own statistics against /proc/diskstats of its loop device",
    bars_from="warning",
)
def virtual_bytes(evidence: Evidence) -> Iterator[Said]:
    """Find disks that counted other bytes than their loop device."""
    usage = evidence.trial.usage
    yield from _without_any(evidence)
    for disk in evidence.trial.virtual_disks:
        stretches = _stretches(evidence, disk)
        names = stretches or ([disk.block] if disk.block else [])
        loops = [usage.devices[name] for name in names if name in usage.devices] if usage else []
        if not names:
            yield Apart("a virtual disk that is served as a directory has no loop device")
            continue
        if len(loops) < len(names):
            yield Untold(f"what {' and '.join(names)} was asked for")
            continue
        for what, sent, arrived in (
            ("read from", sum(loop.read_bytes for loop in loops), disk.read.bytes),
            ("written to", sum(loop.written_bytes for loop in loops), disk.write.bytes),
        ):
            edge_bytes = POOL_EDGE_BYTES if stretches else EDGE_BYTES
            if abs(sent - arrived) > edge_bytes + DISAGREEMENT * max(sent, arrived):
                yield Problem(
                    "warning",
                    f"{format_bytes(sent)} were {what} {' and '.join(names)}, and {format_bytes(arrived)} "
                    f"{what} the virtual disk {disk.name} below it",
                )


def _without_any(evidence: Evidence) -> Iterator[Apart]:
    if not evidence.trial.virtual_disks:
        yield Apart("no virtual disk of ours")


def _stretches(evidence: Evidence, disk: VirtualUse) -> list[str]:
    """Return the loop devices through which a pool has a disk, whole or in stretches; empty without one."""
    return list(dict.fromkeys(member.device.name for member in _members(evidence, disk)))


def _parts(evidence: Evidence, disk: VirtualUse) -> set[PoolPart]:
    """Return what a pool has a disk for; nothing where it is in none."""
    return {member.part for member in _members(evidence, disk)}


def _members(evidence: Evidence, disk: VirtualUse) -> list[PoolMember]:
    places = [evidence.place(role) for role in ROLES]
    pools = [place.pool for place in places if place and place.pool]
    members = [member for pool in pools for member in pool.members]
    return [member for member in members if member.virtual and member.virtual.name == disk.name]


@check(
    "virtual-label",
    reason="A virtual disk is as good as the machine that serves it and the way that leads to it.",
    remedy="say it wherever the figures are shown, or measure on the real disk",
    source="docs/disk.md; drivers/block/loop.c of the Linux kernel, where a flush becomes an fsync",
)
def virtual_label(run: Run) -> Iterator[Said]:
    """Tell what must be said with the figures of some disks."""
    told: dict[str, tuple[VirtualFacts, list[str]]] = {}
    if run.machine is None:
        yield Untold("where the storages lay")
    for place in run.machine.places if run.machine else []:
        for disk in place.virtual_disks:
            told.setdefault(disk.name, (disk, []))[1].append(place.storage)
    if run.machine and not told:
        yield Apart("no virtual disk of ours")
    for name, (disk, storages) in told.items():
        cells = tuple(cell.id for cell in run.plan.cells if cell.storage in storages)
        if disk.label:
            yield Problem("note", f"the virtual disk {name}: {disk.label}", cells=cells)
        if disk.model in MODELS_WITH_FUA:
            yield Problem(
                "note",
                f"the virtual disk {name} gets a whole flush where the real one may get a single durable "
                "write (FUA), which a loop device cannot pass on: commits cost here at least what they "
                "cost there",
                cells=cells,
            )
