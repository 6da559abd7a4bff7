"""What a change would do: by the laws, within what the record leaves open."""

import math
from collections.abc import Sequence

import pytest

from diskproof.analysis.limits.prediction import Residence, predict, quicker, why_not_predicted
from diskproof.analysis.limits.proofs import Band
from diskproof.analysis.limits.records import Awaited, CellLimit, Demand, Part, Split, WhatIf
from diskproof.results.limit import Change, Intervention
from diskproof.results.trial import HeldCpus
from diskproof.results.usage import CpuUse
from diskproof.wording import NOTHING
from support.limited import MAKERS, limit_of, limited, one_cell, virtual_machine
from support.trials import change

MIB = 2**20
CHANGES: dict[Change, float] = {
    "half the CPUs": 0.5,
    "slower flushes": 2.0,
    "flushes relaxed": 0.0,
    "slower reads": 3.0,
    "twice the memory": 2.0,
}


def intervention(what: Change, factor: float | None = None, **added_us: float) -> Intervention:
    factor = CHANGES[what] if factor is None else factor
    return Intervention(change=what, says=what, factor=factor, added_us=added_us)


def flushes_later(cell: CellLimit, add_us: float, least: float = 1.0, most: float | None = None) -> WhatIf:
    """Return what comes of a cell that waits for so many flushes, each of which takes so much longer."""
    waits = Awaited(disk="disk", on="flush", least=least, most=least if most is None else most)
    found = predict(cell.model_copy(update={"awaited": [waits]}), intervention("slower flushes", disk=add_us))
    assert found is not None
    return found


def reads_later(cell: CellLimit, factor: float) -> WhatIf:
    """Return what comes of a cell whose reads take so many times as long, and wait for one at a time."""
    assert cell.split is not None
    add_us = (factor - 1) * sum(one.mean_us for one in cell.split.parts if one.name == "data reads")
    waits = Awaited(disk="disk", on="read", least=1.0, most=1.0)
    found = predict(cell.model_copy(update={"awaited": [waits]}), intervention("slower reads", disk=add_us))
    assert found is not None
    return found


def cell_of(
    clients: int,
    parts: Sequence[Part],
    *,
    other_us: float = 0.0,
    cpus: int = 2,
    cpu_us: float | None = None,
    data_bytes: int | None = None,
    memory_bytes: int = 128 * MIB,
) -> CellLimit:
    """Return a cell of which only the split and the CPUs' demand are known."""
    cell = change(one_cell(clients).cells[0], memory_bytes=memory_bytes)
    latency_us = sum(part.mean_us for part in parts) + other_us
    # A disk that serves one at a time: else nobody would know the service of its reads.
    demands = [
        Demand(
            centre="vda",
            limit="data reads",
            servers=1,
            demand_us=part.service_us,
            utilisation=min(clients / latency_us * part.service_us, 1.0),
            bound_per_s=None,
        )
        for part in parts
        if part.name == "data reads" and part.service_us
    ]
    if cpu_us is not None:
        busy = min(clients / latency_us * cpu_us / cpus, 1.0)
        demands.append(
            Demand(
                centre="CPU",
                limit="CPU",
                servers=cpus,
                demand_us=cpu_us,
                utilisation=busy,
                bound_per_s=cpus / cpu_us * 1e6,
            )
        )
    return CellLimit(
        cell=cell,
        limit="log flush",
        split=Split(latency_us=latency_us, parts=list(parts)),
        demands=demands,
        others_cpu_share=0.0,
        data_bytes=data_bytes,
    )


def part(name: str, mean_us: float, service_us: float | None = None) -> Part:
    return Part.model_validate(
        {"name": name, "mean_us": mean_us, "service_us": service_us, "source": "a test"}
    )


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("bound", ["log flush", "data reads", "CPU"])
@pytest.mark.parametrize("clients", [1, 8])
def test_every_prediction_lies_within_its_band(what: Change, bound: str, clients: int) -> None:
    found = predict(limited(bound, clients), intervention(what, disk=8000.0))
    if found is not None:
        assert 0 < found.low <= found.ratio <= found.high
        assert found.says.text == what
        assert found.basis


def test_one_client_waits_for_what_its_own_flush_takes_longer() -> None:
    """Whatever the flush took, by whomever: 8 ms longer make 18 ms of 10."""
    for flush_us in (220, 350, 3000, 8500):
        cell = cell_of(1, [part("log flush", flush_us, flush_us)], other_us=10_000 - flush_us)
        found = flushes_later(cell, 8000)
        assert found.low == found.ratio == found.high == pytest.approx(10 / 18)
    assert found.basis.text == "a transaction of 10 ms waits for 1 flush of `disk`, 8.0 ms longer each"


