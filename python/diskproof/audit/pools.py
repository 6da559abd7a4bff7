"""Checks of ZFS pools: that the disks which a placement is about had a part in what was measured."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.results.machine import PoolFacts, PoolMember, PoolPart
from diskproof.results.record import ROLES, format_bytes

FEWEST_BYTES = 16 * 2**20
"""A transaction group of some megabytes falls into the one count and out of the other."""

AGREEMENT = 0.5
"""The pool reports whole seconds, of which the first and the last may lie outside of the phase."""

UNUSED: dict[PoolPart, str] = {"log": "written to", "cache": "read from"}
"""What a part of a pool is there for."""

NO_POOL = Apart("no ZFS pool of ours")

UNUSED_REMEDY: dict[PoolPart, str] = {
    "log": "take a tuning whose commits wait for a flush (`safest`), leave `logbias` at latency, or leave "
    "`log` out: without synchronous writes it has nothing to do",
    "cache": "more `warm_up_s`, and more data than the ARC holds (`rows`, `arc_size`): the cache is filled "
    "slowly, with what leaves the ARC; or leave `cache` out",
}


@check(
    "pool-devices",
    reason="A log that was not written to, or a cache that was not read from, has no part in the figures, "
    "whatever the placement is called.",
    remedy="see that the server waits for its flushes (for the log), and that the data do not fit in the ARC "
    "(for the cache)",
    source="/proc/diskstats of each disk of the pool over the measured phase; what the pool says itself "
    "(`zpool iostat -v`) is kept in the trial's folder",
)
def pool_devices(evidence: Evidence) -> Iterator[Said]:
    """Find log and cache devices of a pool that were not used while the trial was measured."""
    pools = _pools(evidence)
    if not any(pool.of(part) for pool in pools for part in UNUSED):
        yield Apart("no ZFS pool of ours with a log or a cache" if pools else NO_POOL.why)
    for pool in pools:
        for part, what in UNUSED.items():
            members = pool.of(part)
            if any(_used(evidence, member) is None for member in members):
                yield Untold(f"what the disks of the pool's {part} did")
            if members and all(_used(evidence, member) is False for member in members):
                disks = " and ".join(f"{member.disk} ({member.device.name})" for member in members)
                yield Problem(
                    "warning",
                    f"the {part} of the pool, {disks}, was not {what} once while the trial was measured",
                    UNUSED_REMEDY[part],
                )


@check(
    "pool-counters",
    reason="What the kernel counts at a disk and what the pool counts at it must agree, or one of them "
    "looked at another disk.",
    remedy="see `zpool status` and `losetup --list` while a trial runs: each disk of the pool is a device of "
    "its own",
    source="/proc/diskstats against `zpool iostat -v`, which tells rates to three digits",
)
def pool_counters(evidence: Evidence) -> Iterator[Said]:
    """Find disks of a pool at which the kernel and the pool counted far from alike."""
    usage = evidence.trial.usage
    if not evidence.trial.pools:
        yield Untold("what the pool itself counted") if _pools(evidence) else NO_POOL
    for told in evidence.trial.pools:
        seen = usage.devices.get(told.device) if usage else None
        if seen is None:
            yield Untold("what the disks of the pool did")
            continue
        for what, here, there in (
            ("read from", seen.read_bytes, told.read_bytes),
            ("written to", seen.written_bytes, told.written_bytes),
        ):
            if max(here, there) > FEWEST_BYTES and min(here, there) < AGREEMENT * max(here, there):
                yield Problem(
                    "note",
                    f"by the kernel {format_bytes(here)} were {what} {told.device}, the pool's {told.part}, "
                    f"and by the pool {format_bytes(there)}",
                )


def _pools(evidence: Evidence) -> list[PoolFacts]:
    """Return the pools of a trial's storage, each once."""
    places = [evidence.place(role) for role in ROLES]
    return list({place.pool.name: place.pool for place in places if place and place.pool}.values())


def _used(evidence: Evidence, member: PoolMember) -> bool | None:
    """Tell whether a log was written or a cache read; None where the kernel's counters are missing."""
    usage = evidence.trial.usage
    seen = usage.devices.get(member.device.name) if usage else None
    if seen is None:
        return None
    return seen.writes > 0 if member.part == "log" else seen.reads > 0
