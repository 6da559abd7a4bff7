"""The speed goals of diskproof-disk: its models by themselves, and the floor of the way to a virtual disk.

Writes a table to stdout and bench/results/disk.json. Ends with 1 if a goal is missed (never with
--smoke: so short a run judges nothing).
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from diskproof.storage import virtual as storage
from speed import virtual
from speed.figures import Figure, table
from speed.programs import need
from speed.verdict import Judged, conclude
from speed.virtual import FULL, SMOKE, Size

RESULTS = Path(__file__).parent / "results" / "disk.json"
GROUPS = ("models", "floor")


def main(words: Sequence[str] | None = None) -> list[Judged]:
    """Measure what is asked for, show it, and keep it."""
    arguments = parse(words)
    console = Console(width=130)
    figures: list[Figure] = []
    for one in measure(SMOKE if arguments.smoke else FULL, arguments.only):
        figures.append(one)
        console.print(f"[dim]{describe(one)}[/dim]", highlight=False)
    console.print()
    console.print(table(figures))
    arguments.out.parent.mkdir(exist_ok=True)
    machine = {"cores": len(os.sched_getaffinity(0)), "load_average": os.getloadavg()}
    result = {"machine": machine, "figures": [one.as_json() for one in figures]}
    arguments.out.write_text(json.dumps(result, indent=1))
    return [Judged(f"{one.group} {one.what}", None if arguments.smoke else one.met) for one in figures]


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="the shortest run that exercises everything")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="some of the goals")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file of every figure, value by value")
    return parser.parse_args(words)


def measure(size: Size, groups: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures as they are made."""
    if "models" in groups:
        yield from virtual.models(size)
    if "floor" in groups:
        need("fio")
        if missing := storage.missing_means():
            sys.exit(f"the floor cannot be measured: {missing}")
        yield from virtual.floor(size)


def describe(one: Figure) -> str:
    """Return a line of progress."""
    return f"{one.group}: {one.what}: {one.middle:,.4g} {one.unit} {one.note}".rstrip()


if __name__ == "__main__":
    sys.exit(conclude(main()))
