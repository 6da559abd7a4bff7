"""The comparisons: each makes lines of the table."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from diskproof import load
from speed.pairs import AGREES, Goal, Row, alternate, row
from speed.programs import (
    COMPLEX,
    Shot,
    Tables,
    bare,
    in_lua,
    mysqlslap,
    our_pgbench,
    ours,
    pgbench,
    slap,
    summary,
    sysbench,
    sysbench_argv,
    timed,
)
from speed.servers import Server, in_memory, mariadb_in_memory

NEARLY_BARE = Goal(at_most=1.10)
NO_DEARER = Goal(at_most=1.0)
NO_SLOWER = Goal(at_least=1.0)
AS_FAST = Goal(at_least=0.99)

STATEMENTS = {"point-select": 1, "read-write": 20, "complex": 20}
"""Queries of one transaction, BEGIN and COMMIT too."""


AGREEING = (
    ("complex", COMPLEX),
    ("read-write", "oltp_read_write"),
    ("point-select", "oltp_point_select"),
    ("update-non-index", "oltp_update_non_index"),
)


@dataclass(frozen=True)
class Size:
    """How long and how often."""

    pairs: int
    agreement_pairs: int
    """More of them: three per cent must be distinguished from the machine's own scatter."""
    seconds: float
    clients: tuple[int, ...]
    """Of the statement that does least; 64 are always among them, as a goal of their own asks."""
    data: Tables
    connections: int
    slap_queries: int
    agreeing: tuple[tuple[str, str], ...] = AGREEING
    """Mixes with the peer's script."""


FULL = Size(
    pairs=5,
    agreement_pairs=12,
    seconds=3,
    clients=(1, 2, 8, 64),
    data=Tables(tables=4, rows=100_000),
    connections=10_000,
    slap_queries=4_000,
)
SMOKE = Size(
    pairs=1,
    agreement_pairs=1,
    seconds=1,
    clients=(64,),
    data=Tables(tables=2, rows=1_000),
    connections=200,
    slap_queries=200,
    agreeing=(AGREEING[0], AGREEING[-1]),
)


def loading(server: Server, size: Size) -> Iterator[Row]:
    """Compare the time to load the tables; they are dropped again."""
    data = size.data
    cleanup = [str(load.program()), "cleanup", "oltp", "--url", server.url, "--tables", str(data.tables)]
    peer = sysbench_argv(server, data, "oltp_read_write", 8)

    def seconds_of(make: list[str], drop: list[str]) -> float:
        began = time.monotonic()
        timed(make)
        took_s = time.monotonic() - began
        timed(drop)
        return took_s

    pairs = alternate(
        size.pairs,
        lambda: seconds_of(prepare(server, data), cleanup),
        lambda: seconds_of([*peer, "prepare"], [*peer, "cleanup"]),
    )
    yield row("loading", f"{data.tables} x {data.rows:,} rows", "s", pairs, Goal(at_most=0.60))


def load_tables(server: Server, data: Tables) -> None:
    """Load the tables of the comparisons that follow."""
    timed(prepare(server, data))


def prepare(server: Server, data: Tables) -> list[str]:
    """Return the command that loads the tables; those of 1.0, which both tools then ask for."""
    argv = [str(load.program()), "prepare", "oltp", "--url", server.url, "--mix", "read-write"]
    return [*argv, "--tables", str(data.tables), "--rows", str(data.rows)]


def lightness(server: Server, size: Size) -> Iterator[Row]:
    """Compare throughput and what the client itself takes, all tools free to use every core."""
    for clients in size.clients:
        shots = pairs_of(server, size, "point-select", "oltp_point_select", clients)
        yield from lines("point-select", clients, shots, NO_SLOWER)
        yield _beside_bare(server, size, clients)
    shots = pairs_of(server, size, "read-write", "oltp_read_write", 64)
    yield from lines("read-write", 64, shots, None)


def _beside_bare(server: Server, size: Size, clients: int) -> Row:
    shots = alternate(
        size.pairs,
        lambda: ours(server, size.data, "point-select", clients, size.seconds),
        lambda: bare(server, size.data, clients, size.seconds),
    )
    return _cost("point-select", f"{_what('point-select', clients)}, bare loop", shots, NEARLY_BARE)


def scripts(server: Server, size: Size) -> Iterator[Row]:
    """Compare what a script of sysbench's costs the client."""
    yield _of_script(server, size, "read-write", "oltp_read_write")
    yield _of_script(server, size, "point-select", "oltp_point_select")


def _of_script(server: Server, size: Size, mix: str, script: str) -> Row:
    shots = alternate(
        size.pairs,
        lambda: in_lua(server, size.data, script, 64, size.seconds),
        lambda: sysbench(server, size.data, script, 64, size.seconds),
    )
    return _cost(mix, f"{script}.lua, 64 clients", shots, NO_DEARER)


def pairs_of(
    server: Server, size: Size, mix: str, script: str, clients: int, cpus: set[int] | None = None
) -> list[tuple[Shot, Shot]]:
    """Run both tools in turn; if they are limited to some CPUs, for an agreement."""
    return alternate(
        size.agreement_pairs if cpus else size.pairs,
        lambda: ours(server, size.data, mix, clients, size.seconds, cpus),
        lambda: sysbench(server, size.data, script, clients, size.seconds, cpus),
    )


def lines(mix: str, clients: int, shots: list[tuple[Shot, Shot]], throughput: Goal | None) -> Iterator[Row]:
    """Make the two lines of one comparison."""
    what = _what(mix, clients)
    rates = [(mine.per_s, theirs.per_s) for mine, theirs in shots]
    yield row("throughput", what, "transactions/s", rates, throughput)
    yield _cost(mix, what, shots, None)


