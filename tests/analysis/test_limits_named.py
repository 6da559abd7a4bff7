"""A limit is named if two instruments agree on it, and only then."""

from typing import Any

import pytest

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.analyse import answer_limits
from diskproof.analysis.limits.established import establish
from diskproof.analysis.limits.records import CellLimit, Instrument, Part, Signal, Split
from diskproof.results.limit import Limit
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.results.usage import ServerAccount
from support.limited import (
    MAKERS,
    activity,
    cpu_bound,
    device,
    flush_bound,
    limit_of,
    limited,
    one_cell,
    read_bound,
    used,
    virtual_machine,
)
from support.trials import (
    change,
    load_of,
    make_latency,
    make_machine,
    make_plan,
    make_trial,
    make_trials,
    usage_of,
)

EXPECTED: dict[tuple[str, int], set[str]] = {
    ("log flush", 1): {"clients", "threads", "kernel", "virtual disk"},
    ("log flush", 8): {"clients", "threads", "kernel", "virtual disk"},
    ("data reads", 1): {"server", "threads", "kernel", "virtual disk"},
    ("data reads", 8): {"server", "threads", "kernel", "virtual disk"},
    ("CPU", 1): {"kernel", "threads", "server", "clients"},
    ("CPU", 8): {"kernel", "threads", "server", "clients"},
    ("load generator", 8): {"kernel", "clients"},
    ("locks", 8): {"server", "clients", "threads"},
    ("page writes", 8): {"server", "kernel"},
    ("arrivals", 8): {"clients", "kernel"},
}

UNTOLD: dict[str, dict[str, Any]] = {
    "threads": {"usage__activity": None},
    "virtual disk": {"virtual_disks": []},
    "server": {"usage__account": None},
    "clients": {"load__statement_types": [], "load__client": None},
    "kernel": {
        "usage__devices": {},
        "usage__host_cpu_busy_s": None,
        "usage__server_cpu_s": None,
        "usage__cpu": {},
    },
}
"""What a trial loses with each instrument."""


def speaking(cell: CellLimit) -> set[str]:
    return {one.instrument for one in cell.signals if one.limit == cell.limit and one.supports}


@pytest.mark.parametrize(("what", "clients"), EXPECTED)
def test_each_limit_is_named_by_its_instruments(what: str, clients: int) -> None:
    cell = limited(what, clients)
    assert cell.limit == what, cell.sentence.text
    assert speaking(cell) == EXPECTED[what, clients]
    first = cell.signals[: len(speaking(cell))]
    assert all(one.limit == what and one.supports for one in first), "those for it come first"


@pytest.mark.parametrize(("what", "clients"), EXPECTED)
def test_one_instrument_alone_names_nothing(what: str, clients: int) -> None:
    """Take all instruments away but one of those that spoke."""
    for kept in EXPECTED[what, clients]:
        gone: dict[str, Any] = {}
        for instrument, without in UNTOLD.items():
            if instrument != kept:
                gone |= without
        if kept != "clients" and what == "arrivals":
            gone |= {"load__rate": None}
        cell = limited(what, clients, **gone)
        assert cell.limit is None, (kept, cell.signals)
        assert cell.sentence.text.startswith("not established: ")


def test_what_is_missing_is_said() -> None:
    gone = {**UNTOLD["threads"], **UNTOLD["virtual disk"], **UNTOLD["kernel"], **UNTOLD["server"]}
    cell = limited("log flush", **gone)
    assert cell.limit is None
    assert cell.sentence.text == (
        "not established: the clients' times point to log flushes (COMMIT takes 8.1 ms of 8.9 ms), "
        "but no second measurement confirms it."
    )


def test_instruments_that_disagree_establish_nothing() -> None:
    """COMMIT takes long and the virtual disk is busy, but neither thread nor kernel saw any flush."""
    trials = [flush_bound(plan := one_cell(), number) for number in range(3)]
    quiet = activity(("waiting", None, 0.4, 0.4))
    turned = [
        change(
            one,
            usage__activity=quiet,
            usage__devices={"vda": change(usage_of(one).devices["vda"], flush_s=0.1)},
        )
        for one in trials
    ]
    cell = limit_of(plan, turned)
    assert cell.limit is None
    assert "but samples of the threads contradict that" in cell.sentence.text
    against = {one.instrument for one in cell.signals if one.limit == "log flush" and not one.supports}
    assert against == {"threads", "kernel"}


