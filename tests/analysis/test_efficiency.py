"""Bytes that a server moved over the raw peak of its storage."""

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Efficiency
from diskproof.report.compose import further
from diskproof.results.load import FileRequests
from diskproof.results.plan import Plan
from diskproof.results.trial import Finding, Trial
from diskproof.results.usage import DeviceUsage
from support.trials import change, make_machine, make_plan, make_trials

SERVED = make_plan(storages=("disk", "dram"), tunings=("safest",), clients=(8,), blocks=3)
PASSES = make_plan(
    servers=("-",),
    storages=("disk",),
    tunings=("-",),
    workloads=("slow-pass", "pass", "random"),
    clients=(1,),
    blocks=3,
)
MB_PER_S = {"slow-pass": 40.0, "pass": 80.0, "random": 500.0}


def both() -> Plan:
    """Return a plan of a server's cells and of loads on the bare files of one of its storages."""
    further = [change(one, id=one.id.replace("-t", "-u")) for one in PASSES.trials]
    metrics = dict.fromkeys(MB_PER_S, "requests_per_s")
    return change(
        SERVED,
        cells=[*SERVED.cells, *PASSES.cells],
        trials=[*SERVED.trials, *further],
        metrics=metrics,
    )


def moving(trial: Trial, read_mb: float, written_mb: float) -> Trial:
    """Return the trial with this many megabytes moved in each measured second."""
    assert trial.usage is not None
    device = DeviceUsage(
        reads=1,
        read_bytes=round(read_mb * 1e6 * trial.usage.seconds),
        writes=1,
        written_bytes=round(written_mb * 1e6 * trial.usage.seconds),
        flushes=100,
        busy_s=0.1,
    )
    return change(trial, usage__devices={"vda": device})


def trials_of(plan: Plan, *, block_factor: float = 1.0) -> list[Trial]:
    """Return trials in which the server moves 6 + 2 MB/s on the disk; block 2 is that much faster in all."""
    made = []
    for trial in make_trials(plan):
        cell, factor = plan.cell(trial.cell), block_factor if trial.block == 2 else 1.0
        if cell.has_server:
            made.append(moving(trial, 6 * factor, 2 * factor) if cell.storage == "disk" else trial)
            continue
        assert trial.load is not None
        moved = FileRequests(
            files=1,
            block_bytes=2**20,
            direct=False,
            one_pass=cell.workload != "random",
            read_bytes=round(MB_PER_S[cell.workload] * factor * 1e6 * trial.load.known_seconds),
            written_bytes=0,
            syncs=0,
        )
        mix = "rndrd" if cell.workload == "random" else "seqrd"
        made.append(change(trial, load__workload="fileio", load__mix=mix, load__file_requests=moved))
    return made


def efficiencies(plan: Plan, trials: list[Trial]) -> list[Efficiency]:
    return analyse(plan, make_machine(plan), trials, {}).efficiency


def test_the_share_is_what_was_moved_over_the_fastest_sequential_pass() -> None:
    plan = both()
    [one] = efficiencies(plan, trials_of(plan))
    assert one.cell.storage == "disk"
    assert plan.cell(one.peak_cell).workload == "pass", "random requests are no raw peak, however many"
    assert one.moved_mb_per_s.estimate == pytest.approx(8, rel=1e-3)
    assert one.peak_mb_per_s.estimate == pytest.approx(80, rel=1e-3)
    assert one.share.estimate == pytest.approx(0.1, rel=1e-3)


def test_the_share_is_paired_by_block() -> None:
    """A block that is twice as fast in all is no scatter of the share."""
    plan = both()
    [one] = efficiencies(plan, trials_of(plan, block_factor=2.0))
    assert one.moved_mb_per_s.uncertainty is not None
    assert one.moved_mb_per_s.uncertainty > 0.5
    assert one.share.uncertainty == pytest.approx(0, abs=1e-3)


def test_without_a_peak_there_is_no_efficiency() -> None:
    plan = both()
    without = [trial for trial in trials_of(plan) if "pass" not in trial.cell]
    assert efficiencies(plan, without) == []
    assert efficiencies(SERVED, make_trials(SERVED)) == []


def test_a_cell_that_moved_nothing_has_none() -> None:
    plan = both()
    still = [moving(one, 0, 0) if plan.cell(one.cell).has_server else one for one in trials_of(plan)]
    assert efficiencies(plan, still) == []


def test_what_must_not_be_compared_has_none_and_is_no_peak() -> None:
    plan = both()
    physics = Finding(check="physics", severity="warning", message="a cache answered")

    def barred(workload: str) -> list[Trial]:
        return [
            change(one, findings=[physics]) if plan.cell(one.cell).workload == workload else one
            for one in trials_of(plan)
        ]

    [one] = efficiencies(plan, barred("pass"))
    assert plan.cell(one.peak_cell).workload == "slow-pass"
    assert efficiencies(plan, barred("complex")) == []


def test_the_table_names_the_peak() -> None:
    plan = both()
    table = further.efficiency(analyse(plan, make_machine(plan), trials_of(plan), {}))
    [row] = table.rows
    shown = dict(zip((column.title for column in table.columns), row, strict=True))
    assert (shown["Storage"], shown["Moved MB/s"], shown["Peak MB/s"]) == ("disk", "8.00", "80.0")
    assert (shown["Peak of"], shown["Efficiency"]) == ("pass", "0.100")
