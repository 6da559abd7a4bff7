"""Checks of compared results: the level of clients, digits that hide a difference, unequal runs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

from diskproof.audit.check import NothingToCheckError, Problem, Run, Said, Untold, check, warning
from diskproof.audit.run import NO_PAIR, NO_TRIALS, compared, compared_cells, nothing_compared
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.imported import OF_CLIENTS
from diskproof.results.plan import Cell
from diskproof.results.record import NotRecordedError
from diskproof.results.trial import Severity, Trial
from diskproof.wording import Item, Message, per_s, printed, say, seconds, share

RISES = 0.05
"""A step to more clients must add this much to count as a rise. A judgement: above the scatter of single
runs."""

FEWEST_LEVELS = 3
"""So many levels of clients in another tool's output are a sweep. A judgement."""

SWEEP = "{n} levels of clients that differ in nothing else"

OUTCOMES = ("comments", "time", "max-time", "duration", "runtime", "filename", "if", "of")
"""Options that differ between any two runs, as dates do, or that another figure already says."""

OF_WORK = ("number of transactions per client", "events", "max-requests", "loops", "io_size")
"""Options that end a run when so much is done: its time is then what was measured."""

_Side = tuple[Cell, list[Trial]]
"""A cell of a comparison with its trials."""

SAME_WORK = 0.01
"""Share by which counts may differ that were asked for: each thread may add one. A judgement."""

UNEQUAL_TIME = 0.1
"""Share by which one measured time may exceed the other. A judgement: tools end some seconds late."""


@check(
    "client-levels",
    reason="A disk is fastest with as many requests as it serves at once. One level of clients does not show "
    "whether that was the peak.",
    remedy="a sweep from 1 client to more than the peak needs: 1, 2, 4, 8, 16, 32, 64",
    source="Little 1961; Gunther, Guerrilla Capacity Planning, 2007 (throughput against load)",
)
def client_levels(run: Run) -> Iterator[Said]:
    """Find results at one level of clients, and throughput that still rises at the last level."""
    if nothing_compared(run):
        raise NothingToCheckError(NO_PAIR)
    severity: Severity = "warning" if run.plan.imported else "note"
    sweeps = _sweeps(run)
    if not sweeps:
        if any(not cell.clients for cell in run.plan.cells):
            raise NotRecordedError("the number of clients")
        raise NothingToCheckError("no steady load of clients")
    single: dict[str, int] = {}
    # Jobs of unlike work, each with its own clients, are no sides of a comparison.
    pairs = [
        pair for factor, *pair in compared_cells(run.plan.cells) if factor not in {"workload", "clients"}
    ]
    if run.plan.imported and not pairs and all(len(cells) == 1 for cells in sweeps):
        raise NothingToCheckError("its cells do unlike work")
    levels: dict[str, set[int]] = {}
    for cell in chain.from_iterable(sweeps):
        levels.setdefault(_load(cell), set()).add(cell.clients)
    for cells in sweeps:
        rates = [(cell.clients, _mean(run, cell)) for cell in cells]
        told = [(clients, rate) for clients, rate in rates if rate]
        if not told or (len(told) == 1 and len(cells) > 1):
            yield Untold(NO_TRIALS)
            continue
        ids = tuple(cell.id for cell in cells)
        if len(told) == 1:
            # Bare files may be asked for the latency of one request at a time, which is no peak.
            files = run.plan.metric(cells[0]) == "requests_per_s"
            if run.plan.imported and len(levels[_load(cells[0])]) > 1:
                yield Untold(SWEEP, n=FEWEST_LEVELS)
            elif not run.plan.imported or (not files and any(cells[0] in pair for pair in pairs)):
                single.update(dict.fromkeys(ids, told[0][0]))
            continue
        if run.plan.imported and not _is_sweep(run, cells):
            yield Untold(SWEEP, n=FEWEST_LEVELS)
            continue
        yield from (Problem(severity, rises, cells=ids) for rises in _rise(told))
    if single:
        numbers = [str(clients) for clients in sorted(set(single.values()))]
        only = say("only one level of clients ({clients}): the peak is not known", clients=numbers)
        yield Problem(severity, only, cells=tuple(single))


