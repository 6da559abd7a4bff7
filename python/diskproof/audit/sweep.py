"""Checks of results that are compared: the level of clients, digits that hide a difference, conditions."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Problem, Run, Said, Untold, check
from diskproof.audit.run import NO_PAIR, NO_TRIALS, compared_cells, nothing_compared
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import Cell
from diskproof.results.trial import Trial

RISES = 0.05
"""What a step to more clients must add to count as a rise. A judgement: above the scatter of single runs."""

COARSE = 0.02
"""Half of the last printed digit as a share of the figure, from which rounding is worth a word. A judgement:
it is then near the 3 % that count as "the same"."""

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
                f"throughput still rises at the last level of clients: {lower:.4g}/s with {before}, "
                f"{highest:.4g}/s with {last} ({highest / lower - 1:+.0%}): the peak was not reached",
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
    if not run.plan.imported:
        yield Apart("figures are recorded with all their digits")
        return
    pairs = _measured_pairs(run)
    if isinstance(pairs, Apart):
        yield pairs
        return
    for factor, cell, other, trials, others in pairs:
        one, two = (_figure(run, *told) for told in ((cell, trials), (other, others)))
        if not (one and two):
            yield Untold(NO_TRIALS)
            continue
        halves = [_half_digit(run, *told) for told in ((cell, trials), (other, others))]
        if halves[0] is None or halves[1] is None:
            yield Untold("how many digits the tool prints")
            continue
        coarse = max(halves[0] / one, halves[1] / two)
        apart = abs(one - two) / min(one, two)
        if coarse > COARSE and apart <= 2 * coarse:
            yield Problem(
                "warning",
                f"`{cell.level(factor)}` ({one:g}) and `{other.level(factor)}` ({two:g}) differ by "
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
                f"`{cell.level(factor)}` took {low:g} to {high:g} s and `{other.level(factor)}` "
                f"{other_low:g} to {other_high:g} s: the ranges overlap",
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
    if not run.plan.imported:
        yield Apart("one study made them all")
        return
    pairs = _measured_pairs(run)
    if isinstance(pairs, Apart):
        yield pairs
        return
    for factor, cell, other, trials, others in pairs:
        if not trials or not others:
            yield Untold(NO_TRIALS)
            continue
        said = list(_unequal(run, trials[0], others[0], factor))
        if said:
            yield Problem(
                "warning",
                f"`{cell.level(factor)}` and `{other.level(factor)}` differ besides in {'; '.join(said)}",
                cells=(cell.id, other.id),
            )
        elif not (_tool(trials[0]) and _tool(others[0])):
            yield Untold("the tool's version")


def _measured_pairs(run: Run) -> list[tuple[Factor, Cell, Cell, list[Trial], list[Trial]]] | Apart:
    """Return the cells that differ in one factor alone, each with its trials; or that there are none."""
    pairs = [
        (factor, cell, other, run.trials_of(cell), run.trials_of(other))
        for factor, cell, other in compared_cells(run.plan.cells)
    ]
    return pairs or Apart(NO_PAIR)


def _unequal(run: Run, one: Trial, other: Trial, factor: str) -> Iterator[str]:
    if _tool(one) and _tool(other) and _tool(one) != _tool(other):
        yield f"the tool ({_tool(one)} against {_tool(other)})"
    a, b = (trial.load.seconds if trial.load else None for trial in (one, other))
    steady = one.load is not None and not one.load.operations and not one.load.iterations
    if steady and a and b and max(a, b) > min(a, b) * (1 + UNEQUAL_TIME):
        yield f"the time measured ({a:.4g} s against {b:.4g} s)"
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
