"""Cases of the checks of one recorded trial."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from diskproof.audit import files, host, hosts, intervals, kinds, load, server, storage, virtual
from diskproof.audit.check import Evidence
from diskproof.results.load import Operation, Rate
from diskproof.results.machine import BlockDevice, Machine, PoolFacts, PoolMember, PoolPart
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import HeldCpus, Setting
from diskproof.results.usage import DeviceUsage
from support import files as bare
from support.cases import Case
from support.load_hosts import make_load_hosts
from support.replay import make_certificate
from support.tpcc import make_checked
from support.trials import MIB, change, make_machine, make_places, make_plan, make_trial, usage_of
from support.virtual import make_use

PLAN = make_plan()
MACHINE = make_machine(PLAN)


def cell_of(plan: Plan, storage: str = "disk", tuning: str = "safest", clients: int = 8) -> Cell:
    wanted = (storage, tuning, clients)
    return next(cell for cell in plan.cells if (cell.storage, cell.tuning, cell.clients) == wanted)


def trial(
    *,
    plan: Plan = PLAN,
    machine: Machine | None = MACHINE,
    series: Sequence[float] = (),
    rate: float | None = None,
    clients: int = 8,
    **changes: Any,
) -> Evidence:
    """Return a sound trial of the disk at `safest`, in which the given fields differ."""
    cell = cell_of(plan, clients=clients)
    planned = next(one for one in plan.trials if one.cell == cell.id)
    made = make_trial(plan, planned, rate, **{"load__client__waited_for_cpu_s": 0.1, **changes})
    return Evidence(made, cell, plan, machine, series)


def elsewhere(restored_by: str = "loaded", *, may_be_here: bool = False, **changes: Any) -> Evidence:
    """Return a trial of a server that was there already: only its own answers are known."""
    theirs = [
        one.model_copy(update={"binary": None, "address": "app@db:3306/x", "may_be_here": may_be_here})
        for one in MACHINE.servers
    ]
    unseen: dict[str, Any] = {
        "usage__server_cpu_s": None,
        "usage__devices": {},
        "usage__activity": None,
        "open_files": [],
        "data__restored_by": restored_by,
    }
    machine = MACHINE.model_copy(update={"servers": theirs, "places": []})
    return trial(machine=machine, **{**unseen, **changes})


def of_files(**changes: Any) -> Evidence:
    """Return a sound trial of a load on bare files, in which the given fields differ."""
    return Evidence(bare.made_trial(**changes), bare.CELL, bare.PLAN, bare.MACHINE)


def in_pool(log: DeviceUsage) -> Evidence:
    """Return a trial in a pool of a disk and a log."""
    parts: dict[str, PoolPart] = {"loop0": "data", "loop1": "log"}
    pool = PoolFacts(
        name="tank",
        flavour="zfs-fuse",
        compression="off",
        members=[
            PoolMember(part=part, disk="ssd", device=BlockDevice(name=name)) for name, part in parts.items()
        ],
    )
    places = [
        place.model_copy(update={"kind": "zpool", "device": None, "pool": pool})
        for place in make_places("disk")
    ]
    machine = make_machine(PLAN, places=places)
    return trial(machine=machine, usage__devices={"loop0": USED, "loop1": log})


USED = DeviceUsage(reads=0, read_bytes=0, writes=100, written_bytes=40 * MIB, flushes=10, busy_s=0.5)
UNUSED = DeviceUsage(reads=0, read_bytes=0, writes=0, written_bytes=0, flushes=0, busy_s=0.0)


def on_virtual(written_bytes: int = 163_840_000, **use: Any) -> Evidence:
    """Return a trial on a virtual disk, whose loop device counted so many bytes written."""
    loop = DeviceUsage(
        reads=0, read_bytes=0, writes=10_000, written_bytes=written_bytes, flushes=5_000, busy_s=50
    )
    devices = {**usage_of(trial().trial).devices, "loop7": loop}
    return trial(usage__devices=devices, virtual_disks=[make_use(**use)])


def job(**changes: Any) -> Evidence:
    """Return a trial of a job of one part, in which the given fields of the part differ."""
    part = Operation(test="insert", name="insert", clients=1, planned=100, count=100, seconds=12.0)
    plan = change(PLAN, metrics={"complex": "seconds"})
    return trial(plan=plan, load__operations=[change(part, **changes)], load__seconds=12.0)


ASKED = Rate(
    asked_per_s=100,
    arrivals="poisson",
    achieved_per_s=100,
    arrived=3000,
    waiting=0,
    behind_s=0,
    most_waiting=1,
    most_behind_s=0.01,
    held=True,
    start_delay_mean_us=10.0,
)


def at_rate(**changes: Any) -> Evidence:
    """Return a trial at a rate of its own, in which the given fields of the rate differ."""
    plan = change(PLAN, metrics={"complex": "latency_mean_us"})
    return trial(plan=plan, rate=100.0, load__rate=change(ASKED, **changes))


def loaded_elsewhere(**changes: Any) -> Evidence:
    """Return a trial with its load on two machines, the second changed."""
    sound = trial().trial.load
    assert sound is not None
    return trial(load_hosts=make_load_hosts(sound, **changes))


def held(server_cpus: list[int]) -> Evidence:
    """Return a trial whose study gives one CPU."""
    return trial(plan=change(PLAN, cpus=1), held_cpus=HeldCpus(cpus=[1], server=server_cpus, load=[1]))


def selects(found: float) -> Evidence:
    """Return a trial whose point selects found so many rows each."""
    sound = trial()
    types = [
        change(one, rows=round(one.count * found)) if one.name == "point_select" else one
        for one in sound.load.statement_types
    ]
    return trial(load__statement_types=types)


def sized(data_bytes: int) -> Evidence:
    """Return a trial over so much data, which does nothing but read."""
    return trial(data__data_bytes=data_bytes, load__writes=0)


def misplaced() -> Evidence:
    first, *others = trial().trial.open_files
    return trial(open_files=[change(first, device_number="8:1", as_declared=False), *others])


FLAT = (430 * np.random.default_rng(1).normal(1, 0.02, 30)).tolist()
RISING = (
    np.concatenate([np.full(10, 200.0), np.full(20, 400.0)]) * np.random.default_rng(1).normal(1, 0.02, 30)
).tolist()
WRONG = Setting(name="sync_binlog", requested="1", observed="0", holds=False, level=True)
SPINNING = make_machine(
    PLAN,
    virtualised=None,
    places=[*make_places("dram"), *make_places("disk", rotational=True, model="ST4000NM")],
)
_LATENCY = trial().load.latency_us
assert _LATENCY is not None
_BUSY_S = usage_of(trial().trial).host_cpu_busy_s or 0.0

TRIAL_CASES: tuple[Case[Evidence], ...] = (
    Case(load.finished, trial(finished=False, load=None), "broke off", trial()),
    Case(server.settings, trial(settings=[WRONG]), "sync_binlog` reads back as 0; 1", trial()),
    Case(server.placement, misplaced(), "lies on device 8:1, but data", trial()),
    Case(host.held_cpus, held([0, 1]), "held to CPU 1, but it could run on CPU 0, 1", held([1])),
    Case(server.put_back, elsewhere("not put back"), "were not put back", elsewhere("loaded")),
    Case(server.engine, trial(data__engine="MyISAM"), "engine is MyISAM, but InnoDB", trial()),
    Case(load.rows, selects(0.5), r"\(0.50 each\)", selects(1.0)),
    Case(
        load.errors,
        trial(load__failed_transactions=1000),
        r"\d+\.\d% of the transactions failed",
        trial(),
    ),
    Case(kinds.operations, job(errors=3), "3 errors in insert", job()),
    Case(
        load.littles_law,
        trial(load__latency_us__mean=_LATENCY.mean * 1.5),
        "accounts for 11.98 of 8 clients",
        trial(),
    ),
    Case(
        kinds.rate,
        at_rate(held=False, waiting=40),
        "was not held: 100/s of 100 transactions/s completed",
        at_rate(),
    ),
    Case(kinds.late_start, at_rate(start_delay_mean_us=4000.0), "though a client was idle", at_rate()),
    Case(load.client, trial(load__client__cpu_user_s=55.0), "the client was the bottleneck", trial()),
    Case(
        hosts.load_hosts,
        loaded_elsewhere(began_after_us=2000.0),
        "may have begun 2.* after the first",
        loaded_elsewhere(),
    ),
    Case(
        storage.physics,
        trial(machine=SPINNING, rate=500.0, clients=1),
        "500 durable commits a second and client.* at most 250",
        trial(machine=SPINNING, rate=120.0, clients=1),
    ),
    Case(
        files.arrived,
        of_files(usage__devices={"vda": UNUSED}),
        "112.5 MiB were read, 0 B of them at vda",
        of_files(),
    ),
    Case(storage.pool_devices, in_pool(UNUSED), "was not written to once", in_pool(USED)),
    Case(virtual.lateness, on_virtual(late=True, lateness_share=0.2), "too slow for the disk", on_virtual()),
    Case(virtual.disk_errors, on_virtual(errors=2), "failed 2 requests", on_virtual()),
    Case(virtual.virtual_bytes, on_virtual(2 * 163_840_000), "312.5 MiB were written to loop7", on_virtual()),
    Case(
        host.host_busy,
        trial(usage__host_cpu_busy_s=_BUSY_S + 18.0),
        "other processes took 32%",
        trial(),
    ),
    Case(intervals.steady, trial(series=RISING, rate=333.0), "first 10 s", trial(series=FLAT, rate=430.0)),
    Case(
        load.tail,
        trial(load__latency_us__percentiles={**_LATENCY.percentiles, "95": _LATENCY.mean * 0.5}),
        "is above the 95th percentile",
        trial(),
    ),
    Case(load.short, trial(rate=2.0), "only 60 transactions were measured", trial()),
    Case(
        files.whole_phase,
        of_files(load=bare.made_load(seconds=12.0)),
        "12 s of 30 s were measured",
        of_files(),
    ),
    Case(storage.data_size, sized(46 * MIB), r"fits in the buffer pool \(128 MiB\)", sized(8192 * MIB)),
    Case(
        kinds.same_data,
        trial(load__replay=make_certificate(refusals_in_replay_only=50)),
        "the server refused 5.0% of the statements",
        trial(load__replay=make_certificate()),
    ),
    Case(
        kinds.sent,
        trial(load__replay=make_certificate(sent=900)),
        "10.0% of the statements were not sent",
        trial(load__replay=make_certificate()),
    ),
    Case(
        kinds.replayer,
        trial(load__replay=make_certificate(own_p99_us=9_000)),
        "was sent 0.009 s late or more",
        trial(load__replay=make_certificate()),
    ),
    Case(
        kinds.order,
        trial(load__replay=make_certificate(gave_up_order=3)),
        "3 statements did not wait any longer",
        trial(load__replay=make_certificate()),
    ),
    Case(
        kinds.consistency,
        trial(tables=make_checked(broken=3)),
        "condition 5 .* is broken in 3 orders",
        trial(tables=make_checked()),
    ),
)
