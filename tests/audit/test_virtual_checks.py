"""Checks of virtual disks: a punctual one raises nothing, and each fault its own finding."""

from typing import Any

import pytest

from diskproof.audit.check import Evidence, Run
from diskproof.audit.registry import audit_run, audit_trial, bars_comparison
from diskproof.results.machine import BlockDevice, PoolFacts, PoolMember, PoolPart
from diskproof.results.trial import Finding
from diskproof.results.usage import DeviceUsage, Waiting
from support.cases.trials import ASKED
from support.trials import change, make_machine, make_plan, make_trial
from support.virtual import make_facts, make_use

PLAN = make_plan()
NAMES = ("lateness", "disk-errors", "virtual-bytes")

LOOP = DeviceUsage(reads=0, read_bytes=0, writes=10_000, written_bytes=163_840_000, flushes=5_000, busy_s=50)


def audit(loop: DeviceUsage | None = LOOP, *, disks: int = 1, **use: Any) -> dict[str, Finding]:
    planned = PLAN.trials[0]
    loads = {key: use.pop(key) for key in list(use) if key.startswith("load__")}
    trial = change(make_trial(PLAN, planned, virtual_disks=[make_use(**use)] * disks), **loads)
    assert trial.usage is not None
    devices = {**trial.usage.devices, **({"loop7": loop} if loop else {})}
    trial = change(trial, usage__devices=devices)
    found = audit_trial(Evidence(trial, PLAN.cell(planned.cell), PLAN, make_machine(PLAN)))
    return {finding.check: finding for finding in found if finding.check in NAMES}


def test_a_punctual_disk_raises_nothing() -> None:
    assert audit() == {}
    assert audit(None) == {}, "nothing is guessed where the loop device was not counted"
    assert audit(block=None) == {}, "a directory has none"


def test_a_late_disk_makes_its_trial_invalid_and_its_cell_incomparable() -> None:
    lateness = {"mean": 100.0, "p50": 50.0, "p95": 300.0, "p99": 600.0, "max": 1000.0}
    late = make_use().lateness_us
    assert late is not None
    finding = audit(late=True, lateness_share=0.15, lateness_us=change(late, **lateness))["lateness"]
    assert finding.severity == "invalid"
    assert "cheetah" in finding.message.text
    assert "600 µs late" in finding.message.text
    assert "15% of the modelled mean latency (4.0 ms)" in finding.message.text
    assert bars_comparison(finding)


def test_late_answers_that_cannot_have_held_the_clients_are_a_note() -> None:
    late = make_use().lateness_us
    assert late is not None
    seldom: dict[str, Any] = {
        "late": True,
        "lateness_share": 0.15,
        "lateness_us": change(late, mean=30.0, p99=600.0),
    }
    assert audit(**seldom)["lateness"].severity == "note"
    assert "throughput may be so much too low" in audit(**seldom)["lateness"].message.text
    assert audit(**seldom, load__rate=ASKED)["lateness"].severity == "invalid"


@pytest.mark.parametrize(
    ("share", "same_within", "severity"),
    [(0.019, 0.03, "note"), (0.021, 0.03, "invalid"), (0.019, 0.01, "invalid"), (0.009, 0.01, "note")],
)
def test_late_answers_count_from_2_percent_of_the_time_or_from_what_is_called_the_same(
    share: float, same_within: float, severity: str
) -> None:
    use = make_use()
    requests = sum(one.requests for one in (use.read, use.write, use.flush, use.discard))
    assert use.lateness_us is not None
    late = change(use.lateness_us, mean=share * use.seconds * 1e6 / requests, p99=600.0)
    plan = change(PLAN, same_within=same_within)
    planned = plan.trials[0]
    slow = make_use(late=True, lateness_share=0.15, lateness_us=late)
    trial = make_trial(plan, planned, virtual_disks=[slow])
    found = audit_trial(Evidence(trial, plan.cell(planned.cell), plan, make_machine(plan)))
    assert {one.check: one.severity for one in found}["lateness"] == severity


def test_what_waited_in_the_kernel_makes_a_trial_invalid() -> None:
    waiting = Waiting(kinds=["read"], requests=90_000, await_us=2707.0, modelled_us=2000.0, in_line_us=0.0)
    finding = audit(waiting=waiting, load__writes=0)["lateness"]
    assert finding.severity == "invalid"
    assert "reads took 2.7 ms on average at loop7, and 2.0 ms by the model, 35% more" in finding.message.text
    assert "quieter machine" in finding.remedy.text
    assert bars_comparison(finding)
    assert "at most 13% of the clients' time; 10% is allowed" in finding.message.text
    assert audit(waiting=change(waiting, await_us=2190.0)) == {}
    both = audit(waiting=change(waiting, kinds=["read", "flush"], in_line_us=300.0), block=None)["lateness"]
    assert "reads and flushes took 2.7 ms on average at its loop devices" in both.message.text
    assert "2.0 ms by the model (and 300 µs for flushes before them), 20% more" in both.message.text
    queued = audit(waiting=change(waiting, queued_us=400.0))["lateness"]
    assert "2.0 ms by the model (and 400 µs while the disk's queue was full), 15% more" in queued.message.text


