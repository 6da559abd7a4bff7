"""The speed goals of diskproof-load against sysbench: same server, same data, same socket, in turn.

Absolute figures mean little on a shared machine; every goal is a ratio of medians over alternating
pairs in one run. `--smoke` makes the shortest run that exercises everything. Writes a table to stdout
and bench/results/load.json.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from diskproof import load
from diskproof.server.base import Dirs, Running
from diskproof.server.registry import find
from diskproof.storage.layout import Layout
from diskproof.study.model import StorageChoice
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter

Result = TypeVar("Result")

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Size:
    """How long and how often."""

    pairs: int
    seconds: float
    tables: int
    rows: int


FULL = Size(pairs=5, seconds=5, tables=4, rows=100_000)
SMOKE = Size(pairs=1, seconds=1, tables=2, rows=1_000)


@dataclass(frozen=True)
class Shot:
    """One execution of one load generator."""

    events_per_s: float
    client_cpu_us: float
    """CPU time of the whole client process, user and system, per event."""


@dataclass(frozen=True)
class Row:
    """One line of the table: ours over the peer's."""

    what: str
    ours: float
    peer: float
    ratio: float
    """Median of the ratios pair by pair."""
    low: float
    high: float
    goal: str


def main() -> None:
    """Run every comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="the shortest run that exercises everything")
    size = SMOKE if parser.parse_args().smoke else FULL
    if not shutil.which("sysbench"):
        sys.exit("sysbench is missing: apt-get install sysbench")
    with server_in_memory() as (running, socket):
        rows = [*prepare_rows(size, running, socket)]
        for clients in (1, 2, 8, 64):
            rows += list(pair_rows(size, running, socket, "point-select", "oltp_point_select", clients))
        rows += list(pair_rows(size, running, socket, "read-write", "oltp_read_write", 64))
        rows += list(pair_rows(size, running, socket, "complex", str(HERE / "complex.lua"), 8))
    rows.append(null_row(size))
    show(rows)
    results = HERE / "results"
    results.mkdir(exist_ok=True)
    (results / "load.json").write_text(json.dumps([asdict(row) for row in rows], indent=1))


@contextmanager
def server_in_memory() -> Iterator[tuple[Running, Path]]:
    """Start MariaDB on a tmpfs at the unsafe level: the client, not the disk, is what is compared."""
    journal = Journal.begin("bench")
    try:
        starter = Starter(journal)
        layout = Layout("bench", StorageChoice.model_validate({"ram": "4 GiB"}), journal)
        runtime = journal.directory(Path(tempfile.gettempdir()) / f"diskproof-{journal.mark}")
        for name in ("run", "log"):
            (runtime / name).mkdir()
        dirs = Dirs(**layout.fresh(), run=runtime / "run", log=runtime / "log")
        kind = find("mysql")
        kind.initialise(dirs, starter)
        settings = kind.loading_settings(dirs, memory_bytes=2**30, max_clients=200)
        running = kind.start(dirs, settings, starter)
        try:
            yield running, next(path for path in dirs.run.iterdir() if path.is_socket())
        finally:
            running.stop()
    finally:
        journal.finish()


def ours(running: Running, size: Size, mix: str, clients: int) -> Shot:
    """Run diskproof-load once."""
    argv = [str(load.program()), "run", "oltp", "--url", running.url, "--json", "--mix", mix]
    argv += ["--tables", str(size.tables), "--rows", str(size.rows), "--clients", str(clients)]
    argv += ["--seconds", str(size.seconds)]
    said, cpu_s = timed(argv)
    summary = json.loads(said.splitlines()[-1])
    return Shot(summary["transactions_per_s"], cpu_s / summary["transactions"] * 1e6)


def sysbench(socket: Path, size: Size, script: str, clients: int) -> Shot:
    """Run sysbench once."""
    said, cpu_s = timed([*sysbench_argv(socket, size, script, clients), f"--time={size.seconds:.0f}", "run"])
    events = re.search(r"total number of events:\s+(\d+)", said)
    seconds = re.search(r"total time:\s+([\d.]+)s", said)
    assert events
    assert seconds
    return Shot(int(events[1]) / float(seconds[1]), cpu_s / int(events[1]) * 1e6)


def sysbench_argv(socket: Path, size: Size, script: str, clients: int) -> list[str]:
    """Return a sysbench command without its last word."""
    return [
        "sysbench",
        script,
        f"--mysql-socket={socket}",
        "--mysql-user=root",
        "--mysql-db=sbtest",
        f"--tables={size.tables}",
        f"--table-size={size.rows}",
        f"--threads={clients}",
        "--rand-type=special",
    ]


def timed(argv: list[str]) -> tuple[str, float]:
    """Run a program; return what it printed and the CPU seconds that the kernel counted for it."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    if process.returncode:
        sys.exit(f"{' '.join(argv)} ended with {process.returncode}:\n{said}")
    return said, usage.ru_utime + usage.ru_stime


