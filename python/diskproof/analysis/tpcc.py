"""What the trials of TPC-C say: new orders a minute, response times, and whether it was TPC-C."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import TpccAnswer, TpccResponse
from diskproof.analysis.gather import Audited, Gathered
from diskproof.audit.kinds import LIMITS_S, PERCENTILE, a_minute
from diskproof.results.load import LoadResult
from diskproof.results.plan import Cell
from diskproof.stats.intervals import geometric_mean_interval


def answer_tpcc(gathered: Gathered) -> list[TpccAnswer]:
    """Return an answer for each cell that TPC-C was run on, from its valid trials."""
    return [
        _answer(cell, trials)
        for cell in gathered.plan.cells
        if (trials := [one for one in gathered.valid(cell) if one.load.tpcc])
    ]


def _answer(cell: Cell, trials: Sequence[Audited]) -> TpccAnswer:
    inputs = [one.load.tpcc for one in trials if one.load.tpcc]
    rates = [rate for one in trials if (rate := a_minute(one.load))]
    checked = [one.trial.tables for one in trials if one.trial.tables]
    return TpccAnswer(
        cell=cell,
        warehouses=inputs[0].warehouses,
        new_orders_per_min=geometric_mean_interval(rates) if rates else None,
        responses=list(_responses([one.load for one in trials])),
        checked=len(checked),
        consistent=sum(one.holds for one in checked),
        trials=len(trials),
    )


def _responses(loads: Sequence[LoadResult]) -> Iterator[TpccResponse]:
    """Yield the longest 90th percentile of each kind over the trials: each of them must keep the limit."""
    for name, limit_s in LIMITS_S.items():
        kinds = [kind for load in loads for kind in load.transaction_types if kind.name == name]
        if not kinds:
            continue
        known = [kind.latency_us for kind in kinds if kind.latency_us]
        at_most = [latency.percentiles[PERCENTILE] for latency in known if PERCENTILE in latency.percentiles]
        p90_us = max(at_most, default=None)
        yield TpccResponse(
            name=name,
            count=sum(kind.count for kind in kinds),
            mean_us=sum(one.mean * one.known_count for one in known) / sum(one.known_count for one in known)
            if known
            else None,
            p90_us=p90_us,
            limit_s=limit_s,
            kept=None if p90_us is None else p90_us <= limit_s * 1e6,
        )
