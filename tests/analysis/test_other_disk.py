"""Predictions on another disk: demands from the record, agreement with it, and when none is made."""

import dataclasses
import math
from collections.abc import Sequence

import pytest

from diskproof.analysis.cells import answer_cell
from diskproof.analysis.gather import Gathered
from diskproof.analysis.other_disk.calibrated import Source, calibrate
from diskproof.analysis.other_disk.predict import LeftOut, answer, predict, sources_of
from diskproof.analysis.other_disk.records import Load, Simulated
from diskproof.results.machine import Machine
from diskproof.results.trial import Finding, Trial
from diskproof.results.usage import ServerAccount
from diskproof.wording import say
from support.limited import MAKERS, one_cell
from support.trials import change, make_machine
from support.virtual import make_facts

FLUSH_US = {"desktop-7200": 8000.0, "quick": 500.0, "ram": 0.0}
READ_US = {"desktop-7200": 10_000.0, "quick": 200.0, "ram": 0.0}


def simulate(device: str, loads: Sequence[Load]) -> list[Simulated]:
    """Stand in for the program: clients that share nothing but the CPUs, each commit a flush of each log."""
    return [_simulated(device, load) for load in loads]


def _simulated(device: str, load: Load, pages_owed: float = 0.0) -> Simulated:
    log_us = load.commits * len(load.logs) * load.log_work * FLUSH_US[device]
    reads_us = load.reads * READ_US[device]
    alone_us = load.cpu_us + log_us + reads_us
    per_s = min(load.clients / alone_us, load.cores / load.cpu_us) * 1e6
    mean_us = load.clients / per_s * 1e6
    return Simulated(
        seconds=10.0,
        transactions=round(per_s * 10),
        per_s=per_s,
        mean_us=mean_us,
        p95_us=2 * mean_us,
        cpu_us=mean_us - log_us - reads_us,
        reads_us=reads_us,
        log_us=log_us,
        others_us=0.0,
        cpu_share=per_s * load.cpu_us / 1e6 / load.cores,
        group=1.0,
        flushes=load.commits * len(load.logs) * load.log_work,
        flush_us=FLUSH_US[device],
        read_us=READ_US[device],
        page_writes=load.page_writes,
        pages_owed=pages_owed,
    )


def machine_on(device: str) -> Machine:
    machine = make_machine(one_cell())
    facts = make_facts(name="disk", device=device)
    places = [change(place, kind="virtual", virtual=facts) for place in machine.places]
    return change(machine, places=places)


def gathered(
    what: str = "log flush", clients: int = 1, memory_bytes: int = 128 << 20, **changes: object
) -> Gathered:
    """Return a cell that one thing holds back on a desktop disk."""
    plan = one_cell(clients, memory_bytes=(memory_bytes,))
    trials: list[Trial] = [
        change(MAKERS[what](plan, number), **changes) for number in range(len(plan.trials))
    ]
    return Gathered(plan, machine_on("desktop-7200"), trials, {})


def source_of(cell: Gathered) -> Source:
    (found,) = sources_of(cell, {})
    assert isinstance(found, Source), found
    return found


def why_left_out(cell: Gathered) -> str:
    (found,) = sources_of(cell, {})
    assert isinstance(found, LeftOut)
    return found.why.text


def test_demands_are_those_that_were_counted() -> None:
    source = source_of(gathered())
    assert source.device == "desktop-7200"
    assert source.load.clients == 1
    assert source.load.commits == pytest.approx(1.0)
    assert [log.grows for log in source.load.logs] == [False], "there is no binary log"
    assert source.load.cpu_us > 0
    assert source.load.lock_share == 0


@pytest.mark.parametrize("clients", [1, 8])
def test_the_model_agrees_with_the_record_afterwards(clients: int) -> None:
    source = dataclasses.replace(source_of(gathered(clients=clients)), flushes=None)
    (found,) = calibrate([source], simulate)
    assert found.simulated.per_s == pytest.approx(source.per_s, rel=0.02)


def test_an_error_is_laid_on_the_part_that_takes_the_time() -> None:
    """If a transaction waits for the disk, the number of its flushes is in doubt, not its CPU time."""
    (found,) = calibrate([source_of(gathered())], simulate)
    assert abs(found.scales.disk) > 5 * abs(found.scales.cpu)


def test_logs_get_the_flushes_that_were_counted() -> None:
    source = source_of(gathered())
    twice = dataclasses.replace(source, flushes=1.6)
    (found,) = calibrate([twice], simulate)
    assert found.source.load.log_work == pytest.approx(1.6, rel=0.05)


def test_a_record_that_explains_too_little_is_not_used() -> None:
    source = source_of(gathered())
    (found,) = calibrate([dataclasses.replace(source, per_s=source.per_s / 5)], simulate)
    assert not found.explains
    (one,) = predict([found], ["quick"], simulate)
    assert one.missing is not None
    assert "explains too little" in one.missing.text


