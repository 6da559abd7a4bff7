"""Each reason why a published ratio was not met: said where its evidence is, and not where it is not."""

from dataclasses import replace
from typing import Any, get_args

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.evidence import Side
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.records import CellLimit, Instrument, Signal
from diskproof.analysis.published import why
from diskproof.analysis.published.case import Case
from diskproof.analysis.published.marks import order_agreement, size_agreement
from diskproof.analysis.published.shapes import Agreement
from diskproof.results.limit import Limit
from diskproof.results.load import Operation
from diskproof.results.machine import VirtualFacts
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Finding, Setting, Trial
from diskproof.results.usage import ServerAccount
from diskproof.stats.intervals import Interval
from diskproof.wording import say
from support.published import publish, ratio
from support.trials import change, load_of, make_machine, make_plan, make_trials, usage_of
from support.words import texts

PUBLISHED = ratio(0.1, "disk", "ssd")
"""The disk was ten times slower there."""

SMALLER = Interval(estimate=0.5, low=0.45, high=0.55, n=5)
REVERSED = Interval(estimate=2.0, low=1.9, high=2.1, n=5)
OPEN = Interval(estimate=0.12, low=0.09, high=0.16, n=5)
LARGER = Interval(estimate=0.01, low=0.009, high=0.011, n=5)


def disk_facts(*, one_at_a_time: bool) -> VirtualFacts:
    return VirtualFacts(
        name="kexin", device="kexin", title="KEXIN", model="bridge", size_bytes=1, one_at_a_time=one_at_a_time
    )


def two_cells(**levels: Any) -> Plan:
    plain: dict[str, Any] = {"storages": ("ssd", "disk"), "tunings": ("safest",), "clients": (8,)}
    return make_plan(**(plain | {"blocks": 3} | levels))


def case_of(plan: Plan, trials: list[Trial], measured: Interval | None = SMALLER, **machine: Any) -> Case:
    gathered = Gathered(plan, make_machine(plan, **machine), trials, {})
    baseline, level = (Side.of(gathered, cell, None) for cell in plan.cells[:2])
    order: Agreement | None = None
    size: Agreement | None = None
    if measured is not None:
        order = order_agreement(PUBLISHED.ratio, measured, plan.same_within)
        size = size_agreement(measured.scaled(1 / PUBLISHED.ratio))
    return Case(gathered, PUBLISHED, level, baseline, measured, order, size)


def using(trial: Trial, **device: Any) -> Trial:
    """Return a trial whose disk did other things."""
    [(name, used)] = usage_of(trial).devices.items()
    return change(trial, usage__devices={name: change(used, **device)})


def sample(reason: why.Reason, case: Case) -> list[str]:
    return texts(reason(case))


def turning(plan: Plan, **device: Any) -> dict[str, Any]:
    """Return facts of a machine of its own whose disks are spinning ones."""
    spinning = {"device__rotational": True, "device__leaves": device.pop("leaves", [])} | device
    places = [change(place, **spinning) for place in make_machine(plan).places]
    return {"places": places, "virtualised": None}


def each(plan: Plan, **changes: Any) -> list[Trial]:
    return [change(trial, **changes) for trial in make_trials(plan)]


def held(case: Case, **limits: Limit) -> Case:
    """Return the case with limits that two instruments name, by storage."""
    cells = {side.cell.storage: side.cell for side in case.sides}
    return replace(case, limits={cells[at].id: named(cells[at], limit) for at, limit in limits.items()})


def named(cell: Cell, limit: Limit) -> CellLimit:
    told: list[tuple[Limit, Instrument, bool]] = [
        (limit, "threads", True),
        (limit, "threads", True),
        (limit, "kernel", True),
        (limit, "clients", False),
    ]
    signals = [
        Signal(limit=of, instrument=who, supports=speaks, says=f"{number}: {who} on {cell.storage}")
        for number, (of, who, speaks) in enumerate(told)
    ]
    return CellLimit(cell=cell, limit=limit, signals=signals)


# ---------------------------------------------------------------- the server's age


