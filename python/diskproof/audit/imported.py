"""Another tool's result as evidence: what its output told, and nothing besides."""

from diskproof.audit.check import Evidence
from diskproof.results.imported import ImportedResult
from diskproof.results.load import LoadResult
from diskproof.results.plan import NO_LEVEL, Cell, Metric, Plan
from diskproof.results.trial import Trial

SAME_WITHIN = 0.03
"""What counts as the same where no study says: as studies do by default."""

UNTOLD = "not told"
"""Level of a factor that applies and that the output does not tell."""


def metric_of(result: ImportedResult) -> Metric:
    """Return what a verdict on an imported result is about."""
    load = result.load
    if load.file_requests is not None:
        return "requests_per_s"
    if load.iterations or load.operations:
        return "seconds"
    return "latency_mean_us" if load.rate or is_paced(result) else "transactions_per_s"


def is_paced(result: ImportedResult) -> bool:
    """Tell whether the tool was asked for a rate of its own."""
    return result.asked.get("rate", "0") not in {"", "0", "unlimited", "disabled"}


def evidence_of(result: ImportedResult) -> Evidence:
    """Return one imported result as the checks look at a trial: without machine, server and settings."""
    cell = _cell(result, result.load)
    plan = Plan(
        study=result.source.file,
        question="",
        imported=True,
        seed=0,
        same_within=SAME_WITHIN,
        warm_up_s=result.warm_up_s or 0.0,
        measure_s=result.load.seconds or 0.0,
        metrics={cell.workload: metric_of(result)},
        cells=[cell],
        trials=[],
        estimated_s=0.0,
        estimated_bytes=0,
    )
    trial = Trial(
        id=result.name,
        cell=cell.id,
        block=1,
        position=1,
        started_at="",
        finished=True,
        load=result.load,
        imported=result.source,
    )
    return Evidence(trial, cell, plan, throughputs_per_s=result.intervals_per_s, result=result)


def _cell(result: ImportedResult, load: LoadResult) -> Cell:
    served = load.file_requests is None
    levels = result.levels
    return Cell(
        id=result.name,
        server=levels.get("server", UNTOLD) if served else NO_LEVEL,
        storage=levels.get("storage", UNTOLD),
        tuning=levels.get("tuning", UNTOLD) if served else NO_LEVEL,
        workload=load.workload,
        memory_bytes=0,
        clients=load.clients or 0,
    )
