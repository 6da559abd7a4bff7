"""Cells that one thing holds back: trials whose instruments agree on it, as far as a test leaves them be.

A test takes a signal away or turns one round: ``limited("log flush", usage__activity=None)``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.analyse import answer_limits
from diskproof.analysis.limits.records import CellLimit
from diskproof.results.load import LoadResult, Rate, StatementType
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.record import Role
from diskproof.results.trial import Trial
from diskproof.results.usage import (
    Act,
    Activity,
    CpuUse,
    DeviceUsage,
    Doing,
    RequestsServed,
    ServerAccount,
    Spread,
    Usage,
    VirtualUse,
)
from support.trials import change, load_of, make_latency, make_machine, make_plan, make_trial
from support.virtual import make_facts

SECONDS = 30.0
MICRO = 1e6


def one_cell(clients: int = 1, **changes: Any) -> Plan:
    """Return a plan of one cell on the disk, three blocks."""
    asked = {"storages": ("disk",), "tunings": ("safest",), "blocks": 3, **changes}
    return make_plan(clients=(clients,), measure_s=SECONDS, **asked)


def virtual_machine(plan: Plan) -> Machine:
    """Return a machine whose disk is a virtual one that serves one request at a time."""
    machine = make_machine(plan)
    facts = make_facts(name="disk", one_at_a_time=True)
    return change(machine, places=[change(place, kind="virtual", virtual=facts) for place in machine.places])


def limit_of(plan: Plan, trials: list[Trial], machine: Machine | None = None) -> CellLimit:
    """Return what is said of a plan's one cell."""
    limits = answer_limits(Gathered(plan, machine or virtual_machine(plan), trials, {}))
    assert limits is not None
    (cell,) = limits.cells
    return cell


def limited(what: str, clients: int = 1, *, plan: Plan | None = None, **changes: Any) -> CellLimit:
    """Return what is said of a cell that is bound by something, its trials changed as in ``change``."""
    plan = plan or one_cell(clients)
    made = [change(MAKERS[what](plan, number), **changes) for number in range(len(plan.trials))]
    return limit_of(plan, made)


def timed(trial: Trial, means_us: Mapping[str, float]) -> Trial:
    """Return the trial with other mean latencies of statements, and of a transaction as their sum."""
    load = load_of(trial)
    types = [_timed(one, means_us.get(one.name, 40.0)) for one in load.statement_types]
    latency_us = (
        sum(one.count * one.latency_us.mean for one in types if one.latency_us) / load.known_transactions
    )
    return change(
        trial,
        load__statement_types=types,
        load__latency_us=make_latency(latency_us, load.known_transactions),
    )


def _timed(one: StatementType, mean_us: float) -> StatementType:
    return change(one, latency_us=make_latency(mean_us, one.count))


Found = tuple[Act, Role | None, float, float]
"""Act, role, share of moments, threads."""


def activity(*doings: Found, background: Sequence[Found] = (), log_share: float | None = None) -> Activity:
    """Return what threads that serve clients were found at, and what others were."""
    return Activity(
        moments=600,
        period_s=0.045,
        doings=[
            Doing(act=act, role=role, share=share, threads=threads, serving=threads if serves else 0.0)
            for found, serves in ((doings, True), (background, False))
            for act, role, share, threads in found
        ],
        serving=128.0,
        log_share=log_share,
    )


def device(
    load: LoadResult,
    *,
    busy: float,
    reads: float = 0.0,
    read_us: float = 0.0,
    writes: float = 0.0,
    write_us: float = 0.0,
    flushes: float = 0.0,
    flush_us: float = 0.0,
) -> DeviceUsage:
    """Return the kernel's account of a disk; counts are of a transaction."""
    n = load.known_transactions
    return DeviceUsage(
        reads=round(reads * n),
        read_bytes=round(reads * n) * 16384,
        writes=round(writes * n),
        written_bytes=round(writes * n) * 4096,
        flushes=round(flushes * n),
        busy_s=busy * SECONDS,
        read_s=reads * n * read_us / MICRO,
        write_s=writes * n * write_us / MICRO,
        flush_s=flushes * n * flush_us / MICRO,
    )


