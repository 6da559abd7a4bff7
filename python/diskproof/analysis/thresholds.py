"""Thresholds: claims of a study that its verdicts must prove, and controls that must do what they must."""

from collections.abc import Sequence
from typing import Protocol

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.results.factor import Factor


class Claim(Protocol):
    """A threshold as a study states it."""

    @property
    def factor(self) -> Factor:
        """Factor whose levels are compared."""

    @property
    def level(self) -> str:
        """Level that the claim is about."""

    @property
    def baseline(self) -> str:
        """Level it is compared with."""

    @property
    def at_least(self) -> float | None:
        """The ratio's whole interval is at least this."""

    @property
    def at_most(self) -> float | None:
        """The ratio's whole interval is at most this."""


def failed_thresholds(claims: Sequence[Claim], analysis: Analysis) -> list[str]:
    """Return a sentence for every claim that a verdict does not prove.

    A claim is proved where the whole interval of every verdict on its two levels keeps to it. A claim
    about levels that no verdict compares is not proved either.
    """
    return [sentence for claim in claims for sentence in _failures(claim, analysis)]


def _failures(claim: Claim, analysis: Analysis) -> list[str]:
    about = f"{claim.level} against {claim.baseline} ({claim.factor})"
    concerned = [
        verdict
        for verdict in analysis.verdicts
        if (verdict.factor, verdict.level, verdict.baseline) == (claim.factor, claim.level, claim.baseline)
    ]
    if not concerned:
        return [f"{about}: the run compares no such levels"]
    return [f"{about}: {verdict.sentence}" for verdict in concerned if not _keeps_to(verdict, claim)]


def _keeps_to(verdict: Verdict, claim: Claim) -> bool:
    ratio = verdict.ratio
    if verdict.outcome == "not comparable" or ratio is None or ratio.low is None or ratio.high is None:
        return False
    above = claim.at_least is None or ratio.low >= claim.at_least
    below = claim.at_most is None or ratio.high <= claim.at_most
    return above and below


def failed_controls(analysis: Analysis) -> list[str]:
    """Return a sentence for every control of the cuts that did not do what it must; none without cuts.

    Of a campaign that was interrupted only those that did what they must not: the rest may still come.
    """
    safety = analysis.safety
    if safety is None:
        return []
    bad = {"failed", "too weak", "not tried"} if safety.complete else {"failed"}
    return [control.sentence for control in safety.controls if control.outcome in bad]


def is_control_broken(analysis: Analysis) -> bool:
    """Tell whether a cell lost what it must keep: no trial that broke off can undo that."""
    safety = analysis.safety
    return safety is not None and any(control.outcome == "failed" for control in safety.controls)
