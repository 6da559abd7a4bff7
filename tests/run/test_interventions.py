"""Which intervention fits a limit: by what a run has, and by what its trials have recorded."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from diskproof.results.limit import Limit
from diskproof.results.plan import Cell, Metric
from diskproof.results.record import Role
from diskproof.results.trial import Setting, Trial
from diskproof.run import interventions
from diskproof.run.bench import Bench
from diskproof.run.interventions import NO_WAY, WAYS, Subject, Way, as_begun, choose
from diskproof.storage.virtual import Slowness
from diskproof.study.read import parse_study
from support.proofs import make_pair
from support.trials import MIB, change, make_plan, make_server, make_trial
from support.virtual import make_facts, make_use

STUDY = """question = "What holds it back?"
[servers.mariadb]
family = "mysql"
[servers.postgresql]
family = "postgresql"
[storages.disk]
ram = "1 GiB"
[tunings.safest]
[tunings.mine]
base = "safest"
variables = {{ {variables} }}
[workloads.complex]
"""
PLAN = make_plan(storages=("disk",), tunings=("safest",), clients=(1,))
NOTHING: Any = None


class Started:
    """Stands for what starts programs: knows on which CPUs."""

    def __init__(self, cpus: tuple[int, ...] = ()) -> None:
        self.cpus = cpus

    def on(self, cpus: tuple[int, ...]) -> "Started":
        return Started(cpus)


def make_bench(
    disks: Mapping[str, list[str]],
    *,
    cpus: tuple[int, ...] = (),
    variables: str = "",
    turns_us: Mapping[str, list[float]] | None = None,
) -> Bench:
    """Return a bench whose storage `disk` has virtual disks, by role; their platters turn in `turns_us`."""
    turns_us = turns_us or {}
    at = {name: disk(name, turns_us.get(name, [])) for names in disks.values() for name in names}

    def disks_of(role: Role) -> list[SimpleNamespace]:
        return [at[name] for name in disks.get(role, [])]

    servers: Any = {name: SimpleNamespace(facts=make_server(name)) for name in ("mariadb", "postgresql")}
    layouts: Any = {"disk": SimpleNamespace(disks_of=disks_of)}
    starter: Any = Started()
    return Bench(
        study=parse_study(STUDY.format(variables=variables), "study.toml", None),
        seed=1,
        folder=NOTHING,
        starter=starter,
        onlooker=NOTHING,
        cpus=cpus,
        sockets=NOTHING,
        servers=servers,
        given={},
        storages=NOTHING,
        layouts=layouts,
        places=[],
        images=NOTHING,
    )


def disk(name: str, turns_us: list[float]) -> SimpleNamespace:
    return SimpleNamespace(facts=make_facts(name=name, turns_us=turns_us))


def trial_with(uses: Mapping[str, tuple[float | None, float | None, float | None]], **settings: str) -> Trial:
    """Return a trial whose disks took so long for a read, a write and a flush (us), with these settings."""
    read_back = {"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1", "log_bin": "ON", **settings}
    return make_trial(
        PLAN,
        virtual_disks=[use(name, *times) for name, times in uses.items()],
        settings=[
            Setting(name=name, requested=value, observed=value, holds=True)
            for name, value in read_back.items()
        ],
    )


def use(name: str, read_us: float | None, write_us: float | None, flush_us: float | None) -> Any:
    plain = make_use(name=name)
    assert plain.write.latency_us is not None
    latency = plain.write.latency_us
    return change(
        plain,
        **{
            kind: change(
                plain.write,
                requests=0 if mean is None else 100,
                latency_us=None if mean is None else change(latency, mean=mean),
            )
            for kind, mean in (("read", read_us), ("write", write_us), ("flush", flush_us))
        },
    )


def chosen(
    bench: Bench,
    limit: Limit,
    *trials: Trial,
    cell: Cell = PLAN.cells[0],
    metric: Metric = "transactions_per_s",
) -> Way | str:
    return choose(Subject(bench, cell, metric, trials), limit)


def way(found: Way | str) -> Way:
    assert isinstance(found, Way), found
    return found


SPINNING = trial_with({"a": (4000.0, 100.0, 8300.0)})


def test_the_flush_of_a_virtual_disk_is_made_twice_as_long() -> None:
    bench = make_bench({role: ["a"] for role in ("data", "redo", "binlog")})
    found = way(chosen(bench, "log flush", SPINNING, trial_with({"a": (1.0, 100.0, 8310.0)})))
    assert found.intervention.change == "slower flushes"
    assert found.intervention.factor == 2.0
    assert found.intervention.added_us == {"a": 8305.0}
    assert found.intervention.says.text == "every flush of `a` takes 8.3 ms longer"
    assert found.bench.slowness == {"a": Slowness(on="flush", add_us=8305.0)}
    assert found.cell == PLAN.cells[0]


def test_two_logs_on_two_disks_are_slowed_each_by_its_own() -> None:
    bench = make_bench({"data": ["c"], "redo": ["a"], "binlog": ["b"]})
    trial = trial_with({"a": (None, 100.0, 8000.0), "b": (None, 10.0, 500.0), "c": (1.0, 1.0, 9000.0)})
    found = way(chosen(bench, "log flush", trial))
    assert {name: how.add_us for name, how in found.bench.slowness.items()} == {"a": 8000.0, "b": 500.0}
    unflushed = trial_with({"a": (None, 100.0, 8000.0), "b": (None, 10.0, 500.0)}, sync_binlog="0")
    assert set(way(chosen(bench, "log flush", unflushed)).bench.slowness) == {"a"}


def test_if_the_write_takes_the_time_the_write_counts() -> None:
    bench = make_bench({"data": ["a"], "redo": ["a"], "binlog": ["a"]})
    found = way(chosen(bench, "log flush", trial_with({"a": (None, 4000.0, 20.0)})))
    assert found.bench.slowness["a"].add_us == 4020.0


def test_a_quick_flush_is_slowed_by_more_than_itself_and_one_of_no_time_not_at_all() -> None:
    bench = make_bench({"data": ["a"], "redo": ["a"], "binlog": ["a"]})
    found = way(chosen(bench, "log flush", trial_with({"a": (None, 10.0, 80.0)})))
    assert found.bench.slowness["a"].add_us == pytest.approx(200.0)
    assert found.intervention.factor == pytest.approx(3.5)
    relaxed = way(chosen(bench, "log flush", trial_with({"a": (None, 2.0, 3.0)})))
    assert relaxed.intervention.change == "flushes relaxed"


TURN_US = 60e6 / 7200


@pytest.mark.parametrize(
    ("flush_us", "turns", "said"),
    [
        (7000.0, 1, "8.33 ms longer, 1 turn of its platters"),
        (12_400.0, 1, "8.33 ms longer, 1 turn of its platters"),
        (12_600.0, 2, "16.7 ms longer, 2 turns of its platters"),
        (2100.0, 1, "8.33 ms longer, 1 turn of its platters"),
    ],
)
def test_a_disk_that_turns_is_slowed_by_whole_turns(flush_us: float, turns: int, said: str) -> None:
    """After any other time its platter stood elsewhere, and the next flush would wait for it more or less."""
    bench = make_bench({role: ["a"] for role in ("data", "redo", "binlog")}, turns_us={"a": [TURN_US]})
    found = way(chosen(bench, "log flush", trial_with({"a": (4000.0, 100.0, flush_us)})))
    assert found.bench.slowness["a"].add_us == pytest.approx(turns * TURN_US, abs=0.05)
    assert found.intervention.factor == pytest.approx(1 + turns * TURN_US / flush_us)
    assert found.intervention.says.text == f"every flush of `a` takes {said}"


@pytest.mark.parametrize("flush_us", [60.0, 200.0, 1000.0, 2000.0])
def test_requests_that_a_cache_answers_cannot_be_slowed_by_turns(flush_us: float) -> None:
    """A protected cache, or one of flash before the platters: a turn more were many times the flush."""
    bench = make_bench({role: ["a"] for role in ("data", "redo", "binlog")}, turns_us={"a": [TURN_US]})
    trial = trial_with({"a": (flush_us, 10.0, flush_us)})
    assert way(chosen(bench, "log flush", trial)).intervention.change == "flushes relaxed"
    assert way(chosen(bench, "data reads", trial)).intervention.change == "twice the memory"
    bare = change(PLAN.cells[0], server="-", tuning="-", memory_bytes=0)
    assert "a cache answers most of them" in str(chosen(bench, "disk", trial, cell=bare))


def test_beside_a_disk_that_turns_the_other_is_slowed_by_its_turns_too() -> None:
    """The binary log's flush follows the redo log's: it decides when the platter's next request comes."""
    bench = make_bench({"data": ["c"], "redo": ["a"], "binlog": ["b"]}, turns_us={"a": [TURN_US]})
    trial = trial_with({"a": (None, 100.0, 8000.0), "b": (None, 10.0, 500.0), "c": (1.0, 1.0, 9000.0)})
    found = way(chosen(bench, "log flush", trial))
    added = {name: how.add_us for name, how in found.bench.slowness.items()}
    assert added == {"a": pytest.approx(TURN_US, abs=0.05), "b": pytest.approx(TURN_US, abs=0.05)}
    assert found.intervention.factor == pytest.approx(1 + 2 * TURN_US / 8500)
    assert found.intervention.added_us == added
    assert found.intervention.says.text == (
        "every flush of `a` takes 8.33 ms longer, 1 turn of its platters and of `b` takes 8.33 ms longer, "
        "1 turn of the platters of `a`"
    )


