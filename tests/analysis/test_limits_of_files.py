"""What holds a load on bare files back: a request that waits for a CPU does not wait for a disk."""

import pytest

from diskproof.analysis.limits.records import CellLimit
from diskproof.results.load import FileRequests
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.results.usage import CpuUse
from support.limited import MICRO, SECONDS, limit_of, one_cell
from support.trials import change, load_of, make_machine, make_trials

FILES = FileRequests(
    files=1,
    block_bytes=4096,
    direct=True,
    one_pass=False,
    read_bytes=2**30,
    written_bytes=0,
    syncs=0,
)

CLIENTS = 64
CPUS = 2


def in_memory(computed_us: float) -> CellLimit:
    """Return what is said of files in memory of which 64 clients read, computing so long for each request."""
    plan = one_cell(CLIENTS, storages=("dram",))
    plan = change(plan, cells=[change(cell, server="-", tuning="-") for cell in plan.cells])
    made = [on_files(plan, number, computed_us) for number in range(3)]
    return limit_of(plan, made, make_machine(plan))


def on_files(plan: Plan, number: int, computed_us: float) -> Trial:
    trial = change(make_trials(plan)[number], cell=plan.cells[0].id)
    used_s = load_of(trial).known_transactions * computed_us / MICRO
    return change(
        trial,
        usage__seconds=SECONDS,
        usage__server_cpu_s=None,
        usage__devices={},
        usage__cpu={"load": CpuUse(used_s=used_s, waited_s=0.0)},
        load__client__cpu_user_s=0.0,
        load__client__cpu_system_s=used_s,
        load__file_requests=FILES,
    )


def full_us() -> float:
    """Return what a request computes where all requests together fill the CPUs."""
    plan = one_cell(CLIENTS, storages=("dram",))
    return CPUS / load_of(make_trials(plan)[0]).transactions_per_s * MICRO


@pytest.mark.parametrize(("part", "waits"), [(0.3, True), (0.88, False)])
def test_clients_that_queue_for_a_cpu_do_not_wait_for_a_disk(part: float, waits: bool) -> None:
    """Each of 64 computes at most a 32nd of its time: that alone does not say what the rest is."""
    cell = in_memory(part * full_us())
    told = [one for one in cell.signals if (one.limit, one.instrument) == ("disk", "clients")]
    assert [one.supports for one in told] == ([True] if waits else [])
    assert cell.limit is None  # one instrument alone
