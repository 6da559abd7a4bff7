"""Checks over a whole run: repeats, order, and what differs between its cells besides the factors."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from diskproof.audit.check import (
    Configuration,
    NothingToCheckError,
    Problem,
    Run,
    Said,
    Untold,
    check,
    warning,
)
from diskproof.audit.configuration import effective, with_its_groups
from diskproof.audit.in_force import server_beside
from diskproof.audit.levels import observed_by_level
from diskproof.audit.options import differences
from diskproof.families.values import Values, is_off
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.imported import Beside
from diskproof.results.plan import NO_LEVEL, Cell, Metric
from diskproof.results.record import NotRecordedError
from diskproof.results.trial import Trial
from diskproof.stats.intervals import geometric_mean_interval
from diskproof.stats.order import Observation, block_drift, position_effect
from diskproof.wording import Message, say, share

ENOUGH_BLOCKS = 5

_MEASURES: dict[Metric, str] = {
    "transactions_per_s": "transactions per second",
    "requests_per_s": "requests per second",
    "latency_mean_us": "mean latency at a set rate",
    "seconds": "a job's seconds",
}

CONDITIONS: tuple[Factor, ...] = ("workload", "clients")

NO_PAIR = "no two cells differ in one factor alone"

NO_TRIALS = "a valid trial of every cell"

NOT_KNOWN = str(None)
"""A fact that one side's output does not have."""

POSITION_LEVEL = 0.01
DRIFT_LEVEL = 0.05
"""Five blocks in perfect order have a p of 0.017: a lower level could never be reached."""


@check(
    "repeats",
    reason="Restarts of a server differ more than seconds within a run do. Only repeated trials show "
    "whether a difference is chance.",
    remedy=f"set `blocks = {ENOUGH_BLOCKS}` or more in `[design]`",
    source="Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013",
    elsewhere="five runs or more of each, with a restart and fresh data before each, and all their figures",
)
def repeats(run: Run) -> Iterator[Said]:
    """Find fewer than five blocks, and say what precision they reached."""
    if len(run.plan.cells) > 1 and nothing_compared(run):
        raise NothingToCheckError(NO_PAIR)
    blocks = len(run.plan.blocks())
    fewest = min(len(run.trials_of(cell)) for cell in run.plan.cells) if run.plan.imported else blocks
    if fewest >= ENOUGH_BLOCKS:
        return
    widths = [
        interval.uncertainty
        for cell in run.plan.cells
        if (speeds := [speed for _, speed in run.speeds_of(cell)])
        and (interval := geometric_mean_interval(speeds)).uncertainty is not None
    ]
    reached = say("no interval can be given")
    if blocks > 1 and widths:
        best, worst = _within(min(widths)), _within(max(widths))
        if len(widths) == 1:
            reached = say("{figure} is known to within {best}", figure=_figure(run), best=best)
        else:
            reached = say(
                "{figure} is known to within {best} in the best cell and {worst} in the worst",
                figure=_figure(run),
                best=best,
                worst=worst,
            )
    if not run.plan.imported:
        many = say("{n} {n:block|blocks}", n=blocks)
    elif len(run.plan.cells) == 1:
        many = say("{n} {n:run|runs}", n=blocks)
    elif fewest == blocks:
        many = say("{n} {n:run|runs} of each cell", n=blocks)
    else:
        many = say("{fewest} to {most} runs of a cell", fewest=fewest, most=blocks)
    yield warning("{many}: {reached}", many=many, reached=reached)


@check(
    "order",
    reason="If throughput depends on when a trial was run, the machine changed during the experiment. "
    "Random order keeps that from favouring a cell, but it widens every interval.",
    remedy="a longer `warm_up_s` in `[design]`, a rest before the run, and a look at CPU frequency, "
    "temperature, and how full the disk is",
    source="Fisher, The Design of Experiments, 1935; Duplyakin et al. (OrderSage), USENIX ATC 2023",
)
def order(run: Run) -> Iterator[Said]:
    """Find throughput that depends on the position in a block or on the block's number."""
    if run.plan.imported:
        raise NotRecordedError("the order in which the trials were run")
    shared = run.plan.shares_blocks  # then a block's number says nothing of time, but of the machine
    observations = [
        Observation(
            f"{trial.cell}@{run.plan.host_of(trial.id)}" if shared else trial.cell,
            trial.block,
            trial.position,
            math.log(speed),
        )
        for cell in run.plan.cells
        for trial, speed in run.speeds_of(cell)
    ]
    within = position_effect(observations)
    over = None if shared else block_drift(observations)
    if within is None and over is None:
        raise NothingToCheckError("too few trials for their order to show")
    for trend, level, span in (
        (within, POSITION_LEVEL, "from the first to the last trial of a block"),
        (over, DRIFT_LEVEL, "from the first block to the last"),
    ):
        if trend and trend.p < level and abs(trend.change) > run.plan.same_within:
            yield warning(
                "{figure} changes by {change:+.0f} {span}, over all cells together",
                figure=_figure(run),
                change=share(trend.change),
                span=span,
            )


