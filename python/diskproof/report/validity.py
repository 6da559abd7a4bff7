"""Which trials count, and why others do not: as the analysis, which audits every trial, has it."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.results.trial import Finding, Trial


def counting(analysis: Analysis, trials: Sequence[Trial]) -> set[str]:
    """Return the ids of the trials whose figures are used."""
    refused = {
        trial_id
        for found in analysis.findings
        if found.finding.severity == "invalid"
        for trial_id in found.trials
    }
    return {trial.id for trial in trials if trial.finished and trial.id not in refused}


def findings_by_trial(analysis: Analysis) -> dict[str, list[Finding]]:
    """Return what was found, by the trial that it concerns; trials without a finding are absent."""
    by_trial: dict[str, list[Finding]] = {}
    for found in analysis.findings:
        for trial_id in found.trials:
            by_trial.setdefault(trial_id, []).append(found.finding)
    return by_trial