def _rise(told: Sequence[tuple[int, float]]) -> Iterator[Message]:
    """Say of rates by clients that the last is well above the one before it."""
    (before, lower), (last, highest) = told[-2:]
    if highest > lower * (1 + RISES):
        yield say(
            "throughput still rises at the last level of clients: {lower} with {before}, {highest} with "
            "{last} ({rise:+.0f}). The peak was not reached",
            lower=per_s(lower),
            before=before,
            highest=per_s(highest),
            last=last,
            rise=share(highest / lower - 1),
        )


@check(
    "overlap",
    reason="If the times of two results' iterations overlap, their averages do not show which is faster.",
    remedy="more iterations, and an interval for the ratio; the times of all, not average and extremes",
    source="Jain, The Art of Computer Systems Performance Analysis, 1991, chapter 13",
)
def overlap(run: Run) -> Iterator[Said]:
    """Find compared jobs whose ranges of iterations overlap."""
    pairs = [
        (factor, one, other, a, b)
        for factor, one, other in compared_cells(run.plan.cells)
        if (a := _extremes(run, one)) and (b := _extremes(run, other))
    ]
    if not pairs:
        raise NothingToCheckError("no two jobs of iterations are compared")
    for factor, cell, other, (low, high), (other_low, other_high) in pairs:
        if max(low, other_low) <= min(high, other_high) and high > low and other_high > other_low:
            ranges = say(
                "`{one}` took {low} to {high} s and `{other}` {other_low} to {other_high} s: the ranges "
                "overlap",
                one=cell.level(factor),
                low=printed(low),
                high=printed(high),
                other=other.level(factor),
                other_low=printed(other_low),
                other_high=printed(other_high),
            )
            yield Problem("warning" if run.plan.imported else "note", ranges, cells=(cell.id, other.id))


@check(
    "unequal-runs",
    reason="A longer time, another version of the tool or other options also make results differ.",
    remedy="measure both again in the same way, or do not compare them",
    source="Fisher, The Design of Experiments, 1935, on confounding",
)
def unequal_runs(run: Run) -> Iterator[Said]:
    """Find compared results of unequal duration, tool or options."""
    found: dict[tuple[str, tuple[Message, ...]], list[tuple[str, Cell, Cell]]] = {}
    for factor, (cell, trials), (other, others) in _pairs(run, "one study made them all"):
        if not (trials and others):
            yield Untold(NO_TRIALS)
            continue
        sides = (trials[0], others[0])
        options = tuple(_unequal_options(run, *sides, factor))
        unequal = (*_unequal_measuring(run, *sides), *options)
        if unequal == options[:1] and _file(sides[0]) == _file(sides[1]):
            continue  # in one file, the one option that differs is what was varied
        if unequal:
            alike = found.setdefault((cell.level(factor), unequal), [])
            alike.append((other.level(factor), cell, other))
        elif not (_tool(trials[0]) and _tool(others[0])):
            yield Untold("the tool's version")
    for (one, unequal), alike in found.items():
        yield warning(
            "`{one}` and {others} also differ in {facts:/; }",
            cells=tuple(dict.fromkeys(side.id for _, *sides in alike for side in sides)),
            one=one,
            others=[f"`{other}`" for other in dict.fromkeys(other for other, _, _ in alike)],
            facts=unequal,
        )


def _pairs(run: Run, why_apart: str) -> Iterator[tuple[Factor, _Side, _Side]]:
    """Yield each two imported cells that differ in one factor alone, each with its trials."""
    if not run.plan.imported:
        raise NothingToCheckError(why_apart)
    pairs = list(compared(run))
    if not pairs:
        raise NothingToCheckError(NO_PAIR)
    for factor, cell, other in pairs:
        yield factor, (cell, run.trials_of(cell)), (other, run.trials_of(other))