@check(
    "confounding",
    reason="If two cells differ in more than the compared factor, they cannot show what the factor does.",
    remedy="load the data again (remove the golden images) and run all cells on one machine in one run",
    source="Fisher, The Design of Experiments, 1935, on confounding",
    elsewhere="measure both again, alike in all but one thing",
    bars_from="warning",
)
def confounding(run: Run) -> Iterator[Said]:
    """Find compared cells with unequal data or unequal load generators."""
    pairs = list(compared(run))
    if not pairs:
        raise NothingToCheckError(NO_PAIR)
    for factor, cell, other in pairs:
        of_cell, of_other = run.trials_of(cell), run.trials_of(other)
        yield from _untold(factor, of_cell, of_other)
        measures = ("measure", {_MEASURES[run.plan.metric(cell)]}, {_MEASURES[run.plan.metric(other)]})
        for fact, values, others in (measures, *_facts(factor, of_cell, of_other)):
            if values != others and NOT_KNOWN not in values | others:
                yield warning(
                    "`{one}` and `{other}` differ in their {fact} too: {ours:/ or } against {theirs:/ or }",
                    cells=(cell.id, other.id),
                    one=cell.level(factor),
                    other=other.level(factor),
                    fact=fact,
                    ours=sorted(values),
                    theirs=sorted(others),
                )


@check(
    "common-settings",
    reason="A variable that differs between two storages is part of the difference between them.",
    remedy="give the variable one value for both in `[tunings.NAME]`, if both can take it",
    source="read back from the running servers; of imported results the option files given beside them",
    elsewhere="one option file for both, if both can take it",
)
def common_settings(run: Run) -> Iterator[Said]:
    """Find variables that differ between storages though no tuning asked for it."""
    said = set()
    pairs = [pair for factor, *pair in compared_cells(run.plan.cells) if factor == "storage"]
    if not any(cell.has_server for pair in pairs for cell in pair):
        raise NothingToCheckError("no two storages are compared under a server")
    for cell, other in pairs:
        if not (run.trials_of(cell) and run.trials_of(other)):
            yield Untold(NO_TRIALS)
            continue
        ours, theirs = (_common(run, side, run.trials_of(side)[0]) for side in (cell, other))
        if ours is None or theirs is None:
            if cell.has_server:
                yield _untold_settings(run, [run.trials_of(side)[0] for side in (cell, other)])
            continue
        for name, one, two in sorted(differences(ours, theirs)):
            message = say(
                "`{name}` is {one} on {storage} and {two} on {other}: it may cause part of the difference",
                name=name,
                one=one,
                storage=cell.storage,
                two=two,
                other=other.storage,
            )
            if name not in OF_THE_SERVER and "/" not in one + two and message not in said:
                said.add(message)
                yield Problem("warning" if run.plan.imported else "note", message, cells=(cell.id, other.id))


OF_THE_SERVER = ("port", "socket", "server_id", "report_host")
"""Variables that identify a server, and do not change how it works."""

OF_THE_BINARY_LOG = ("binlog_format",)
"""Variables that only matter if there is a binary log."""


@check(
    "levels",
    reason="Two tuning levels that are the same settings under two names show only noise.",
    remedy="see `variables` in `[tunings.NAME]`; leave out a level that has no effect on this server",
    source="read back from the running servers",
)
def levels(run: Run) -> Iterator[Said]:
    """Find tuning levels that do not differ, or that differ in what none of them declares."""
    tunings = list(dict.fromkeys(cell.tuning for cell in run.plan.cells))
    if len(tunings) < 2:
        raise NothingToCheckError("no two tuning levels are compared")
    if not any(trial.settings for trial in run.valid):
        raise NotRecordedError("the server's settings")
    for server in dict.fromkeys(cell.server for cell in run.plan.cells):
        observed = observed_by_level(run.plan, run.valid, server)
        seen = {tuning for one in observed for tuning in one.values}
        for other, tuning in combinations([tuning for tuning in tunings if tuning in seen], 2):
            differing = [one for one in observed if one.value(tuning) != one.value(other)]
            names = {"one": other, "other": tuning, "server": server}
            if not differing:
                yield warning("tunings `{one}` and `{other}` do not differ on `{server}`", **names)
            implied = OF_THE_BINARY_LOG if any(one.variable == "log_bin" for one in differing) else ()
            for one in differing:
                if not one.declared and one.variable not in implied:
                    yield warning(
                        "tunings `{one}` and `{other}` differ in `{name}` on `{server}` ({value} and "
                        "{others}), "
                        "which neither declares",
                        name=one.variable,
                        value=one.value(other),
                        others=one.value(tuning),
                        **names,
                    )