def grouping(plan: Plan, commits: int | None, groups: int | None, **settings: str) -> list[Trial]:
    account = ServerAccount(binlog_commits=commits, binlog_groups=groups)
    values = {"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1", "log_bin": "ON"} | settings
    made = [
        Setting(name=name, requested=value, observed=value, holds=True, level=True)
        for name, value in values.items()
    ]
    return each(plan, usage__account=account, settings=made)


def test_commits_that_share_a_flush_are_told_from_those_of_older_servers() -> None:
    plan = two_cells()
    told = sample(why.commits_share_flushes, case_of(plan, grouping(plan, 300, 100)))
    assert told[0] == (
        "on `disk` 3 commits share a flush of MariaDB 10.11.11's binary log; servers before MySQL 5.6.6, "
        "Percona Server 5.5.18 and MariaDB 5.3.0 flush it for one commit at a time"
    )
    for commits, groups in ((300, 300), (None, None), (0, 0)):
        assert sample(why.commits_share_flushes, case_of(plan, grouping(plan, commits, groups))) == []
    unflushed = grouping(plan, 300, 100, sync_binlog="0")
    assert sample(why.commits_share_flushes, case_of(plan, unflushed)) == []
    assert sample(why.commits_share_flushes, case_of(plan, grouping(plan, 300, 100), LARGER)) == []


def test_a_server_too_old_to_share_flushes_is_named_where_the_difference_is_larger() -> None:
    plan = two_cells()
    trials = grouping(plan, None, None)
    server = change(make_machine(plan).servers[0], flavour="Percona Server", version="5.1.65")
    old = {"servers": [server]}
    [told] = sample(why.server_flushes_alone, case_of(plan, trials, LARGER, **old))
    assert told.startswith("Percona Server 5.1.65 flushes its binary log for one commit at a time")
    assert sample(why.server_flushes_alone, case_of(plan, trials, SMALLER, **old)) == []
    assert sample(why.server_flushes_alone, case_of(plan, trials, LARGER)) == [], "MariaDB 10.11 groups them"
    without = grouping(plan, None, None, log_bin="OFF")
    assert sample(why.server_flushes_alone, case_of(plan, without, LARGER, **old)) == []


# ---------------------------------------------------------------- what holds the sides back


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("CPU", "CPU-bound here"),
        ("load generator", "bound by the load generator here"),
        ("arrivals", "bound by the rate of arrivals here"),
    ],
)
def test_a_limit_that_is_no_disk_explains_a_smaller_difference_by_both_its_signals(
    limit: Limit, said: str
) -> None:
    case = case_of(two_cells(), [])
    [told] = sample(why.no_disk_is_the_limit, held(case, ssd=limit, disk="data reads"))
    assert told == f"{said}: on `ssd` 0: threads on ssd; 2: kernel on ssd"
    [told] = sample(why.no_disk_is_the_limit, held(case, ssd=limit, disk=limit))
    assert "on `disk` 0: threads on disk" in told
    assert "on `ssd`" in told
    assert sample(why.no_disk_is_the_limit, case) == []


@pytest.mark.parametrize("limit", get_args(Limit))
def test_every_limit_but_locks_is_a_disks_or_hides_it(limit: Limit) -> None:
    case = held(case_of(two_cells(), []), ssd=limit)
    told = [*why.no_disk_is_the_limit(case), *why.faster_disk_is_the_limit(case)]
    assert len(told) == (0 if limit == "locks" else 1), "a lock may be held until a flush: it says neither"


@pytest.mark.parametrize("other", [LARGER, REVERSED, OPEN])
def test_what_hides_a_disk_explains_no_larger_difference_and_none_that_is_open(other: Interval) -> None:
    case = held(case_of(two_cells(), [], other), ssd="CPU", disk="CPU")
    assert sample(why.no_disk_is_the_limit, case) == []
    assert sample(why.faster_disk_is_the_limit, held(case, ssd="data reads")) == []


