"""The speed goals of diskproof-load against sysbench and mysqlslap: same server, same data, in turn.

Every goal is a ratio within one run; see bench/speed/pairs.py. Writes a table to stdout and
bench/results/load.json. Ends with 1 if a goal is missed (never with --smoke: so short a run
judges nothing).
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from speed import comparisons
from speed.comparisons import FULL, SMOKE, Size
from speed.pairs import Row
from speed.programs import ProgramFailedError, need
from speed.servers import mariadb_in_memory
from speed.verdict import Judged, conclude

RESULTS = Path(__file__).parent / "results" / "load.json"
GROUPS = ("loading", "lightness", "scripts", "agreement", "memory", "fence", "overhead")


def main(words: Sequence[str] | None = None) -> list[Judged]:
    """Run the comparisons that are asked for, show them, and keep them."""
    arguments = parse(words)
    console = Console(width=130)
    rows: list[Row] = []
    failures: list[str] = []
    for line in measure(SMOKE if arguments.smoke else FULL, arguments.only, failures):
        rows.append(line)
        console.print(f"[dim]{describe(line)}[/dim]", highlight=False)
    console.print()
    console.print(table(rows))
    arguments.out.parent.mkdir(exist_ok=True)
    machine = {"cores": len(os.sched_getaffinity(0)), "load_average": os.getloadavg()}
    result = {"machine": machine, "rows": [line.as_json() for line in rows]}
    arguments.out.write_text(json.dumps(result, indent=1))
    for failure in failures:
        console.print(f"failed: {failure}", markup=False, highlight=False)
    failed = [Judged(f"a program failed: {failure.split(maxsplit=1)[0]}", met=False) for failure in failures]
    judged = [Judged(f"{line.group} {line.what}", None if arguments.smoke else line.met) for line in rows]
    return [*judged, *failed]


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="the shortest run that exercises everything")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS, help="some of the comparisons")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file of every figure, pair by pair")
    return parser.parse_args(words)


def measure(size: Size, groups: list[str], failures: list[str]) -> Iterator[Row]:
    """Yield the lines as they are made; where a program fails, its words are kept and the next begins."""

    def begun(lines: Iterator[Row]) -> Iterator[Row]:
        try:
            yield from lines
        except ProgramFailedError as failure:
            failures.append(str(failure))

    need("sysbench", "mariadb-slap", "taskset", "rustc")
    if {"loading", "lightness", "scripts", "memory", "fence"} & set(groups):
        with mariadb_in_memory(max_clients=size.connections + 100) as server:
            if "loading" in groups:
                yield from begun(comparisons.loading(server, size))
            comparisons.load_tables(server, size.data)
            if "lightness" in groups:
                yield from begun(comparisons.lightness(server, size))
            if "scripts" in groups:
                yield from begun(comparisons.scripts(server, size))
            if "memory" in groups:
                yield from begun(comparisons.memory(server, size))
            if "fence" in groups:
                yield from begun(comparisons.fence(server, size))
    if "agreement" in groups:
        for lines in comparisons.agreements(size):
            yield from begun(lines)
    if "overhead" in groups:
        yield from begun(comparisons.overhead(size))


def describe(line: Row) -> str:
    """Return a line of progress."""
    return f"{line.group}: {line.what}: {line.ratio:.3f} ({line.ours:,.4g} / {line.peer:,.4g} {line.unit})"


def table(rows: list[Row]) -> Table:
    """Return the table of all lines."""
    made = Table(box=None, pad_edge=False)
    made.add_column("")
    made.add_column("what")
    for heading in ("ours", "peer", "ratio", "95 % interval", "goal", "met"):
        made.add_column(heading, justify="right")
    made.add_column("unit")
    for line in rows:
        interval = "" if line.low is None else f"{line.low:.3f} to {line.high:.3f}"
        met = {True: "yes", False: "no", None: ""}[line.met]
        figures = [f"{value:,.4g}" for value in (line.ours, line.peer)]
        goal = str(line.goal) if line.goal else ""
        made.add_row(line.group, line.what, *figures, f"{line.ratio:.3f}", interval, goal, met, line.unit)
    return made


if __name__ == "__main__":
    sys.exit(conclude(main()))