@pytest.mark.parametrize(("flush_us", "named"), [(4000, None), (8000, "log flush"), (800, "CPU")])
def test_time_decides_between_two_limits_with_equal_support(flush_us: float, named: str | None) -> None:
    """Each has two instruments; the CPU part is the rest of 10 ms after the flush."""
    signals = [
        Signal(limit=limit, instrument=instrument, supports=True, says="so")
        for limit, instruments in TWO.items()
        for instrument in instruments
    ]
    parts = [
        Part(name="log flush", mean_us=flush_us, source="a test"),
        Part(name="CPU", mean_us=(10_000 - flush_us) / 2, source="a test"),
        Part(name="waiting for a CPU", mean_us=(10_000 - flush_us) / 2, source="a test"),
    ]
    found = establish(signals, Split(latency_us=10_000, parts=parts))
    assert found.limit == named
    if named is None:
        assert found.missing.text == "log flushes and the CPUs have equal support"
    assert establish(signals, None).limit is None, "without a split nothing decides"


TWO: dict[Limit, tuple[Instrument, ...]] = {"log flush": ("clients", "threads"), "CPU": ("kernel", "server")}


def test_threads_give_the_flush_of_a_disk_in_memory() -> None:
    """Without any disk's account a commit waits for as long as the server's flushes took, by its threads."""
    split = limited("log flush", 8, virtual_disks=[], usage__devices={}).split
    assert split is not None
    flush = next(part for part in split.parts if part.name == "log flush")
    assert flush.service_us == pytest.approx(7700, rel=0.01)
    assert flush.mean_us == pytest.approx(14_960, rel=0.01)
    untold = limited("log flush", 8, virtual_disks=[], usage__devices={}, usage__account=None).split
    assert untold is not None
    flush = next(part for part in untold.parts if part.name == "log flush")
    assert flush.service_us is None
    assert flush.mean_us == pytest.approx(0.92 * 14_960, rel=0.02)


def test_a_sound_disk_of_ordinary_servers_is_not_called_a_limit() -> None:
    """The usual trials of the tests have no account and no threads: nothing is made up for them."""
    plan = make_plan()
    limits = answer_limits(Gathered(plan, make_machine(plan), make_trials(plan), {}))
    assert limits is not None
    assert all(cell.limit is None and cell.what_if is None and not cell.troubles for cell in limits.cells)


def test_without_any_counters_nothing_is_said() -> None:
    plan = one_cell()
    trials = [change(one, usage=None) for one in make_trials(plan)]
    assert answer_limits(Gathered(plan, make_machine(plan), trials, {})) is None


def test_a_trial_with_almost_no_figures_is_accepted() -> None:
    """What an older version recorded, or another tool."""
    plan = one_cell(8)
    bare: dict[str, Any] = {
        "usage__server_cpu_s": None,
        "usage__devices": {},
        "usage__host_cpu_busy_s": None,
        "load__latency_us": None,
        "load__statement_types": [],
        "load__client": None,
    }
    trials = [change(one, **bare) for one in make_trials(plan)]
    limits = answer_limits(Gathered(plan, None, trials, {}))
    assert limits is not None
    (cell,) = limits.cells
    assert (cell.limit, cell.split, cell.what_if) == (None, None, None)
    assert cell.sentence.text == "not established: nothing that was recorded is busy most of the time."


def test_the_sentence_names_limit_evidence_and_gain() -> None:
    assert limited("log flush").sentence.text == (
        "bound by redo log flushes: 7.8 ms, 88% of the mean time; COMMIT takes 8.1 ms of 8.9 ms. "
        "A disk with a 1 ms flush would give about 3.8 times as much."
    )
    assert limited("CPU", 8).sentence.text.startswith("bound by the CPUs: ")
    assert limited("data reads", 8).sentence.text.startswith("bound by reads from the disk: 78 ms, ")
    assert limited("load generator", 8).sentence.text.startswith(
        "bound by the load generator, not by the database"
    )
    assert "rate that the study sets" in limited("arrivals", 8).sentence.text


def test_the_load_generator_is_named_before_the_cpus_that_it_fills() -> None:
    cell = limited("load generator", 8)
    assert any(one.limit == "CPU" and one.supports for one in cell.signals)
    assert cell.limit == "load generator"
    assert cell.what_if is not None
    assert cell.what_if.high == pytest.approx(2 / 0.6, rel=0.02)  # the server's 0.6 of 2 CPUs