def test_the_slower_side_of_a_larger_or_reversed_difference_says_what_holds_it_back() -> None:
    plan = two_cells()
    [said] = sample(why.slower_side_is_held_back, held(case_of(plan, [], LARGER), disk="log flush"))
    assert said == (
        "`disk` is held back by the log's flush here: 0: threads on disk; 2: kernel on disk; what held "
        "the published one back is not known"
    )
    [said] = sample(why.slower_side_is_held_back, held(case_of(plan, [], REVERSED), ssd="CPU"))
    assert said.startswith("`ssd` is held back by the CPUs here: ")
    for case in (
        held(case_of(plan, [], SMALLER), disk="CPU"),
        held(case_of(plan, [], OPEN), disk="CPU"),
        held(case_of(plan, [], LARGER), ssd="CPU"),
        held(case_of(plan, [], REVERSED), disk="CPU"),
    ):
        assert sample(why.slower_side_is_held_back, case) == []


def test_a_faster_disk_that_is_the_limit_is_told_by_its_signals() -> None:
    [said] = sample(why.faster_disk_is_the_limit, held(case_of(two_cells(), []), ssd="log flush"))
    assert said == "even `ssd` is held back by the log's flush here: 0: threads on ssd; 2: kernel on ssd"


@pytest.mark.parametrize("other", [SMALLER, LARGER, REVERSED])
def test_a_limit_that_is_not_established_is_told_with_what_points_to_it(other: Interval) -> None:
    case = case_of(two_cells(), [], other)
    cells = {side.cell.id: side.cell for side in case.sides}
    points = named(case.slower.cell, "CPU").model_copy(
        update={"limit": None, "missing": say("the kernel points to the CPUs")}
    )
    case = replace(
        case, limits={**{at: named(cell, "CPU") for at, cell in cells.items()}, points.cell.id: points}
    )
    [said] = sample(why.limit_is_open, case)
    name = case.name(case.slower)
    assert said == f"what holds `{name}` back is not established: the kernel points to the CPUs"
    assert sample(why.limit_is_open, replace(case, order="open", size="open")) == []
    nothing = points.model_copy(update={"signals": []})
    assert sample(why.limit_is_open, replace(case, limits={points.cell.id: nothing})) == []


# ---------------------------------------------------------------- the disk and the data


def test_data_that_nobody_reads_from_the_disks_lies_in_memory() -> None:
    plan = two_cells()
    [said] = sample(why.data_in_memory, case_of(plan, make_trials(plan)))
    assert said.startswith("here the data is in memory (46 MiB of data, 128 MiB of buffers): ")
    assert "reads a transaction reached the disks" in said
    reading = [using(trial, reads=load_of(trial).transactions) for trial in make_trials(plan)]
    assert sample(why.data_in_memory, case_of(plan, reading)) == []


def test_reads_that_nobody_counted_prove_nothing() -> None:
    plan = two_cells(storages=("dram", "disk"))
    assert sample(why.data_in_memory, case_of(plan, make_trials(plan))) == []


def test_what_is_not_asked_for_lies_nowhere() -> None:
    plan = two_cells()
    assert sample(why.data_in_memory, case_of(plan, each(plan, load__reads=0))) == []


def test_bare_files_have_neither_server_nor_commits() -> None:
    plan = two_cells()
    bare = change(plan, cells=[change(cell, server="-", tuning="-") for cell in plan.cells])
    without = [change(using(trial, flushes=2), usage__server_cpu_s=60.0) for trial in make_trials(plan)]
    assert sample(why.commits_do_not_wait, case_of(bare, without)) == []
    assert sample(why.commits_do_not_wait, case_of(plan, without)) != []


def test_an_idle_disk_is_said_with_what_it_can_cost_at_most() -> None:
    plan = two_cells()
    idle = [using(trial, busy_s=3.0, flush_s=0.0) for trial in make_trials(plan)]
    [said] = sample(why.disk_is_idle, case_of(plan, idle))
    assert said == (
        "on `disk` the disk is busy for 10% of the time here: without it the load would be at most 1.12 "
        "times as fast"
    )
    flushing = [using(trial, busy_s=3.0, flush_s=20.0) for trial in make_trials(plan)]
    assert sample(why.disk_is_idle, case_of(plan, flushing)) == []
    assert sample(why.disk_is_idle, case_of(plan, idle, LARGER)) == []