def test_logs_on_two_disks_are_longer_by_the_delay_of_each() -> None:
    waits = [Awaited(disk=name, on="flush", least=1.0, most=1.0) for name in ("a", "b")]
    cell = cell_of(1, [part("log flush", 8500)], other_us=1500).model_copy(update={"awaited": waits})
    found = predict(cell, intervention("slower flushes", 2.13, a=8333.0, b=500.0))
    assert found is not None
    assert found.low == found.high == pytest.approx(10_000 / 18_833)


def test_flushes_that_were_not_counted_give_no_prediction() -> None:
    """Nor does a record without the delay of each disk."""
    cell = limited("log flush")
    assert predict(cell, intervention("slower flushes", 2.0)) is None
    other = intervention("slower flushes", disk=8000.0, other=8000.0)
    assert predict(cell, other) is None
    why = why_not_predicted(cell, other).text
    assert why == "it is not known for how many flushes of `other` a transaction waits"


TURN_US = 60e6 / 7200


def turning(computed_us: float, delay_us: float) -> float:
    """Return the cycle of one client that writes to the same place of a platter again and again."""
    return math.ceil((computed_us + delay_us) / TURN_US) * TURN_US


def delayed(computed_us: float, delay_us: float) -> tuple[float, Band]:
    """Return the effect of a delay of that client's flush, and the prediction."""
    cycle_us = turning(computed_us, 0)
    flush_us = cycle_us - computed_us
    cell = cell_of(1, [part("log flush", flush_us, flush_us)], other_us=computed_us)
    found = flushes_later(cell, delay_us)
    return cycle_us / turning(computed_us, delay_us), Band(found.low, found.high)


@pytest.mark.parametrize("computed_us", [500, 1600, 4000, 8200, 9500])
@pytest.mark.parametrize("turns", [1, 2, 4])
def test_whole_turns_of_a_platter_are_predicted(computed_us: float, turns: int) -> None:
    true, predicted = delayed(computed_us, turns * TURN_US)
    assert true == pytest.approx(predicted.low)
    assert true == pytest.approx(predicted.high)
    assert predicted.can_fail(0.03)


@pytest.mark.parametrize(
    ("computed_us", "delay_us", "costs_turns"),
    [(1600, 6000, 0), (1600, 6933, 1), (4000, 5500, 1), (4000, 4200, 0)],
)
def test_another_delay_is_not_predicted(computed_us: float, delay_us: float, costs_turns: int) -> None:
    """It fits into the rest of a turn and costs nothing, or it costs a whole one."""
    true, predicted = delayed(computed_us, delay_us)
    assert true == pytest.approx(1 / (1 + costs_turns))
    assert not predicted.widened(0.03).holds(true)


def test_shared_flushes_lie_between_one_and_two_of_them() -> None:
    """Eight clients wait 15 ms for flushes of 8: at the most each finds one that has only just begun."""
    cell = cell_of(8, [part("log flush", 15_000, 8000)], other_us=1000)
    found = flushes_later(cell, 8000, 1.0, 2.0)
    assert found.low == pytest.approx(16 / 32)
    assert found.high == pytest.approx(16 / 24)


def test_longer_flushes_may_end_the_queue_of_reads() -> None:
    """A disk that does one thing at a time: 4 of 6 ms of reads are spent in line before it."""
    cell = cell_of(8, [part("log flush", 60_000, 20_000), part("data reads", 6000, 2000)], other_us=4000)
    found = flushes_later(cell, 20_000, 1.0, 2.0)
    assert found.low == pytest.approx(70 / 110)
    assert found.high == pytest.approx(70 / 86), "clients come less often"


def test_the_longer_the_flush_the_less_is_left() -> None:
    cell = limited("log flush", 8)
    ratios = [predict(cell, intervention("slower flushes", disk=add_us)) for add_us in (1, 4e3, 8e3, 24e3)]
    estimates = [one.ratio for one in ratios if one is not None]
    assert len(estimates) == 4
    assert estimates[0] == pytest.approx(1, abs=1e-3)
    assert estimates == sorted(estimates, reverse=True)