def test_disks_of_different_speeds_have_no_whole_turns_in_common() -> None:
    turns_us = {"a": [60e6 / 7200], "b": [60e6 / 15_000]}
    bench = make_bench({"data": ["c"], "redo": ["a"], "binlog": ["b"]}, turns_us=turns_us)
    trial = trial_with({"a": (None, 100.0, 8000.0), "b": (None, 10.0, 4000.0), "c": (1.0, 1.0, 9000.0)})
    assert way(chosen(bench, "log flush", trial)).intervention.change == "flushes relaxed"
    bare = change(PLAN.cells[0], server="-", tuning="-", memory_bytes=0)
    mixed = make_bench({"data": ["a", "b"]}, turns_us=turns_us)
    reading = trial_with({"a": (5000.0, None, None), "b": (3000.0, None, None)})
    assert "different speeds" in str(chosen(mixed, "disk", reading, cell=bare))


def test_elsewhere_settings_are_relaxed_and_nothing_else() -> None:
    bench = make_bench({}, variables='sync-binlog = 1, "innodb_io_capacity" = 100')
    cell = change(PLAN.cells[0], tuning="mine")
    found = way(chosen(bench, "log flush", SPINNING, cell=cell))
    assert found.intervention.change == "flushes relaxed"
    assert found.bench.study.tunings["mine"].variables_as_text() == {
        "innodb_io_capacity": "100",
        "innodb_flush_log_at_trx_commit": "2",
        "sync_binlog": "0",
    }
    assert found.bench.study.tuning_level("mine") == "safest"
    assert bench.study.tunings["mine"].variables_as_text()["sync-binlog"] == "1", "the run's own stays"
    assert not found.bench.slowness


