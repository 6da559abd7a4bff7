"""Another tool's result as evidence: what its output told, and nothing besides."""

from diskproof.audit.check import Evidence
from diskproof.importers.assemble import assemble
from diskproof.results.imported import ImportedResult


def evidence_of(result: ImportedResult) -> Evidence:
    """Return one imported result as checks look at a trial: without machine, server and settings.

    ImportRefusedError where it has no figure that a verdict could be about.
    """
    plan, [trial], _ = assemble([result], result.source.file)
    return Evidence(trial, plan.cell(trial.cell), plan, None, result.intervals_per_s, result)