def test_an_idle_disk_that_could_still_cost_as_much_as_was_published_explains_nothing() -> None:
    plan = two_cells(clients=(1,))
    idle = [using(trial, busy_s=8.4, flush_s=0.0) for trial in make_trials(plan)]
    case = case_of(plan, idle, Interval(estimate=1.0, low=0.99, high=1.01, n=5))
    told = replace(case, published=ratio(0.75, "disk", "ssd"))  # 1 / (1 - 0.28) = 1.39
    assert case.gap_is_smaller
    assert sample(why.disk_is_idle, told) == []
    assert len(sample(why.disk_is_idle, replace(case, published=ratio(0.6, "disk", "ssd")))) == 1


def test_what_was_measured_tells_which_side_is_the_slower() -> None:
    plan = two_cells()
    names = [
        case.name(case.slower)
        for case in (case_of(plan, [], measured) for measured in (SMALLER, REVERSED, None))
    ]
    assert names == ["disk", "ssd", "disk"]


def test_only_the_slower_side_is_asked_for_an_idle_disk() -> None:
    plan = two_cells()
    trials = [using(trial, busy_s=3.0 if "ssd" in trial.cell else 29.0) for trial in make_trials(plan)]
    assert sample(why.disk_is_idle, case_of(plan, trials)) == []


@pytest.mark.parametrize(
    ("device", "limit"),
    [
        ({}, True),
        ({"device__rotational": False}, False),
        ({"device__model": None}, False),  # a hypervisor's
        ({"leaves": ["vda", "vdb"]}, False),  # a volume
        ({"virtual": disk_facts(one_at_a_time=False)}, False),
        ({"virtual": disk_facts(one_at_a_time=True), "device__rotational": False}, True),
    ],
)
def test_a_disk_is_known_to_serve_one_request_at_a_time(device: dict[str, Any], limit: bool) -> None:
    case = case_of(two_cells(), [], LARGER, **turning(two_cells(), **device))
    assert bool(case.slower.one_at_a_time) == limit


def test_commits_that_flush_nothing_wait_for_no_disk() -> None:
    plan = two_cells()
    without = [using(trial, flushes=2) for trial in make_trials(plan)]
    [said] = sample(why.commits_do_not_wait, case_of(plan, without))
    assert said.startswith("here no commit waits for the disks: ")
    assert sample(why.commits_do_not_wait, case_of(plan, make_trials(plan))) == []
    reading = [change(trial, load__writes=0) for trial in without]
    assert sample(why.commits_do_not_wait, case_of(plan, reading)) == []


def test_commits_that_reach_the_disks_are_told_where_the_difference_is_larger_or_reversed() -> None:
    plan = two_cells()
    flushing = [using(trial, flushes=60_000) for trial in make_trials(plan)]
    [said] = sample(why.commits_reach_the_disks, case_of(plan, flushing, LARGER))
    assert said.startswith("here commits reach the disks: ")
    assert sample(why.commits_reach_the_disks, case_of(plan, flushing)) == []
    without = [using(trial, flushes=2) for trial in make_trials(plan)]
    assert sample(why.commits_reach_the_disks, case_of(plan, without, LARGER)) == []


def test_flushes_that_the_kernel_does_not_count_prove_nothing() -> None:
    plan = two_cells()
    without = [using(trial, flushes=0) for trial in make_trials(plan)]
    machine = make_machine(plan)
    places = [change(place, device__counts_flushes=False) for place in machine.places]
    assert sample(why.commits_do_not_wait, case_of(plan, without)) != []
    assert sample(why.commits_do_not_wait, case_of(plan, without, places=places)) == []
    unseen = [using(trial, flushes=None) for trial in make_trials(plan)]
    assert sample(why.commits_do_not_wait, case_of(plan, unseen)) == []


