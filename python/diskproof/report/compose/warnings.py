"""The warnings of a run, one a check, the gravest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis
from diskproof.audit.host import host_busy
from diskproof.results.trial import Finding
from diskproof.stats.grouping import grouped
from diskproof.wording import first_of
from diskproof.wording.numbers import count


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
