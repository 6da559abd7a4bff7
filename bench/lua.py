"""A script of sysbench by sysbench and by diskproof-load on one MariaDB: the same counts and throughput.

First one client runs a number of events with both, each on fresh tables. The draws come from
bench/speed/same_draws.lua, so every count must be the same: what the reports say, and what the server counts.
A run of one event that does nothing is taken off, because only sysbench counts the statements of
`thread_init`. Then both run in turns with draws of their own, with the server on a core to itself.

The script is anybody's, and is fetched where it is measured. For TPC-C:

    git clone https://github.com/Percona-Lab/sysbench-tpcc
    python bench/lua.py sysbench-tpcc/tpcc.lua --scale=2

Ends with 1 if a count differs or a goal is missed.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from diskproof import load
from load import table
from speed.pairs import Goal, Row, alternate, row
from speed.programs import need, timed
from speed.servers import Server, mariadb_in_memory

SAME_DRAWS = Path(__file__).parent / "speed" / "same_draws.lua"

THROUGHPUT = Goal(at_least=0.95, at_most=1.05)

TOOLS = {"ours": [str(load.program()), "sysbench"], "peer": ["sysbench"]}

REPORTED = {
    "read": r"^ +reads?:? +(\d+)",
    "write": r"^ +writes?:? +(\d+)",
    "other": r"^ +others?:? +(\d+)",
    "total": r"^ +(?:queries:|statements) +(\d+)",
    "transactions": r"^ +transactions:? +(\d+)",
    "ignored errors": r"^ +(?:ignored errors:|errors) +(\d+)",
    "reconnects": r"^ +reconnects:? +(\d+)",
}
"""How both reports say it."""

SAME_STATEMENTS = Goal(at_least=0.98, at_most=1.02)
"""The draws differ, and so does the number of statements of a transaction, a little."""

COUNTED = (
    "'^(Com_(select|insert|update|delete|replace|begin|commit|rollback)|Handler_(write|update|delete))$'"
)
"""The server's own counters: statements, and rows that they changed."""


def main(words: Sequence[str] | None = None) -> int:
    """Run both comparisons and show them."""
    arguments, options = parse(words)
    need("sysbench", "taskset")
    # The script's modules lie beside it, and sysbench looks for them in the current folder.
    os.chdir(arguments.script.resolve().parent)
    script = f"./{arguments.script.name}"
    console = Console(width=130)
    with mariadb_in_memory(max_clients=200) as server:
        counts = {
            name: counted(server, tool, [script, *options], arguments.events) for name, tool in TOOLS.items()
        }
        console.print(compared(counts["ours"], counts["peer"]))
        rows = list(in_turns(server, [script, *options], arguments))
    console.print(table(rows))
    return 0 if counts["ours"] == counts["peer"] and all(line.met is not False for line in rows) else 1


def parse(words: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; what is not ours are options of the script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("script", type=Path, help="the script; its options follow")
    parser.add_argument("--events", type=int, default=2000, help="events that are counted")
    parser.add_argument("--clients", type=int, default=8, help="clients of the runs in turns")
    parser.add_argument("--pairs", type=int, default=6, help="pairs of runs")
    parser.add_argument("--seconds", type=int, default=10, help="length of a run")
    return parser.parse_known_args(words)


def command(server: Server, begin: list[str], *end: str) -> list[str]:
    """Return a command line of sysbench's form."""
    where = [f"--mysql-socket={server.socket}", "--mysql-user=root", f"--mysql-db={server.database}"]
    return [*begin, *where, "--db-driver=mysql", *end]


def counted(server: Server, tool: list[str], words: list[str], events: int) -> dict[str, int]:
    """Run events of one client on fresh tables; return what was counted."""
    script, *options = words
    with tempfile.TemporaryDirectory() as folder:
        same, idle = (Path(folder) / name for name in ("same.lua", "idle.lua"))
        same.write_text(f'{SAME_DRAWS.read_text()}\ndofile("{script}")\n')
        idle.write_text(f"{same.read_text()}\nfunction event() end\n")
        timed(command(server, [*tool, str(same), *options], "prepare"))
        nothing = tally(server, [*tool, str(idle), *options], 1)
        all_of_it = tally(server, [*tool, str(same), *options], events + 1)
        timed(command(server, [*tool, str(same), *options], "cleanup"))
    return {name: count - nothing[name] for name, count in all_of_it.items()}


def tally(server: Server, begin: list[str], events: int) -> dict[str, int]:
    """Run events of one client; return what the report and the server counted."""
    before = counters(server)
    said, _ = timed(command(server, begin, f"--events={events}", "--time=0", "--threads=1", "run"))
    after = counters(server)
    found = {name: re.search(pattern, said, re.MULTILINE) for name, pattern in REPORTED.items()}
    reported = {name: int(match[1]) for name, match in found.items() if match}
    return reported | {name: after[name] - before[name] for name in after}


def counters(server: Server) -> dict[str, int]:
    """Return the server's counters."""
    rows = server.running.rows(f"SHOW GLOBAL STATUS WHERE Variable_name REGEXP {COUNTED}")
    return {name: int(value) for name, value in rows}


def compared(ours: dict[str, int], peer: dict[str, int]) -> Table:
    """Return the table of the counts."""
    made = Table(box=None, pad_edge=False)
    for heading in ("count", "ours", "peer", "equal"):
        made.add_column(heading, justify="left" if heading == "count" else "right")
    for name in {**peer, **ours}:
        mine, theirs = ours.get(name), peer.get(name)
        made.add_row(name, str(mine), str(theirs), "yes" if mine == theirs else "no")
    return made


def in_turns(server: Server, words: list[str], arguments: argparse.Namespace) -> Iterator[Row]:
    """Run both tools in turns; the server has a core to itself if there are two."""
    timed(command(server, [*TOOLS["ours"], *words], "prepare"))
    cpus = sorted(os.sched_getaffinity(0))
    with server.on({cpus[0]}):
        shots = alternate(
            arguments.pairs,
            lambda: shot(server, [*TOOLS["ours"], *words], arguments, set(cpus[1:])),
            lambda: shot(server, [*TOOLS["peer"], *words], arguments, set(cpus[1:])),
        )
    what = f"{words[0]}, {arguments.clients} clients"

    def line(group: str, unit: str, of: Callable[[Shot], float], goal: Goal | None) -> Row:
        return row(group, what, unit, [(of(mine), of(theirs)) for mine, theirs in shots], goal)

    yield line("statements", "per transaction", attrgetter("statements"), SAME_STATEMENTS)
    yield line("throughput", "transactions/s", attrgetter("per_s"), THROUGHPUT)
    yield line("client CPU", "us/transaction", attrgetter("client_cpu_us"), None)


@dataclass(frozen=True)
class Shot:
    """One execution of one tool."""

    per_s: float
    statements: float
    client_cpu_us: float


def shot(server: Server, begin: list[str], arguments: argparse.Namespace, cpus: set[int]) -> Shot:
    """Run one tool for a while."""
    end = (f"--threads={arguments.clients}", f"--time={arguments.seconds}", "run")
    said, cpu_s = timed(command(server, begin, *end), cpus or None)
    done = re.search(r"transactions:? +(\d+) +\(?([\d.]+) per s", said)
    sent = re.search(r"queries:? +(\d+)", said)
    if done is None or sent is None:
        sys.exit(f"no report in:\n{said}")
    transactions = int(done[1])
    return Shot(float(done[2]), int(sent[1]) / transactions, cpu_s / transactions * 1e6)


if __name__ == "__main__":
    sys.exit(main())
