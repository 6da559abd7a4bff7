"""What control over hosts costs: runs of one study on a cluster of this host alone, and without a cluster.

A pair has one run of each, in an order by seed. Ray is up only while it has a run to control. The ratio of
their throughputs should be 1. Each pair is a line of `results.jsonl`; a further call adds pairs. Run it
alone: what else the machine does is in the figures.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from random import Random

from diskproof.analysis.folder import analyse_folder
from diskproof.results.folder import RunFolder
from diskproof.stats.intervals import paired_ratio
from diskproof.wording import numbers

OUT = Path("bench") / "results" / "control"

STUDY = """
question = "Does control over hosts change the throughput?"
[hosts]
how = "spread"
names = ["here"]
[design]
blocks = {blocks}
warm_up_s = 1
measure_s = {measure_s}
clients = [1]
memory = ["64 MiB"]
seed = 1
[servers.db]
family = "{family}"
[storages.memory]
ram = "1 GiB"
[tunings.safest]
[workloads.load]
mix = "point-select"
tables = 1
rows = 2000
"""

WITHOUT, WITH = "without", "with"


def main() -> None:
    """Run the pairs, and show the ratio of all pairs so far."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=30, help="pairs of runs to add; default: 30")
    parser.add_argument("--blocks", type=int, default=4, help="trials of a run; default: 4")
    parser.add_argument("--measure", type=float, default=4.0, help="seconds of a trial; default: 4")
    parser.add_argument("--family", default="mysql", choices=["mysql", "postgresql", "sqlite"])
    parser.add_argument("--out", type=Path, default=OUT, help="folder of study, runs and results")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    study = STUDY.format(blocks=asked.blocks, measure_s=asked.measure, family=asked.family)
    (asked.out / "study.toml").write_text(study, encoding="utf-8")
    results = asked.out / "results.jsonl"
    made = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    for number in range(len(made), len(made) + asked.pairs):
        order = [WITHOUT, WITH]
        Random(number).shuffle(order)
        pair = {one: throughput(asked.out, one) for one in order}
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(pair) + "\n")
        print(f"pair {number + 1}: {pair[WITH] / pair[WITHOUT]:.4f}", flush=True)
    show([json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()])


def throughput(out: Path, how: str) -> float:
    """Make a run; return the geometric mean of its trials' throughputs."""
    if how == WITHOUT:
        diskproof(out, "run", "study.toml")
    else:
        here = ("--label", "here", "--address", "127.0.0.1", "--out", "runs")
        diskproof(out, "host", "start", "--head", "--token-file", "token", *here)
        try:
            diskproof(out, "run", "study.toml", "--hosts")
        finally:
            diskproof(out, "host", "leave")
    newest = max((out / "runs" / "study").glob("*-*"))
    (cell,) = analyse_folder(RunFolder.open(newest)).cells
    return statistics.geometric_mean(cell.block_speeds.values())


def diskproof(out: Path, *words: str) -> None:
    """Run diskproof with a state of its own; CalledProcessError if it fails."""
    ended = subprocess.run(
        [sys.executable, "-m", "diskproof", *words],
        cwd=out,
        env={**os.environ, "DISKPROOF_STATE": str((out / "state").absolute())},
        check=False,
        capture_output=True,
        text=True,
    )
    if ended.returncode not in (0, 12):  # 12: a trial did not count
        raise RuntimeError(f"diskproof {' '.join(words)} ended with {ended.returncode}: {ended.stderr}")


def show(pairs: list[dict[str, float]]) -> None:
    """Print the ratio of all pairs, with its interval."""
    found = paired_ratio([pair[WITH] for pair in pairs], [pair[WITHOUT] for pair in pairs]).interval
    bounds = f"{found.low:.4f} to {found.high:.4f}" if found.low and found.high else "no interval"
    print(
        f"with control / without: {found.estimate:.4f} ({bounds}, 95%), {numbers.count(len(pairs), 'pair')}"
    )


if __name__ == "__main__":
    main()