def _unequal_measuring(run: Run, one: Trial, other: Trial) -> Iterator[Message]:
    """Yield what differs in tool and time."""
    tool, tools = _tool(one), _tool(other)
    if tool and tools and _release(tool) != _release(tools):
        yield _differ("the tool", tool, tools)
    a, b = (trial.load.seconds if trial.load else None for trial in (one, other))
    timed = all(_is_timed(trial, _asked(run, trial)) for trial in (one, other))
    if timed and not _same_work(one, other) and a and b and max(a, b) > min(a, b) * (1 + UNEQUAL_TIME):
        yield _differ("the time measured", seconds(a), seconds(b))


def _unequal_options(run: Run, one: Trial, other: Trial, factor: str) -> Iterator[Message]:
    """Yield the options of both that differ; neither outcomes nor what is compared count."""
    asked, others = _asked(run, one), _asked(run, other)
    for name in sorted(asked.keys() & others.keys()):
        if asked[name] == others[name] or name in {factor, *OF_CLIENTS}:
            continue
        if not (name in OUTCOMES or name.startswith("date")):
            yield _differ(f"`{name}`", asked[name], others[name])


def _differ(what: str, ours: Item, theirs: Item) -> Message:
    return say("{what} ({one} against {other})", what=what, one=ours, other=theirs)


def _asked(run: Run, trial: Trial) -> Mapping[str, str]:
    return run.results[trial.id].asked if trial.id in run.results else {}


def _same_work(one: Trial, other: Trial) -> bool:
    """Tell whether both ended after as many transactions: then that was asked for, and no time."""
    done, others = (trial.load.transactions if trial.load else None for trial in (one, other))
    return done is not None and others is not None and abs(done - others) <= SAME_WORK * done


def _release(tool: str) -> str:
    """Return a tool with the number of its release: ``fio 3`` of ``fio 3.36``, ``sysbench 0.5`` whole."""
    found = re.match(r"\D*(?:0\.)?\d+", tool)
    return found[0] if found else tool


def _is_timed(trial: Trial, asked: Mapping[str, str]) -> bool:
    """Tell whether somebody chose how long a result was measured: a job's time is its figure."""
    load = trial.load
    if load is None or load.operations or load.iterations or "seconds" in load.derived:
        return False
    one_pass = load.file_requests is not None and load.file_requests.one_pass
    return not one_pass and not any(asked.get(name, "0") != "0" for name in OF_WORK)


def _tool(trial: Trial) -> str | None:
    return trial.imported.tool if trial.imported else None


def _file(trial: Trial) -> str | None:
    return trial.imported.file if trial.imported else None


def _sweeps(run: Run) -> list[list[Cell]]:
    """Return the cells that differ in clients alone, by clients; of steady loads with known clients."""
    others = [factor for factor in FACTORS if factor != "clients"]
    found: dict[tuple[str, ...], list[Cell]] = {}
    for cell in run.plan.cells:
        if cell.clients and run.plan.metric(cell) in {"transactions_per_s", "requests_per_s"}:
            found.setdefault(tuple(cell.level(factor) for factor in others), []).append(cell)
    return [sorted(cells, key=lambda cell: cell.clients) for cells in found.values()]


def _load(cell: Cell) -> str:
    """Return a cell's load: of outputs with other options, all of one kind."""
    return cell.workload.partition(" #")[0]


def _is_sweep(run: Run, cells: Sequence[Cell]) -> bool:
    """Tell whether somebody varied the clients: two levels, or other options, may be of unrelated runs."""
    trials = [run.trials_of(cell)[0] for cell in cells if run.trials_of(cell)]
    alike = not any(
        _asked(run, one).get(name) != _asked(run, other).get(name)
        for one, other in pairwise(trials)
        for name in _asked(run, one).keys() | _asked(run, other).keys()
        if name not in {*OF_CLIENTS, *OF_WORK, *OUTCOMES} and not name.startswith("date")
    )
    return alike and len(trials) >= FEWEST_LEVELS


def _mean(run: Run, cell: Cell) -> float | None:
    rates = [trial.load.transactions_per_s for trial in run.trials_of(cell) if trial.load]
    return sum(rates) / len(rates) if rates else None


def _extremes(run: Run, cell: Cell) -> tuple[float, float] | None:
    told = [trial.load.iterations for trial in run.trials_of(cell) if trial.load and trial.load.iterations]
    return (min(one.min_s for one in told), max(one.max_s for one in told)) if told else None