def test_a_relaxed_flush_is_bounded_by_the_cpus() -> None:
    """Without 9 of 10 ms eight clients could do 8,000 a second, but two CPUs no more than 2,000."""
    cell = cell_of(8, [part("log flush", 9000, 9000), part("CPU", 1000)], cpu_us=1000)
    found = predict(cell, intervention("flushes relaxed"))
    assert found is not None
    assert found.high == pytest.approx(2000 / 800)
    # At the least each of the eight finds seven before it at the two CPUs: 8 / 4.5 ms.
    assert found.low == pytest.approx(8 / 4.5e-3 / 800)


def test_a_relaxed_flush_of_one_client_leaves_what_else_there_is() -> None:
    found = predict(limited("log flush"), intervention("flushes relaxed"))
    assert found is not None
    cell = limited("log flush")
    assert cell.split is not None
    flush = next(one.mean_us for one in cell.split.parts if one.name == "log flush")
    assert found.high == pytest.approx(cell.split.latency_us / (cell.split.latency_us - flush))
    assert 1 < found.low <= found.ratio


def test_half_of_full_cpus_is_about_half_of_the_throughput() -> None:
    cell = cell_of(16, [part("CPU", 1000), part("waiting for a CPU", 7000)], cpu_us=1000)
    found = predict(cell, intervention("half the CPUs"))
    assert found is not None
    assert found.low == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5 / 0.7), "threads of one CPU wake each other with less work"
    assert Band(found.low, found.high).can_fail(0.05)


def test_virtual_disks_keep_their_cpus() -> None:
    """Of 1.98 busy CPUs 0.6 are the disk's: server and load have 1.38, of which one CPU can serve 72%."""
    made = []
    plan = one_cell(8)
    for number in range(len(plan.trials)):
        trial = MAKERS["CPU"](plan, number)
        assert trial.usage is not None
        seconds = trial.usage.seconds
        used = {"server": 1.08 * seconds, "load": 0.3 * seconds, "disks": 0.6 * seconds}
        cpu = {party: CpuUse(used_s=used_s, waited_s=0.0) for party, used_s in used.items()}
        made.append(change(trial, usage__cpu=cpu, usage__host_cpu_busy_s=2.0 * seconds))
    cell = limit_of(plan, made)
    assert cell.disks_cpu_share == pytest.approx(0.6 / 1.98)
    assert cell.others_cpu_share == pytest.approx(0.01)
    found = predict(cell, intervention("half the CPUs"))
    assert found is not None
    assert found.high == pytest.approx(1.0)
    assert found.low < 1 / 1.38
    assert found.basis.text.startswith("server and load keep 1.4 of 2 CPUs busy; 1 can serve 72% of that")
    alone = predict(cell.model_copy(update={"disks_cpu_share": None}), intervention("half the CPUs"))
    assert alone is not None
    assert alone.high == pytest.approx(1 / 1.98 / 0.7, rel=0.01)


def held_to_one_cpu(machine_cpus: int, held_busy_s: float | None = 27.0) -> CellLimit:
    """Return a CPU-bound cell held to one CPU, of which server and load have 24 of 30 s; disks have 12 s."""
    plan = change(one_cell(8), cpus=1)
    made = []
    for number in range(len(plan.trials)):
        trial = MAKERS["CPU"](plan, number)
        used = {"server": 18.0, "load": 6.0, "disks": 12.0}
        made.append(
            change(
                trial,
                usage__cpu={party: CpuUse(used_s=used_s, waited_s=0.0) for party, used_s in used.items()},
                usage__host_cpu_busy_s=45.0,
                usage__held_cpu_busy_s=held_busy_s,
                held_cpus=HeldCpus(cpus=[1], server=[1], load=[1]),
            )
        )
    return limit_of(plan, made, change(virtual_machine(plan), cpus=machine_cpus, held_cpus=[1]))


def test_virtual_disks_on_other_cpus_are_neither_ours_nor_others() -> None:
    """24 of the 27 busy seconds of the CPU are known; the disks' 12 were spent on another one."""
    cell = held_to_one_cpu(2)
    assert cell.others_cpu_share == pytest.approx(3 / 27)
    assert cell.disks_cpu_share is None
    [cpu] = [one for one in cell.demands if one.centre == "CPU"]
    assert cpu.utilisation == pytest.approx(24 / 30)
    together = held_to_one_cpu(1)
    assert together.others_cpu_share == 0, "there is one CPU for all of them: 36 s are more than it has"
    assert together.disks_cpu_share == pytest.approx(12 / 36)


