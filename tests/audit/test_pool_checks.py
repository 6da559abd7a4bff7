"""A pool's log and cache had a part in what was measured, or the audit says that they had not."""

import pytest

from diskproof.audit.check import Evidence
from diskproof.audit.registry import audit_trial
from diskproof.results.machine import BlockDevice, PoolFacts, PoolMember, PoolPart
from diskproof.results.trial import Finding
from diskproof.results.usage import DeviceUsage
from support.trials import MIB, change, make_machine, make_plan, make_trials

PARTS: dict[str, PoolPart] = {"loop0": "data", "loop1": "log", "loop2": "cache"}
POOL = PoolFacts(
    name="diskproof-0badcafe",
    flavour="zfs-fuse",
    compression="off",
    members=[
        PoolMember(part=part, disk="ssd" if part != "data" else "disk", device=BlockDevice(name=name))
        for name, part in PARTS.items()
    ],
)


def usage(*, reads: int = 100, writes: int = 100, mib: int = 40) -> DeviceUsage:
    return DeviceUsage(
        reads=reads,
        read_bytes=mib * MIB if reads else 0,
        writes=writes,
        written_bytes=mib * MIB if writes else 0,
        flushes=10,
        busy_s=0.5,
    )


def audit(devices: dict[str, DeviceUsage]) -> list[Finding]:
    """Audit a sound trial whose storage `disk` is a pool."""
    plan = make_plan()
    places = [
        place.model_copy(update={"kind": "zpool", "device": None, "pool": POOL})
        for place in make_machine(plan).places
        if place.storage == "disk"
    ]
    cell = next(
        cell for cell in plan.cells if (cell.storage, cell.tuning, cell.clients) == ("disk", "safest", 8)
    )
    trial = next(trial for trial in make_trials(plan) if trial.cell == cell.id)
    assert trial.usage is not None
    trial = change(trial, usage=trial.usage.model_copy(update={"devices": devices}))
    evidence = Evidence(trial, cell, plan, make_machine(plan, places=places))
    return [finding for finding in audit_trial(evidence) if finding.check == "pool-devices"]


def test_a_pool_whose_disks_were_all_used_is_sound() -> None:
    assert audit({name: usage() for name in PARTS}) == []


@pytest.mark.parametrize(
    ("device", "unused", "said", "remedy"),
    [
        ("loop1", usage(writes=0), "the log of the pool, ssd (loop1), was not written to once", "`safest`"),
        ("loop2", usage(reads=0), "the cache of the pool, ssd (loop2), was not read from once", "`arc_size`"),
    ],
)
def test_a_log_or_a_cache_without_use_is_found(
    device: str, unused: DeviceUsage, said: str, remedy: str
) -> None:
    (finding,) = audit({**{name: usage() for name in PARTS}, device: unused})
    assert (finding.check, finding.severity) == ("pool-devices", "warning")
    assert said in finding.message.text
    assert remedy in finding.remedy.text


def test_a_disk_that_was_not_counted_is_not_judged() -> None:
    assert audit({"loop0": usage()}) == []
