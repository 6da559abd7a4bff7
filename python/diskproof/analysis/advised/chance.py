"""How probably a load meets a target, by what is predicted of it."""

import math
from statistics import NormalDist

from diskproof.analysis.advised.records import Target
from diskproof.analysis.other_disk.errors import CONFIDENCE, LATENCY_WIDTH
from diskproof.analysis.other_disk.records import Predicted

MEASURED_ERROR = 0.05
"""Standard deviation of what was measured, at least: another run scatters, too."""


def quantile(confidence: float) -> float:
    """Return the standard deviations from the middle of an interval to its end."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def probability(target: Target, one: Predicted) -> float | None:
    """Return the probability that every part of a target is met; None if a part is not predicted.

    Errors are normal on logarithms, with the width that the interval has. The parts hang together, so the
    least probability counts.
    """
    if one.per_s is None or (one.per_s.high is None and not one.measured):
        return None
    error = MEASURED_ERROR
    if one.per_s.high is not None:
        error = math.log(one.per_s.high / one.per_s.estimate) / quantile(one.per_s.confidence)
    if one.measured:
        error = p95_error = max(error, MEASURED_ERROR)
    else:
        p95_error = max(LATENCY_WIDTH / quantile(CONFIDENCE), error)
    found = []
    for asked, seen, width in (
        (target.per_s, one.per_s.estimate, error),
        (target.mean_us, one.mean_us, -error),
        (target.p95_us, one.p95_us, -p95_error),
    ):
        if asked is not None:
            if not seen:
                return None
            found.append(NormalDist().cdf(math.log(seen / asked) / width))
    return min(found, default=None)
