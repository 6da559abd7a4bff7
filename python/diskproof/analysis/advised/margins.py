"""By how much a load meets each part of a target, as predicted and as measured."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from diskproof.analysis.advised.records import Measured, Target
from diskproof.analysis.other_disk.errors import CONFIDENCE, LATENCY_WIDTH
from diskproof.analysis.other_disk.records import Predicted

MEASURED_ERROR = 0.05
"""Standard deviation of what was measured, at least: another run scatters, too."""

ALIKE = 0.8
"""Correlation of the errors of two predictions of one card: most of the error is the load's or the device
file's. Chosen; `bench/advice.py` finds nearly the same disks with 0.7 and 0.9."""


def quantile(confidence: float) -> float:
    """Return the standard deviations from the middle of an interval to its end."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


@dataclass(frozen=True)
class Margin:
    """How far a part of a target is exceeded, as a logarithm: above 0 it is met."""

    log: float
    error: float
    """Standard deviation: errors are normal on logarithms, with the width that the interval has."""

    def corrected(self, predicted: "Margin", measured_log: float) -> "Margin":
        """Return this margin after another of its card was predicted and measured."""
        deviations = (measured_log - predicted.log) / predicted.error
        return Margin(
            self.log + ALIKE * deviations * self.error,
            self.error * math.sqrt(1 - ALIKE**2),
        )


def predicted_margins(target: Target, one: Predicted) -> dict[str, Margin] | None:
    """Return the margin of each part of a target; None if a part is not predicted."""
    if one.per_s is None or (one.per_s.high is None and not one.measured):
        return None
    error = MEASURED_ERROR
    if one.per_s.high is not None:
        error = math.log(one.per_s.high / one.per_s.estimate) / quantile(one.per_s.confidence)
    if one.measured:
        error = max(error, MEASURED_ERROR)
    errors = {"per_s": error, "mean_us": error, "p95_us": error}
    if not one.measured:
        errors["p95_us"] = max(LATENCY_WIDTH / quantile(CONFIDENCE), error)
    found = _logs(target, one.per_s.estimate, one.mean_us, one.p95_us)
    return None if found is None else {part: Margin(log, errors[part]) for part, log in found.items()}


def measured_logs(target: Target, one: Measured) -> dict[str, float] | None:
    """Return the margin of each part of a target, as a logarithm; None if a part was not measured."""
    return _logs(target, one.per_s, one.mean_us, one.p95_us)


def probability(margins: Mapping[str, Margin] | None) -> float | None:
    """Return the probability that every part is met; None if it is not known.

    The parts hang together, so the least probability counts.
    """
    if not margins:
        return None
    return min(NormalDist().cdf(one.log / one.error) for one in margins.values())


def _logs(
    target: Target, per_s: float | None, mean_us: float | None, p95_us: float | None
) -> dict[str, float] | None:
    found = {}
    for part, asked, seen in (
        ("per_s", target.per_s, per_s),
        ("mean_us", target.mean_us, mean_us),
        ("p95_us", target.p95_us, p95_us),
    ):
        if asked is not None and not seen:
            return None
        if asked is not None and seen is not None:
            found[part] = math.log(seen / asked) * (1 if part == "per_s" else -1)
    return found
