"""Another tool's result as evidence: its output, and nothing else."""

from dataclasses import replace

from diskproof.audit.check import Evidence
from diskproof.importers.assemble import assemble
from diskproof.results.imported import Beside, ImportedResult
from diskproof.results.load import LoadResult


def evidence_of(result: ImportedResult, beside: Beside | None = None) -> Evidence:
    """Return one imported result as checks look at a trial: without machine and server.

    `beside` is what was given of its server, if that is its server's. ImportRefusedError where it has no
    figure that a verdict could be about.
    """
    plan, [trial], _ = assemble([result], result.source.file)
    trial = trial.model_copy(update={"load": _without_zeros(result.load)})
    return Evidence(trial, plan.cell(trial.cell), plan, None, result.intervals_per_s, result, beside)


def without_figure(result: ImportedResult) -> Evidence:
    """Return a result that has no figure as evidence: only whether it broke off can be asked of it."""
    placed = evidence_of(
        result.model_copy(
            update={"load": result.load.model_copy(update={"transactions_per_s": 1.0, "iterations": None})}
        )
    )
    return replace(placed, trial=placed.trial.model_copy(update={"load": result.load}))


def _without_zeros(load: LoadResult) -> LoadResult:
    """Return a load without figures of 0 that cannot be 0: the tool rounded them away, or never had them."""
    latency = load.latency_us if load.latency_us and load.latency_us.mean > 0 else None
    return load.model_copy(
        update={"clients": load.clients or None, "seconds": load.seconds or None, "latency_us": latency}
    )
