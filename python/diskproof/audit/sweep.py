"""Checks of results that are compared: the level of clients, digits that hide a difference, conditions."""

from collections.abc import Callable, Iterator

from diskproof.audit.check import Apart, Problem, Run, Said, Untold, check
from diskproof.audit.run import NO_PAIR, NO_TRIALS, compared_cells, nothing_compared
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import Cell
from diskproof.results.record import format_figure
from diskproof.results.trial import Trial

RISES = 0.05
"""What a step to more clients must add to count as a rise. A judgement: above the scatter of single runs."""

COARSE = 0.02
"""Half of the last printed digit as a share of the figure, from which rounding is worth a word. A judgement:
it is then near the 3 % that count as "the same"."""

_Side = tuple[Cell, list[Trial]]
"""A cell of a comparison with its trials."""

UNEQUAL_TIME = 0.1
"""Share by which a measured time may be the longer one. A judgement: tools end some seconds late."""


@check(
    "client-levels",
    reason="A disk shows what it can with as many requests as it serves at once: with one level of clients "
    "nobody knows whether it was the most, the least or the turning point that was compared.",
    remedy="a sweep from 1 client to more than the peak needs: 1, 2, 4, 8, 16, 32, 64",
    source="Little 1961; Gunther, Guerrilla Capacity Planning, 2007 (throughput against load)",
)
def client_levels(run: Run) -> Iterator[Said]:
    """Find results at one level of clients, and those whose best level is the first or the last one."""
    if nothing_compared(run):
        yield Apart(NO_PAIR)
        return
    sweeps = _sweeps(run)
    if not sweeps:
        if any(not cell.clients for cell in run.plan.cells):
            yield Untold("the number of clients")
        else:
            yield Apart("no steady load of clients")
    for cells in sweeps:
        rates = [(cell.clients, _mean(run, cell)) for cell in cells]
        told = [(clients, rate) for clients, rate in rates if rate]
        if not told or (len(told) == 1 and len(cells) > 1):
            yield Untold(NO_TRIALS)
            continue
        ids = tuple(cell.id for cell in cells)
        if len(told) == 1:
            yield Problem(
                "warning" if run.plan.imported else "note",
                f"one level of clients alone ({told[0][0]}): whether it is the peak is not known",
                cells=ids,
            )
            continue
        (before, lower), (last, highest) = told[-2:]
        if highest > lower * (1 + RISES):
            yield Problem(
                "warning" if run.plan.imported else "note",
                f"throughput still rises at the last level of clients: {format_figure(lower)}/s with "
                f"{before}, "
                f"{format_figure(highest)}/s with {last} ({highest / lower - 1:+.0%}): the peak was not "
                f"reached",
                cells=ids,
            )


@check(
    "rounding",
    reason="A figure of two digits is known to no more than some percent: a difference of that size may be "
    "the rounding's.",
    remedy="more digits, or a job that takes longer",
    source="arithmetic: half of the last digit",
)
def rounding(run: Run) -> Iterator[Said]:
    """Find compared figures whose last digit is as large as the difference between them."""
    yield from _of_pairs(run, _coarse, "figures are recorded with all their digits")


def _coarse(run: Run, factor: Factor, sides: tuple[_Side, _Side]) -> Iterator[Said]:
    """Find a difference that is no larger than what rounding leaves open."""
    cell, other = (side for side, _ in sides)
    one, two = (_figure(run, *told) for told in sides)
    if not (one and two):
        yield Untold(NO_TRIALS)
        return
    halves = [_half_digit(run, *told) for told in sides]
    if halves[0] is None or halves[1] is None:
        yield Untold("how many digits the tool prints")
        return
    coarse = max(halves[0] / one, halves[1] / two)
    apart = abs(one - two) / min(one, two)
    if coarse > COARSE and apart <= 2 * coarse:
        yield Problem(
            "warning",
            f"`{cell.level(factor)}` ({one:,.10g}) and `{other.level(factor)}` ({two:,.10g}) differ by "
            f"{apart:.1%}, and half of the last digit is up to {coarse:.1%}",
            cells=(cell.id, other.id),
        )


@check(
    "overlap",
    reason="Where the iterations of two results take times that overlap, an average of each does not tell "
    "which is faster.",
    remedy="more iterations, and an interval for the ratio; the times of all, not average and extremes",
    source="Jain, The Art of Computer Systems Performance Analysis, 1991, chapter 13",
)
def overlap(run: Run) -> Iterator[Said]:
    """Find compared jobs whose fastest and slowest iterations reach into each other."""
    pairs = [
        (factor, one, other, a, b)
        for factor, one, other in compared_cells(run.plan.cells)
        if (a := _extremes(run, one)) and (b := _extremes(run, other))
    ]
    if not pairs:
        yield Apart("no two jobs of iterations are compared")
    for factor, cell, other, (low, high), (other_low, other_high) in pairs:
        if max(low, other_low) <= min(high, other_high) and high > low and other_high > other_low:
            yield Problem(
                "warning" if run.plan.imported else "note",
                f"`{cell.level(factor)}` took {low:,.10g} to {high:,.10g} s and `{other.level(factor)}` "
                f"{other_low:,.10g} to {other_high:,.10g} s: the ranges overlap",
                cells=(cell.id, other.id),
            )