# ---------------------------------------------------------------- the server and the job


def test_an_engine_without_transactions_has_no_commit_to_wait_for() -> None:
    plan = two_cells()
    [said] = sample(
        why.engine_without_transactions,
        case_of(plan, each(plan, data__engine="MyISAM", data__declared_engine="MyISAM")),
    )
    assert said == "here the tables are MyISAM's, which has no transactions: no commit waits for a disk"
    trials = each(plan, data__engine="MyISAM", data__declared_engine="MyISAM")
    of_it = replace(case_of(plan, trials), published=ratio(0.1, "disk", "ssd", at={"workload": "complex"}))
    assert sample(why.engine_without_transactions, of_it) == []  # MyISAM's as well
    assert sample(why.engine_without_transactions, case_of(plan, make_trials(plan))) == []


def test_counters_of_a_whole_job_beside_one_of_its_tests_say_so() -> None:
    plan = two_cells()
    case = held(case_of(plan, make_trials(plan)), ssd="CPU")
    assert not any("whole job" in said for said in texts(why.reasons(case)))
    of_test = replace(case, published=ratio(0.1, "disk", "ssd", part="insert"))
    said = next(said for said in texts(why.reasons(of_test)) if said.startswith("CPU-bound here"))
    assert said.endswith(" (over the whole job)")
    named = replace(held(case, ssd="CPU"), published=of_test.published)
    said = next(said for said in texts(why.reasons(named)) if said.startswith("CPU-bound"))
    assert said.endswith(" (over the whole job)")


def test_what_the_original_may_have_had_too_is_a_condition_and_no_cause() -> None:
    plan = two_cells()
    trials = [using(trial, reads=0, flushes=2, busy_s=15.0) for trial in each(plan, usage__server_cpu_s=9.0)]
    quiet = [change(trial, usage__host_cpu_busy_s=20.0) for trial in trials]
    first, *conditions = why.reasons(case_of(plan, quiet))
    assert first == why.UNEXPLAINED
    assert conditions[0].text.startswith("here the data is in memory (")
    assert conditions[1].text.startswith("here no commit waits for the disks: ")


def test_skipped_operations_are_counted_with_their_reason() -> None:
    plan = two_cells()
    skipped = Operation(
        test="transactions",
        name="rollback",
        clients=1,
        planned=9,
        count=0,
        seconds=None,
        skipped="no transactions",
    )
    trials = each(plan, load__operations=[skipped])
    said = sample(why.skipped_operations, case_of(plan, trials))
    assert said[0] == "1 operation was skipped on `disk`: no transactions"
    other_test = replace(case_of(plan, trials), published=ratio(0.1, "disk", "ssd", part="insert"))
    assert sample(why.skipped_operations, other_test) == []


def test_a_setting_that_did_not_hold_is_said_where_it_was() -> None:
    plan = two_cells()
    missing = Finding(
        check="settings", severity="invalid", message="the server has no variable `log_path`", remedy=""
    )
    trials = [
        change(trial, findings=[missing]) if "disk" in trial.cell else trial for trial in make_trials(plan)
    ]
    case = case_of(plan, trials, None)
    assert sample(why.telling_findings, case) == ["the server has no variable `log_path`"]
    assert sample(why.invalid_trials, case) == []  # it is said once
    assert sample(why.telling_findings, case_of(plan, make_trials(plan), None)) == []


def test_a_place_that_was_never_used_is_said() -> None:
    plan = two_cells()
    without_log = [
        change(trial, open_files=[file for file in trial.open_files if file.role != "redo"])
        for trial in make_trials(plan)
    ]
    machine = make_machine(plan)
    places = [
        change(place, device_number="9:9", mount_point="/log") if place.role == "redo" else place
        for place in machine.places
    ]
    said = sample(why.telling_findings, case_of(plan, without_log, places=places))
    assert any("never wrote to the place of `redo`" in one for one in said)
    assert not any("redo" in one for one in sample(why.telling_findings, case_of(plan, make_trials(plan))))


