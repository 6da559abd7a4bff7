"""How often `diskproof history decide` finds a change of known size, and one that is not there.

    .venv/bin/python bench/changes.py RUN RUN RUN ...

The scatter is that of recorded runs of one study, which nothing changed: how their means differ, and how
their trials do. Series are drawn from it anew, a change is put in, and the same functions judge them that the
command uses: the likeliest change first, then pairs of trials side by side until they are decided.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from diskproof.analysis.folder import gather_folder
from diskproof.analysis.verdicts import decide
from diskproof.cli.history.decide import STANDS_OUT
from diskproof.results.folder import RunFolder
from diskproof.stats.change_point import change_point
from diskproof.stats.proportions import share
from diskproof.stats.sequential import anytime_ratio

CHANGES = (0.0, 0.02, 0.03, 0.05, 0.1)
RUNS = 20
"""Of a series; the change comes at a random one."""

PLACES = (1, 5, RUNS - 1)
"""Runs before which something was changed in the study: one of these changes is the one."""

BLOCKS = 5
MOST_PAIRS = 200
"""A pair takes about 10 s: half an hour."""


@dataclass(frozen=True)
class Scatter:
    """Of the logarithms of speeds."""

    runs: NDArray[np.float64]
    """How far the mean of each run lies from that of all."""
    trials: NDArray[np.float64]
    """How far each trial lies from its run's mean."""


def recorded(paths: Sequence[Path]) -> Scatter:
    """Return the scatter of all cells of some runs, as of samples without a mean of their own."""
    runs = [gather_folder(RunFolder.open(path)) for path in paths]
    offsets, residuals = [], []
    for cell in runs[0].plan.cells:
        samples = [np.log(list(run.speeds(cell).values())) for run in runs]
        means = np.array([sample.mean() for sample in samples])
        offsets.append((means - means.mean()) * math.sqrt(len(means) / (len(means) - 1)))
        residuals += [
            (sample - sample.mean()) * math.sqrt(len(sample) / (len(sample) - 1)) for sample in samples
        ]
    return Scatter(np.concatenate(offsets), np.concatenate(residuals))


def pairs_until_decided(
    scatter: Scatter, change: float, random: Generator, same_within: float
) -> tuple[str, int]:
    """Return what pairs of trials before and after the change say, and how many that took."""
    before = np.exp(random.choice(scatter.trials, MOST_PAIRS))
    after = np.exp(random.choice(scatter.trials, MOST_PAIRS)) * (1 - change)
    for pairs in range(3, MOST_PAIRS + 1):
        test = anytime_ratio(after[:pairs], before[:pairs])
        outcome = decide(test.interval, test.p, same_within)
        if outcome != "inconclusive":
            return outcome, pairs
    return "inconclusive", MOST_PAIRS


def main() -> None:
    """Simulate, and print a row for each size of a change."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs that nothing changed")
    parser.add_argument("--series", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    scatter, random = recorded(given.runs), np.random.default_rng(given.seed)
    same_within = RunFolder.open(given.runs[0]).plan().same_within
    table = Table(
        "change", "changed runs", "stands out", "its run named", "decided slower", "95% interval", "pairs"
    )
    for change, places in product(CHANGES, PLACES):
        stood_out = named = slower = 0
        pairs = []
        for number in range(given.series):
            at = int(random.integers(3, RUNS - 2))
            others = [run for run in range(1, RUNS) if run != at]
            changed = [at, *random.choice(others, places - 1, replace=False)]
            samples = [
                random.choice(scatter.runs)
                + random.choice(scatter.trials, BLOCKS)
                + math.log1p(-change) * (run >= at)
                for run in range(RUNS)
            ]
            found = change_point([list(sample) for sample in samples], number, changed)
            assert found is not None
            if found[1] > STANDS_OUT:
                continue
            stood_out += 1
            named += found[0] == at
            # Two runs on the same side of it have no difference to decide.
            between = change if found[0] == at else 0.0
            outcome, took = pairs_until_decided(scatter, between, random, same_within)
            slower += outcome == "slower"
            pairs.append(took)
        found_share = share(slower, given.series)
        table.add_row(
            *(f"{change:.0%}", f"{places}"),
            *(f"{count / given.series:.1%}" for count in (stood_out, named)),
            *(f"{slower / given.series:.2%}", f"{found_share.low:.2%} to {found_share.high:.2%}"),
            f"{np.median(pairs):.0f}" if pairs else "",
        )
    console = Console()
    console.print(
        f"{len(given.runs)} runs: means scatter by {scatter.runs.std():.2%}, trials by "
        f"{scatter.trials.std():.2%}; {given.series} series of {RUNS} runs with {BLOCKS} blocks"
    )
    console.print(table)


if __name__ == "__main__":
    main()
