"""Checks of what was asked for: by the name of a test, and by pgbench's scale."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Problem, Said, check, invalid, warning
from diskproof.audit.data_size import builtin_scale
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import counted

READS = frozenset(
    {
        *("rndrd", "seqrd", "oltp_read_only", "oltp_point_select", "simple"),
        *("select_random_points", "select_random_ranges"),
    }
)
WRITES = frozenset(
    {
        *("rndwr", "seqwr", "seqrewr", "oltp_write_only", "oltp_insert", "oltp_delete", "bulk_insert"),
        *("oltp_update_index", "oltp_update_non_index"),
    }
)
BOTH = frozenset({"rndrw", "seqrw", "oltp_read_write", "complex"})
"""The tests of sysbench and fio that read, that write, and that do both, by sysbench's names."""

NO_WRITES = ("read-only", "rwmixread")
"""Options that make a test of both kinds one that reads, or change its shares."""

UPDATES = ("index-updates", "non-index-updates", "delete-inserts")
RANGES = ("simple-ranges", "sum-ranges", "order-ranges", "distinct-ranges")
"""Options of sysbench for how many of these statements a transaction has: 0 leaves them out."""


NONE = frozenset({"off", "0", "false"})


@check(
    "named-test",
    reason="A test of writes that only read has measured reads, under a wrong name.",
    remedy="look for errors in the tool's output, for options that change the test, and for a known fault of "
    "this version of the tool",
    source="the tool's own counts of reads, writes and syncs",
)
def named_test(evidence: Evidence) -> Iterator[Said]:
    """Find tests that did not do what their name says, and syncs that were asked for and not made."""
    load, moved = evidence.load, evidence.load.file_requests
    name = (load.mix or "").removesuffix(".lua")
    if not evidence.imported or name not in READS | WRITES | BOTH:
        raise NothingToCheckError("no test whose name says whether it reads or writes")
    reads, writes = load.reads, load.writes
    if reads is None or writes is None or not reads + writes:
        raise NothingToCheckError("reads and writes are not counted apart")
    asked = evidence.result.asked if evidence.result else {}
    told = {option.replace("_", "-").removeprefix("oltp-"): value for option, value in asked.items()}
    both = name in BOTH and not any(told.get(option, "off") not in NONE for option in NO_WRITES)
    updates = not all(told.get(option) in NONE for option in UPDATES)
    ranges = told.get("range-selects") not in NONE and not all(told.get(one) in NONE for one in RANGES)
    if not writes and updates and (both or name in WRITES):
        yield _unlike(name, "wrote nothing", reads, "read")
    if not reads and (ranges or told.get("point-selects") not in NONE) and (both or name in READS):
        yield _unlike(name, "read nothing", writes, "write")
    elif writes and name in READS:
        yield _unlike(name, "wrote too", writes, "write")
    every = moved.sync_every if moved else None
    if moved and every and moved.syncs == 0 and writes >= every:
        yield invalid(
            "{writes} and no fsync were made, though one was asked for each {every}",
            writes=counted(writes, "write"),
            every=counted(every, "request"),
        )


def _unlike(name: str, instead: str, count: int, noun: str) -> Problem:
    return invalid(
        "the test `{name}` {instead}: {done} were made", name=name, instead=instead, done=counted(count, noun)
    )


@check(
    "pgbench-scale",
    reason="Each transaction of pgbench's TPC-B updates a row of pgbench_branches, which has as many rows as "
    "the scaling factor. With more clients than rows, clients wait for each other and not for the disk.",
    remedy="`pgbench --initialize --scale=N` with N of at least the largest number of clients, or the script "
    "`simple-update`, which does not update branches and tellers",
    source="PostgreSQL documentation, pgbench, Good Practices: the scale should be at least as large as the "
    "largest number of clients",
)
def pgbench_scale(evidence: Evidence) -> Iterator[Said]:
    """Find more clients than branches, if each transaction updates one."""
    told = evidence.trial.imported
    if told is None or told.format != "pgbench":
        raise NothingToCheckError("no load by pgbench")
    script = recorded(evidence.load.mix, "pgbench's script")
    if not script.startswith("TPC-B"):
        raise NothingToCheckError(f"`{script}` does not update pgbench's branches, or is a user's script")
    if evidence.result is None:  # a run folder keeps the figures, and not the options
        raise NotRecordedError("pgbench's options")
    scale = recorded(builtin_scale(evidence.result), "pgbench's scaling factor")
    asked = evidence.result.asked.get("number of clients", "")
    clients = int(asked) if asked.isdecimal() and len(asked) < 10 else evidence.load.known_clients
    if clients > scale:
        yield warning(
            "{clients} clients update {rows} of pgbench_branches: at most {scale} of them can be between "
            "that update and their commit at a time, and the others queue",
            clients=clients,
            rows=counted(scale, "row"),
            scale=scale,
        )