def test_a_quicker_disk_moves_the_limit() -> None:
    made = {one.device: one for one in answer(gathered(), ["desktop-7200", "quick"], simulate, {}).cells}
    same, quick = made["desktop-7200"], made["quick"]
    assert same.per_s is not None
    assert quick.per_s is not None
    assert same.per_s.estimate == pytest.approx(sum(same.recorded.values()), rel=0.05)
    assert same.limit == "log flush"
    assert quick.per_s.estimate > 3 * same.per_s.estimate
    assert quick.mean_us is not None
    assert same.mean_us is not None
    assert quick.mean_us < same.mean_us / 3


def test_an_interval_is_around_its_estimate() -> None:
    (one,) = answer(gathered(), ["quick"], simulate, {}).cells
    assert one.per_s is not None
    assert one.per_s.low is not None
    assert one.per_s.high is not None
    middle = math.sqrt(one.per_s.low * one.per_s.high)
    assert middle == pytest.approx(one.per_s.estimate)
    assert one.per_s.confidence == 0.9


def test_pages_that_a_disk_cannot_write_bar_a_prediction() -> None:
    def overloaded(device: str, loads: Sequence[Load]) -> list[Simulated]:
        owed = 1e6 if device == "quick" else 0.0
        return [_simulated(device, load, owed) for load in loads]

    (one,) = answer(gathered(), ["quick"], overloaded, {}).cells
    assert one.per_s is None
    assert one.missing is not None
    assert "Record the load on a disk of similar speed" in one.missing.text


def test_a_full_log_bars_a_prediction() -> None:
    account = ServerAccount(log_flushes=1000, checkpoint_age_mean=0.97)
    assert "larger log" in why_left_out(gathered(usage__account=account))


def test_a_memory_that_was_still_filling_bars_a_prediction() -> None:
    """Its reads would become fewer, on a quick disk sooner than on a slow one."""
    data_bytes = 512 << 20
    assert "still filling" in why_left_out(
        gathered("data reads", memory_bytes=data_bytes, data__data_bytes=data_bytes)
    )
    for enough in (
        gathered("data reads", memory_bytes=data_bytes, data__data_bytes=data_bytes, timings__preload_s=2.0),
        gathered("data reads", data__data_bytes=data_bytes),
    ):
        assert source_of(enough).load.reads == pytest.approx(10.0)


def test_an_interval_is_wider_if_the_record_had_to_be_corrected() -> None:
    def width(share: float) -> float:
        source = dataclasses.replace(source_of(gathered()), flushes=None)
        (found,) = calibrate([dataclasses.replace(source, per_s=share * source.per_s)], simulate)
        (one,) = predict([found], ["quick"], simulate)
        assert one.per_s is not None
        assert one.per_s.high is not None
        return math.log(one.per_s.high / one.per_s.estimate)

    assert width(0.8) > 1.2 * width(1.0)


def test_uncounted_cpu_time_bars_a_prediction() -> None:
    assert "CPU time was not counted" in why_left_out(
        gathered(usage__cpu={}, usage__server_cpu_s=None, load__client=None)
    )


def test_a_disk_without_a_model_needs_a_device_file() -> None:
    plan = one_cell()
    trials = [MAKERS["log flush"](plan, number) for number in range(len(plan.trials))]
    real = Gathered(plan, make_machine(plan), trials, {})
    assert "--was disk=FILE.toml" in why_left_out(real)
    (found,) = sources_of(real, {"disk": "quick"})
    assert isinstance(found, Source)
    assert found.device == "quick"


def test_what_was_measured_on_a_disk_outweighs_a_prediction() -> None:
    cell = gathered()
    own = answer_cell(cell, cell.plan.cells[0]).throughput_per_s
    assert own is not None
    same, quick = answer(cell, ["desktop-7200", "quick"], _twice_as_fast, {}).cells
    assert (same.measured, quick.measured) == (True, False)
    assert same.per_s == own, "the figure of the cell in the report, with its interval"
    assert same.recorded == {"disk": own.estimate}


def test_two_names_of_one_model_are_one_disk() -> None:
    models = {"desktop-7200": "7200", "copy": "7200"}
    (one,) = answer(
        gathered(), ["copy"], lambda _, loads: simulate("quick", loads), {}, models.__getitem__
    ).cells
    assert (one.device, one.measured) == ("copy", True)


def test_a_disk_of_a_load_that_cannot_be_predicted_has_its_measured_figures() -> None:
    elsewhere = gathered(usage__cpu={}, usage__server_cpu_s=None, load__client=None)
    found = answer(elsewhere, ["desktop-7200", "quick"], simulate, {})
    assert [(one.device, one.measured) for one in found.cells] == [("desktop-7200", True)]
    assert len(found.left_out) == 1


def test_a_disturbed_record_weakens_all_that_rests_on_it() -> None:
    disturbed = Finding(check="host-busy", severity="warning", message=say("other work took 31%"))
    made = answer(gathered(findings=[disturbed]), ["desktop-7200", "quick"], simulate, {}).cells
    assert [one.weakened_by["host-busy"].text for one in made] == ["other work took 31%"] * 2


def _twice_as_fast(device: str, loads: Sequence[Load]) -> list[Simulated]:
    return [change(one, per_s=2 * one.per_s) for one in simulate(device, loads)]
