"""What holds a job back: counters cover the making of its tables too, and statements are of many kinds."""

from typing import Any

import pytest

from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.limits.thresholds import MOSTLY_TIMED
from diskproof.results.load import Iterations, StatementType
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.results.usage import CpuUse
from support.limited import SECONDS, cpu_bound, flush_bound, limit_of, one_cell
from support.trials import change, load_of, make_latency, usage_of


def statement(name: str, kind: str, count: int, mean_us: float) -> StatementType:
    assert kind in ("read", "write", "other")
    return StatementType.model_validate(
        {
            "name": name,
            "kind": kind,
            "count": count,
            "rows": count,
            "affected": 0,
            "errors": 0,
            "latency_us": make_latency(mean_us, count),
        }
    )


def job_plan() -> Plan:
    return change(one_cell(1), metrics={"complex": "seconds"})


def as_job(trial: Trial, write_us: float, read_us: float, **changes: Any) -> Trial:
    """Return a trial as one of a job whose statements are half writes that commit themselves, half reads."""
    n = load_of(trial).known_transactions
    mean_us = (write_us + read_us) / 2
    types = [statement("insert", "write", n // 2, write_us), statement("select", "read", n // 2, read_us)]
    return change(
        trial,
        load__statement_types=types,
        load__latency_us=make_latency(mean_us, n),
        load__iterations=Iterations(
            count=1, mean_s=SECONDS, min_s=SECONDS, max_s=SECONDS, queries_per_client=80
        ),
        **changes,
    )


def flushing_job(write_us: float = 16_000.0, read_us: float = 400.0, **changes: Any) -> CellLimit:
    plan = job_plan()
    trials = [as_job(flush_bound(plan, number), write_us, read_us, **changes) for number in range(3)]
    return limit_of(plan, trials)


def test_a_job_whose_writes_wait_is_bound_by_the_log_and_its_time_is_split() -> None:
    cell = flushing_job()
    assert cell.limit == "log flush", cell.signals
    clients = next(one for one in cell.signals if one.instrument == "clients" and one.limit == "log flush")
    assert clients.supports
    assert clients.says.text.startswith("writes take 8.0 ms of 8.2 ms")
    assert cell.split is not None
    assert cell.split.latency_us == pytest.approx(8200.0)
    parts = {part.name: part.mean_us for part in cell.split.parts}
    assert parts["log flush"] > parts["CPU"]


@pytest.mark.parametrize(("timed", "named"), [(MOSTLY_TIMED + 0.02, True), (MOSTLY_TIMED - 0.02, False)])
def test_counters_that_mostly_cover_making_tables_name_nothing(timed: float, named: bool) -> None:
    cell = flushing_job(usage__seconds=SECONDS / timed)
    assert (cell.limit is not None) == named
    assert (cell.split is not None) == named
    if not named:
        assert cell.sentence.text.startswith("not established: the job timed only 78% of the counted time")
        assert cell.what_if is None


def test_a_write_as_long_as_a_flush_names_the_log() -> None:
    """Neither the clients' clock nor the mean time of a flush is a share of what was counted."""
    cell = flushing_job(write_us=8_000.0, usage__seconds=SECONDS / 0.3)
    assert cell.limit == "log flush"
    assert {one.instrument for one in cell.supporting} == {"clients", "kernel", "virtual disk"}
    assert any(one.says.text == "a flush takes 7.5 ms, a write 8.0 ms on average" for one in cell.supporting)
    assert (cell.split, cell.what_if, cell.demands, cell.bound_per_s) == (None, None, [], None)
    assert "writes take 4.0 ms of 4.2 ms" in cell.sentence.text
    longer = flushing_job(write_us=80_000.0, usage__seconds=SECONDS / 0.3)
    assert longer.limit is None  # whatever it waited for, it was not one flush


def of_log(cell: CellLimit) -> list[tuple[str, bool]]:
    return [(one.instrument, one.supports) for one in cell.signals if one.limit == "log flush"]


def test_if_no_commit_waits_by_the_settings_no_write_of_a_job_did() -> None:
    """However long its writes take, even as long as a background flush."""
    plan = change(one_cell(1, tunings=("fast",)), metrics={"complex": "seconds"})
    made = [as_job(flush_bound(plan, number), 8000.0, 400.0) for number in range(3)]
    for timed in (0.3, 1.0):
        fast = limit_of(plan, [change(one, usage__seconds=SECONDS / timed) for one in made])
        assert not [who for who, speaks in of_log(fast) if speaks]
        assert fast.limit != "log flush"
    assert {who for who, speaks in of_log(flushing_job(8000.0)) if speaks} >= {"clients", "kernel"}


@pytest.mark.parametrize(
    ("write_us", "supported"), [(100.0, False), (6000.0, False), (6500.0, True), (14_900.0, True)]
)
def test_a_write_that_is_shorter_than_a_flush_did_not_wait_for_one(write_us: float, supported: bool) -> None:
    cell = flushing_job(write_us=write_us, read_us=40.0, usage__seconds=SECONDS / 0.3)
    kernel = [speaks for who, speaks in of_log(cell) if who == "kernel"]
    assert kernel == [supported], "a flush takes 7.5 ms"


@pytest.mark.parametrize("timed", [1.0, 0.9])
def test_a_job_gets_only_its_share_of_what_was_counted(timed: float) -> None:
    """30 s of counted time in which 1.5 CPUs were busy: of the job that is 1.5 CPUs of its 27 s."""
    plan = job_plan()
    made = []
    for number in range(3):
        trial = as_job(cpu_bound(plan, number), 900.0, 900.0)
        counted_s = SECONDS / timed
        used = {"server": 1.2 * counted_s, "load": 0.3 * counted_s}
        cpu = {party: CpuUse(used_s=used_s, waited_s=0.0) for party, used_s in used.items()}
        made.append(
            change(
                trial,
                usage__seconds=counted_s,
                usage__cpu=cpu,
                usage__host_cpu_busy_s=1.8 * counted_s,
            )
        )
    cell = limit_of(plan, made)
    [demand] = [one for one in cell.demands if one.centre == "CPU"]
    assert demand.utilisation == pytest.approx(0.75)
    assert cell.others_cpu_share == pytest.approx(1 / 6)


def test_reads_of_a_job_that_take_all_the_time_speak_against_the_log() -> None:
    cell = flushing_job(write_us=1_000.0, read_us=16_000.0)
    says = [one for one in cell.signals if one.limit == "log flush" and one.instrument == "clients"]
    assert [one.supports for one in says] == [False]
    assert cell.limit != "log flush"


def test_a_jobs_reads_are_no_measure_of_its_commits() -> None:
    """A scan may take longer than a write that waits for its flush: that says nothing of the flush."""
    cell = flushing_job(write_us=16_000.0, read_us=15_000.0)
    told = [one for one in cell.signals if one.limit == "log flush" and one.instrument == "clients"]
    assert not [one for one in told if not one.supports]


def of_myisam() -> CellLimit:
    return flushing_job(data__engine=None, data__declared_engine=None, data__job_engine="MyISAM")


def test_tables_without_a_log_have_no_signals_of_it() -> None:
    """MyISAM's rows are in neither log nor account: InnoDB's page reads say nothing of them."""
    with_log, without = flushing_job(), of_myisam()
    assert [one for one in with_log.signals if one.instrument == "server"]
    assert not [one for one in without.signals if one.instrument == "server"]
    assert without.split is not None
    assert "log flush" not in {part.name for part in without.split.parts}
    assert not [one for one in without.signals if (one.limit, one.instrument) == ("log flush", "clients")]


def test_a_job_has_no_restored_data() -> None:
    plan = job_plan()
    made = [as_job(cpu_bound(plan, number), 900.0, 900.0) for number in range(3)]
    assert limit_of(plan, made).data_bytes is None
    assert usage_of(made[0]).seconds == SECONDS
