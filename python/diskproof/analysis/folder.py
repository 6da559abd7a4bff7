"""From a run folder to its analysis: the one place where the two meet."""

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.audit.check import Evidence
from diskproof.audit.registry import audit_trial
from diskproof.results.folder import RunFolder
from diskproof.results.records import Finding, Trial


def analyse_folder(folder: RunFolder) -> Analysis:
    """Analyse a run from its folder alone."""
    trials = folder.trials()
    return analyse(
        folder.plan(),
        folder.machine(),
        trials,
        {trial.id: _throughputs(folder, trial.id) for trial in trials},
    )


def invalidating(folder: RunFolder, trial: Trial) -> list[Finding]:
    """Return the findings that make a recorded trial invalid; empty where its figures count."""
    found = list(trial.findings)
    if trial.finished:
        plan = folder.plan()
        rates = _throughputs(folder, trial.id)
        found += audit_trial(Evidence(trial, plan.cell(trial.cell), plan, folder.machine(), rates))
    return [finding for finding in found if finding.severity == "invalid"]


def _throughputs(folder: RunFolder, trial_id: str) -> list[float]:
    """Return the transactions per second of each interval of the measured phase, in order of time."""
    table = folder.series(trial_id, source="load", metric="transactions_per_s")
    if table is None:
        return []
    rows = sorted((row["t_s"], row["value"]) for row in table.to_pylist() if row["t_s"] > 0)
    return [value for _, value in rows]
