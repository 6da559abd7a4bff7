"""Whether clients of pgbench queue at its own tables."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Said, check, warning
from diskproof.audit.data_size import builtin_scale
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import counted


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