def test_what_a_virtual_disk_stands_for_is_no_reason() -> None:
    plan = two_cells()
    label = Finding(check="virtual-label", severity="note", message="commits cost here at least as much")
    trials = [change(trial, findings=[label]) for trial in make_trials(plan)]
    assert sample(why.telling_findings, case_of(plan, trials)) == []


def test_trials_that_do_not_count_are_counted_with_their_reason() -> None:
    plan = two_cells()
    late = Finding(check="lateness", severity="invalid", message="answers left late", remedy="")
    trials = [
        change(trial, findings=[late]) if "disk" in trial.cell and trial.block == 1 else trial
        for trial in make_trials(plan)
    ]
    [said] = sample(why.invalid_trials, case_of(plan, trials))
    assert said == "1 of 3 trials on `disk` does not count: answers left late"
    shown = case_of(plan, trials)
    assert said not in texts(why.reasons(replace(shown, size="differs")))
    assert said in texts(why.reasons(replace(shown, order="open", size="open")))


# ---------------------------------------------------------------- conditions, and nothing at all


def test_what_is_open_is_said_with_its_bounds() -> None:
    plan = two_cells()
    case = case_of(plan, make_trials(plan), Interval(estimate=0.1, low=0.05, high=0.2, n=3))
    assert sample(why.open_size, replace(case, size="differs")) == []  # decided
    [said] = sample(why.open_size, replace(case, size="open"))
    assert said.startswith("the size is open: 0.5 to 2 times the published, and 0.8 to 1.25 agree")
    [said] = sample(why.open_order, replace(case, order="open", size="open"))
    assert "from 3 blocks" in said
    [said] = sample(why.open_order, replace(case, order="open", size="agrees"))
    assert "the size agrees" in said


def test_what_the_publication_leaves_open_is_named_where_the_study_has_several() -> None:
    plan = make_plan(storages=("ssd", "disk"), tunings=("safest", "fast"), clients=(8,), blocks=2)
    gathered = Gathered(plan, make_machine(plan), make_trials(plan), {})
    sides = [Side.of(gathered, plan.cells[at], None) for at in (2, 0)]
    case = Case(gathered, PUBLISHED, sides[0], sides[1], SMALLER)
    assert sample(why.levels_left_open, case) == ["the publication does not say what is here tuning `safest`"]
    told = replace(case, published=ratio(0.1, "disk", "ssd", at={"tuning": "safest"}))
    assert sample(why.levels_left_open, told) == []
    alone = case_of(two_cells(), make_trials(two_cells()))
    assert sample(why.levels_left_open, alone) == []


def test_a_note_tells_only_where_there_is_a_ratio_to_explain() -> None:
    plan = two_cells()
    note = Finding(check="physics", severity="note", message="no flush was seen", remedy="")
    chatter = Finding(check="settings", severity="note", message="pages are as large as records", remedy="")
    trials = [change(trial, findings=[note, chatter]) for trial in make_trials(plan)]
    assert sample(why.telling_findings, case_of(plan, trials)) == ["no flush was seen"]
    assert sample(why.telling_findings, case_of(plan, trials, None)) == []


def test_where_nothing_explains_it_that_is_said() -> None:
    plan = two_cells()
    busy = [
        change(using(trial, busy_s=15.0, reads=10**6), usage__host_cpu_busy_s=20.0)
        for trial in make_trials(plan)
    ]
    assert texts(why.reasons(case_of(plan, busy))) == [why.UNEXPLAINED.text]


@pytest.mark.parametrize("measured", [0.5, 0.01])
def test_reasons_reach_the_analysis(measured: float) -> None:
    plan = publish(two_cells(blocks=5), ratios=[PUBLISHED])
    trials = make_trials(plan, lambda cell: 800 if cell.storage == "ssd" else 800 * measured)
    made = analyse(plan, make_machine(plan), trials, {})
    assert made.beside is not None
    [row] = made.beside.ratios
    assert row.mark == "size differs"
    assert row.reasons