def served(of: DeviceUsage) -> VirtualUse:
    """Return a virtual disk's own account of what the kernel counted of it."""

    def kind(requests: int, moved: int, seconds: float | None) -> RequestsServed:
        mean = (seconds or 0.0) / requests * MICRO if requests else 0.0
        spread = Spread(mean=mean, p50=mean, p95=mean, p99=mean, max=mean) if requests else None
        return RequestsServed(requests=requests, bytes=moved, errors=0, latency_us=spread)

    return VirtualUse(
        name="disk",
        device="desktop-7200",
        block="vda",
        seconds=SECONDS,
        read=kind(of.reads, of.read_bytes, of.read_s),
        write=kind(of.writes, of.written_bytes, of.write_s),
        flush=kind(of.flushes or 0, 0, of.flush_s),
        discard=kind(0, 0, 0.0),
        queue_depth_mean=1.0,
        lateness_us=None,
        lateness_share=0.0,
        late=False,
        errors=0,
        contents_bytes=0,
        counters={},
    )


def used(
    trial: Trial,
    disk: DeviceUsage,
    *,
    server_us: float,
    load_us: float = 100.0,
    doing: Activity | None = None,
    account: ServerAccount | None = None,
    busy_beside: float = 0.0,
    waited_us: float = 0.0,
) -> Trial:
    """Return the trial with the machine's counters; CPU times are of a transaction, in microseconds."""
    load = load_of(trial)
    n = load.known_transactions
    server_s, load_s = n * server_us / MICRO, n * load_us / MICRO
    usage = Usage(
        seconds=SECONDS,
        server_cpu_s=server_s,
        host_cpu_busy_s=min(server_s + load_s + busy_beside * SECONDS, 2 * SECONDS),
        devices={"vda": disk},
        account=account,
        cpu={
            "server": CpuUse(used_s=server_s, waited_s=n * waited_us / MICRO),
            "load": CpuUse(used_s=load_s, waited_s=0.0),
        },
        runnable_mean=2.0,
        activity=doing,
    )
    return change(
        trial,
        usage=usage,
        virtual_disks=[served(disk)],
        load__client__cpu_user_s=load_s / 2,
        load__client__cpu_system_s=load_s / 2,
        load__client__delay_mean_us=1.0,
    )


# ---------------------------------------------------------------- what holds them back


def flush_bound(plan: Plan, number: int) -> Trial:
    """Return a trial whose COMMIT waits 8 ms for one flush of 7.5 ms; eight clients share some."""
    clients = plan.cells[0].clients
    commit_us = 8100.0 if clients == 1 else 15_000.0
    trial = trial_of(plan, number, {"commit": commit_us, "begin": 40.0})
    n, per_s = load_of(trial).known_transactions, load_of(trial).transactions_per_s
    flushes = 1.0 if clients == 1 else 120.0 / per_s
    disk = device(
        load_of(trial), busy=0.93, writes=flushes * 1.3, write_us=300.0, flushes=flushes, flush_us=7500.0
    )
    share = flushes * per_s * 7700.0 / MICRO
    return used(
        trial,
        disk,
        server_us=450.0,
        doing=activity(("flushing", "redo", share, share), ("computing", None, 0.1, 0.1)),
        account=ServerAccount(commits=n, log_flushes=round(flushes * n), page_reads=0, clean_page_waits=0),
    )


def read_bound(plan: Plan, number: int) -> Trial:
    """Return a trial whose point selects wait for pages, ten each of 8 ms."""
    clients = plan.cells[0].clients
    trial = trial_of(plan, number, {"point_select": 8000.0, "commit": 400.0})
    load = load_of(trial)
    present = 10 * 7800.0 / MICRO * load.transactions_per_s
    return used(
        trial,
        device(load, busy=0.97, reads=10.0, read_us=7800.0, writes=0.5, write_us=900.0),
        server_us=500.0,
        doing=activity(
            ("reading", "data", min(present, 1.0), present), ("computing", None, 0.05, 0.05 * clients)
        ),
        account=ServerAccount(
            commits=load.transactions, log_flushes=0, page_reads=10 * load.known_transactions
        ),
    )


def cpu_bound(plan: Plan, number: int) -> Trial:
    """Return a trial whose pages are in memory and whose log is flushed once a second."""
    clients = plan.cells[0].clients
    work_us = 1500.0
    queue = max(clients / 2, 1.0)
    trial = trial_of(plan, number, dict.fromkeys(READS, work_us / 18 * queue) | {"commit": 60.0 * queue})
    load = load_of(trial)
    server_us = min(1300.0, 1.65 / load.transactions_per_s * MICRO)
    return used(
        trial,
        device(load, busy=0.02, writes=0.01, write_us=200.0, flushes=0.001, flush_us=500.0),
        server_us=server_us,
        load_us=200.0,
        waited_us=work_us * (queue - 1),
        doing=activity(("computing", None, 0.95, 0.85 * clients)),
        account=ServerAccount(
            commits=load.transactions, log_flushes=30, page_reads=0, clean_page_waits=0, lock_waits=0
        ),
    )