@check(
    "unequal-runs",
    reason="Two results that were made otherwise differ by that too: by a longer time, another version of "
    "the tool, other options.",
    remedy="make both anew in the same way, or leave the comparison",
    source="Fisher, The Design of Experiments, 1935, on confounding",
)
def unequal_runs(run: Run) -> Iterator[Said]:
    """Find compared results of unequal duration, tool or options."""
    yield from _of_pairs(run, _made_otherwise, "one study made them all")


def _made_otherwise(run: Run, factor: Factor, sides: tuple[_Side, _Side]) -> Iterator[Said]:
    """Find what two cells differ in besides their levels: duration, tool, options."""
    (cell, trials), (other, others) = sides
    said = list(_unequal(run, trials[0], others[0], factor))
    if said:
        yield Problem(
            "warning",
            f"`{cell.level(factor)}` and `{other.level(factor)}` differ besides in {'; '.join(said)}",
            cells=(cell.id, other.id),
        )
    elif not (_tool(trials[0]) and _tool(others[0])):
        yield Untold("the tool's version")


def _of_pairs(
    run: Run, find: Callable[[Run, Factor, tuple[_Side, _Side]], Iterator[Said]], why_apart: str
) -> Iterator[Said]:
    """Ask of each two imported cells that differ in one factor alone, each with its trials."""
    if not run.plan.imported:
        yield Apart(why_apart)
        return
    pairs = list(compared_cells(run.plan.cells))
    if not pairs:
        yield Apart(NO_PAIR)
    for factor, cell, other in pairs:
        trials, others = run.trials_of(cell), run.trials_of(other)
        if trials and others:
            yield from find(run, factor, ((cell, trials), (other, others)))
        else:
            yield Untold(NO_TRIALS)


def _unequal(run: Run, one: Trial, other: Trial, factor: str) -> Iterator[str]:
    if _tool(one) and _tool(other) and _tool(one) != _tool(other):
        yield f"the tool ({_tool(one)} against {_tool(other)})"
    a, b = (trial.load.seconds if trial.load else None for trial in (one, other))
    steady = one.load is not None and not one.load.operations and not one.load.iterations
    if steady and a and b and max(a, b) > min(a, b) * (1 + UNEQUAL_TIME):
        yield f"the time measured ({format_figure(a)} s against {format_figure(b)} s)"
    asked = [run.results[trial.id].asked if trial.id in run.results else {} for trial in (one, other)]
    for name in sorted(asked[0].keys() & asked[1].keys()):
        if asked[0][name] != asked[1][name] and name not in {factor, "threads", "clients", "time"}:
            yield f"`{name}` ({asked[0][name]} against {asked[1][name]})"


def _tool(trial: Trial) -> str | None:
    return trial.imported.tool if trial.imported else None


def _sweeps(run: Run) -> list[list[Cell]]:
    """Return the cells that differ in clients alone, by clients; of steady loads whose clients are told."""
    others = [factor for factor in FACTORS if factor != "clients"]
    found: dict[tuple[str, ...], list[Cell]] = {}
    for cell in run.plan.cells:
        if cell.clients and run.plan.metric(cell) in {"transactions_per_s", "requests_per_s"}:
            found.setdefault(tuple(cell.level(factor) for factor in others), []).append(cell)
    return [sorted(cells, key=lambda cell: cell.clients) for cells in found.values()]


def _mean(run: Run, cell: Cell) -> float | None:
    rates = [trial.load.transactions_per_s for trial in run.trials_of(cell) if trial.load]
    return sum(rates) / len(rates) if rates else None


def _figure(run: Run, cell: Cell, trials: list[Trial]) -> float | None:
    """Return the figure of a cell's first trial, as printed."""
    load = trials[0].load if trials else None
    return load.figure(run.plan.metric(cell)) if load else None


def _half_digit(run: Run, cell: Cell, trials: list[Trial]) -> float | None:
    """Return half of that figure's last printed digit; None where nothing tells it, as of a mean latency."""
    load = trials[0].load
    return load.half_digit if load and run.plan.metric(cell) != "latency_mean_us" else None


def _extremes(run: Run, cell: Cell) -> tuple[float, float] | None:
    told = [trial.load.iterations for trial in run.trials_of(cell) if trial.load and trial.load.iterations]
    return (min(one.min_s for one in told), max(one.max_s for one in told)) if told else None
