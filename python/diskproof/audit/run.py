"""Checks over a whole run: repeats, order, and what besides the factors differs between its cells."""

import math
from collections.abc import Iterator

from diskproof.audit.check import Apart, Configuration, Problem, Run, Said, Untold, check
from diskproof.audit.configuration import Values, effective, is_off, with_its_series
from diskproof.audit.in_force import server_beside
from diskproof.audit.levels import observed_by_level
from diskproof.audit.options import differences
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.plan import Cell, Metric
from diskproof.results.trial import Trial
from diskproof.stats.intervals import geometric_mean_interval
from diskproof.stats.order import Observation, Trend, block_drift, position_effect

ENOUGH_BLOCKS = 5

_MEASURES: dict[Metric, str] = {
    "transactions_per_s": "transactions per second",
    "requests_per_s": "requests per second",
    "latency_mean_us": "mean latency at a set rate",
    "seconds": "a job's seconds",
}

NO_PAIR = "no two cells differ in one factor alone"

NO_TRIALS = "a valid trial of every cell"

POSITION_LEVEL = 0.01
DRIFT_LEVEL = 0.05
"""Five blocks in perfect order have a p of 0.017: a lower level could never be reached."""


@check(
    "repeats",
    reason="Restarts of a server differ more than seconds within a run do: only repeated trials tell "
    "a difference from chance.",
    remedy=f"`blocks = {ENOUGH_BLOCKS}` or more in `[design]`",
    source="Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013",
    elsewhere="five runs or more of each, with a restart and fresh data before each, and all their figures",
)
def repeats(run: Run) -> Iterator[Said]:
    """Find fewer than five blocks, and say what precision they reached."""
    if len(run.plan.cells) > 1 and nothing_compared(run):
        yield Apart(NO_PAIR)
        return
    blocks = len(run.plan.blocks())
    if blocks >= ENOUGH_BLOCKS:
        return
    widths = [
        interval.uncertainty
        for cell in run.plan.cells
        if (interval := geometric_mean_interval(rates) if (rates := _rates(run, cell)) else None)
        and interval.uncertainty is not None
    ]
    if blocks == 1 or not widths:
        reached = "no interval can be given"
    else:
        reached = (
            f"{_figure(run)} is known to within {_within(min(widths))} in the best cell "
            f"and {_within(max(widths))} in the worst"
        )
    noun = "run of each cell" if run.plan.imported else "block"
    plural = "runs of each cell" if run.plan.imported else "blocks"
    yield Problem("warning", f"{blocks} {noun if blocks == 1 else plural}: {reached}")


@check(
    "order",
    reason="Where throughput depends on when a trial was run, the machine changed under the experiment. "
    "The random order keeps it from favouring a cell, but not from widening every interval.",
    remedy="a longer `warm_up_s` in `[design]`, a rest before the run, and a look at CPU frequency, "
    "temperature, and how full the disk is",
    source="Fisher, The Design of Experiments, 1935; Duplyakin et al. (OrderSage), USENIX ATC 2023",
)
def order(run: Run) -> Iterator[Said]:
    """Find throughput that the position in a block or the block's number explains."""
    if run.plan.imported:
        yield Untold("the order in which the trials were run")
        return
    observations = [
        Observation(trial.cell, trial.block, trial.position, math.log(speed))
        for cell in run.plan.cells
        for trial in run.trials_of(cell)
        if (speed := _speed(run, cell, trial)) is not None
    ]
    within = position_effect(observations)
    over = block_drift(observations)
    if within is None and over is None:
        yield Apart("too few trials for their order to show")
    if within and within.p < POSITION_LEVEL and _matters(run, within):
        yield Problem(
            "warning",
            f"{_figure(run)} changes by {within.change:+.0%} from the first to the last trial of a block, "
            "whatever the cell",
        )
    if over and over.p < DRIFT_LEVEL and _matters(run, over):
        yield Problem(
            "warning",
            f"{_figure(run)} changes by {over.change:+.0%} from the first block to the last, "
            "whatever the cell",
        )


