"""Checks of ZFS pools: that the log and cache disks were used while the trial was measured."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Said, Untold, check, warning
from diskproof.results.machine import PoolFacts, PoolMember, PoolPart
from diskproof.results.record import ROLES

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
    pools = _pools(evidence)
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


def _pools(evidence: Evidence) -> list[PoolFacts]:
    """Return the pools of a trial's storage, each once."""
    places = [evidence.place(role) for role in ROLES]
    return list({place.pool.name: place.pool for place in places if place and place.pool}.values())


def _used(evidence: Evidence, member: PoolMember) -> bool | None:
    """Tell whether a log was written or a cache read; None if the kernel's counters are missing."""
    usage = evidence.trial.usage
    seen = usage.devices.get(member.device.name) if usage else None
    if seen is None:
        return None
    return seen.writes > 0 if member.part == "log" else seen.reads > 0
