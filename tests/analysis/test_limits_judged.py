"""Who waits, and for whom a disk works: a busy disk alone holds nobody back."""

from collections.abc import Sequence

import pytest

from diskproof.analysis.limits.established import establish
from diskproof.analysis.limits.records import CellLimit, Instrument, PartName, Signal
from diskproof.analysis.limits.signals.computing import cpus_busy
from diskproof.results.limit import Limit
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.results.usage import Activity, CpuUse, DeviceUsage, ServerAccount
from support.limited import (
    MICRO,
    READS,
    Found,
    activity,
    cpu_bound,
    device,
    limit_of,
    limited,
    lock_bound,
    one_cell,
    timed,
    trial_of,
    used,
    virtual_machine,
)
from support.trials import change, load_of, make_trial, usage_of

WAITED: tuple[Limit, ...] = ("log flush", "data reads", "page writes", "locks")


def signals(limit: Limit, pro: Sequence[Instrument], contra: Sequence[Instrument] = ()) -> list[Signal]:
    return [
        Signal(limit=limit, instrument=one, supports=supports, says="so")
        for instruments, supports in ((pro, True), (contra, False))
        for one in instruments
    ]


def quick_commits(
    clients: int, disk: dict[str, float], doing: Activity, *, commit_us: float = 60.0, read_us: float = 900.0
) -> CellLimit:
    """Return a cell whose disk did what `disk` says each second, whatever the clients did."""
    plan = one_cell(clients)

    def made(number: int) -> Trial:
        trial = trial_of(plan, number, dict.fromkeys(READS, read_us) | {"commit": commit_us})
        load = load_of(trial)
        per_s = load.transactions_per_s
        rates = {
            name: figure / per_s if name.endswith("s") and not name.endswith("_us") else figure
            for name, figure in disk.items()
            if name != "busy"
        }
        return used(
            trial,
            device(load, busy=disk["busy"], **rates),
            server_us=0.5 / per_s * MICRO,
            doing=doing,
            account=ServerAccount(commits=load.transactions, log_flushes=load.transactions, page_reads=0),
        )

    return limit_of(plan, [made(number) for number in range(3)])


def part(cell: CellLimit, name: PartName) -> float:
    """Return a part as a share of the transaction; 0 if there is none."""
    assert cell.split is not None
    return sum(one.mean_us for one in cell.split.parts if one.name == name) / cell.split.latency_us


def says(cell: CellLimit, limit: Limit, instrument: Instrument) -> list[tuple[bool, str]]:
    chosen = [one for one in cell.signals if (one.limit, one.instrument) == (limit, instrument)]
    return [(one.supports, one.says.text) for one in chosen]


# ---------------------------------------------------------------- two instruments


@pytest.mark.parametrize("limit", ["log flush", "data reads", "page writes", "disk"])
def test_kernel_and_virtual_disk_count_as_one_instrument(limit: Limit) -> None:
    named = establish(signals(limit, ["kernel", "virtual disk"]), None)
    assert named.limit is None
    assert "the kernel's counters point to" in named.missing.text
    assert establish(signals(limit, ["kernel", "virtual disk", "server"]), None).limit == limit
    # Against it they are one as well: two voices for it are more.
    split = signals(limit, ["server", "threads"], ["kernel", "virtual disk"])
    assert establish(split, None).limit == limit


@pytest.mark.parametrize("limit", WAITED)
def test_a_wait_needs_somebody_who_waits(limit: Limit) -> None:
    named = establish(signals(limit, ["kernel", "virtual disk"]), None)
    if limit == "locks":  # no disk's matter: two instruments, and still nobody who waits
        assert named.missing.text.endswith("nothing that was observed shows that clients wait for it")
    assert named.limit is None


@pytest.mark.parametrize("limit", WAITED)
def test_the_clients_clock_is_not_outvoted(limit: Limit) -> None:
    """A part of a fifth of a transaction can give no more, whatever is busy."""
    named = establish(signals(limit, ["server", "threads", "kernel"], ["clients"]), None)
    assert named.limit is None
    assert "but the clients' times contradict that" in named.missing.text
    assert establish(signals(limit, ["server", "threads"], ["kernel"]), None).limit == limit