def test_settings_without_waits_cannot_be_relaxed() -> None:
    trial = trial_with({}, innodb_flush_log_at_trx_commit="0", sync_binlog="0")
    assert "no commit waits" in str(chosen(make_bench({}), "log flush", trial))


def test_reads_are_slowed_on_the_disk_of_the_data_alone() -> None:
    bench = make_bench({"data": ["a"], "redo": ["b"], "binlog": ["b"]})
    found = way(chosen(bench, "data reads", trial_with({"a": (6000.0, 1.0, 1.0), "b": (1.0, 1.0, 8000.0)})))
    assert found.bench.slowness == {"a": Slowness(on="read", add_us=12_000.0)}
    assert found.intervention.factor == 3.0


def test_other_disks_get_twice_the_memory_if_it_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    found = way(chosen(make_bench({}), "data reads", SPINNING))
    assert found.cell.memory_bytes == 256 * MIB
    assert found.cell.id == PLAN.cells[0].id
    assert found.intervention.says.text == "the server has 256 MiB of memory instead of 128 MiB"
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=200 * MIB))
    assert "256 MiB of memory are needed, 200 MiB are free" in str(
        chosen(make_bench({}), "data reads", SPINNING)
    )


@pytest.mark.parametrize(
    ("held", "usable", "kept", "factor"),
    [((), (0, 1), (1,), 0.5), ((2, 3), (0, 1, 2, 3), (3,), 0.5), ((), (0, 1, 2), (2,), 1 / 3)],
)
def test_server_and_load_get_half_of_what_they_had(
    held: tuple[int, ...],
    usable: tuple[int, ...],
    kept: tuple[int, ...],
    factor: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interventions, "usable", lambda: usable)
    found = way(chosen(make_bench({}, cpus=held), "CPU", SPINNING))
    assert found.bench.cpus == kept
    assert found.bench.starter.cpus == kept  # type: ignore[attr-defined]
    assert found.intervention.factor == pytest.approx(factor)


