"""Kills and other disturbances by seed: what `make torture` runs.

Each case starts a short piece of work, disturbs it, cleans up and compares everything with the state before.
Ends with 1 if anything was found. `--seed 7 --only 11 123` runs one case again; the first number
is of the same work without disturbance, which has the loaded data and the length for the other.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from left import CONNECTIONS, mounts
from works import WORKS

HERE = Path(__file__).parent
LIMIT_S = 400.0
"""Limit for a whole case: each of its steps has its own."""

NAMESPACES = ("unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--ipc")
INIT = '"$@"; exit $?'
"""The shell is the first process, which collects those whose parents are gone."""

FINDINGS = ("left", "harmed", "counted", "hung", "traceback", "exit code", "broken")


@dataclass
class Tally:
    """What was counted of one kind of work."""

    cases: int = 0
    kills: int = 0
    seconds: float = 0.0
    found: Counter[str] = field(default_factory=Counter)


def main() -> int:
    """Run the cases, show each that found something, and the table."""
    arguments = parse()
    if os.geteuid() != 0:
        sys.exit("only root has namespaces, loop devices and mounts of its own: run as root")
    console = Console(width=150, highlight=False, soft_wrap=True)
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory(prefix="torture-images-") as kept, suppress(KeyboardInterrupt):
        run_cases(arguments, kept, tallies, console)
    console.print(table(tallies))
    return 1 if any(tally.found for tally in tallies.values()) else 0


def run_cases(arguments: argparse.Namespace, kept: str, tallies: dict[str, Tally], console: Console) -> None:
    """Run the cases one after the other; `kept` is the folder for what later cases use."""
    started = time.monotonic()
    for done, number in enumerate(arguments.only or range(arguments.count), start=1):
        began = time.monotonic()
        outcome = run_case(arguments.seed, number, kept)
        tally = tallies.setdefault(outcome["work"], Tally())
        tally.cases += 1
        tally.kills += outcome["kills"]
        tally.seconds += time.monotonic() - began
        tally.found.update(kind_of(one) for one in outcome["found"])
        again = f"--seed {arguments.seed} --only {number % len(WORKS)} {number}"
        case = f"{outcome['work']}, {outcome['disturbance']}, {outcome['moment']}"
        for one in outcome["found"]:
            console.print(f"{again}: {case}: {one}", markup=False)
        if arguments.verbose or (outcome["found"] and arguments.only):
            console.print(outcome["said"], markup=False)
        if done % 10 == 0 or arguments.only:
            found = sum(one.found.total() for one in tallies.values())
            kills = sum(one.kills for one in tallies.values())
            console.print(f"{done} cases, {kills} kills, {found} found, {time.monotonic() - started:.0f} s")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="another seed has other cases")
    parser.add_argument("--count", type=int, default=500, help="number of cases; default: 500, about an hour")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the cases to run again")
    parser.add_argument("--verbose", action="store_true", help="show what the programs of a case said")
    return parser.parse_args()


def run_case(seed: int, number: int, kept: str) -> dict[str, Any]:
    """Run one case in namespaces of its own and return its outcome."""
    words = [*NAMESPACES, "sh", "-c", INIT, "sh", sys.executable, str(HERE / "case.py")]
    process = subprocess.Popen(
        [*words, str(seed), str(number), kept, str(HERE.parent), sys.prefix],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        abort_connections(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        return broken(f"hung: the case has not ended after {LIMIT_S:.0f} s", "")
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.returncode:
        return broken(f"broken: the case itself failed: {' '.join(err.split())[-300:]}", err)
    outcome: dict[str, Any] = json.loads(out)
    return outcome


def broken(found: str, said: str) -> dict[str, Any]:
    """Return the outcome of a case that did not tell its own."""
    return {"work": "?", "disturbance": "?", "moment": "?", "kills": 0, "found": [found], "said": said}


def abort_connections(pid: int) -> None:
    """Abort the FUSE connections of a case that hangs: a process that waits for one cannot be killed."""
    for child in psutil.Process(pid).children(recursive=True):
        for mount in mounts(child.pid):
            if mount.kind.startswith("fuse"):
                with suppress(OSError):
                    (CONNECTIONS / str(mount.minor) / "abort").write_text("1")


def kind_of(found: str) -> str:
    """Return which kind of finding a sentence is."""
    return next(kind for kind in FINDINGS if f"{kind}:" in found or found.startswith(f"{kind} "))


def table(tallies: dict[str, Tally]) -> Table:
    """Return what was counted, by kind of work."""
    shown = Table("work", "cases", "kills", "s a case", *FINDINGS)
    total = Tally()
    for name, one in tallies.items():
        shown.add_row(name, *cells(one))
        total.cases += one.cases
        total.kills += one.kills
        total.seconds += one.seconds
        total.found += one.found
    shown.add_section()
    shown.add_row("all", *cells(total))
    return shown


def cells(tally: Tally) -> list[str]:
    """Return the cells of a row."""
    counts = [str(tally.found[kind]) for kind in FINDINGS]
    return [str(tally.cases), str(tally.kills), f"{tally.seconds / max(1, tally.cases):.1f}", *counts]


if __name__ == "__main__":
    sys.exit(main())
