"""A database on clones of virtual disks, over the same on the originals: throughput, cell by cell.

Takes the device files that bench/clones.py wrote. Each disk is one `diskproof run` with two storages, the
original and the clone: about 20 minutes. Only valid trials count. Ends with 1 if fewer than the goal's share
of cells have a ratio near 1.
"""

import argparse
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from diskproof.analysis.folder import gather_folder
from diskproof.results.folder import RunFolder

CLONES = Path(__file__).parent / "results" / "clones"

LEAST, MOST = 0.9, 1.1
"""How near the throughput on a clone must come to that on the original."""

GOAL = 0.8
"""Share of cells that must."""

STUDY = """
question = "Is a database as fast on the clone of {name} as on the original?"
[design]
blocks = {blocks}
warm_up_s = 2
measure_s = {seconds}
clients = [1, 8, 64]
memory = ["64 MiB"]
[servers.mariadb]
family = "mysql"
[servers.postgresql]
family = "postgresql"
[storages.original]
virtual = "{name}"
size = "4 GiB"
[storages.clone]
virtual = "./{file}"
size = "4 GiB"
[tunings.safest]
[workloads.complex]
mix = "complex"
tables = 1
rows = 50_000
[workloads.updates]
mix = "update-index"
tables = 1
rows = 50_000
[workloads.reads]
mix = "point-select"
tables = 1
rows = 1_000_000
distribution = "uniform"
"""

Key = tuple[str, str, int]


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for, and show the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", help="some of the disks; default: all that were cloned")
    parser.add_argument("--clones", type=Path, default=CLONES, help="the folder of the clones' device files")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="measured, of each trial")
    asked = parser.parse_args(words)
    names = asked.names or sorted(path.stem for path in asked.clones.glob("*.toml"))
    console = Console(width=130)
    table, good = Table("disk", "server", "load", "clients", "clone / original"), []
    for name in names:
        for (server, load, clients), ratio in ratios(run(asked, name)):
            near = LEAST <= ratio <= MOST
            good.append(near)
            table.add_row(name, server, load, str(clients), f"{'' if near else '!'}{ratio:.2f}")
    console.print(table)
    console.print(f"{sum(good)} of {len(good)} within {LEAST} to {MOST}")
    return 0 if good and sum(good) >= GOAL * len(good) else 1


def run(asked: argparse.Namespace, name: str) -> Path:
    """Make one run and return its folder; RuntimeError if there is none."""
    study = asked.clones / "studies" / f"{name}.toml"
    study.parent.mkdir(exist_ok=True)
    text = STUDY.format(name=name, file=f"../{name}.toml", blocks=asked.blocks, seconds=asked.seconds)
    study.write_text(text, encoding="utf-8")
    out: Path = asked.clones / "runs"
    subprocess.run([sys.executable, "-m", "diskproof", "run", str(study), "--out", str(out)], check=False)
    runs = sorted((out / name).glob("*-*"))
    if not runs:
        raise RuntimeError(f"{study} made no run")
    return runs[-1]


def ratios(folder: Path) -> Iterator[tuple[Key, float]]:
    """Yield the ratio of median throughputs of each server, load and number of clients."""
    gathered = gather_folder(RunFolder.open(folder))
    rates: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in gathered.plan.cells:
        key = (cell.server, cell.workload, cell.clients)
        rates[key][cell.storage] += [trial.load.transactions_per_s for trial in gathered.valid(cell)]
    for key, found in rates.items():
        if found["original"] and found["clone"]:
            yield key, median(found["clone"]) / median(found["original"])


if __name__ == "__main__":
    sys.exit(main())