def test_one_cpu_has_no_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interventions, "usable", lambda: (0,))
    assert "one CPU" in str(chosen(make_bench({}), "CPU", SPINNING))


def test_a_proof_keeps_its_first_change() -> None:
    """A further trial has moved the mean by a hair: the pairs that were made still count."""
    bench = make_bench({role: ["cheetah"] for role in ("data", "redo", "binlog")})
    found = way(chosen(bench, "log flush", trial_with({"cheetah": (1.0, 100.0, 4100.0)})))
    pair = make_pair(PLAN, made="slower flushes")
    again = as_begun(found, pair)
    assert again.intervention == pair.intervention != found.intervention
    assert again.bench.slowness == {"cheetah": Slowness(on="flush", add_us=4000.0)}
    assert as_begun(found, make_pair(PLAN, made="slower reads")) == found
    elsewhere = make_bench({role: ["other"] for role in ("data", "redo", "binlog")})
    other = way(chosen(elsewhere, "log flush", trial_with({"other": (1.0, 100.0, 4100.0)})))
    assert as_begun(other, pair) == other
    broken_off = make_pair(PLAN, changed={"virtual_disks": []})
    assert as_begun(found, broken_off) == found


def test_limits_without_a_proof_have_a_reason() -> None:
    bench = make_bench({"data": ["a"]})
    for limit in NO_WAY:
        assert chosen(bench, limit, SPINNING) == NO_WAY[limit]
    assert chosen(bench, "CPU", SPINNING, metric="latency_mean_us") == NO_WAY["arrivals"]


def test_every_limit_has_a_way_or_a_reason() -> None:
    assert {*WAYS, *NO_WAY} == set(Limit.__args__)  # type: ignore[attr-defined]
    assert not set(WAYS) & set(NO_WAY)


def test_bare_files_have_no_server_to_change() -> None:
    cell = change(PLAN.cells[0], server="-", tuning="-", memory_bytes=0)
    bench = make_bench({"data": ["a"]})
    reading, syncing = trial_with({"a": (5000.0, None, None)}), trial_with({"a": (None, 90.0, 7000.0)})
    assert way(chosen(bench, "disk", reading, cell=cell)).intervention.change == "slower reads"
    assert way(chosen(bench, "disk", syncing, cell=cell)).intervention.change == "slower flushes"
    assert "not lie on a virtual disk" in str(chosen(make_bench({}), "disk", reading, cell=cell))
    assert "no server" in str(chosen(make_bench({}), "data reads", reading, cell=cell))
