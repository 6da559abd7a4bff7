"""What the advised disks did as virtual disks, beside what was predicted and the target."""

from diskproof.analysis.advised.records import Advice, Candidate, Measured, Target, Verification
from diskproof.analysis.evidence import middle
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.observed import observe

ADVISED, CHEAPER = "advised", "cheaper"
"""The storages of the study that verifies an advice."""


def verified(advice: Advice, gathered: Gathered, study: str, run: str) -> Verification:
    """Return what was measured on the chosen disk and on a cheaper one."""
    candidates = {ADVISED: advice.chosen, CHEAPER: advice.cheaper}
    found = {name: _measured(advice.target, one, gathered, name) for name, one in candidates.items() if one}
    return Verification(study=study, run=run, advised=found[ADVISED], cheaper=found.get(CHEAPER))


def _measured(target: Target, one: Candidate, gathered: Gathered, storage: str) -> Measured:
    (cell,) = (cell for cell in gathered.plan.cells if cell.storage == storage)
    seen, predicted = observe(gathered, cell), one.predicted.per_s
    if seen is None or seen.per_s is None:
        return Measured(name=one.configuration.name)
    mean_us = seen.completed_us or seen.latency_us
    loads = [trial.load for trial in gathered.valid(cell)]
    p95_us = middle(load.latency_us.percentiles.get("95") for load in loads if load.latency_us)
    within = None
    if predicted is not None and predicted.low is not None and predicted.high is not None:
        within = predicted.low <= seen.per_s <= predicted.high
    return Measured(
        name=one.configuration.name,
        per_s=seen.per_s,
        mean_us=mean_us,
        p95_us=p95_us,
        within=within,
        meets=_meets(target, seen.per_s, mean_us, p95_us),
    )


def _meets(target: Target, per_s: float, mean_us: float | None, p95_us: float | None) -> bool | None:
    """Tell whether each part of a target is met; None if a part was not observed."""
    parts = [per_s >= target.per_s] if target.per_s is not None else []
    for limit_us, found_us in ((target.mean_us, mean_us), (target.p95_us, p95_us)):
        if limit_us is not None and found_us is None:
            return None
        if limit_us is not None and found_us is not None:
            parts.append(found_us <= limit_us)
    return all(parts)