@check(
    "confounding",
    reason="Two cells that differ in more than the factor under comparison cannot show what the factor does.",
    remedy="load the data again (remove the golden images) and run all cells on one machine in one run",
    source="Fisher, The Design of Experiments, 1935, on confounding",
    elsewhere="make both anew, alike in all but one thing",
    bars_from="warning",
)
def confounding(run: Run) -> Iterator[Said]:
    """Find compared cells that worked on unequal data or with unequal load generators."""
    pairs = list(compared_cells(run.plan.cells))
    if not pairs:
        yield Apart(NO_PAIR)
    for factor, cell, other in pairs:
        of_cell, of_other = run.trials_of(cell), run.trials_of(other)
        yield from _untold(factor, of_cell, of_other)
        measures = ("measure", {_MEASURES[run.plan.metric(cell)]}, {_MEASURES[run.plan.metric(other)]})
        for fact, values, others in (measures, *_facts(factor, of_cell, of_other)):
            if values != others:
                yield Problem(
                    "warning",
                    f"`{cell.level(factor)}` and `{other.level(factor)}` differ in their {fact} too: "
                    f"{_said(values)} against {_said(others)}",
                    cells=(cell.id, other.id),
                )


@check(
    "common-settings",
    reason="A variable that differs between two storages has a part in the difference between them.",
    remedy="give the variable one value for both in `[tunings.NAME]`, if both can take it",
    source="read back from the running servers; of imported results the option files given beside them",
    elsewhere="one option file for both, if both can take it",
)
def common_settings(run: Run) -> Iterator[Said]:
    """Find variables that differ between storages though no tuning asked for it."""
    said = set()
    pairs = [pair for factor, *pair in compared_cells(run.plan.cells) if factor == "storage"]
    if not any(cell.has_server for pair in pairs for cell in pair):
        yield Apart("no two storages are compared under a server")
    for cell, other in pairs:
        if not (run.trials_of(cell) and run.trials_of(other)):
            yield Untold(NO_TRIALS)
            continue
        ours, theirs = (_common(run, side, run.trials_of(side)[0]) for side in (cell, other))
        if ours is None or theirs is None:
            if cell.has_server:
                yield Untold(_why_untold(run, [run.trials_of(side)[0] for side in (cell, other)]))
            continue
        for name, one, two in sorted(differences(ours, theirs)):
            message = (
                f"`{name}` is {one} on {cell.storage} and {two} on {other.storage}: "
                "part of a difference between them may be its doing"
            )
            if name not in OF_THE_SERVER and "/" not in one + two and message not in said:
                said.add(message)
                yield Problem("warning" if run.plan.imported else "note", message, cells=(cell.id, other.id))


OF_THE_SERVER = ("port", "socket", "server_id", "report_host")
"""What tells one server from another on the same machine, and is no setting of how it works."""

OF_THE_BINARY_LOG = ("binlog_format",)
"""What a server is given where it has a binary log: without one it says nothing."""