def test_others_are_unknown_if_other_cpus_were_counted() -> None:
    """The busy time of two CPUs says nothing of the one that server and load were held to."""
    unknown, known = held_to_one_cpu(2, None), held_to_one_cpu(2)
    assert unknown.others_cpu_share is None
    assert predict(unknown, intervention("half the CPUs")) is None
    assert (unknown.limit, known.limit) == ("CPU", "CPU")
    assert unknown.what_if is None
    assert known.what_if is not None


@pytest.mark.parametrize(("others", "predicted"), [(None, False), (0.19, True), (0.2, False), (0.9, False)])
def test_beside_other_work_half_of_the_cpus_are_not_predicted(others: float | None, predicted: bool) -> None:
    cell = cell_of(16, [part("CPU", 1000), part("waiting for a CPU", 7000)], cpu_us=1000)
    busy = cell.model_copy(update={"others_cpu_share": others})
    assert (predict(busy, intervention("half the CPUs")) is not None) == predicted


def test_a_missing_prediction_has_a_reason() -> None:
    busy = cell_of(16, [part("CPU", 1000)], cpu_us=1000).model_copy(update={"others_cpu_share": 0.34})
    why = why_not_predicted(busy, intervention("half the CPUs")).text
    assert why == "other work on the machine had 34% of the CPUs' time"
    unknown = busy.model_copy(update={"others_cpu_share": None})
    why = why_not_predicted(unknown, intervention("half the CPUs")).text
    assert why == "it is not known how much CPU time other work on the machine had"
    assert why_not_predicted(busy, intervention("slower reads")).text == "too little was recorded"


def test_fewer_clients_than_cpus_need_not_lose_anything_with_half_of_them() -> None:
    """Whatever the bound says: on one CPU nobody is woken up on another one. So it would prove nothing."""
    found = predict(limited("CPU", 1), intervention("half the CPUs"))
    assert found is not None
    assert found.high == 1
    assert found.low < 1
    assert not Band(found.low, found.high).can_fail(0.0)
    two = predict(limited("CPU", 2), intervention("half the CPUs"))
    assert two is not None
    assert Band(two.low, two.high).can_fail(0.05)
    single = cell_of(1, [part("CPU", 1000)], cpus=1, cpu_us=1000)
    assert predict(single, intervention("half the CPUs")) is None


def test_no_part_of_a_transaction_means_no_prediction() -> None:
    cell = limited("CPU", 8)
    assert predict(cell, intervention("slower reads")) is None
    assert predict(cell, intervention("twice the memory")) is None
    unknown = CellLimit(cell=one_cell().cells[0], limit=None)
    assert all(predict(unknown, intervention(what)) is None for what in CHANGES)


def test_twice_the_memory_leaves_the_misses_that_even_access_would() -> None:
    """Of 512 MiB with 128 in memory 384 miss; with 256 in memory 256 do: two thirds, or 1/sqrt(2)."""
    reads = [part("data reads", 9000, 9000)]
    cell = cell_of(1, reads, other_us=1000, data_bytes=512 * MIB)
    found = predict(cell, intervention("twice the memory"))
    assert found is not None
    assert found.low == pytest.approx(10 / (1 + 9 * 0.7071), rel=1e-3)
    assert found.high == pytest.approx(10 / (1 + 9 * 2 / 3))
    fits = predict(cell_of(1, reads, other_us=1000, data_bytes=200 * MIB), intervention("twice the memory"))
    assert fits is not None
    assert fits.high == pytest.approx(10)
    assert predict(cell_of(1, reads), intervention("twice the memory")) is None


def test_a_shrinking_queue_hides_a_part_of_slower_reads() -> None:
    """Eight reads in line for an arm of 1 ms: without a line each takes 1 ms and the 8 that are added."""
    cell = cell_of(8, [part("data reads", 8000, 1000)])
    found = reads_later(cell, 2.0)
    assert found.low == pytest.approx(0.5)
    assert found.high == pytest.approx(8 / 9)
    little = reads_later(cell, 1.5)
    assert little.high == pytest.approx(1), "the line may take up all of it"


def mva(clients: int, service: float, delay: float) -> tuple[float, float]:
    """Return throughput and residence at one disk, by exact mean value analysis (Reiser, Lavenberg 1980)."""
    queue = residence = throughput = 0.0
    for present in range(1, clients + 1):
        residence = service * (1 + queue)
        throughput = present / (residence + delay)
        queue = throughput * residence
    return throughput, residence


