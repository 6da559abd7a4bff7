"""What holds the cells of a made-up run back: a named limit of each kind, and one that is not established.

The disk's safest cells wait for the log, memory's for the CPU; of the disk's fast cells nothing is
established.
"""

from diskproof.analysis.limits.records import (
    CellLimit,
    Demand,
    Limits,
    Part,
    ProofAnswer,
    Signal,
    Split,
    Trouble,
    WhatIf,
)
from diskproof.results.limit import Intervention
from diskproof.results.plan import Cell, Plan
from diskproof.stats.intervals import Interval
from support.trials import is_ram, typical_rate

CPU_US = 1500.0
SMALL_LOG = Trouble(
    name="redo log too small",
    says="the checkpoint's age came to 97% of what the log can hold, and clients waited 12 times",
    remedy="raise `innodb_log_file_size`",
    source="MySQL manual, 15.5.4",
)


def make_limits(plan: Plan) -> Limits:
    """Return what holds each cell of a plan back, and a proof of the first limit."""
    cells = [make_cell_limit(cell) for cell in plan.cells]
    flushed = [one for one in cells if one.limit == "log flush"]
    return Limits(cells=cells, proofs=[make_proof(one) for one in flushed[:1]])


def make_cell_limit(cell: Cell) -> CellLimit:
    """Return the limit that a cell of `typical_rate` has."""
    latency_us = cell.clients / typical_rate(cell) * 1e6
    if is_ram(cell.storage):
        return _cpu(cell, latency_us)
    return _log_flush(cell, latency_us) if cell.tuning == "safest" else _open(cell, latency_us)


def make_proof(cell: CellLimit) -> ProofAnswer:
    """Return a proof that came out as predicted."""
    return ProofAnswer(
        cell=cell.cell.id,
        limit="log flush",
        intervention=Intervention(
            change="slower flushes",
            says=f"every flush of `{cell.cell.storage}` takes twice as long",
            factor=2.0,
        ),
        predicted_ratio=0.55,
        predicted_low=0.5,
        predicted_high=0.62,
        basis="a commit waits for 6.5 of 8.2 ms, and would wait for 13 ms",
        measured=Interval(estimate=0.57, low=0.54, high=0.6, n=4),
        outcome="as predicted",
        pairs=4,
    )


def _log_flush(cell: Cell, latency_us: float) -> CellLimit:
    flush_us = 0.79 * latency_us
    said = f"COMMIT takes {flush_us / 1000:.1f} of {latency_us / 1000:.1f} ms"
    return CellLimit(
        cell=cell,
        limit="log flush",
        bound_by="redo log flushes",
        signals=[
            Signal(limit="log flush", instrument="clients", supports=True, says=said),
            Signal(limit="log flush", instrument="clients", supports=True, says="only writes wait"),
            Signal(
                limit="log flush",
                instrument="kernel",
                supports=True,
                says=f"`{cell.storage}` is busy with flushes for 91% of the time",
            ),
            Signal(limit="CPU", instrument="kernel", supports=False, says="2 CPUs are 12% busy"),
        ],
        split=Split(
            latency_us=latency_us,
            parts=[
                Part(name="CPU", mean_us=0.15 * latency_us, source="CPU time of the server's threads"),
                Part(name="log flush", mean_us=flush_us, source="COMMIT's time less its CPU time"),
            ],
        ),
        demands=[
            Demand(
                centre=f"log flush on {cell.storage}",
                limit="log flush",
                servers=1,
                demand_us=flush_us,
                utilisation=0.91,
                bound_per_s=None,
            ),
            Demand(
                centre="CPU",
                limit="CPU",
                servers=2,
                demand_us=CPU_US,
                utilisation=0.12,
                bound_per_s=2e6 / CPU_US,
            ),
        ],
        bound_per_s=2e6 / CPU_US,
        what_if=WhatIf(
            says="a disk with a 1 ms flush would give about 3 times as much",
            ratio=3.0,
            low=2.5,
            high=3.4,
            basis="the wait for the flush shrinks, the rest stays",
        ),
        troubles=[SMALL_LOG],
    )


def _cpu(cell: Cell, latency_us: float) -> CellLimit:
    return CellLimit(
        cell=cell,
        limit="CPU",
        bound_by="the CPUs",
        signals=[
            Signal(limit="CPU", instrument="kernel", supports=True, says="2 CPUs are 96% busy"),
            Signal(limit="CPU", instrument="threads", supports=True, says="3.1 threads compute in the mean"),
        ],
        split=Split(
            latency_us=latency_us,
            parts=[
                Part(name="CPU", mean_us=0.9 * latency_us, source="CPU time of the server's threads"),
                Part(name="locks", mean_us=0.16 * latency_us, source="the server's row lock time"),
            ],
        ),
        bound_per_s=2e6 / CPU_US,
    )


def _open(cell: Cell, latency_us: float) -> CellLimit:
    return CellLimit(
        cell=cell,
        limit=None,
        missing="the CPUs are 64% busy, and no second signal supports them; the threads could not be "
        "looked at",
        signals=[Signal(limit="CPU", instrument="kernel", supports=True, says="2 CPUs are 64% busy")],
        split=Split(latency_us=latency_us, parts=[]),
    )
