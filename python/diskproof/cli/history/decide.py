"""`diskproof history decide`: the likeliest change in a series of runs, measured again to be sure."""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from diskproof.analysis.folder import analyse_folder
from diskproof.analysis.gather import Gathered
from diskproof.cli.exits import DONE, THRESHOLD_FAILED, TRIAL_INVALID
from diskproof.cli.screen import say
from diskproof.cli.values.run import gathered
from diskproof.history.shelf import RUNS, folders, named
from diskproof.refusal import RefusalError
from diskproof.results.durable import write_whole
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Cell
from diskproof.stats.change_point import SHUFFLES, change_point
from diskproof.study.interleaved import AFTER, BEFORE, FACTORS, Version, changed_levels, interleaved
from diskproof.wording import numbers

FEWEST_RUNS = 3

STANDS_OUT = 0.05
"""Chance that shuffled runs show as large a change. A likelier one is taken for chance: it is not
measured again."""

NEAR_LEAST = 1.5
"""Times the least chance that so few runs allow: up to this it stands out as far as it can."""

SEED = 1
"""Of the shuffles: the same runs have the same answer."""


def decide(*run: str, at_most: str = "20m", out: Path = RUNS) -> int:
    """Find the run that changed something, and measure before and after side by side: exit code 10 if slower.

    Parameters
    ----------
    run
        Three runs of a study or more in their order, or a study's name for all of its runs.
    at_most
        Time that the trials may take, such as 90s, 20m or 2h.
    out
        Root of the run folders.

    """
    paths = _paths(run, out)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as readers:
        each = zip(paths, readers.map(gathered, paths), strict=True)
        kept = {path: run for path, run in each if any(map(run.valid, run.plan.cells))}
    if void := [path.name for path in paths if path not in kept]:
        say(f"left out, without a valid trial: {numbers.listed(void)}")
    paths = _enough([*kept])
    versions = [(path, RunFolder.open(path).study_text()) for path in paths]
    found = _change([*kept.values()], versions)
    before, after = paths[found.at - 1], paths[found.at]
    say(
        f"the likeliest change: {numbers.listed([before.name, after.name])}, {found.cell.id}: "
        f"{found.ratio - 1:+.1%} (chance shows one as large in {found.p:.1%} of orders)"
    )
    if found.p > max(STANDS_OUT, NEAR_LEAST * found.least_p):
        say("none stands out, so nothing is measured again")
        return DONE
    runs = {BEFORE: versions[found.at - 1], AFTER: versions[found.at]}
    text = interleaved(runs, {factor: getattr(found.cell, factor) for factor in FACTORS.values()})
    study = out / f"{paths[0].parent.name[:30]}-decided.toml"
    out.mkdir(parents=True, exist_ok=True)
    write_whole(study, text)
    say(f"both are run side by side: {study}")
    from diskproof.cli import call  # noqa: PLC0415 - it has this verb

    code = call(["run", str(study), "--until-decided", "--at-most", at_most, "--out", str(out)])
    made = folders([out / study.stem])
    if code not in (DONE, TRIAL_INVALID) or not made:
        return code
    verdicts = analyse_folder(RunFolder.open(made[0])).verdicts
    slower = any(one.outcome == "slower" and one.level.endswith(f"-{AFTER}") for one in verdicts)
    return THRESHOLD_FAILED if slower else code


def _paths(words: Sequence[str], out: Path) -> list[Path]:
    if len(words) == 1:
        paths = list(reversed(folders([out / words[0]])))
    else:
        paths = list(dict.fromkeys(named(word, out) for word in words))
    return _enough(paths)


def _enough(paths: list[Path]) -> list[Path]:
    if len(paths) < FEWEST_RUNS:
        found = numbers.count(len(paths), "run")
        raise RefusalError(f"{found}: a change is looked for in {FEWEST_RUNS} or more")
    return paths


@dataclass(frozen=True)
class _Change:
    cell: Cell
    at: int
    ratio: float
    """Speed since the change over speed before it."""
    p: float
    """Chance of one as large in any of the cells: Bonferroni's bound."""
    least_p: float
    """The least that so many runs and cells can have, with a change there."""


def _change(runs: Sequence[Gathered], versions: Sequence[Version]) -> _Change:
    """Return the change that chance explains least; of several alike the largest one.

    If a cell's server, storage or tuning changed in the study, it is one of these changes.
    """
    found = []
    changes = [changed_levels(before, after) for before, after in pairwise(versions)]
    for cell in runs[0].plan.cells:
        if any(cell.id not in {one.id for one in run.plan.cells} for run in runs):
            continue
        levels = {(factor, getattr(cell, factor)) for factor in FACTORS.values()}
        changed = [at for at, differing in enumerate(changes, start=1) if differing & levels]
        samples = [[math.log(speed) for speed in run.speeds(cell).values()] for run in runs]
        if not all(samples) or (change := change_point(samples, SEED, changed)) is None:
            continue
        at, p = change
        means = [sum(one) / len(one) for one in samples]
        ratio = math.exp(sum(means[at:]) / len(means[at:]) - sum(means[:at]) / at)
        least_p = max(1 / (1 + SHUFFLES), 2 / math.comb(len(runs), at))
        found.append(_Change(cell, at, ratio, p, least_p))
    if not found:
        raise RefusalError("these runs have no cell in common with a valid trial in each")
    least = min(found, key=lambda one: (one.p, -abs(math.log(one.ratio))))
    return replace(least, p=min(1.0, least.p * len(found)), least_p=least.least_p * len(found))