def test_other_work_on_the_machine_is_reported_and_promises_nothing() -> None:
    """CPUs that others fill would be filled by them again."""
    plan = one_cell(1)
    trials = [change(cpu_bound(plan, number), usage__host_cpu_busy_s=60.0) for number in range(3)]
    slow = [change(one, usage__server_cpu_s=5.0, usage__cpu={}) for one in trials]
    cell = limit_of(plan, slow)
    assert cell.limit is None
    assert "other work on the machine took" in cell.sentence.text
    assert cell.what_if is None


def test_writers_of_sqlite_wait_for_each_other_but_are_bound_by_what_the_writer_does() -> None:
    """Seven of eight writers sleep at BEGIN IMMEDIATE; the one that writes waits for its flush."""
    plan = one_cell(8, servers=("sqlite",))
    own_us = 9000.0
    slow = {"commit": 8100.0, "begin": 7 * own_us}
    cell = limit_of(plan, [writer_of_sqlite(plan, number, own_us, slow) for number in range(3)])
    assert cell.limit == "log flush", cell.signals
    writer = next(one for one in cell.demands if one.limit == "locks")
    assert writer.bound_per_s == pytest.approx(1e6 / writer.demand_us)
    assert cell.split is not None
    assert next(part for part in cell.split.parts if part.name == "locks").mean_us > 60_000


def writer_of_sqlite(plan: Plan, number: int, own_us: float, slow: dict[str, float]) -> Trial:
    """Return a trial of writers that take turns, each `own_us` long."""
    trial = make_trial(plan, plan.trials[number], 1e6 / own_us)
    load = load_of(trial)
    types = [
        change(one, latency_us=make_latency(slow.get(one.name, 40.0), one.count))
        for one in load.statement_types
    ]
    disk = device(load, busy=0.9, writes=1.0, write_us=300.0, flushes=1.0, flush_us=7500.0)
    doing = activity(("flushing", "data", 0.85, 0.85), ("waiting", None, 1.0, 6.8))
    made = used(trial, disk, server_us=0.0, load_us=500.0, doing=doing, account=ServerAccount())
    return change(made, load__statement_types=types, usage__server_cpu_s=None)


@pytest.mark.parametrize("what", MAKERS)
@pytest.mark.parametrize("clients", [1, 8])
def test_parts_add_up_to_the_latency_and_none_is_below_zero(what: str, clients: int) -> None:
    split = limited(what, clients).split
    assert split is not None
    assert all(part.mean_us > 0 and part.source for part in split.parts)
    assert all(part.service_us is None or part.service_us <= part.mean_us * 1.000001 for part in split.parts)
    assert sum(part.mean_us for part in split.parts) + split.unexplained_us == pytest.approx(split.latency_us)
    assert split.unexplained_us >= -0.01 * split.latency_us, [(p.name, p.mean_us) for p in split.parts]


@pytest.mark.parametrize("what", MAKERS)
def test_demands_keep_the_utilisation_law(what: str) -> None:
    cell = limited(what, 8)
    assert cell.split is not None
    per_s = 8 / cell.split.latency_us * 1e6
    for demand in cell.demands:
        assert demand.utilisation == pytest.approx(
            min(per_s * demand.demand_us / 1e6 / demand.servers, 1), rel=0.02
        )
        if demand.bound_per_s is not None:
            assert demand.bound_per_s >= per_s * 0.98, demand.centre
    bounds = [one.bound_per_s for one in cell.demands if one.bound_per_s is not None]
    assert cell.bound_per_s == (min(bounds) if bounds else None)


def test_a_resumed_run_has_its_disk_once_under_its_last_name() -> None:
    """After a restart the disk was loop2 and no longer vda: read waits must not be counted of both."""
    plan = one_cell(8)
    trials = [read_bound(plan, number) for number in range(3)]
    machine = virtual_machine(plan)
    later = [
        change(place, device=change(place.device, name="loop2")) for place in machine.places if place.device
    ]
    last = change(trials[2], places=later, usage__devices={"loop2": usage_of(trials[2]).devices["vda"]})
    cell = limit_of(plan, [*trials[:2], last])
    (reads,) = [one for one in cell.signals if one.limit == "data reads" and one.instrument == "kernel"]
    assert reads.says.text.startswith("7.7 reads were at loop2 ")
    assert cell.split is not None
    whole = limited("data reads", 8).split
    assert whole is not None
    assert cell.split.parts == whole.parts
