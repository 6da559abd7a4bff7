"""How the work is shared between clients, in results and in articles: what scatters by more than chance."""

import math
from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.load import NO_STEADY_LOAD
from diskproof.results.record import format_printed

UNFAIR = 3.0
"""How many times as much as by chance the clients' shares may scatter."""

ALIKE = 0.03
"""Share of the mean below which a scatter is no matter, however unlikely chance makes it. A judgement: the
band that counts as "the same"."""

REASON = (
    "Clients that ask the same and get unequal shares did not wait for the same: some were held back, by "
    "locks or by how the server takes turns, and a mean over all of them is the latency of none."
)
REMEDY = "print each client's share, and look for what holds some of them back"
SOURCE = (
    "renewal theory (Cox, 1962, chapter 4): n independent waits that scatter as much as their mean make a "
    "count that scatters by the square root of n; three times that is beyond chance"
)


def uneven(mean: float, deviation: float) -> str | None:
    """Return the arithmetic of shares that scatter by more than chance; None of those that do not."""
    chance = 1 / math.sqrt(mean)
    if deviation / mean <= max(UNFAIR * chance, ALIKE):
        return None
    told = format_printed(mean)
    return (
        f"the clients' shares scatter by {format_printed(deviation)} / {told} = {deviation / mean:.1%}; "
        f"chance makes about 1 / sqrt({told}) = {chance:.1%}"
    )


@check("client-shares", reason=REASON, remedy=REMEDY, source=SOURCE)
def client_shares(evidence: Evidence) -> Iterator[Said]:
    """Find clients whose shares of the work differ by more than chance."""
    load, told = evidence.load, evidence.load.client_shares
    if evidence.metric == "seconds" or evidence.one_pass:
        yield NO_STEADY_LOAD
    elif load.clients == 1:
        yield Apart("one client has all of it")
    elif told is None or not told.mean:
        yield Untold("how much each client had of the work")
    elif (said := uneven(told.mean, told.stdev)) is not None:
        yield Problem("warning", said)
