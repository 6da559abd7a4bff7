"""Sources of the scatter of a run's trials, and the advice for an open verdict that follows."""

from collections.abc import Callable, Sequence

from diskproof.analysis.answers import Advice, ScatterAnswer
from diskproof.analysis.gather import Audited, Gathered
from diskproof.results.plan import THROUGHPUTS, Cell
from diskproof.stats.intervals import RatioTest
from diskproof.stats.scatter import Observed, Scatter, of_pair, scatter_of, second_variance

WORTH_IT = 0.8
"""Another length of trials is proposed only if it spares a fifth of the time."""

HARDLY_S = 12 * 3600.0
"""A night: the longest that a user may wait for one verdict."""

Needed = Callable[[float], int | None]
"""How many blocks decide a ratio, by the standard deviation of its logarithm in a block; None: too many."""


def answer_scatter(gathered: Gathered) -> ScatterAnswer | None:
    """Return the scatter of all trials by level; None if there are too few."""
    found = scatter_of([one for cell in gathered.plan.cells for one in observed(gathered, cell)])
    if found is None:
        return None
    return ScatterAnswer(
        block=found.block**0.5,
        start=found.start**0.5,
        within=None if found.second is None else found.within**0.5,
        measure_s=found.measure_s,
        start_s=found.start_s,
    )


def observed(gathered: Gathered, cell: Cell) -> list[Observed]:
    """Return the cell's valid trials as the model of scatter has them."""
    metric = gathered.plan.metric(cell)
    found = []
    for one in gathered.valid(cell):
        speed, timings = one.load.speed(metric), one.trial.timings
        if speed is not None and timings is not None:
            measure_s = timings.measure_s
            found.append(
                Observed(
                    cell=cell.id,
                    block=one.trial.block,
                    speed=speed,
                    measure_s=measure_s,
                    start_s=max(timings.total_s - measure_s, 0.0),
                    second=_second(gathered, one, measure_s) if metric in THROUGHPUTS else None,
                )
            )
    return found


def _second(gathered: Gathered, one: Audited, measure_s: float) -> float | None:
    return second_variance(gathered.series.get(one.trial.id, ()), measure_s)


def scatter_of_pair(gathered: Gathered, pair: Sequence[Cell], test: RatioTest) -> Scatter | None:
    """Return the scatter of the trials behind a ratio; None if it is not known."""
    if test.log_deviation is None or gathered.plan.imported:
        return None
    return of_pair({cell.id: observed(gathered, cell) for cell in pair}, test.log_deviation)


def sooner(scatter: Scatter, needed: Needed) -> Advice | None:
    """Return a length of trials that decides a ratio sooner; None: more blocks are about as good.

    It is never shorter than now: shorter trials would miss what takes long, such as checkpoints. `needed`
    returns how many blocks decide it with a standard deviation of the log ratio; None: too many.
    """
    best_s = scatter.best_measure_s()
    if best_s is None or (best_s := _round(best_s)) <= scatter.measure_s:
        return None
    present, blocks = _blocks(scatter, scatter.measure_s, needed), _blocks(scatter, best_s, needed)
    if blocks is None or (takes_s := pair_s(scatter, best_s, blocks)) > HARDLY_S:
        return None
    if present is not None and takes_s > WORTH_IT * pair_s(scatter, scatter.measure_s, present):
        return None
    return Advice(
        blocks=blocks,
        measure_s=best_s,
        seconds=takes_s,
        within_share=scatter.within / scatter.trial(scatter.measure_s),
    )


def pair_s(scatter: Scatter, measure_s: float, blocks: int) -> float:
    """Return how long both trials of so many blocks take."""
    return 2 * blocks * (scatter.start_s + measure_s)


def _blocks(scatter: Scatter, measure_s: float, needed: Needed) -> int | None:
    return needed((2 * scatter.trial(measure_s)) ** 0.5)


def _round(seconds: float) -> float:
    """Return a time as a person would choose it."""
    return float(f"{seconds:.1g}") if seconds < 10 else float(round(seconds / 5) * 5)
