"""What a disk did as a virtual disk, beside what was predicted and the target."""

import math

from diskproof.analysis.advised.margins import measured_logs
from diskproof.analysis.advised.records import Candidate, Measured, Target
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.observed import observe
from diskproof.analysis.other_disk.predict import Figures
from diskproof.audit.host import OTHER_SHARE

MOST_TAKEN = 0.99
"""For logarithms of what is left."""


def verified(target: Target, one: Candidate, gathered: Gathered, study: str, run: str) -> Measured:
    """Return what was measured in a run of a candidate alone.

    A miss that would be none with the CPU time that other work took is not known to be one.
    """
    name = one.configuration.name
    (cell,) = gathered.plan.cells
    figures, predicted = Figures.of(gathered, cell), one.predicted.per_s
    if figures is None:
        return Measured(name=name, study=study, run=run)
    per_s, within = figures.per_s.estimate, None
    if predicted is not None and predicted.low is not None and predicted.high is not None:
        within = predicted.low <= per_s <= predicted.high
    found = Measured(
        name=name,
        study=study,
        run=run,
        per_s=per_s,
        mean_us=figures.mean_us,
        p95_us=figures.p95_us,
        within=within,
    )
    logs, seen = measured_logs(target, found), observe(gathered, cell)
    if logs is None:
        return found
    margin, taken = min(logs.values()), min(seen.cpu.taken if seen else 0.0, MOST_TAKEN)
    if taken > OTHER_SHARE and margin < 0 <= margin - math.log(1 - taken):
        return found.model_copy(update={"taken": taken})
    return found.model_copy(update={"meets": margin >= 0})
