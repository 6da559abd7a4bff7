"""What a disk did as a virtual disk, beside what was predicted and the target."""

import math

from diskproof.analysis.advised.margins import measured_logs
from diskproof.analysis.advised.records import Candidate, Measured, Target
from diskproof.analysis.evidence import middle
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.observed import observe
from diskproof.audit.host import OTHER_SHARE

MOST_TAKEN = 0.99
"""For logarithms of what is left."""


def verified(target: Target, one: Candidate, gathered: Gathered, study: str, run: str) -> Measured:
    """Return what was measured in a run of a candidate alone.

    A miss that would be none with the CPU time that other work took is not known to be one.
    """
    name = one.configuration.name
    (cell,) = gathered.plan.cells
    seen, predicted = observe(gathered, cell), one.predicted.per_s
    if seen is None or seen.per_s is None:
        return Measured(name=name, study=study, run=run)
    loads = [trial.load for trial in gathered.valid(cell)]
    within = None
    if predicted is not None and predicted.low is not None and predicted.high is not None:
        within = predicted.low <= seen.per_s <= predicted.high
    found = Measured(
        name=name,
        study=study,
        run=run,
        per_s=seen.per_s,
        mean_us=seen.completed_us or seen.latency_us,
        p95_us=middle(load.latency_us.exact("95") for load in loads if load.latency_us),
        within=within,
    )
    logs = measured_logs(target, found)
    if logs is None:
        return found
    margin, taken = min(logs.values()), min(seen.cpu.taken, MOST_TAKEN)
    if taken > OTHER_SHARE and margin < 0 <= margin - math.log(1 - taken):
        return found.model_copy(update={"taken": taken})
    return found.model_copy(update={"meets": margin >= 0})