@pytest.mark.parametrize(("service", "delay"), [(10.0, 3.0), (10.0, 20.0), (10.0, 0.0)])
@pytest.mark.parametrize("clients", [2, 4, 8, 16])
def test_the_exact_solution_lies_in_the_band_of_slower_reads(
    clients: int, service: float, delay: float
) -> None:
    before, residence = mva(clients, service, delay)
    after, _ = mva(clients, service, delay + residence)  # the delay is no work of the disk's
    cell = cell_of(clients, [part("data reads", residence, service)], other_us=delay)
    found = reads_later(cell, 2.0)
    assert found.low < after / before < found.high < 0.95


@pytest.mark.parametrize(
    ("clients", "true", "high"), [(4, 0.689, 0.8), (8, 0.764, 0.889), (16, 0.825, 0.941)]
)
def test_the_band_of_slower_reads_can_fail(clients: int, true: float, high: float) -> None:
    before, residence = mva(clients, 10.0, 3.0)
    assert mva(clients, 10.0, 3.0 + residence)[0] / before == pytest.approx(true, abs=5e-4)
    cell = cell_of(clients, [part("data reads", residence, 10.0)], other_us=3.0)
    found = reads_later(cell, 2.0)
    assert found.high == pytest.approx(high, abs=5e-4)


def test_reads_of_files_have_the_service_that_their_disk_was_busy_with() -> None:
    """Eight requests in line for a disk that is busy for 1 ms with each; nobody else knows the service."""
    cell = cell_of(8, [part("data reads", 8000)])
    assert cell.split is not None
    unknown = reads_later(cell, 2.0)
    assert unknown.high == pytest.approx(1), "the line may be all of it"
    disk = Demand(centre="vda", limit="disk", servers=1, demand_us=1000, utilisation=1.0, bound_per_s=1000.0)
    found = reads_later(cell.model_copy(update={"demands": [disk]}), 2.0)
    assert found.high == pytest.approx(8 / 9)
    assert found.low == pytest.approx(0.5)


@pytest.mark.parametrize("service_us", [None, 7000])
def test_a_disk_that_serves_many_may_have_only_a_queue(service_us: float | None) -> None:
    """Three times as long: 16 ms are added to 10, of which a line of 8 takes up 8 at the most."""
    cell = cell_of(8, [part("data reads", 8000, service_us)], other_us=2000)
    many = cell.model_copy(update={"demands": []})
    found = reads_later(many, 3.0)
    assert found.high == pytest.approx(10 / 18)
    assert found.low == pytest.approx(10 / 26)
    assert Band(found.low, found.high).can_fail(0.05)
    alone = reads_later(many.model_copy(update={"cell": one_cell(1).cells[0]}), 3.0)
    assert alone.low == alone.high == pytest.approx(10 / 26)


def quickened(cell: CellLimit, factor: float) -> WhatIf | None:
    residence = Residence.of(cell)
    assert residence is not None
    return quicker(residence, "data reads", factor, NOTHING)


def test_quicker_reads_shorten_the_queue_before_the_disk_as_well() -> None:
    cell = cell_of(8, [part("data reads", 8000, 1000)], other_us=2000, cpu_us=500)
    found = quickened(cell, 0.5)
    assert found is not None
    assert found.ratio == found.low == pytest.approx(10 / 6)
    assert found.high == pytest.approx(10 / 2.5)
    busier = cell_of(8, [part("data reads", 8000, 1000)], other_us=2000, cpu_us=1000)
    quickest = quickened(busier, 0.001)
    assert quickest is not None
    assert quickest.high == pytest.approx(2 / 1000e-6 / 800), "then the CPUs are full"


def test_without_a_split_a_delay_is_not_predicted() -> None:
    """One client, the flush 80% of the time: how long that is, is not known."""
    log = Demand(
        centre="log flush", limit="log flush", servers=1, demand_us=80, utilisation=0.8, bound_per_s=None
    )
    cpu = Demand(centre="CPU", limit="CPU", servers=2, demand_us=10, utilisation=0.05, bound_per_s=None)
    waits = Awaited(disk="disk", on="flush", least=1.0, most=1.0)
    job = CellLimit(cell=one_cell(1).cells[0], limit="log flush", demands=[log, cpu], awaited=[waits])
    assert predict(job, intervention("slower flushes", disk=8000.0)) is None
    assert predict(job, intervention("flushes relaxed")) is not None
