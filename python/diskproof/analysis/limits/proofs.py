"""What interventions did to cells, against what was predicted before they were made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskproof.analysis import words
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.shapes import Outcome, ProofAnswer
from diskproof.audit.check import Evidence
from diskproof.audit.registry import audit_trial
from diskproof.results.limit import Intervention, ProofPair
from diskproof.results.machine import Machine
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Finding, Trial
from diskproof.server.durability import commits_wait_for_flush
from diskproof.stats.intervals import Interval, paired_ratio

FEWEST_PAIRS = 3
"""The fewest whose interval is not wider than what it is about: Student's t is 12.7 at two, 4.3 at three."""

IDLE_TALK = "; no change at all would have fitted that too, so that it proves nothing"
"""Said of a recorded proof that could not have failed; none is made any more."""

Series = Mapping[str, Sequence[float]]
"""What was done in a second of each interval of the measured phase, by the id of a trial."""


def answer_proofs(gathered: Gathered, proofs: Sequence[ProofPair]) -> list[ProofAnswer]:
    """Return what the proof of each cell came to, in the order of the plan.

    Where a cell was proved in two ways, one after the other, the last counts.
    """
    last = {pair.cell: pair for pair in proofs}
    return [
        _answer(gathered, [pair for pair in proofs if _same(pair, last[cell.id])])
        for cell in gathered.plan.cells
        if cell.id in last
    ]


def why_fails(pair: ProofPair, plan: Plan, machine: Machine | None, series: Series) -> list[str]:
    """Say why a pair does not count; empty where it does.

    Each trial must pass every gate of a measured trial, the changed one those of what it was changed to; and
    the change must be seen in what was read back.
    """
    cell, metric = plan.cell(pair.cell), plan.metric(plan.cell(pair.cell))
    as_it_was = Evidence(pair.as_it_was, cell, plan, machine, series.get(pair.as_it_was.id, ()))
    found = [
        f"{side}: {finding.message}"
        for side, evidence in (
            ("as it was", as_it_was),
            ("changed", _as_changed(pair, cell, plan, machine, series)),
        )
        for finding in _invalidating(evidence)
    ]
    if found:
        return found
    if not all(trial.load and trial.load.speed(metric) for trial in (pair.as_it_was, pair.changed)):
        return ["nothing was completed in one of its trials"]
    unseen = _unseen(pair, cell, machine)
    return [f"changed: {unseen}"] if unseen else []


# ---------------------------------------------------------------- one proof


def _answer(gathered: Gathered, pairs: Sequence[ProofPair]) -> ProofAnswer:
    plan = gathered.plan
    reasons = {pair.id: why_fails(pair, plan, gathered.machine, gathered.series) for pair in pairs}
    failing = {pair: why for pair, why in reasons.items() if why}
    first, counting = pairs[0], [pair for pair in pairs if pair.id not in failing]
    measured = _measured(plan, counting) if len(counting) >= FEWEST_PAIRS else None
    predicted = Band(first.predicted_low, first.predicted_high)
    outcome = decide(measured, predicted, plan.same_within)
    return ProofAnswer(
        cell=first.cell,
        limit=first.limit,
        intervention=first.intervention,
        predicted_ratio=first.predicted_ratio,
        predicted_low=first.predicted_low,
        predicted_high=first.predicted_high,
        basis=first.basis,
        measured=measured,
        outcome=outcome,
        sentence=_sentence(first.intervention, predicted, measured)
        + (IDLE_TALK if outcome == "open" and not predicted.can_fail(plan.same_within) else "")
        + _left_out(failing, len(pairs)),
    )


@dataclass(frozen=True)
class Band:
    """What was predicted: from the least to the most."""

    low: float
    high: float

    def __str__(self) -> str:
        """Say it as a person would: ``0.45 to 0.55``, or a single figure."""
        low, high = (words.digits(bound, 3) for bound in (self.low, self.high))
        return low if low == high else f"{low} to {high}"

    def widened(self, share: float) -> "Band":
        """Return the band with a share more at either end."""
        return Band(self.low * (1 - share), self.high * (1 + share))

    def holds(self, ratio: float) -> bool:
        """Tell whether a ratio lies in the band."""
        return self.low <= ratio <= self.high

    def can_fail(self, same_within: float) -> bool:
        """Tell whether a change is predicted that differs from none by more than the study calls the same.

        Otherwise a cell that something else holds back would do as predicted, and nothing were proved.
        """
        return not self.widened(same_within).holds(1)


def decide(measured: Interval | None, predicted: Band, same_within: float) -> Outcome:
    """Return what a measured ratio says of a predicted one.

    The band is widened by what the study calls the same (`same_within`), for it may be a single figure.

    - ``not as predicted``: the measured interval lies wholly outside of it.
    - ``as predicted``: the estimate lies in it, and the interval excludes 1. So it is narrower, to either
      side, than the change itself: one as wide as anything would agree with everything. Of a band that
      holds 1 nothing is as predicted, for then it could not have failed.
    - ``open``: all else, and fewer than `FEWEST_PAIRS` pairs.
    """
    if measured is None or measured.n < FEWEST_PAIRS:
        return "open"
    band = predicted.widened(same_within)
    if measured.excludes_all(band.low, band.high):
        return "not as predicted"
    shown = predicted.can_fail(same_within) and band.holds(measured.estimate) and measured.excludes(1)
    return "as predicted" if shown else "open"