def test_a_log_that_is_written_behind_holds_no_commit_back() -> None:
    """PostgreSQL's WAL writer with synchronous_commit=off: it flushes 92% of the time, COMMIT takes 60 µs."""
    cell = quick_commits(
        8,
        {"busy": 0.93, "writes": 110, "write_us": 500, "flushes": 110, "flush_us": 8300},
        activity(("computing", None, 0.7, 2.8), background=[("flushing", "redo", 0.92, 0.92)]),
    )
    assert cell.limit is None
    assert cell.sentence.text == (
        "not established: samples of the threads point to log flushes (a thread was flushing the log "
        "at 92% of moments), but the clients' times contradict that (COMMIT takes 60 µs of 13 ms)."
    )


@pytest.mark.parametrize("background", [True, False])
def test_flushes_of_data_files_are_no_flushes_of_the_log(background: bool) -> None:
    """A page cleaner or a checkpointer flushes data 80% of the time; COMMIT takes a third."""
    flushing: list[Found] = [("flushing", "data", 0.8, 0.8)]
    cell = quick_commits(
        8,
        {"busy": 0.95, "writes": 115, "write_us": 300, "flushes": 115, "flush_us": 8000},
        activity(
            ("flushing", "redo", 0.35, 0.35),
            ("computing", None, 0.3, 0.3),
            *([] if background else flushing),
            background=flushing if background else [],
        ),
        commit_us=6000.0,
    )
    assert cell.limit is None
    assert "nothing that was observed shows that clients wait for it" in cell.sentence.text
    assert (part(cell, "page writes") > 0) == (not background)


# ---------------------------------------------------------------- for whom


def test_pages_that_others_write_are_not_what_clients_wait_for() -> None:
    """One client computes while the checkpointer writes all the time."""
    disk = {"busy": 0.95, "writes": 110, "write_us": 9000, "flushes": 1, "flush_us": 300}
    writing: Found = ("writing", "data", 0.9, 0.9)
    behind = quick_commits(1, disk, activity(background=[writing]), commit_us=2500.0)
    assert behind.limit != "page writes"
    assert part(behind, "page writes") == 0
    own = quick_commits(1, disk, activity(writing), commit_us=2500.0)
    assert own.limit == "page writes"


def test_pages_that_others_read_are_not_what_clients_wait_for() -> None:
    """A purge or a prefetch reads at nearly all moments; no client was found at it."""
    disk = {"busy": 0.9, "reads": 100, "read_us": 9000}
    reading: Found = ("reading", "data", 0.9, 0.9)
    cell = quick_commits(1, disk, activity(background=[reading]))
    assert part(cell, "data reads") == 0
    assert says(cell, "data reads", "threads") == [
        (False, "0 of the clients' threads were reading data on average")
    ]
    assert part(quick_commits(1, disk, activity(reading)), "data reads") > 0.5


def test_threads_of_unknown_purpose_give_no_signal() -> None:
    """An older record, or clients whose threads were never found waiting for them."""
    for serving in (None, 3.0):
        cell = limited("data reads", 8, usage__activity__serving=serving)
        assert says(cell, "data reads", "threads") == []
        assert cell.limit == "data reads", "server and disks still agree"


# ---------------------------------------------------------------- the log's disk


def log_alone(plan: Plan) -> Machine:
    """Return a machine whose redo log has the virtual disk to itself: the data are elsewhere."""
    machine = virtual_machine(plan)
    return change(machine, places=[one for one in machine.places if one.role == "redo"])


def commits_of(
    clients: int, disk: DeviceUsage | dict[str, float], doing: Activity | None, commit_us: float
) -> tuple[Plan, list[Trial]]:
    plan = one_cell(clients)
    trials = []
    for number in range(3):
        trial = trial_of(plan, number, dict.fromkeys(READS, 2000.0) | {"commit": commit_us})
        load = load_of(trial)
        of_disk = disk if isinstance(disk, DeviceUsage) else device(load, **disk)
        n = load.known_transactions
        account = ServerAccount(commits=n, log_flushes=n, page_reads=0)
        trials.append(used(trial, of_disk, server_us=300.0, doing=doing, account=account))
    return plan, trials


