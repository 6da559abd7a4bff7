"""How often something happens, from how often it was seen: bounds that hold even for no case."""

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict

from diskproof.stats.distributions import special

CONFIDENCE = 0.95

Kind = Literal["interval", "at most", "at least"]
"""Two-sided; or a one-sided bound for what was never, or always, seen."""


class Share(BaseModel):
    """A share of independent trials, 0 to 1, with its two-sided interval or its one-sided bound."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seen: int
    n: int
    kind: Kind
    low: float
    high: float
    confidence: float = CONFIDENCE

    @property
    def estimate(self) -> float:
        """The observed share."""
        return self.seen / self.n


def share(seen: int, n: int, confidence: float = CONFIDENCE) -> Share:
    """Return the share of `n` trials in which something was seen, with its exact interval or bound.

    Between none and all it is the two-sided interval of Clopper and Pearson, "The use of confidence or
    fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934, with half of the doubt at
    each end. For none or all it is the one-sided bound, with all of the doubt at its only end: after no case
    in n the share is at most 1 - 0.05**(1/n), and 3/n is the rule of thumb (Hanley and Lippman-Hand, "If
    nothing goes wrong, is everything all right?", JAMA 249, 1983).

    The interval alone, or the bound alone, is right with at least the confidence for any n. Whichever of them
    this returns is not: the doubts of both kinds add up, which leaves at least 92.5% of 95%. Raises
    ValueError without trials, or with more cases than trials.
    """
    if not 0 <= seen <= n or n == 0:
        raise ValueError(f"{seen} of {n} is no share of trials")
    doubt = 1 - confidence
    kind: Kind = "interval"
    if seen == 0:
        kind, low, high = "at most", 0.0, 1 - doubt ** (1 / n)
    elif seen == n:
        kind, low, high = "at least", doubt ** (1 / n), 1.0
    else:
        low = float(special().betaincinv(seen, n - seen + 1, doubt / 2))
        high = float(special().betaincinv(seen + 1, n - seen, 1 - doubt / 2))
    return Share(seen=seen, n=n, kind=kind, low=low, high=high, confidence=confidence)


def trials_to_see(share_at_least: float, confidence: float = CONFIDENCE) -> int:
    """Return how many trials show, with that confidence, a case of what happens in that share of them.

    It is the smallest n with 1 - (1 - share)**n >= confidence; shares are between 0 and 1.
    """
    if not 0 < share_at_least < 1:
        raise ValueError(f"the share must be between 0 and 1, not {share_at_least}")
    return math.ceil(math.log(1 - confidence) / math.log(1 - share_at_least))


def same_share_p(seen: int, n: int, other_seen: int, other_n: int) -> float:
    """Return the two-sided p of "both shares are the same" (Fisher's exact test, 1922).

    It is exact, and SciPy takes a second to load. Each count of ways to have seen so many makes the next.
    """
    both = seen + other_seen
    least = max(both - other_n, 0)
    ways = [math.comb(n, least) * math.comb(other_n, both - least)]
    for here in range(least, min(both, n)):
        ways.append(ways[-1] * (n - here) * (both - here) // ((here + 1) * (other_n - both + here + 1)))
    return sum(way for way in ways if way <= ways[seen - least]) / sum(ways)
