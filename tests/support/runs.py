"""Run folders as a finished, a broken-off or a failed run leaves them: real files with synthetic trials."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from diskproof.analysis.answers import Analysis
from diskproof.results.folder import RunFolder
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.trial import Finding, Trial
from support.trials import change, make_machine, make_plan, make_trials

Run = tuple[RunFolder, Analysis]
MakeRun = Callable[..., Run]
"""Writes and analyses the run of a plan: (plan, trials, changes of the machine)."""

STUDY_TEXT = 'question = "How fast is a database on this machine\'s disk against main memory?"\n'

OTHER_SETTING = Finding(
    check="settings",
    severity="invalid",
    message="`innodb_io_capacity` reads back as 100, but 50 was requested",
    remedy="give a value that the server takes in `[tunings.NAME]`",
)
BUSY_HOST = Finding(
    check="busy-host",
    severity="warning",
    message="6.1% of the CPU time went to other guests of the hypervisor.",
    remedy="Run where nothing else runs, or raise `blocks` in [design].",
)


def write_run(
    path: Path, plan: Plan, trials: Sequence[Trial], machine: Machine | None, *, series: bool = True
) -> RunFolder:
    """Write a run folder with these trials and a throughput series for each that has a load."""
    folder = RunFolder.create(path, STUDY_TEXT, plan)
    if machine:
        folder.write(machine)
    random = np.random.default_rng(3)
    for trial in trials:
        folder.append(trial)
        if series and trial.load:
            folder.write_series(trial.id, _series(trial.load.transactions_per_s, plan, random))
    return folder


def quickstart_run(path: Path) -> RunFolder:
    """Write the run of eight cells in five blocks; one trial is invalid, one has a warning."""
    plan = make_plan()
    trials = make_trials(plan)
    trials[3] = change(trials[3], findings=[BUSY_HOST])
    trials[11] = change(trials[11], findings=[OTHER_SETTING])
    return write_run(path, plan, trials, make_machine(plan))


def _series(
    rate_per_s: float, plan: Plan, random: np.random.Generator
) -> list[tuple[float, str, str, float]]:
    """Return one-second throughput that rises in the warm-up, among a metric of another source."""
    rows: list[tuple[float, str, str, float]] = []
    for second in range(-math.floor(plan.warm_up_s), math.floor(plan.measure_s)):
        warmth = 1 - 0.5 * math.exp(-(second + plan.warm_up_s + 1) / 4)
        rate = rate_per_s * warmth * float(random.normal(1, 0.03))
        rows += [
            (second + 1.0, "load", "transactions_per_s", rate),
            (second + 1.0, "host", "cpu_busy_percent", 50.0),
        ]
    return rows
