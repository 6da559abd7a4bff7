"""The findings of the checks."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, RunFinding
from diskproof.report.document import Item, Items, Paragraph, Section, Tone
from diskproof.results.trial import SEVERITIES, Finding, Severity
from diskproof.wording.numbers import listed

TONES: dict[Severity, Tone] = {"invalid": "alarm", "warning": "warning", "note": "note"}

MOST_PLACES = 4
"""Trials or cuts that a finding names before it counts the rest."""


def section(analysis: Analysis) -> Section:
    """Return what was found, the gravest first; a page says so if that is nothing."""
    ordered = by_severity(analysis.findings)
    made = items([(one.finding, where(one, analysis)) for one in ordered])
    nothing = "No check found anything." if analysis.trials_run else "No trial has been checked."
    blocks = (made,) if ordered else (Paragraph(nothing),)
    return Section("Findings", blocks, anchor="findings", contents="Findings")


def items(found: Sequence[tuple[Finding, str]]) -> Items:
    """Return findings with their places as a list."""
    return Items(tuple(_item(finding, where) for finding, where in found))


def _item(finding: Finding, where: str) -> Item:
    remedy = (Paragraph(finding.remedy.text, lead="Remedy"),) if finding.remedy else ()
    return Item(
        finding.message.text,
        lead=finding.severity,
        name=f"{finding.check} ({where})",
        tone=TONES[finding.severity],
        lines=remedy,
    )


def where(found: RunFinding, analysis: Analysis) -> str:
    """Return the trials that a finding concerns, the first few by name."""
    if not found.trials:
        return "the whole run"
    if len(found.trials) == analysis.trials_run > 1:
        return "every trial"
    return listed(found.trials, MOST_PLACES)


def by_severity(findings: Sequence[RunFinding]) -> list[RunFinding]:
    """Order findings: what invalidates trials first, notes last."""
    return sorted(findings, key=lambda found: SEVERITIES.index(found.finding.severity))