@check(
    "levels",
    reason="Two tuning levels that are the same settings under two names show only noise.",
    remedy="see `variables` in `[tunings.NAME]`; a level without effect on this server is better left out",
    source="read back from the running servers",
)
def levels(run: Run) -> Iterator[Said]:
    """Find tuning levels that differ in nothing, or in what none of them declares."""
    tunings = list(dict.fromkeys(cell.tuning for cell in run.plan.cells))
    if len(tunings) < 2:
        yield Apart("no two tuning levels are compared")
    elif not any(trial.settings for trial in run.valid):
        yield Untold("the server's settings")
    for server in dict.fromkeys(cell.server for cell in run.plan.cells):
        observed = observed_by_level(run.plan, run.valid, server)
        seen = {tuning for one in observed for tuning in one.values}
        present = [tuning for tuning in tunings if tuning in seen]
        for index, tuning in enumerate(present):
            for other in present[:index]:
                differing = [one for one in observed if one.value(tuning) != one.value(other)]
                if not differing:
                    yield Problem(
                        "warning", f"tunings `{other}` and `{tuning}` differ in nothing on `{server}`"
                    )
                implied = OF_THE_BINARY_LOG if any(one.variable == "log_bin" for one in differing) else ()
                for one in differing:
                    if not one.declared and one.variable not in implied:
                        yield Problem(
                            "warning",
                            f"tunings `{other}` and `{tuning}` differ in `{one.variable}` on `{server}` "
                            f"({one.value(other)} and {one.value(tuning)}), which neither declares",
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


def nothing_compared(run: Run) -> bool:
    """Tell whether imported results are no experiment: no two of their cells differ in one thing alone."""
    return run.plan.imported and not any(compared_cells(run.plan.cells))


def _untold(factor: Factor, trials: list[Trial], others: list[Trial]) -> Iterator[Untold]:
    """Yield what must be equal on both sides of a comparison and was recorded on neither."""
    if not trials or not others:
        yield Untold(NO_TRIALS)
        return
    both = [*trials, *others]
    if factor not in {"workload", "server"} and not any(trial.data for trial in both):
        yield Untold("the data that was worked on")
    if factor not in {"clients", "server"} and not any(trial.load and trial.load.client for trial in both):
        yield Untold("the load generator's threads")


def _facts(
    factor: Factor, trials: list[Trial], others: list[Trial]
) -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield each fact that must be equal on both sides of a comparison of a factor's levels."""
    if not trials or not others:
        return
    if factor not in {"workload", "server"}:
        for name, describe in (("number of rows", _row_count), ("storage engine", _engine)):
            yield name, {describe(trial) for trial in trials}, {describe(trial) for trial in others}
    if factor not in {"clients", "server"}:  # an embedded server needs a worker for each client
        yield "number of load workers", {_workers(one) for one in trials}, {_workers(one) for one in others}


def _row_count(trial: Trial) -> str:
    return str(trial.data.rows if trial.data else None)


def _engine(trial: Trial) -> str:
    return str(trial.data.engine if trial.data else None)


def _workers(trial: Trial) -> str:
    return str(trial.load.client.workers if trial.load and trial.load.client else None)


def _why_untold(run: Run, trials: list[Trial]) -> str:
    """Return what is missing where the settings of a trial are not known."""
    reasons = [run.beside[trial.id].why_not for trial in trials if trial.id in run.beside]
    return next(filter(None, reasons), "the server's settings")


def _common(run: Run, cell: Cell, trial: Trial) -> Values | None:
    """Return the observed settings that no tuning asked for, None where none are known.

    Paths differ by nature. Of imported results it is what was asked for: a server's whole answer differs in
    what is no setting.
    """
    if not run.plan.imported:
        return {
            setting.name: setting.observed or "not known to the server"
            for setting in trial.settings
            if not setting.level and "/" not in setting.requested
        } or None
    beside = run.beside.get(trial.id)
    if beside is None or beside.asked is None:
        return None
    configuration = Configuration(beside.asked, server=server_beside(beside, cell))
    values = dict(effective(with_its_series(configuration)))
    if "log_bin" in values:  # elsewhere its value is a place, which may differ
        values["log_bin"] = "OFF" if is_off(values, "log_bin") else "ON"
    return values


def _said(values: set[str]) -> str:
    return " or ".join(sorted(values))


def _within(uncertainty: float) -> str:
    return f"{uncertainty:.0%}" if uncertainty < 1 else f"a factor of {1 + uncertainty:.3g}"


def _rates(run: Run, cell: Cell) -> list[float]:
    return [speed for trial in run.trials_of(cell) if (speed := _speed(run, cell, trial)) is not None]


def _speed(run: Run, cell: Cell, trial: Trial) -> float | None:
    return trial.load.speed(run.plan.metric(cell)) if trial.load else None


def _figure(run: Run) -> str:
    """Name what the cells are judged by."""
    metrics = {run.plan.metric(cell) for cell in run.plan.cells}
    return "throughput" if metrics == {"transactions_per_s"} else "speed"


def _matters(run: Run, trend: Trend) -> bool:
    return abs(trend.change) > run.plan.same_within
