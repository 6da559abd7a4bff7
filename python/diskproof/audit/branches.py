"""Whether pgbench's clients had rows of their own: each transaction of its TPC-B updates a branch."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.told_data import builtin_scale
from diskproof.results.record import recorded


@check(
    "pgbench-scale",
    reason="Each transaction of pgbench's TPC-B updates a row of pgbench_branches, and there are as many as "
    "the scaling factor says: with more clients than rows they wait for each other, and not for the disk.",
    remedy="`pgbench --initialize --scale=N` with N of at least the largest number of clients, or the script "
    "`simple-update`, which leaves branches and tellers alone",
    source="PostgreSQL documentation, pgbench, Good Practices: the scale should be at least as large as the "
    "largest number of clients",
)
def pgbench_scale(evidence: Evidence) -> Iterator[Said]:
    """Find more clients than branches, where each transaction updates one."""
    told = evidence.trial.imported
    if told is None or told.format != "pgbench":
        yield Apart("no load by pgbench")
        return
    script = recorded(evidence.load.mix, "pgbench's script")
    if not script.startswith("TPC-B"):
        yield Apart(f"`{script}`, which does not update pgbench's branches, or is somebody's own")
        return
    if evidence.result is None:  # a run folder keeps the figures, and not the options
        yield Untold("pgbench's options")
        return
    scale = recorded(builtin_scale(evidence.result), "pgbench's scaling factor")
    asked = evidence.result.asked.get("number of clients", "")
    clients = int(asked) if asked.isdecimal() and len(asked) < 10 else evidence.load.known_clients
    if clients > scale:
        yield Problem(
            "warning",
            f"{clients:,} clients update {scale:,} {'row' if scale == 1 else 'rows'} of pgbench_branches: at "
            f"most {scale:,} of {clients:,} clients can be between the update of their branch and their "
            "commit at a time; with more clients than rows they queue there",
        )