@pytest.mark.parametrize(
    ("kinds", "requests", "writes", "severity"),
    [
        (["read"], 60_000, 0, "note"),
        (["read"], 80_000, 0, "invalid"),
        (["read"], 60_000, 1, "invalid"),
        (["read"], 7_000, 1, "note"),
        (["flush"], 7_000, 1, "note"),
        (["flush"], 10_000, 1, "invalid"),
        (["read", "flush"], 10_000, 0, "invalid"),
    ],
)
def test_a_wait_counts_by_what_it_can_take_of_the_clients_time(
    kinds: list[str], requests: int, writes: int, severity: str
) -> None:
    """707 us more each, in 60 s: a read that locks nothing holds one of 8 clients, anything else all."""
    waiting = Waiting(kinds=kinds, requests=requests, await_us=2707.0, modelled_us=2000.0, in_line_us=0.0)
    finding = audit(waiting=waiting, load__writes=writes)["lateness"]
    assert (finding.severity, bars_comparison(finding)) == (severity, severity == "invalid")


def test_waits_of_all_disks_count_together_and_at_a_set_rate_always() -> None:
    waiting = Waiting(kinds=["flush"], requests=7_000, await_us=2707.0, modelled_us=2000.0, in_line_us=0.0)
    assert audit(waiting=waiting)["lateness"].severity == "note"
    assert audit(waiting=waiting, disks=2)["lateness"].severity == "invalid"
    assert audit(waiting=waiting, load__rate=ASKED)["lateness"].severity == "invalid"


@pytest.mark.parametrize(("part", "severity"), [("cache", "note"), ("log", "invalid")])
def test_nobody_waits_for_what_a_pool_writes_to_its_cache(part: PoolPart, severity: str) -> None:
    waiting = Waiting(kinds=["write"], requests=90_000, await_us=2707.0, modelled_us=2000.0, in_line_us=0.0)
    use = make_use(waiting=waiting)
    member = PoolMember(
        part=part, disk="ssd", device=BlockDevice(name="loop7"), virtual=make_facts(name=use.name)
    )
    pool = PoolFacts(name="tank", flavour="zfs-fuse", compression="off", members=[member])
    places = [
        place.model_copy(update={"kind": "zpool", "device": None, "pool": pool})
        for place in make_machine(PLAN).places
    ]
    planned = PLAN.trials[0]
    trial = make_trial(PLAN, planned, virtual_disks=[use])
    evidence = Evidence(trial, PLAN.cell(planned.cell), PLAN, make_machine(PLAN, places=places))
    [finding] = [finding for finding in audit_trial(evidence) if finding.check == "lateness"]
    assert finding.severity == severity


def test_requests_that_failed_make_a_trial_invalid() -> None:
    finding = audit(errors=3)["disk-errors"]
    assert finding.severity == "invalid"
    assert "failed 3 requests" in finding.message.text
    assert "200 MiB" in finding.message.text


@pytest.mark.parametrize(
    ("field", "said"), [("written_bytes", "written to loop7"), ("read_bytes", "read from loop7")]
)
def test_bytes_that_did_not_arrive_are_found(field: str, said: str) -> None:
    sent = getattr(LOOP, field)
    assert audit(change(LOOP, **{field: sent + 3 * 2**20})) == {}, "what was under way at the edges"
    finding = audit(change(LOOP, **{field: sent + 20 * 2**20}))["virtual-bytes"]
    assert finding.severity == "warning"
    assert said in finding.message.text
    assert "virtual-bytes" in audit(change(LOOP, written_bytes=0)), "nor may the disk see what was not sent"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": "reads may be slower than modelled: 60 us"}, "may be slower"),
        ({"fua": True}, "FUA"),
        ({}, None),
    ],
)
def test_what_must_be_said_with_a_disk_is_said_once(changes: dict[str, Any], said: str | None) -> None:
    machine = make_machine(PLAN)
    facts = make_facts(**changes)
    places = [
        change(place, kind="virtual", virtual=facts) if place.storage == "disk" else place
        for place in machine.places
    ]
    run = Run(PLAN, change(machine, places=places), [])
    found = [(finding, cells) for finding, cells in audit_run(run) if finding.check == "virtual-label"]
    if said is None:
        assert found == []
        return
    [(finding, cells)] = found
    assert finding.severity == "note"
    assert said in finding.message.text
    assert set(cells) == {cell.id for cell in PLAN.cells if cell.storage == "disk"}