def _what(mix: str, clients: int) -> str:
    return f"{mix}, {clients} client{'s' if clients > 1 else ''}"


def _cost(mix: str, what: str, shots: list[tuple[Shot, Shot]], goal: Goal | None) -> Row:
    statements = STATEMENTS[mix]
    costs = [(mine.client_cpu_us / statements, peer.client_cpu_us / statements) for mine, peer in shots]
    return row("client CPU", what, "us/query", costs, goal)


PGBENCH_SCALE = 10
"""More branches than clients, so that these seldom wait for each other."""


def agreements(size: Size) -> Iterator[Iterator[Row]]:
    """Yield comparisons of throughput if only the server decides it: on its own core, always busy.

    Each has a server of its own: on one core, purge falls behind an endless load of updates, and its undo log
    grows until the main memory that it lies in is full.
    """
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        return
    for mix, script in size.agreeing:
        yield _of_mix(size, mix, script, *cpus[:2])
    yield _of_slap(size, *cpus[:2])
    yield _of_pgbench(size, *cpus[:2])


AGREEING_CLIENTS = 8
APART = "server on one core, client on another"


def _of_mix(size: Size, mix: str, script: str, server_cpu: int, client_cpu: int) -> Iterator[Row]:
    with mariadb_in_memory(max_clients=100) as server:
        load_tables(server, size.data)
        with server.on({server_cpu}):
            shots = pairs_of(server, size, mix, script, AGREEING_CLIENTS, {client_cpu})
    rates = [(mine.per_s, theirs.per_s) for mine, theirs in shots]
    note = f"{APART}; the peer runs our own bench/speed/complex.lua" if script == COMPLEX else APART
    yield row("agreement", f"{mix}, {AGREEING_CLIENTS} clients", "transactions/s", rates, AGREES, note)


def _of_slap(size: Size, server_cpu: int, client_cpu: int) -> Iterator[Row]:
    clients, cpus = AGREEING_CLIENTS, {client_cpu}
    with mariadb_in_memory(max_clients=100) as server, server.on({server_cpu}):
        timings = alternate(
            size.agreement_pairs,
            lambda: slap(server, size.slap_queries, clients, cpus),
            lambda: mysqlslap(server, size.slap_queries, clients, cpus),
        )
    yield row("agreement", f"slap mixed, {clients} clients", "queries/s", timings, AGREES, APART)


def _of_pgbench(size: Size, server_cpu: int, client_cpu: int) -> Iterator[Row]:
    clients, cpus = AGREEING_CLIENTS, {client_cpu}
    with in_memory("postgresql", max_clients=100) as server:
        url = ["--url", server.url, "--scale", str(PGBENCH_SCALE)]
        timed([str(load.program()), "prepare", "pgbench", *url])
        with server.on({server_cpu}):
            rates = alternate(
                size.agreement_pairs,
                lambda: our_pgbench(url, clients, size.seconds, cpus),
                lambda: pgbench(server, clients, size.seconds, cpus),
            )
    yield row("agreement", f"pgbench tpcb-like, {clients} clients", "transactions/s", rates, AGREES, APART)


def fence(server: Server, size: Size) -> Iterator[Row]:
    """Compare a script in both fences with the same script, trusted: what is sent is the same."""
    script, clients, what = "oltp_point_select", 8, "a script, 8 clients"
    shots = alternate(
        size.agreement_pairs,
        lambda: in_lua(server, size.data, script, clients, size.seconds),
        lambda: in_lua(server, size.data, script, clients, size.seconds, ["--trust-script"]),
    )
    note = "the peer is the script with --trust-script"
    rates = [(mine.per_s, theirs.per_s) for mine, theirs in shots]
    yield row("fence", what, "transactions/s", rates, AS_FAST, note)
    costs = [(mine.client_cpu_us, theirs.client_cpu_us) for mine, theirs in shots]
    yield row("fence", what, "client CPU us", costs, None, note)


def overhead(size: Size) -> Iterator[Row]:
    """Measure ourselves with nothing behind: transactions of one statement per second and core."""
    rates = []
    for _ in range(size.pairs):
        argv = [str(load.program()), "run", "oltp", "--url", "null:", "--json", "--mix", "point-select"]
        said, cpu_s = timed([*argv, "--clients", "1", "--seconds", str(size.seconds)])
        rates.append(summary(said)["transactions"] / cpu_s)
    goal_per_s = 5e6
    yield row(
        "overhead",
        "null driver",
        "transactions/CPU s",
        [(rate, goal_per_s) for rate in rates],
        NO_SLOWER,
        "the peer's column is the goal: 5 million",
    )


def memory(server: Server, size: Size) -> Iterator[Row]:
    """Measure what one open connection takes of the client's memory: that of many over that of one."""

    def rss_bytes(clients: int) -> float:
        argv = [str(load.program()), "run", "oltp", "--url", server.url, "--json", "--mix", "point-select"]
        argv += ["--tables", str(size.data.tables), "--rows", str(size.data.rows)]
        # Each has worked once, then all stay open to the end.
        argv += ["--clients", str(clients), "--transactions", str(clients)]
        return float(summary(timed(argv)[0])["client"]["max_rss_bytes"])

    each_kib = (rss_bytes(size.connections) - rss_bytes(1)) / (size.connections - 1) / 2**10
    yield row(
        "memory",
        f"{size.connections:,} open connections",
        "KiB each",
        [(each_kib, 16.0)],
        Goal(at_most=1.0),
        "the peer's column is the goal: 16 KiB; sysbench has a thread each",
    )