def pair_rows(
    size: Size, running: Running, socket: Path, mix: str, script: str, clients: int
) -> Iterator[Row]:
    """Compare throughput and client CPU of one mix at one number of clients."""
    pairs = alternate(
        size.pairs, lambda: ours(running, size, mix, clients), lambda: sysbench(socket, size, script, clients)
    )
    what = f"{mix}, {clients} clients"
    goal = "<= 0.60" if clients == 64 else "<= 0.75"
    throughput_goal = ">= 1.00" if mix == "point-select" else "0.97 to 1.03"
    yield row(
        f"{what}: transactions/s", [(a.events_per_s, b.events_per_s) for a, b in pairs], throughput_goal
    )
    cpu = [(a.client_cpu_us, b.client_cpu_us) for a, b in pairs]
    yield row(f"{what}: client CPU us/transaction", cpu, goal)


def alternate(
    pairs: int, first: Callable[[], Result], second: Callable[[], Result]
) -> list[tuple[Result, Result]]:
    """Run both in turn, the other one first in every second pair."""
    made = []
    for number in range(pairs):
        if number % 2:
            peer = second()
            made.append((first(), peer))
        else:
            mine = first()
            made.append((mine, second()))
    return made


def prepare_rows(size: Size, running: Running, socket: Path) -> Iterator[Row]:
    """Compare the time to load the tables, and leave them loaded by us."""
    data = ["--tables", str(size.tables), "--rows", str(size.rows)]
    program = str(load.program())

    def prepare() -> float:
        began = time.monotonic()
        timed([program, "prepare", "oltp", "--url", running.url, *data, "--mix", "read-write"])
        return time.monotonic() - began

    def cleanup() -> None:
        timed([program, "cleanup", "oltp", "--url", running.url, "--tables", str(size.tables)])

    def peer_prepare() -> float:
        began = time.monotonic()
        timed([*sysbench_argv(socket, size, "oltp_read_write", 8), "prepare"])
        seconds = time.monotonic() - began
        timed([*sysbench_argv(socket, size, "oltp_read_write", 8), "cleanup"])
        return seconds

    def own_prepare() -> float:
        seconds = prepare()
        cleanup()
        return seconds

    yield row(
        f"prepare {size.tables} x {size.rows:,} rows: seconds",
        alternate(size.pairs, own_prepare, peer_prepare),
        "<= 1.00",
    )
    prepare()


def null_row(size: Size) -> Row:
    """Measure our own overhead: transactions of one statement per second and core, nothing behind them."""
    rates = []
    for _ in range(size.pairs):
        argv = [str(load.program()), "run", "oltp", "--url", "null:", "--json", "--mix", "point-select"]
        said, cpu_s = timed([*argv, "--clients", "1", "--seconds", str(size.seconds)])
        rates.append(json.loads(said.splitlines()[-1])["transactions"] / cpu_s)
    goal = 5e6
    return row(
        "null driver: transactions per CPU second (against 5 million)",
        [(rate, goal) for rate in rates],
        ">= 1.00",
    )


def row(what: str, pairs: list[tuple[float, float]], goal: str) -> Row:
    """Make a line from pairs of (ours, peer)."""
    ratios = [mine / peer for mine, peer in pairs]
    return Row(
        what,
        median(mine for mine, _ in pairs),
        median(peer for _, peer in pairs),
        median(ratios),
        min(ratios),
        max(ratios),
        goal,
    )


def show(rows: list[Row]) -> None:
    """Print the table."""
    table = Table(box=None, pad_edge=False)
    table.add_column("what")
    for heading in ("ours", "peer", "ratio", "lowest", "highest", "goal"):
        table.add_column(heading, justify="right")
    for line in rows:
        figures = [f"{value:,.4g}" for value in (line.ours, line.peer)]
        table.add_row(
            line.what, *figures, *(f"{value:.2f}" for value in (line.ratio, line.low, line.high)), line.goal
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
