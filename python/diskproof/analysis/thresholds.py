"""Thresholds: claims of a study that its verdicts must prove, and controls that must do what they must."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.safety.shapes import ControlAnswer
from diskproof.study.model import Threshold


@dataclass(frozen=True)
class FailedClaim:
    """A threshold that a run does not prove."""

    claim: Threshold
    verdict: Verdict | None
    """The one that does not prove it; None: the run compares no such levels."""


def failed_thresholds(claims: Sequence[Threshold], analysis: Analysis) -> list[FailedClaim]:
    """Return every claim that a verdict does not prove, with that verdict.

    A claim is proved if the whole interval of every verdict on its two levels keeps to it. A claim about
    levels that no verdict compares is not proved.
    """
    return [failed for claim in claims for failed in _failures(claim, analysis)]


def _failures(claim: Threshold, analysis: Analysis) -> list[FailedClaim]:
    concerned = [
        verdict
        for verdict in analysis.verdicts
        if (verdict.factor, verdict.level, verdict.baseline) == (claim.factor, claim.level, claim.baseline)
    ]
    if not concerned:
        return [FailedClaim(claim, None)]
    return [FailedClaim(claim, verdict) for verdict in concerned if not _keeps_to(verdict, claim)]


def _keeps_to(verdict: Verdict, claim: Threshold) -> bool:
    ratio = verdict.ratio
    if verdict.outcome == "not comparable" or ratio is None or ratio.low is None or ratio.high is None:
        return False
    above = claim.at_least is None or ratio.low >= claim.at_least
    below = claim.at_most is None or ratio.high <= claim.at_most
    return above and below


def failed_controls(analysis: Analysis) -> list[ControlAnswer]:
    """Return every control of the cuts that did not do what it must.

    An interrupted campaign has only failed ones: the others may still come out right.
    """
    safety = analysis.safety
    if safety is None:
        return []
    bad = {"failed", "too weak", "not tried"} if safety.complete else {"failed"}
    return [control for control in safety.controls if control.outcome in bad]


def is_control_broken(analysis: Analysis) -> bool:
    """Tell whether a cell lost what it must keep."""
    safety = analysis.safety
    return safety is not None and any(control.outcome == "failed" for control in safety.controls)
