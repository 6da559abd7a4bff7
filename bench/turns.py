"""What alternate windows gain: two equal servers, the same time in turn and in alternate windows.

`python bench/turns.py --seconds 240 --out DIR` runs bench/turns.toml by both designs, and shows the
half-width of each ratio: of the fixed interval (paired t), over the blocks that the time allowed. The designs
share the time in rounds, so that a change of the machine falls on both. Run it alone: what else the machine
does is in the figures, so the load average stands beside them.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan
from diskproof.stats.intervals import RatioTest, paired_ratio

STUDY = Path(__file__).with_suffix(".toml")
DESIGNS = {"in turn": "alternate = false", "alternate": "alternate = true"}


def main() -> None:
    """Run both designs, and show both results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=int, default=240, help="time of each design")
    parser.add_argument("--rounds", type=int, default=2, help="parts in which the designs share the time")
    parser.add_argument("--out", type=Path, required=True, help="folder of studies and runs")
    parser.add_argument("--shown", action="store_true", help="show the runs that --out already holds")
    arguments = parser.parse_args()
    folders = {name: arguments.out / name.replace(" ", "-") for name in DESIGNS}
    for number in range(0 if arguments.shown else arguments.rounds):
        for name, folder in folders.items():
            run(folder, DESIGNS[name], arguments.seconds * (number + 1) // arguments.rounds)
    results = {}
    for name, folder in folders.items():
        (made,) = (folder / "runs" / "turns").iterdir()
        results[name] = dict(ratios(RunFolder.open(made)))
    console = Console(width=110)
    console.print(table(results))
    console.print(f"load average {os.getloadavg()} on {os.cpu_count()} CPUs", highlight=False)


def run(folder: Path, key: str, seconds: int) -> None:
    """Run the study with a design until its trials have taken so long."""
    study = folder / "turns.toml"
    command = [sys.executable, "-m", "diskproof", "run", str(study), "--out", str(folder / "runs")]
    command += ["--until-decided", "--at-most", f"{seconds}s"]
    if folder.exists():
        command.append("--resume")
    else:
        folder.mkdir(parents=True)
        study.write_text(STUDY.read_text().replace("alternate = true", key))
    subprocess.run(command, check=False)  # 12: some verdict is open, as it should be


def ratios(folder: RunFolder) -> Iterator[tuple[str, RatioTest]]:
    """Yield the ratio of the two servers in each condition, over the blocks with both."""
    plan: Plan = folder.plan()
    speeds: dict[str, dict[int, float]] = {cell.id: {} for cell in plan.cells}
    for trial in folder.trials():
        if trial.load is not None:
            speeds[trial.cell][trial.block] = trial.load.transactions_per_s
    for cell in plan.cells:
        if cell.server != "one":
            continue
        one, other = speeds[cell.id], speeds[cell.id.replace("one/", "other/", 1)]
        blocks = sorted(one.keys() & other.keys())
        if blocks:
            condition = f"{cell.workload}, {cell.clients}"
            yield condition, paired_ratio([other[at] for at in blocks], [one[at] for at in blocks])


def table(results: dict[str, dict[str, RatioTest]]) -> Table:
    """Return half-widths side by side."""
    shown = Table(title="Half-width of the 95% interval of other/one")
    shown.add_column("workload, clients")
    for name in results:
        shown.add_column(name, justify="right")
        shown.add_column("blocks", justify="right")
        shown.add_column("scatter of a block", justify="right")
    for condition in dict.fromkeys(one for found in results.values() for one in found):
        cells = [condition]
        for found in results.values():
            test = found.get(condition)
            cells += shown_cells(test) if test else ["-", "-", "-"]
        shown.add_row(*cells)
    return shown


def shown_cells(test: RatioTest) -> list[str]:
    """Return half-width, blocks and scatter in words."""
    interval = test.interval
    if interval.low is None or interval.high is None or test.log_deviation is None:
        return ["-", str(interval.n), "-"]
    half = (interval.high - interval.low) / 2 / interval.estimate
    return [f"{half:.1%}", str(interval.n), f"{test.log_deviation:.1%}"]


if __name__ == "__main__":
    main()
