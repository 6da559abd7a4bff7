"""Thresholds: claims of a study that its verdicts must prove, and controls that must do what they must."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, CellAnswer, Verdict
from diskproof.analysis.safety.shapes import ControlAnswer, Spread
from diskproof.results.plan import Cell
from diskproof.stats.intervals import Interval
from diskproof.study.threshold import Threshold


@dataclass(frozen=True)
class FailedClaim:
    """A threshold that a run does not prove."""

    claim: Threshold
    verdict: Verdict | None
    """The one that does not prove it; None: the run compares no such levels, or the claim is of a figure."""
    cell: str | None = None
    """The cell whose figure does not prove it; None: there is none."""
    found: Interval | None = None
    """That figure, in the claim's unit; None: not observed."""


def failed_thresholds(claims: Sequence[Threshold], analysis: Analysis) -> list[FailedClaim]:
    """Return every claim that a verdict or a cell does not prove, with that.

    A claim is proved if the whole interval of every verdict on its two levels, or of every cell that it is
    about, keeps to it. A claim about levels that the run does not have is not proved.
    """
    return [
        failed
        for claim in claims
        for failed in (_failures if claim.figure == "ratio" else _failing_cells)(claim, analysis)
    ]


def _failing_cells(claim: Threshold, analysis: Analysis) -> list[FailedClaim]:
    found = _losses(analysis) if claim.figure == "lost" else _figures(claim.figure, analysis)
    concerned = [
        (cell.id, figure)
        for cell, figure in found
        if claim.factor is None or cell.level(claim.factor) == claim.level
    ]
    if not concerned:
        return [FailedClaim(claim, None)]
    return [
        FailedClaim(claim, None, cell, figure)
        for cell, figure in concerned
        if not is_within(figure, claim.at_least, claim.at_most)
    ]


Figures = Sequence[tuple[Cell, Interval | None]]


def _losses(analysis: Analysis) -> Figures:
    """Return the largest loss of each cell in each way: what was observed, not what could be."""
    answers = analysis.safety.answers if analysis.safety else []
    return [(answer.cell, _exact(answer.lost) if answer.lost else None) for answer in answers]


def _exact(lost: Spread) -> Interval:
    return Interval(estimate=lost.worst, low=lost.worst, high=lost.worst, n=lost.n)


def _figures(figure: str, analysis: Analysis) -> Figures:
    return [(answer.cell, _figure(figure, answer)) for answer in analysis.cells]


def _figure(figure: str, answer: CellAnswer) -> Interval | None:
    if figure == "throughput_per_s":
        return answer.throughput_per_s
    if figure == "seconds":
        return answer.figure if answer.metric == "seconds" else None
    percentile = figure.removeprefix("p").removesuffix("_ms")
    if percentile in answer.latency_at_least:
        return None  # it lies at the end of another tool's histogram, and may be any above it
    us = answer.latency_mean_us if figure == "mean_ms" else answer.latency_us.get(percentile)
    return us.scaled(1 / 1000) if us else None


def _failures(claim: Threshold, analysis: Analysis) -> list[FailedClaim]:
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
        if verdict.outcome == "not comparable" or not is_within(verdict.ratio, claim.at_least, claim.at_most)
    ]


def is_within(found: Interval | None, at_least: float | None, at_most: float | None) -> bool:
    """Tell whether the whole interval keeps to its bounds."""
    if found is None or found.low is None or found.high is None:
        return False
    return (at_least is None or found.low >= at_least) and (at_most is None or found.high <= at_most)


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
