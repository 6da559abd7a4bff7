"""How the work is shared between clients: shares that scatter by more than chance, clients that queue."""

import math
from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, NothingToCheckError, Problem, Said, Untold, check, warning
from diskproof.audit.data_size import builtin_scale
from diskproof.audit.load import is_paced
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import Message, counted, printed, say, share

UNFAIR = 3.0
"""Clients' shares may scatter this many times as much as by chance."""

ALIKE = 0.1
"""Share of the mean below which a scatter does not matter, however unlikely by chance. A judgement."""

REASON = (
    "Clients that ask the same but get unequal shares do not wait for the same: locks or the server's "
    "scheduling hold some of them back. A mean over all of them is the latency of none."
)
REMEDY = "print each client's share, and look for what holds some of them back"
SOURCE = (
    "renewal theory (Cox, 1962, chapter 4): a count of n independent waits that scatter as much as their "
    "mean scatters by the square root of n; three times that is beyond chance"
)


def uneven(mean: float, deviation: float) -> Message | None:
    """Return the arithmetic of shares that scatter by more than chance; None if they do not."""
    chance = 1 / math.sqrt(mean)
    if deviation / mean <= max(UNFAIR * chance, ALIKE):
        return None
    return say(
        "the clients' shares scatter by {deviation} / {mean} = {scatter:.1f}; by chance they scatter by "
        "about 1 / sqrt({mean}) = {chance:.1f}",
        deviation=printed(deviation),
        mean=printed(mean),
        scatter=share(deviation / mean),
        chance=share(chance),
    )


@check("client-shares", reason=REASON, remedy=REMEDY, source=SOURCE)
def client_shares(evidence: Evidence) -> Iterator[Said]:
    """Find clients whose shares of the work differ by more than chance."""
    load, told = evidence.steady_load, evidence.load.client_shares
    if is_paced(evidence.result):
        yield Apart("at a set rate, whichever client is idle takes the next transaction")
    elif load.clients == 1:
        yield Apart("one client has all of it")
    elif told is None or not told.mean:
        yield Untold("how much each client had of the work")
    elif (scatter := uneven(told.mean, told.stdev)) is not None:
        yield Problem("warning", scatter)


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
