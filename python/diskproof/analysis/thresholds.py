"""Conditions: claims of a study that its verdicts must prove, and controls that must do what they must."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, CellAnswer, Verdict
from diskproof.analysis.safety.shapes import ControlAnswer, Spread
from diskproof.stats.intervals import Interval
from diskproof.study.condition import Condition


@dataclass(frozen=True)
class FailedClaim:
    """A threshold that a run does not prove."""

    claim: Condition
    verdict: Verdict | None
    """The one that does not prove it; None: the run compares no such levels, or the claim is of a figure."""
    cell: str | None = None
    """The cell whose figure does not prove it; None: there is none."""
    found: Interval | None = None
    """That figure, in the claim's unit; None: not observed."""


def failed_thresholds(claims: Sequence[Condition], analysis: Analysis) -> list[FailedClaim]:
    """Return every claim that a verdict or a cell does not prove, with that.

    A claim is proved if the whole interval of every verdict on its two levels, or of every cell that it is
    about, keeps to it. A claim about levels that the run does not have is not proved.
    """
    return [
        failed
        for claim in claims
        for failed in (_failures if claim.figure == "ratio" else _failing_cells)(claim, analysis)
    ]


def _failing_cells(claim: Condition, analysis: Analysis) -> list[FailedClaim]:
    figures = figures_of(claim, analysis)
    if not figures:
        return [FailedClaim(claim, None)]
    return [FailedClaim(claim, None, cell, figure) for cell, figure in figures if not claim.is_shown(figure)]


def figures_of(claim: Condition, analysis: Analysis) -> list[tuple[str, Interval | None]]:
    """Return the figure of each cell that a condition is about, by the cell's id, in its unit."""
    if claim.figure == "lost":
        answers = analysis.safety.answers if analysis.safety else []
        found = [(answer.cell, _worst(answer.lost)) for answer in answers]
    else:
        found = [(answer.cell, _figure(claim.figure, answer)) for answer in analysis.cells]
    return [
        (cell.id, figure.scaled(1 / claim.unit) if figure else None)
        for cell, figure in found
        if claim.concerns(cell)
    ]


def _worst(lost: Spread | None) -> Interval | None:
    """Return the largest loss: what was observed, not what could be."""
    return Interval(estimate=lost.worst, low=lost.worst, high=lost.worst, n=lost.n) if lost else None


def _figure(figure: str, answer: CellAnswer) -> Interval | None:
    if figure == "throughput":
        return answer.throughput_per_s
    if figure == "seconds":
        return answer.figure if answer.metric == "seconds" else None
    percentile = figure.removeprefix("p")
    if percentile in answer.latency_at_least:
        return None  # it lies at the end of another tool's histogram, and may be any above it
    return answer.latency_mean_us if figure == "mean" else answer.latency_us.get(percentile)


def _failures(claim: Condition, analysis: Analysis) -> list[FailedClaim]:
    concerned = [
        verdict
        for verdict in analysis.verdicts
        if (verdict.factor, verdict.level, verdict.baseline) == (claim.factor, claim.level, claim.baseline)
    ]
    if not concerned:
        return [FailedClaim(claim, None)]
    return [
        FailedClaim(claim, verdict)
        for verdict in concerned
        if verdict.outcome == "not comparable" or not claim.is_shown(verdict.ratio)
    ]


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
