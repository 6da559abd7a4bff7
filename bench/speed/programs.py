"""The load generators as programs: their arguments, what they print, what they cost."""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from diskproof import load
from diskproof.server.postgresql.cluster import SUPERUSER
from diskproof.server.postgresql.installation import find_postgresql
from speed.servers import Server

COMPLEX = str(Path(__file__).with_name("complex.lua"))
"""sysbench 1.0 no longer brings the transaction of its older OLTP script."""


@dataclass(frozen=True)
class Tables:
    """The data set of one comparison; both tools ask for its rows evenly."""

    tables: int
    rows: int


@dataclass(frozen=True)
class Shot:
    """One execution of one load generator."""

    per_s: float
    client_cpu_us: float
    """CPU time of the whole client process, user and system, per transaction."""


class ProgramFailedError(SystemExit):
    """A program ended with an error; its words are the message, also if nobody waits for it."""


def need(*programs: str) -> None:
    """End with words if a peer is missing."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; `scripts/system-packages test` installs them as root")


def timed(argv: Sequence[str], cpus: set[int] | None = None) -> tuple[str, float]:
    """Run a program, on these CPUs; return what it printed and the CPU seconds that it took."""
    with tempfile.TemporaryFile("w+") as out:
        pinned = ["taskset", "--cpu-list", ",".join(map(str, sorted(cpus)))] if cpus else []
        process = subprocess.Popen([*pinned, *argv], stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    if process.returncode:
        raise ProgramFailedError(f"{' '.join(argv)} ended with {process.returncode}:\n{said}")
    return said, usage.ru_utime + usage.ru_stime


def summary(said: str) -> dict[str, Any]:
    """Return the last line of our JSON."""
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def ours(  # what a person would type
    server: Server, data: Tables, mix: str, clients: int, seconds: float, cpus: set[int] | None = None
) -> Shot:
    """Run diskproof-load once."""
    argv = [str(load.program()), "run", "oltp", "--url", server.url, "--json", "--mix", mix]
    argv += ["--tables", str(data.tables), "--rows", str(data.rows), "--distribution", "uniform"]
    argv += ["--clients", str(clients), "--seconds", str(seconds)]
    said, cpu_s = timed(argv, cpus)
    end = summary(said)
    return Shot(end["transactions_per_s"], cpu_s / end["transactions"] * 1e6)


def bare(server: Server, data: Tables, clients: int, seconds: float) -> Shot:
    """Run a plain client once: point selects, each a write and a read, and no records."""
    argv = [str(_bare()), str(server.socket), str(clients), str(seconds), str(data.tables), str(data.rows)]
    said, cpu_s = timed(argv)
    return Shot(int(said) / seconds, cpu_s / int(said) * 1e6)


@cache
def _bare() -> Path:
    program = Path(tempfile.mkdtemp(prefix="diskproof-bench-")) / "bare"
    atexit.register(shutil.rmtree, program.parent)
    source = str(Path(__file__).with_name("bare.rs"))
    timed(["rustc", "--edition", "2024", "-C", "opt-level=3", "-o", str(program), source])
    return program


def in_lua(
    server: Server, data: Tables, script: str, clients: int, seconds: float, more: Sequence[str] = ()
) -> Shot:
    """Run one of sysbench's scripts once."""
    argv = [str(load.program()), "run", "lua", f"{script}.lua", "--url", server.url, "--json", *more]
    argv += [f"-otables={data.tables}", f"-otable_size={data.rows}", "--distribution", "uniform"]
    said, cpu_s = timed([*argv, "--clients", str(clients), "--seconds", str(seconds)])
    end = summary(said)
    return Shot(end["transactions_per_s"], cpu_s / end["transactions"] * 1e6)


def sysbench(  # the same of the peer
    server: Server, data: Tables, script: str, clients: int, seconds: float, cpus: set[int] | None = None
) -> Shot:
    """Run sysbench once."""
    said, cpu_s = timed([*sysbench_argv(server, data, script, clients), f"--time={seconds:.0f}", "run"], cpus)
    events = re.search(r"total number of events:\s+(\d+)", said)
    took_s = re.search(r"total time:\s+([\d.]+)s", said)
    assert events
    assert took_s
    return Shot(int(events[1]) / float(took_s[1]), cpu_s / int(events[1]) * 1e6)


def slap(server: Server, queries: int, clients: int, cpus: set[int]) -> float:
    """Run diskproof-load's slap once; return its queries per second."""
    argv = [str(load.program()), "run", "slap", "--url", server.url, "--json"]
    argv += ["--load-type", "mixed", "--clients", str(clients), "--queries", str(queries)]
    said, _ = timed(argv, cpus)
    return queries / float(summary(said)["iterations"]["mean_s"])


def mysqlslap(server: Server, queries: int, clients: int, cpus: set[int]) -> float:
    """Run mysqlslap (as MariaDB ships it) once; return its queries per second."""
    argv = ["mariadb-slap", "--no-defaults", f"--socket={server.socket}", "--user=root"]
    argv += ["--auto-generate-sql", "--auto-generate-sql-load-type=mixed"]
    argv += [f"--concurrency={clients}", f"--number-of-queries={queries}"]
    # It speaks latin1 by itself, and the server would convert every text for one tool alone.
    argv += ["--init-command=SET NAMES utf8mb4"]
    said, _ = timed(argv, cpus)
    average_s = re.search(r"Average number of seconds to run all queries: ([\d.]+)", said)
    assert average_s
    return queries / float(average_s[1])


def our_pgbench(url: Sequence[str], clients: int, seconds: float, cpus: set[int]) -> float:
    """Run diskproof-load's pgbench once; return its transactions per second."""
    argv = [str(load.program()), "run", "pgbench", *url, "--json", "--protocol", "prepared"]
    said, _ = timed([*argv, "--clients", str(clients), "--seconds", str(seconds)], cpus)
    return float(summary(said)["transactions_per_s"])


def pgbench(server: Server, clients: int, seconds: float, cpus: set[int]) -> float:
    """Run the server's own pgbench once; return its transactions per second."""
    argv = [str(find_postgresql().programs / "pgbench"), "--no-vacuum", "--protocol=prepared"]
    argv += [f"--host={server.socket.parent}", f"--username={SUPERUSER}", f"--client={clients}", "--jobs=1"]
    said, _ = timed([*argv, f"--time={seconds:.0f}", server.database], cpus)
    rate = re.search(r"tps = ([\d.]+)", said)
    assert rate
    return float(rate[1])


def sysbench_argv(server: Server, data: Tables, script: str, clients: int) -> list[str]:
    """Return a sysbench command without its last word."""
    return [
        "sysbench",
        script,
        f"--mysql-socket={server.socket}",
        "--mysql-user=root",
        f"--mysql-db={server.database}",
        f"--tables={data.tables}",
        f"--table-size={data.rows}",
        f"--threads={clients}",
        "--rand-type=uniform",
    ]
