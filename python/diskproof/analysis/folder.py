"""From a run folder to its analysis: the only reader of run folders here."""

from collections.abc import Sequence

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.audited.audit import audit_run_folder
from diskproof.analysis.audited.shapes import SubjectAnswer
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.proofs import why_fails
from diskproof.analysis.verdicts import is_open, make_verdicts
from diskproof.audit.check import Evidence
from diskproof.audit.registry import all_findings
from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.results.limit import ProofPair
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.trial import Finding, Trial
from diskproof.study.scales import whole_by
from diskproof.wording import Message


def analyse_folder(folder: RunFolder) -> Analysis:
    """Analyse a run from its folder alone."""
    trials, plan, proofs = folder.trials(), folder.plan(), folder.proofs()
    of_proofs = [trial for pair in proofs for trial in (pair.as_it_was, pair.changed)]
    series = _series_of(folder, plan, [*trials, *of_proofs])
    made = analyse(plan, folder.machine(), trials, series, folder.cuts(), proofs, folder.dials())
    return made.model_copy(update={"whole_by": _whole_by(folder, plan)})


def _whole_by(folder: RunFolder, plan: Plan) -> str | None:
    """Return the option that runs the whole study; None if this was it, or its file does not say."""
    if plan.scale is None:
        return None
    try:
        found = whole_by(folder.study_text())
    except (RunFolderError, ValueError):  # a report needs no study
        return None
    return None if found == f"--scale {plan.scale.name}" else found


Values = tuple[Plan, Machine | None, list[Trial], dict[str, list[float]]]
"""What a run's trials are gathered from: the last are their throughputs, by trial."""


def values_of(folder: RunFolder) -> Values:
    """Return what a run's folder holds of its trials."""
    trials, plan = folder.trials(), folder.plan()
    return plan, folder.machine(), trials, _series_of(folder, plan, trials)


def gather_folder(folder: RunFolder) -> Gathered:
    """Gather a run's trials from its folder alone."""
    return Gathered(*values_of(folder))


def open_verdicts(folder: RunFolder) -> list[Verdict]:
    """Return the verdicts for which the run would go on."""
    gathered = gather_folder(folder)
    return [verdict for verdict in make_verdicts(gathered) if is_open(verdict, gathered.plan)]


def why_pair_fails(folder: RunFolder, pair: ProofPair) -> list[Message]:
    """Say why a recorded pair of a proof does not count; empty if it does."""
    plan = folder.plan()
    series = _series_of(folder, plan, [pair.as_it_was, pair.changed])
    return why_fails(pair, plan, folder.machine(), series)


def audit_folder(folder: RunFolder) -> SubjectAnswer:
    """Audit a run from its folder alone."""
    return audit_run_folder(str(folder.path), gather_folder(folder))


def invalidating(folder: RunFolder, trial: Trial) -> list[Finding]:
    """Return the findings that make a recorded trial invalid; empty if its figures count."""
    return [finding for finding in findings_of(folder, trial) if finding.severity == "invalid"]


def findings_of(folder: RunFolder, trial: Trial) -> list[Finding]:
    """Return what a recorded trial says of itself, and what its checks find."""
    plan, machine = folder.plan(), folder.machine()
    at = machine.at(plan.host_of(trial.id)) if machine else None
    return all_findings(Evidence(trial, plan.cell(trial.cell), plan, at, _throughputs(folder, plan, trial)))


def _series_of(folder: RunFolder, plan: Plan, trials: Sequence[Trial]) -> dict[str, list[float]]:
    return {trial.id: _throughputs(folder, plan, trial) for trial in trials}


def _throughputs(folder: RunFolder, plan: Plan, trial: Trial) -> list[float]:
    """Return what was done in a second of each interval of the measured phase, in order of time."""
    table = folder.series(trial.id, source="load", metric=plan.throughput(trial.cell))
    if table is None:
        return []
    rows = zip(table["t_s"].to_numpy().tolist(), table["value"].to_numpy().tolist(), strict=True)
    return [value for t_s, value in sorted(rows) if t_s > 0]