def compared_cells(cells: list[Cell]) -> Iterator[tuple[Factor, Cell, Cell]]:
    """Yield the pairs that differ in one factor alone: the first of its levels there, and each other one."""
    for factor in FACTORS:
        baselines: dict[tuple[str, ...], Cell] = {}
        for cell in cells:
            others = tuple(cell.level(other) for other in FACTORS if other != factor)
            baseline = baselines.setdefault(others, cell)
            if baseline is not cell:
                yield factor, baseline, cell


def varying_factors(cells: Sequence[Cell]) -> list[Factor]:
    """Return the factors of which these cells have more than one level, in the order of FACTORS.

    If each of several loads has its own number of clients, the load says it where another factor is compared.
    """
    found = [factor for factor in FACTORS if len({cell.level(factor) for cell in cells} - {NO_LEVEL}) > 1]
    by_load = len({(cell.workload, cell.clients) for cell in cells}) == len({cell.workload for cell in cells})
    return [factor for factor in found if not (by_load and found[2:] and factor == "clients")]


def compared_pairs(cells: Sequence[Cell]) -> list[tuple[Factor, Cell, Cell]]:
    """Return what gets a verdict: the factor, the baseline and the other cell.

    The number of clients and the workload are conditions, not questions, unless one of them alone varies.
    """
    varying = varying_factors(cells)
    return [one for one in compared_cells(list(cells)) if one[0] not in CONDITIONS or varying == [one[0]]]


def compared(run: Run) -> Iterator[tuple[Factor, Cell, Cell]]:
    """Yield the compared pairs: of imported results none of unlike work, or of unknown clients."""
    for factor, cell, other in compared_cells(run.plan.cells):
        unlike = factor == "workload" or (factor == "clients" and not (cell.clients and other.clients))
        if not (run.plan.imported and unlike):
            yield factor, cell, other


def nothing_compared(run: Run) -> bool:
    """Tell whether imported results are no experiment: no two of their cells differ in one thing alone."""
    return run.plan.imported and not any(compared(run))


def _untold(factor: Factor, trials: list[Trial], others: list[Trial]) -> Iterator[Untold]:
    """Yield what must be equal on both sides of a comparison, but was recorded on neither."""
    if not trials or not others:
        yield Untold(NO_TRIALS)
        return
    both = [*trials, *others]
    if factor not in {"workload", "server"} and not any(trial.data for trial in both):
        yield Untold("the data that the load used")
    if factor not in {"clients", "server"} and not any(trial.load and trial.load.client for trial in both):
        yield Untold("the load generator's threads")


def _facts(
    factor: Factor, trials: list[Trial], others: list[Trial]
) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield each fact that must be equal on both sides of a comparison of a factor's levels."""
    if not trials or not others:
        return
    facts: dict[str, Callable[[Trial], object]] = {}
    if factor not in {"workload", "server"}:
        facts["number of rows"] = lambda trial: trial.data.rows if trial.data else None
        facts["storage engine"] = lambda trial: trial.data.engine if trial.data else None
    if factor not in {"clients", "server"}:  # an embedded server needs a worker for each client
        facts["number of load workers"] = lambda trial: (
            trial.load.client.workers if trial.load and trial.load.client else None
        )
    for name, fact in facts.items():
        yield name, {str(fact(trial)) for trial in trials}, {str(fact(trial)) for trial in others}


def _untold_settings(run: Run, trials: list[Trial]) -> Untold:
    """Return what is missing if the settings of a trial are not known."""
    besides = [run.beside[trial.id] for trial in trials if trial.id in run.beside]
    return Untold(next((one for one in besides if one.misfit), Beside()).missing())


def _common(run: Run, cell: Cell, trial: Trial) -> Values | None:
    """Return the observed settings that no tuning asked for, None if none are known.

    Paths are left out. Of imported results these are the settings that were asked for: a server's whole
    answer also holds values that are no settings.
    """
    if not run.plan.imported:
        return {
            setting.name: setting.observed or "not known to the server"
            for setting in trial.settings
            if not setting.level and not setting.is_path
        } or None
    beside = run.beside.get(trial.id)
    if beside is None or beside.asked is None:
        return None
    configuration = Configuration(beside.asked, server=server_beside(beside, cell))
    values = dict(effective(with_its_groups(configuration)))
    if "log_bin" in values:  # elsewhere its value is a place, which may differ
        values["log_bin"] = "OFF" if is_off(values, "log_bin") else "ON"
    return values


def _within(uncertainty: float) -> Message:
    if uncertainty < 1:
        return say("{share}", share=share(uncertainty))
    return say("a factor of {factor:.1f}", factor=1 + uncertainty)


def _figure(run: Run) -> str:
    """Name what the cells are judged by."""
    metrics = {run.plan.metric(cell) for cell in run.plan.cells}
    return "throughput" if metrics == {"transactions_per_s"} else "speed"