NO_CACHE = {"busy": 0.75, "writes": 4.5, "write_us": 20_000.0, "flushes": 4.5, "flush_us": 2.0}
"""A disk without a volatile cache: COMMIT takes 91 of 120 ms, and all of that is writes."""


def test_without_a_cache_the_write_is_the_flush() -> None:
    plan, trials = commits_of(1, NO_CACHE, None, 91_000.0)
    alone = limit_of(plan, trials, log_alone(plan))
    assert alone.limit == "log flush", alone.signals
    for instrument in ("kernel", "virtual disk"):
        ((supports, told),) = says(alone, "log flush", instrument)
        assert supports
        assert told.startswith("writes, which are stable at once, keep ")
    assert part(alone, "log flush") > 0.15, "one write of 20 ms, as the server asked for one flush"

    shared = limit_of(plan, trials)
    assert says(shared, "log flush", "kernel") == [], "these might be writes of pages"
    writing = activity(("writing", "redo", 0.74, 0.74))
    found = limit_of(plan, [change(one, usage__activity=writing) for one in trials])
    assert found.limit == "log flush"
    assert says(found, "log flush", "threads")[0][1] == (
        "a thread was writing or flushing the log at 74% of moments"
    )
    assert says(found, "log flush", "kernel")[0][0]
    assert part(found, "log flush") == pytest.approx(0.74, abs=0.02)
    assert found.sentence.text.endswith("A disk with a 1 ms write would give about 3.5 times as much.")


def test_a_disk_without_flushes_may_still_have_commits() -> None:
    disk = {**NO_CACHE, "flushes": 0.0, "flush_us": 0.0}
    doing = activity(("flushing", "redo", 0.74, 0.74))
    plan, trials = commits_of(1, disk, doing, 91_000.0)
    untold = [change(one, usage__account__log_flushes=None) for one in trials]
    cell = limit_of(plan, untold)
    assert cell.limit == "log flush"
    assert part(cell, "log flush") == pytest.approx(0.74, abs=0.02)
    blind = limit_of(plan, [change(one, usage__activity=None) for one in untold])
    assert part(blind, "log flush") == 0, "nobody knows whether anything is flushed"


def test_flushes_beside_many_reads_give_no_signal() -> None:
    """Eight clients: flushes take 52% of the time, and reads fill the disk."""
    disk = {"busy": 0.99, "reads": 60, "read_us": 30_000, "writes": 70, "flushes": 70, "flush_us": 7400}
    doing = activity(("flushing", "redo", 0.6, 0.6), ("reading", "data", 0.9, 2.0))
    cell = quick_commits(8, disk, doing, commit_us=15_000.0)
    assert says(cell, "log flush", "kernel") == [], "at 52% of the time it is open"


def test_a_log_that_is_alone_on_its_disk_is_busy_with_its_writes_too() -> None:
    per_flush = {"writes": 0.6, "write_us": 7000.0, "flushes": 0.6, "flush_us": 7500.0}
    plan, trials = commits_of(8, {"busy": 0.95, **per_flush}, None, 50_000.0)
    ((supports, told),) = says(limit_of(plan, trials, log_alone(plan)), "log flush", "kernel")
    assert (supports, told) == (True, "flushes and the writes before them keep vda busy 95% of the time")
    assert says(limit_of(plan, trials), "log flush", "kernel") == []


def test_shares_of_two_logs_that_overlap_are_not_added() -> None:
    """Redo at 50% of moments, binary log at 50%: together somewhere between 50 and 100."""
    logs: list[Found] = [("flushing", "redo", 0.5, 0.5), ("flushing", "binlog", 0.5, 0.5)]
    for counted, supports in ((None, None), (0.55, None), (0.95, True)):
        doing = activity(*logs, log_share=counted)
        told = says(limited("log flush", 8, usage__activity=doing), "log flush", "threads")
        assert [one for one, _ in told] == ([] if supports is None else [True])


# ---------------------------------------------------------------- nobody ever waited


def test_sessions_that_never_waited_are_an_answer() -> None:
    cell = limited("CPU", 8, usage__account__waiting_sessions={})
    told = "0 of 8 sessions waited for the log on average"
    assert says(cell, "log flush", "server") == [(False, told)]
    assert says(cell, "CPU", "server") == [
        (True, "only 0 of 8 sessions waited for disks or locks on average")
    ]


