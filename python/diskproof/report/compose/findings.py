"""The findings of the checks, and the warnings among them: one a check, the gravest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, RunFinding
from diskproof.audit.host import host_busy
from diskproof.report.document import Item, Items, Paragraph, Section, Tone
from diskproof.results.trial import SEVERITIES, Finding, Severity
from diskproof.stats.grouping import grouped
from diskproof.wording import first_of
from diskproof.wording.numbers import count, listed

TONES: dict[Severity, Tone] = {"invalid": "alarm", "warning": "warning", "note": "note"}

MOST_PLACES = 4
"""Trials or cuts that a finding names before it counts the rest."""

LONG = 100
"""Letters of a warning from which on a first screen has its first clause alone."""


def section(analysis: Analysis) -> Section:
    """Return what was found, the gravest first; a page says so if that is nothing."""
    ordered = sorted(analysis.findings, key=lambda found: SEVERITIES.index(found.finding.severity))
    made = items([(one.finding, where(one, analysis)) for one in ordered])
    nothing = "No check found anything." if analysis.trials_run else "No trial has been checked."
    blocks = (made,) if ordered else (Paragraph(nothing),)
    return Section("Findings", blocks, anchor="findings", contents="Findings")


def items(found: Sequence[tuple[Finding, str]]) -> Items:
    """Return findings with their places as a list."""
    return Items(
        tuple(
            Item(
                finding.message.text,
                lead=finding.severity,
                name=f"{finding.check} ({where})",
                tone=TONES[finding.severity],
                lines=(Paragraph(finding.remedy.text, lead="Remedy"),) if finding.remedy else (),
            )
            for finding, where in found
        )
    )


def where(found: RunFinding, analysis: Analysis) -> str:
    """Return the trials that a finding concerns, the first few by name."""
    if not found.trials:
        return "the whole run"
    if len(found.trials) == analysis.trials_run > 1:
        return "every trial"
    return listed(found.trials, MOST_PLACES)


# ---------------------------------------------------------------- warnings


@dataclass(frozen=True)
class Caution:
    """A warning, and the trials or cuts that it concerns."""

    finding: Finding
    share: float
    where: str
    """In brackets; empty if it is of the whole run."""
    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """The finding, that of one trial if it stands for several."""
        return first_of(self.finding.message).text.rstrip(".")

    @property
    def in_short(self) -> str:
        """The first clause of a long one; the findings have all of it."""
        text = self.text
        return text if len(text) <= LONG else text.partition(": ")[0].partition("; ")[0]


def cautions(analysis: Analysis) -> list[Caution]:
    """Return the warnings, one a check: those of invalid trials first, then by how many they concern."""
    run, safety = analysis.trials_run, analysis.safety
    found = [_caution(one.finding, one.cells, len(one.trials), run, "trial") for one in analysis.findings]
    if safety:
        found += [
            _caution(one.finding, one.cells, len(one.cuts), safety.made, "cut") for one in safety.findings
        ]
    grave = [one for one in found if one.finding.severity in ("invalid", "warning")]
    first = grouped(sorted(grave, key=lambda one: -one.share), lambda one: one.finding.check)
    # What took CPU time from the trials may be the cause of all the other warnings.
    return sorted(
        (one[0] for one in first.values()),
        key=lambda one: (one.finding.severity != "invalid", one.finding.check != host_busy.name),
    )


def _caution(finding: Finding, cells: Sequence[str], concerned: int, of: int, noun: str) -> Caution:
    if not concerned:
        return Caution(finding, 1.0, "", ())
    return Caution(finding, concerned / of, f" ({concerned} of {count(of, noun)})", tuple(cells))