def load_bound(plan: Plan, number: int) -> Trial:
    """Return a trial whose load generator takes two thirds of all CPU time."""
    trial = cpu_bound(plan, number)
    load = load_of(trial)
    n_s = 1 / load.transactions_per_s * MICRO
    assert trial.usage is not None
    made = used(
        trial,
        trial.usage.devices["vda"],
        server_us=0.6 * n_s,
        load_us=1.3 * n_s,
        doing=activity(("computing", None, 0.6, 0.6)),
        account=trial.usage.account,
    )
    return change(made, load__client__workers=2)


def lock_bound(plan: Plan, number: int) -> Trial:
    """Return a trial whose updates wait for each other's row, and whose COMMIT is quick."""
    clients = plan.cells[0].clients
    trial = trial_of(plan, number, {"update_index": 12_000.0, "commit": 300.0, "begin": 40.0})
    load = load_of(trial)
    made = used(
        trial,
        device(load, busy=0.2, writes=1.0, write_us=100.0, flushes=1.0, flush_us=200.0),
        server_us=300.0,
        doing=activity(
            ("waiting", None, 1.0, 0.8 * clients),
            ("computing", None, 0.2, 0.2),
            ("flushing", "redo", 0.15, 0.15),
        ),
        account=ServerAccount(
            commits=load.transactions,
            log_flushes=load.transactions,
            page_reads=0,
            lock_waits=load.transactions,
            lock_wait_s=load.known_transactions * 11_000.0 / MICRO,
            clean_page_waits=0,
        ),
    )
    assert made.data is not None
    return change(made, data__rows=40)


def page_write_bound(plan: Plan, number: int) -> Trial:
    """Return a trial whose statements wait until a page is written, on a disk that only writes."""
    clients = plan.cells[0].clients
    trial = trial_of(plan, number, dict.fromkeys(READS, 2000.0) | {"commit": 300.0})
    load = load_of(trial)
    return used(
        trial,
        device(
            load,
            busy=0.97,
            writes=4.0,
            write_us=4000.0,
            reads=0.3,
            read_us=500.0,
            flushes=0.001,
            flush_us=500.0,
        ),
        server_us=500.0,
        doing=activity(("waiting", None, 1.0, 0.7 * clients), ("computing", None, 0.2, 0.2)),
        account=ServerAccount(
            commits=load.transactions,
            log_flushes=10,
            page_reads=round(0.3 * load.known_transactions),
            clean_page_waits=2 * load.known_transactions,
            dirty_share_mean=0.9,
        ),
    )


def rate_bound(plan: Plan, number: int) -> Trial:
    """Return a trial of a rate that the study sets, and that is held."""
    trial = cpu_bound(plan, number)
    assert trial.usage is not None
    load = load_of(trial)
    rate = Rate(
        asked_per_s=load.transactions_per_s,
        arrivals="poisson",
        achieved_per_s=load.transactions_per_s,
        arrived=load.known_transactions,
        waiting=0,
        behind_s=0.0,
        most_waiting=1,
        most_behind_s=0.01,
        held=True,
        start_delay_mean_us=10.0,
    )
    disk = trial.usage.devices["vda"]
    share = 0.2 / load.transactions_per_s * MICRO
    idle = used(
        trial, disk, server_us=share, load_us=share / 4, doing=activity(("computing", None, 0.2, 0.2))
    )
    return change(idle, load__rate=rate)


READS = ("point_select", "simple_range", "sum_range", "order_range", "distinct_range")

MAKERS: dict[str, Callable[[Plan, int], Trial]] = {
    "log flush": flush_bound,
    "data reads": read_bound,
    "CPU": cpu_bound,
    "load generator": load_bound,
    "locks": lock_bound,
    "page writes": page_write_bound,
    "arrivals": rate_bound,
}


def trial_of(plan: Plan, number: int, means_us: Mapping[str, float]) -> Trial:
    """Return a trial whose statements take so long, at the rate that follows by Little's law."""
    planned = plan.trials[number]
    clients = plan.cells[0].clients
    latency = load_of(timed(make_trial(plan, planned, 100.0), means_us)).latency_us
    assert latency is not None
    return timed(make_trial(plan, planned, clients / latency.mean * MICRO), means_us)