@pytest.mark.parametrize(("clients", "told"), [(1, []), (8, [False])])
def test_few_threads_of_one_client_found_computing_are_no_evidence(clients: int, told: list[bool]) -> None:
    """A look takes a CPU: for it the one client, or its server, may have to wait."""
    cell = limited("CPU", clients, usage__activity=activity(("computing", None, 0.1, 0.1)))
    assert cell.limit == "CPU"
    assert [supports for supports, _ in says(cell, "CPU", "threads")] == told


WRITES = ("update_index", "update_non_index", "delete", "insert")


@pytest.mark.parametrize(
    ("clients", "page_reads", "page_read_s", "further", "known"),
    [
        (1, 0.0, None, {}, True),
        (8, 0.0, None, {}, False),
        (1, 0.5, 0.0001, {}, True),
        (1, 2.0, 0.004, {}, False),
        (1, 0.0, None, {"clean_page_waits": 1000}, False),
        (1, 0.0, None, {"checkpoint_age_mean": 0.97}, False),
    ],
)
def test_the_writes_of_one_client_compute_if_it_waits_for_nothing(
    clients: int, page_reads: float, page_read_s: float | None, further: dict[str, float], *, known: bool
) -> None:
    """Nobody else holds its locks; of 8 clients, of pages from the disk or a full log it is not known."""
    plan = one_cell(clients)

    def made(number: int) -> Trial:
        trial = trial_of(plan, number, dict.fromkeys(WRITES, 1000.0))
        load = load_of(trial)
        n = load.transactions or 0
        read_s = None if page_read_s is None else n * page_read_s
        reads = round(n * page_reads)
        account = ServerAccount(commits=n, page_reads=reads, page_read_s=read_s, **further)
        disk = device(load, busy=0.1, reads=page_reads, read_us=200.0)
        return used(trial, disk, server_us=900.0, doing=activity(), account=account)

    told = says(limit_of(plan, [made(number) for number in range(3)]), "CPU", "clients")
    assert [supports for supports, _ in told] == [True] * known


def test_moments_are_pooled_over_trials() -> None:
    """Three trials of few moments each: 100 of 1000, 10 of 10 and 10 of 10 are 120 of 1020."""
    plan = one_cell(8)
    _, trials = commits_of(8, NO_CACHE, None, 5000.0)
    found = [(1000, 0.1), (10, 1.0), (10, 1.0)]
    watched = [
        change(one, usage__activity=change(activity(("flushing", "redo", share, share)), moments=moments))
        for one, (moments, share) in zip(trials, found, strict=True)
    ]
    told = says(limit_of(plan, watched), "log flush", "threads")
    assert told == [(False, "a thread was flushing the log at 12% of moments")]


# ---------------------------------------------------------------- what is not known, and what does not fit


def test_a_driver_that_blocks_needs_time_to_read_replies() -> None:
    """It is not known when a reply arrived: the CPU time of a transaction is used instead."""
    blocking = {"load__client__delay_mean_us": None}
    cell = limited("CPU", 8, **blocking)
    assert cell.split is not None
    (own,) = [one for one in cell.split.parts if one.name == "load generator"]
    assert own.mean_us == pytest.approx(200.0)
    assert own.source.text.endswith("when replies arrived is not known")
    unknown = limited("CPU", 8, load__client=None, usage__cpu={})
    assert part(unknown, "load generator") == 0
    assert says(unknown, "load generator", "clients") == [], "unknown is not little"


@pytest.mark.parametrize("twice", [1, 2])
def test_a_group_of_commits_waits_for_all_flushes_of_its_disk(twice: int) -> None:
    """A file system flushes its journal with each flush of the log, as the server and the disk report."""
    plan = one_cell(8)
    disk = {"busy": 0.9, "writes": 0.3, "write_us": 300.0, "flushes": 0.1 * twice, "flush_us": 7500.0}
    _, trials = commits_of(8, disk, None, 40_000.0)
    told = [
        change(
            one,
            usage__account__log_flushes=round(0.1 * load_of(one).known_transactions),
            usage__account__page_flushes=0,
        )
        for one in trials
    ]
    cell = limit_of(plan, told)
    assert cell.split is not None
    (flush,) = [one for one in cell.split.parts if one.name == "log flush"]
    assert flush.service_us == pytest.approx(7500.0 * twice, rel=0.01)
    # Where data lie there too and their flushes are not counted, it is one each.
    untold = limit_of(plan, [change(one, usage__account__page_flushes=None) for one in told])
    assert untold.split is not None
    (flush,) = [one for one in untold.split.parts if one.name == "log flush"]
    assert flush.service_us == pytest.approx(7500.0, rel=0.01)


