"""A builder of realistic plans, machines and trials: what a run on a small machine would have recorded.

The figures of a trial agree with each other as a real one's do: Little's law holds, percentiles
belong to one distribution, a durable commit on the disk costs flushes. A test changes the one thing
that it is about: ``make_trial(plan, planned, usage=None)`` or ``change(trial, load__retries=500)``.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np

from diskproof.results.load import ClientAccount, Latency, LoadResult, StatementType
from diskproof.results.machine import BlockDevice, Machine, Place, ServerFacts
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.record import ROLES, Record
from diskproof.results.trial import DataFacts, OpenFile, Setting, Timings, Trial
from diskproof.results.usage import DeviceUsage, Usage
from diskproof.wording import numbers

MIB = 2**20
NORMAL = NormalDist()
PERCENTILES = ("50", "75", "90", "95", "99", "99.9")
RAM_DEVICE = "0:45"
DISK_DEVICE = "254:1"

STATEMENTS_OF_COMPLEX = {
    "begin": ("other", 1, 0, 0),
    "point_select": ("read", 10, 1, 0),
    "simple_range": ("read", 1, 100, 0),
    "sum_range": ("read", 1, 1, 0),
    "order_range": ("read", 1, 100, 0),
    "distinct_range": ("read", 1, 100, 0),
    "update_index": ("write", 1, 0, 1),
    "update_non_index": ("write", 1, 0, 1),
    "delete": ("write", 1, 0, 1),
    "insert": ("write", 1, 0, 1),
    "commit": ("other", 1, 0, 0),
}
"""Name -> (kind, executions a transaction, rows returned by each, rows affected by each)."""

LEVEL_SETTINGS = {
    "safest": {"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1", "innodb_doublewrite": "ON"},
    "fast": {"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "0", "innodb_doublewrite": "ON"},
    "unsafe": {"innodb_flush_log_at_trx_commit": "0", "sync_binlog": "0", "innodb_doublewrite": "OFF"},
}

AnyRecord = TypeVar("AnyRecord", bound=Record)


def make_plan(
    *,
    servers: Sequence[str] = ("mariadb",),
    storages: Sequence[str] = ("dram", "disk"),
    tunings: Sequence[str] = ("safest", "fast"),
    workloads: Sequence[str] = ("complex",),
    memory_bytes: Sequence[int] = (128 * MIB,),
    clients: Sequence[int] = (1, 8),
    blocks: int = 5,
    seed: int = 1,
    same_within: float = 0.03,
    measure_s: float = 30.0,
) -> Plan:
    """Return a plan over all combinations, in a seeded random order; a storage `dram` or `ram…` is memory."""
    cells = [
        Cell(
            id=f"{server}/{storage}/{tuning}/{workload}/{numbers.size(memory).replace(' ', '')}/{count}c",
            server=server,
            storage=storage,
            tuning=tuning,
            workload=workload,
            memory_bytes=memory,
            clients=count,
        )
        for server in servers
        for storage in storages
        for tuning in tunings
        for workload in workloads
        for memory in memory_bytes
        for count in clients
    ]
    random = np.random.default_rng(seed)
    trials = [
        PlannedTrial(id=f"b{block:02}-t{position:02}", block=block, position=position, cell=cells[index].id)
        for block in range(1, blocks + 1)
        for position, index in enumerate(random.permutation(len(cells)), start=1)
    ]
    return Plan(
        study="quickstart",
        question="How fast is a database on this machine's disk against main memory?",
        expectation="At safest the disk waits for every commit; at fast it comes close to main memory.",
        analysis="A gap at safest that closes at fast is the price of waiting for the disk at commit.",
        seed=seed,
        same_within=same_within,
        warm_up_s=measure_s / 3,
        measure_s=measure_s,
        cells=cells,
        trials=trials,
        estimated_s=len(trials) * (measure_s * 4 / 3 + 2),
        estimated_bytes=len(trials) * 200 * MIB,
    )


def make_machine(plan: Plan | None = None, **changes: Any) -> Machine:
    """Return a virtual machine with two cores and an SSD that has every server and storage of the plan."""
    plan = plan or make_plan()
    storages = list(dict.fromkeys(cell.storage for cell in plan.cells))
    servers = list(dict.fromkeys(cell.server for cell in plan.cells))
    machine = Machine(
        host="bench1",
        kernel="6.1.0-31-amd64",
        distribution="Debian GNU/Linux 12 (bookworm)",
        cpu_model="Intel(R) Xeon(R) Platinum 8488C",
        cpus=2,
        host_cpus=2,
        memory_bytes=4096 * MIB,
        virtualised="kvm",
        diskproof_version="0.1.0",
        load_version="0.1.0",
        privileged=True,
        places=[place for storage in storages for place in make_places(storage)],
        servers=[make_server(name) for name in servers],
    )
    return change(machine, **changes)


def make_places(storage: str, **device_changes: Any) -> list[Place]:
    """Return the place of each role: on tmpfs for `dram` and `ram…`, else on an ext4 disk."""
    if is_ram(storage):
        return [
            Place(
                storage=storage,
                role=role,
                kind="ram",
                path=f"/srv/{storage}/{role}",
                filesystem="tmpfs",
                mount_point=f"/srv/{storage}",
                mount_options="rw,nosuid,nodev,size=1048576k",
                device_number=RAM_DEVICE,
            )
            for role in ROLES
        ]
    device = BlockDevice(
        name="vda",
        model="QEMU disk",
        size_bytes=64 * 2**30,
        rotational=False,
        scheduler="none",
        write_cache="write back",
        fua=False,
        logical_block_bytes=512,
        counts_flushes=True,
    )
    return [
        Place(
            storage=storage,
            role=role,
            kind="directory",
            path=f"/srv/{storage}/{role}",
            filesystem="ext4",
            mount_point="/",
            mount_options="rw,relatime",
            device_number=disk_device(storage),
            device=change(device, **device_changes),
        )
        for role in ROLES
    ]


def make_server(name: str) -> ServerFacts:
    """Return a server by its customary name; an unknown name is another MariaDB."""
    if name.startswith("postgres"):
        binary = "/usr/lib/postgresql/15/bin/postgres"
        return ServerFacts(
            name=name, family="postgresql", flavour="PostgreSQL", version="15.10", binary=binary
        )
    if name.startswith("sqlite"):
        return ServerFacts(name=name, family="sqlite", flavour="SQLite", version="3.49.1")
    return ServerFacts(
        name=name, family="mysql", flavour="MariaDB", version="10.11.11", binary="/usr/sbin/mariadbd"
    )


def typical_rate(cell: Cell) -> float:
    """Return transactions per second as a small machine makes them: the disk pays for every commit."""
    wait_us = 0.0 if is_ram(cell.storage) else {"safest": 6500.0, "fast": 250.0}.get(cell.tuning, 60.0)
    work_us = {"safest": 1650.0, "fast": 1500.0}.get(cell.tuning, 1450.0)
    alone_per_s = 1e6 / (work_us + wait_us)
    together = min(cell.clients, 2.2 if wait_us < 1000 else 3.5)  # two cores; group commit shares flushes
    return alone_per_s * together


def make_trials(
    plan: Plan,
    rate: Callable[[Cell], float] = typical_rate,
    *,
    spread: float = 0.02,
    seed: int = 1,
) -> list[Trial]:
    """Return every planned trial, in order; rates scatter by `spread` (relative), blocks by half of it."""
    random = np.random.default_rng(seed)
    of_block = {block: math.exp(random.normal(0, spread / 2)) for block in plan.blocks()}
    return [
        make_trial(
            plan,
            planned,
            rate(plan.cell(planned.cell)) * of_block[planned.block] * math.exp(random.normal(0, spread)),
        )
        for planned in plan.trials
    ]


def make_trial(
    plan: Plan, planned: PlannedTrial | None = None, rate_per_s: float | None = None, **changes: Any
) -> Trial:
    """Return one sound trial (the plan's first if none is named); `changes` as in :func:`change`."""
    planned = planned or plan.trials[0]
    cell = plan.cell(planned.cell)
    load = make_load(cell, rate_per_s or typical_rate(cell), plan.measure_s)
    minutes, seconds = divmod((planned.block - 1) * 97 + planned.position * 11, 60)
    trial = Trial(
        id=planned.id,
        cell=cell.id,
        block=planned.block,
        position=planned.position,
        started_at=f"2026-03-14T09:{minutes % 60:02}:{seconds:02}Z",
        finished=True,
        load=load,
        usage=_usage(cell, load),
        timings=Timings(
            restore_s=0.21,
            start_s=0.34,
            warm_up_s=plan.warm_up_s,
            measure_s=plan.measure_s,
            stop_s=0.18,
            total_s=plan.warm_up_s + plan.measure_s + 0.9,
        ),
        data=DataFacts(data_bytes=46 * MIB, rows=40_000, engine="InnoDB", declared_engine="InnoDB"),
        settings=_settings(cell),
        open_files=_open_files(cell),
        load_command="diskproof-load run oltp --url 'mysql://root@localhost/sbtest?socket=/run/s' "
        f"--tables 4 --rows 10000 --mix complex --clients {cell.clients} --seconds {plan.measure_s:g}",
    )
    return change(trial, **changes)


def make_load(cell: Cell, rate_per_s: float, seconds: float) -> LoadResult:
    """Return what a closed loop of `cell.clients` measures at a rate: latency follows from Little's law."""
    transactions = round(rate_per_s * seconds)
    mean_us = cell.clients / rate_per_s * 1e6 * 0.998
    return LoadResult(
        workload="oltp",
        mix="complex",
        clients=cell.clients,
        seconds=seconds,
        transactions=transactions,
        transactions_per_s=transactions / seconds,
        statements=transactions * 20,
        reads=transactions * 14,
        writes=transactions * 4,
        others=transactions * 2,
        latency_us=make_latency(mean_us, transactions),
        statement_types=[
            StatementType(
                name=name,
                kind=kind,
                count=transactions * times,
                rows=transactions * times * rows,
                affected=transactions * times * affected,
                errors=0,
                latency_us=make_latency(mean_us / 20, transactions * times),
            )
            for name, (kind, times, rows, affected) in STATEMENTS_OF_COMPLEX.items()
        ],
        errors=[],
        failed_transactions=0,
        retries=0,
        reconnects=0,
        client=ClientAccount(
            workers=min(cell.clients, 2),
            cpu_user_s=transactions * 20 * 4e-6,
            cpu_system_s=transactions * 20 * 6e-6,
            max_rss_bytes=9 * MIB,
            delay_mean_us=mean_us * 0.0002,
            delay_max_us=mean_us * 0.3,
        ),
    )


def make_latency(mean_us: float, count: int, sigma: float = 0.4) -> Latency | None:
    """Return a lognormal latency of that mean; None where nothing completed."""
    if count == 0:
        return None
    mu = math.log(mean_us) - sigma**2 / 2
    extreme = NORMAL.inv_cdf(1 - 0.5 / count) if count > 1 else 0.0
    return Latency(
        count=count,
        mean=mean_us,
        stdev=mean_us * math.sqrt(math.expm1(sigma**2)),
        min=math.exp(mu - extreme * sigma),
        max=math.exp(mu + extreme * sigma),
        percentiles={name: math.exp(mu + NORMAL.inv_cdf(float(name) / 100) * sigma) for name in PERCENTILES},
    )


def make_series(trials: Sequence[Trial], *, spread: float = 0.03, seed: int = 1) -> dict[str, list[float]]:
    """Return one-second throughput of each trial's measured phase: steady, slightly scattered."""
    random = np.random.default_rng(seed)
    return {
        trial.id: [
            float(rate)
            for rate in trial.load.transactions_per_s
            * random.normal(1, spread, round(trial.load.known_seconds))
        ]
        for trial in trials
        if trial.load is not None
    }


def load_of(trial: Trial) -> LoadResult:
    """Return what a trial measured; a test that meets a trial without it has failed."""
    assert trial.load is not None
    return trial.load


def mean_latency_us(trial: Trial) -> float:
    """Return a trial's mean latency in microseconds."""
    latency = load_of(trial).latency_us
    assert latency is not None
    return latency.mean


def usage_of(trial: Trial) -> Usage:
    """Return a trial's counters; a test that meets a trial without them has failed."""
    assert trial.usage is not None
    return trial.usage


def change(record: AnyRecord, **changes: Any) -> AnyRecord:
    """Return a copy with other values; ``load__client__workers=4`` reaches into inner records."""
    outer = {name: value for name, value in changes.items() if "__" not in name}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        if "__" in name:
            head, _, tail = name.partition("__")
            inner.setdefault(head, {})[tail] = value
    for head, values in inner.items():
        outer[head] = change(getattr(record, head), **values)
    unknown = set(outer) - set(type(record).model_fields)
    if unknown:
        raise KeyError(f"{type(record).__name__} has no {', '.join(sorted(unknown))}")
    return record.model_copy(update=outer)


def disk_device(storage: str) -> str:
    """Return the device number of a storage's file system: `disk` has the root's, each other its own."""
    return DISK_DEVICE if storage == "disk" else f"259:{zlib.crc32(storage.encode()) % 2**20}"


def is_ram(storage: str) -> bool:
    """Tell whether the builder puts a storage of that name into memory."""
    return storage.startswith(("dram", "ram"))


def _usage(cell: Cell, load: LoadResult) -> Usage:
    """Return counters as a disk shows them: four flushes a durable commit, shared among clients."""
    n, seconds = load.known_transactions, load.known_seconds
    durable = cell.tuning == "safest"
    flushes = round(4 * n / min(cell.clients, 3)) if durable else round(seconds * 2)
    device = DeviceUsage(
        reads=12,
        read_bytes=12 * 16384,
        writes=flushes + n // 4,
        written_bytes=n * 9000,
        flushes=flushes,
        busy_s=min(seconds, flushes * 1.2e-3),
    )
    server_cpu_s = n * 1.1e-3
    client_cpu_s = load.known_client.cpu_s
    busy_s = min(2 * seconds, server_cpu_s + client_cpu_s + 0.04 * seconds)
    return Usage(
        seconds=seconds,
        server_cpu_s=server_cpu_s,
        host_cpu_busy_s=busy_s,
        host_cpu_iowait_s=0.0 if is_ram(cell.storage) else 0.1 * seconds,
        host_cpu_steal_s=0.002 * seconds,
        context_switches=n * 45,
        devices={} if is_ram(cell.storage) else {"vda": device},
        server_counters={"com_commit": float(n), "innodb_data_fsyncs": float(flushes)},
    )


def _settings(cell: Cell) -> list[Setting]:
    common = {"innodb_buffer_pool_size": str(cell.memory_bytes), "max_connections": "40"}
    level = LEVEL_SETTINGS.get(cell.tuning, LEVEL_SETTINGS["safest"])
    return [
        Setting(name=name, requested=value, observed=value, holds=True, level=values is level)
        for values in (common, level)
        for name, value in values.items()
    ]


def _open_files(cell: Cell) -> list[OpenFile]:
    device = RAM_DEVICE if is_ram(cell.storage) else disk_device(cell.storage)
    names = {"data": "ibdata1", "redo": "ib_logfile0", "binlog": "binlog.000001", "tmp": "ibtmp1"}
    return [
        OpenFile(
            path=f"/srv/{cell.storage}/{role}/{names[role]}",
            role=role,
            device_number=device,
            as_declared=True,
        )
        for role in ROLES
    ]
