"""What the replays of a log say: how true they were, and which statements became faster or slower."""

from collections.abc import Iterator, Mapping
from functools import partial

from diskproof.analysis.answers import ReplayAnswer, StatementVerdict
from diskproof.analysis.gather import Gathered
from diskproof.analysis.verdicts import decide, fewest_valid
from diskproof.audit.run import compared_pairs
from diskproof.results.factor import Factor
from diskproof.results.plan import Cell
from diskproof.results.replay import Certificate
from diskproof.stats.intervals import RatioTest
from diskproof.stats.multiple import adjusted

NO_STATEMENTS = ("connect", "other reads", "other writes", "others")
"""What the load generator reports beside single statements."""

FEWEST = 20
"""Executions in a trial: fewer say little of a mean."""


def answer_replays(gathered: Gathered) -> list[ReplayAnswer]:
    """Return how true the replays of each cell were: the least true of its valid trials in each respect."""
    answers = []
    for cell in gathered.plan.cells:
        said = [one.load.replay for one in gathered.valid(cell) if one.load.replay]
        if said:
            answers.append(_answer(cell, said))
    return answers


def _answer(cell: Cell, said: list[Certificate]) -> ReplayAnswer:
    least = max(said, key=lambda one: abs(one.preparations_recorded - one.preparations))
    known = [one.recorded_concurrency for one in said if one.recorded_concurrency is not None]
    return ReplayAnswer(
        cell=cell,
        speed=said[0].speed,
        sent=min(one.sent / one.statements if one.statements else 0.0 for one in said),
        prepared_as_text=max(one.prepared_as_text for one in said),
        preparations=(least.preparations, least.preparations_recorded),
        own_p99_us=max(one.own_us.p99 for one in said),
        server_p99_us=max(one.server_us.p99 for one in said),
        concurrency=sum(one.concurrency for one in said) / len(said),
        recorded_concurrency=sum(known) / len(known) if known else None,
        other_refusals=max(one.refusals_in_replay_only + one.refusals_in_log_only for one in said),
        other_rows=max(one.rows_different / one.rows_compared if one.rows_compared else 0.0 for one in said),
        commits_overtook=max(one.commits_overtook for one in said),
        commits=max(one.commits for one in said),
        ordered=said[0].ordered,
        explained=min(len(one.plans) for one in said),
    )


def statement_verdicts(gathered: Gathered) -> list[StatementVerdict]:
    """Return a verdict for each statement of a replay, at each comparison of two cells.

    It is about the mean latency of a trial, paired by block, after Holm over all of them.
    """
    compared = [one for pair in compared_pairs(gathered.plan.cells) for one in _compared(gathered, *pair)]
    ps = adjusted([test for test, _ in compared])
    return [
        verdict(ratio=test.interval, outcome=decide(test.interval, p, gathered.plan.same_within))
        if test
        else verdict(ratio=None, outcome="inconclusive")
        for (test, verdict), p in zip(compared, ps, strict=True)
    ]


def _compared(
    gathered: Gathered, factor: Factor, baseline: Cell, cell: Cell
) -> Iterator[tuple[RatioTest | None, partial[StatementVerdict]]]:
    """Yield a test for each statement that both cells executed often, with the verdict that it makes.

    One whose plan differs has a verdict without a test if it was executed too rarely.
    """
    below, above = _speeds(gathered, baseline), _speeds(gathered, cell)
    others = _plans(gathered, cell)
    plans = {
        name: (" or ".join(sorted(own)), " or ".join(sorted(others[name])))
        for name, own in _plans(gathered, baseline).items()
        if own.isdisjoint(others.get(name, own))
    }
    known = (below.keys() & above.keys()) | plans.keys()
    if not known or gathered.bars(baseline, cell):
        return
    shares = _shares(gathered, baseline)
    fewest = fewest_valid(len(gathered.plan.blocks(baseline, cell)))
    verdict = partial(StatementVerdict, factor=factor, baseline=baseline, cell=cell)
    for statement in sorted(known, key=lambda name: -shares.get(name, 0.0)):
        share, plan = shares.get(statement, 0.0), plans.get(statement)
        times = above.get(statement, {}), below.get(statement, {})
        test = gathered.ratio(*times, on_one_host=factor != "host")
        test = test if test and test.interval.n >= fewest else None
        if test or plan:
            yield test, partial(verdict, statement=statement, share=share, plans=plan)


def _speeds(gathered: Gathered, cell: Cell) -> dict[str, dict[int, float]]:
    """Return by statement and block how many a second one connection would be answered."""
    speeds: dict[str, dict[int, float]] = {}
    for one in gathered.valid(cell):
        for kind in one.load.statement_types if one.load.replay else ():
            if kind.name not in NO_STATEMENTS and kind.latency_us and kind.count >= FEWEST:
                speeds.setdefault(kind.name, {})[one.trial.block] = 1 / kind.latency_us.mean
    return speeds


def _plans(gathered: Gathered, cell: Cell) -> dict[str, set[str]]:
    """Return by statement the plans that the server had for it in the trials."""
    plans: dict[str, set[str]] = {}
    for one in gathered.valid(cell):
        for name, plan in one.load.replay.plans.items() if one.load.replay else ():
            plans.setdefault(name, set()).add(plan)
    return plans


def _shares(gathered: Gathered, cell: Cell) -> Mapping[str, float]:
    """Return the share of each statement in the time of all."""
    times: dict[str, float] = {}
    for one in gathered.valid(cell):
        for kind in one.load.statement_types:
            if kind.latency_us:
                times[kind.name] = times.get(kind.name, 0.0) + kind.count * kind.latency_us.mean
    whole = sum(times.values())
    return {name: time / whole for name, time in times.items()} if whole else {}