def test_writers_of_sqlite_whose_turn_never_comes_wait_too() -> None:
    """Eight writers, of which one gets nearly all turns: those that completed hardly waited."""
    plan = one_cell(8, servers=("sqlite",))
    trials = []
    for number in range(3):
        slow = dict.fromkeys(READS, 40.0) | {"commit": 8000.0, "begin": 500.0}
        lucky = timed(make_trial(plan, plan.trials[number], 1e6 / 9000.0), slow)
        load = load_of(lucky)
        of_disk = device(load, busy=0.9, writes=1.0, write_us=300.0, flushes=1.0, flush_us=7500.0)
        doing = activity(("flushing", "data", 0.85, 0.85), ("waiting", None, 1.0, 6.8))
        made = used(lucky, of_disk, server_us=0.0, load_us=5000.0, doing=doing, account=ServerAccount())
        unlucky = change(made, load__latency_us__max=25e6)  # it had its turn once
        trials.append(change(unlucky, usage__server_cpu_s=None, usage__cpu={}))
    cell = limit_of(plan, trials)
    assert cell.split is not None
    assert cell.split.latency_us == pytest.approx(8 * 9000.0, rel=0.01), "N = X R"
    (waits,) = [one for one in cell.split.parts if one.name == "locks"]
    assert waits.mean_us > 60_000
    assert waits.source.text.endswith("N = X R")
    assert part(cell, "load generator") < 0.01, "none of it is the load generator's"
    assert cell.limit == "log flush"
    assert all("background" not in one.source.text for one in cell.split.parts), "SQLite has none"


def test_no_statements_take_longer_than_their_transactions() -> None:
    """Half of the writes belong to transactions that the end of the measurement interrupts."""
    trials = [lock_bound(one_cell(8), number) for number in range(3)]
    doubled = [
        change(one, count=one.count * 2) if one.kind == "write" else one
        for one in load_of(trials[0]).statement_types
    ]
    cell = limit_of(one_cell(8), [change(one, load__statement_types=doubled) for one in trials])
    (_, writes) = says(cell, "locks", "clients")[0]
    assert writes == "writes before COMMIT take 13 ms of 13 ms"
    assert cell.split is not None
    assert all(one.mean_us <= cell.split.latency_us for one in cell.split.parts)


@pytest.mark.parametrize(("share", "named"), [(0.1, False), (0.7, True)])
def test_locks_that_are_held_during_a_flush_say_so(share: float, named: bool) -> None:
    doing = activity(("waiting", None, 1.0, 6.4), ("flushing", "redo", share, share))
    cell = limited("locks", 8, usage__activity=doing)
    assert cell.limit == "locks"
    assert ("hold while the log is flushed" in cell.bound_by.text) == named


def test_a_wait_for_cpus_that_does_not_fit_says_so() -> None:
    plan = one_cell(8)
    trials = [cpu_bound(plan, number) for number in range(3)]
    cpu = [{**usage_of(one).cpu, "server": CpuUse(used_s=49.5, waited_s=400.0)} for one in trials]
    made = [change(one, usage__cpu=used) for one, used in zip(trials, cpu, strict=True)]
    cell = limit_of(plan, made)
    assert cell.split is not None
    (waiting,) = [one for one in cell.split.parts if one.name == "waiting for a CPU"]
    assert "in all; no more of it fits beside the other parts" in waiting.source.text
    assert cell.split.unexplained_us == pytest.approx(0.0, abs=1e-6)


def test_one_cpu_is_no_plural() -> None:
    assert cpus_busy(1, 0.96).text == "the only CPU is 96% busy"
    assert cpus_busy(2, 0.96).text == "the 2 CPUs are 96% busy"
    assert cpus_busy(None, 0.96).text == "the CPUs are 96% busy"