def _measured(plan: Plan, counting: Sequence[ProofPair]) -> Interval:
    """Return throughput with the intervention over throughput without, paired."""
    metric = plan.metric(plan.cell(counting[0].cell))

    def speed(trial: Trial) -> float:
        found = trial.load.speed(metric) if trial.load else None
        assert found is not None  # a pair that counts has measured something
        return found

    return paired_ratio(
        [speed(pair.changed) for pair in counting], [speed(pair.as_it_was) for pair in counting]
    ).interval


# ---------------------------------------------------------------- whether a pair counts


def _same(pair: ProofPair, last: ProofPair) -> bool:
    return (pair.cell, pair.limit, pair.intervention) == (last.cell, last.limit, last.intervention)


def _invalidating(evidence: Evidence) -> list[Finding]:
    found = list(evidence.trial.findings)
    found += audit_trial(evidence) if evidence.trial.finished else []
    return [finding for finding in found if finding.severity == "invalid"]


def _as_changed(pair: ProofPair, cell: Cell, plan: Plan, machine: Machine | None, series: Series) -> Evidence:
    """Return the changed trial beside the cell, the plan and the machine that it was to have."""
    factor, trial = pair.intervention.factor, pair.changed
    if pair.intervention.change == "twice the memory":
        cell = cell.model_copy(update={"memory_bytes": round(factor * cell.memory_bytes)})
    if pair.intervention.change == "half the CPUs":
        before = plan.cpus or (machine.cpus if machine else None)
        plan = plan.model_copy(update={"cpus": round(factor * before) if before else None})
        if machine and trial.held_cpus:
            machine = machine.model_copy(update={"held_cpus": trial.held_cpus.cpus})
    return Evidence(trial, cell, plan, machine, series.get(trial.id, ()))


def _unseen(pair: ProofPair, cell: Cell, machine: Machine | None) -> str | None:
    """Say what was to be changed and was not seen to be, in what was read back; None where it was seen.

    The CPUs that were held to are a gate of every trial.
    """
    match pair.intervention.change:
        case "slower flushes" | "slower reads":
            return _not_slowed(pair)
        case "half the CPUs":
            return None if pair.changed.held_cpus else "nothing tells which CPUs server and load had"
        case "flushes relaxed":
            return _still_waits(pair, cell, machine) or _same_settings(pair)
        case "twice the memory":
            return _same_settings(pair)


def _not_slowed(pair: ProofPair) -> str | None:
    slowed = [disk for disk in pair.changed.virtual_disks if disk.slowed]
    if not slowed:
        return "no virtual disk tells that it was slowed"
    if any(disk.slowed for disk in pair.as_it_was.virtual_disks):
        return "a disk was slowed in the trial as it was too"
    for disk in slowed:
        assert disk.slowed is not None
        served = disk.read if disk.slowed.on == "read" else disk.flush
        if not disk.slowed.requests or served.latency_us is None:
            return f"not one {disk.slowed.on} of `{disk.name}` was slowed"
        if served.latency_us.mean < disk.slowed.add_us:
            return (
                f"a {disk.slowed.on} of `{disk.name}` took {served.latency_us.mean / 1000:.3g} ms, less than "
                f"the {disk.slowed.add_us / 1000:.3g} ms that it was to take longer"
            )
    return None


def _same_settings(pair: ProofPair) -> str | None:
    before = {setting.name: setting.observed for setting in pair.as_it_was.settings}
    after = {setting.name: setting.observed for setting in pair.changed.settings}
    changed = [name for name, value in after.items() if name in before and before[name] != value]
    return None if changed else "the server's settings read back as they were"


def _still_waits(pair: ProofPair, cell: Cell, machine: Machine | None) -> str | None:
    servers = machine.servers if machine else []
    family = next((server.family for server in servers if server.name == cell.server), None)
    observed = {setting.name: setting.observed for setting in pair.changed.settings}
    waits = family is not None and commits_wait_for_flush(family, observed)
    return "by the settings that were read back each commit still waits for a flush" if waits else None


# ---------------------------------------------------------------- in words


def _sentence(intervention: Intervention, predicted: Band, measured: Interval | None) -> str:
    if measured is None:
        return (
            f"where {intervention.says}, throughput of {predicted} of what it is without was predicted; "
            "there are too few pairs of trials to tell"
        )
    ratio, _, interval = words.figures(measured).partition(", ")
    return (
        f"where {intervention.says}, throughput is {ratio} of what it is without ({interval}); "
        f"{predicted} was predicted"
    )


def _left_out(failing: Mapping[str, Sequence[str]], pairs: int) -> str:
    if not failing:
        return ""
    verb = "does" if len(failing) == 1 else "do"
    return f"; {len(failing)} of {pairs} {verb} not count: {next(iter(failing.values()))[0]}"
