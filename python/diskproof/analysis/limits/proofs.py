"""The effects of interventions on cells, compared with the predictions that were made before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.records import Outcome, ProofAnswer
from diskproof.analysis.limits.thresholds import FEWEST_PAIRS, LITTLE
from diskproof.audit.check import Evidence
from diskproof.audit.host import taken_by_others
from diskproof.audit.registry import all_findings
from diskproof.families.durability import commits_wait_for_flush
from diskproof.results.limit import Prediction, ProofPair
from diskproof.results.machine import Machine
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Trial
from diskproof.stats.intervals import Interval, paired_ratio
from diskproof.wording import Message, say, share, us

Series = Mapping[str, Sequence[float]]
"""Throughput in each interval of the measured phase, by the id of a trial."""


def answer_proofs(gathered: Gathered, proofs: Sequence[ProofPair]) -> list[ProofAnswer]:
    """Return the outcome of each cell's proof, in the order of the plan.

    If a cell was proved in two ways, one after the other, the last counts.
    """
    last = {pair.cell: pair for pair in proofs}
    return [
        _answer(gathered, [pair for pair in proofs if _same(pair, last[cell.id])])
        for cell in gathered.plan.cells
        if cell.id in last
    ]


def why_fails(pair: ProofPair, plan: Plan, machine: Machine | None, series: Series) -> list[Message]:
    """Return why a pair does not count; nothing if it does.

    Each trial must pass every check of a measured trial; the changed one is checked against the changed cell.
    What was read back must show the change.
    """
    cell, metric = plan.cell(pair.cell), plan.metric(plan.cell(pair.cell))
    machine = machine and machine.at(pair.host)
    as_it_was = Evidence(pair.as_it_was, cell, plan, machine, series.get(pair.as_it_was.id, ()))
    sides = (("unchanged", as_it_was), ("changed", _as_changed(pair, cell, plan, machine, series)))
    found = [
        say("{side}: {why}", side=side, why=finding.message)
        for side, evidence in sides
        for finding in all_findings(evidence)
        if finding.severity == "invalid"
    ]
    if found:
        return found
    if not all(trial.load and trial.load.speed(metric) for trial in (pair.as_it_was, pair.changed)):
        return [say("nothing was completed in one of its trials")]
    for side, evidence in sides:
        taken = taken_by_others(evidence)
        if taken is not None and taken >= LITTLE:
            form = "{side}: other work on the machine took {taken} of the CPUs"
            return [say(form, side=side, taken=share(taken))]
    unseen = _unseen(pair, cell, machine)
    return [say("changed: {why}", why=unseen)] if unseen else []


# ---------------------------------------------------------------- one proof


def _answer(gathered: Gathered, pairs: Sequence[ProofPair]) -> ProofAnswer:
    plan, first = gathered.plan, pairs[0]
    reasons = [why_fails(pair, plan, gathered.machine, gathered.series) for pair in pairs]
    counting = [pair for pair, why in zip(pairs, reasons, strict=True) if not why]
    measured = _measured(plan, counting) if len(counting) >= FEWEST_PAIRS else None
    predicted = Band(first.predicted_low, first.predicted_high)
    return ProofAnswer(
        **{name: getattr(first, name) for name in Prediction.model_fields},
        cell=first.cell,
        measured=measured,
        outcome=decide(measured, predicted, plan.same_within),
        pairs=len(pairs),
        left_out=[why[0] for why in reasons if why],
    )


@dataclass(frozen=True)
class Band:
    """A predicted ratio, from the least to the most."""

    low: float
    high: float

    def widened(self, share: float) -> "Band":
        """Return the band with a share more at either end."""
        return Band(self.low * (1 - share), self.high * (1 + share))

    def holds(self, ratio: float) -> bool:
        """Return whether a ratio lies in the band."""
        return self.low <= ratio <= self.high

    def can_fail(self, same_within: float) -> bool:
        """Return whether the predicted change differs from "no change" by more than the study calls the same.

        Otherwise a cell with another limit would do as predicted, and the proof would prove nothing.
        """
        return not self.widened(same_within).holds(1)


def decide(measured: Interval | None, predicted: Band, same_within: float) -> Outcome:
    """Return what a measured ratio says of a predicted one.

    The band is widened by what the study calls the same (`same_within`), since it may be a single figure.

    - ``not as predicted``: the measured interval lies wholly outside of the band.
    - ``as predicted``: the estimate lies in it, and the interval excludes 1. So the interval is narrower, to
      either side, than the change itself: one as wide as anything would agree with everything. If the band
      holds 1 nothing is as predicted, since the prediction could not have failed.
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
    same_limit = (pair.cell, pair.limit) == (last.cell, last.limit)
    return same_limit and pair.intervention.same_change(last.intervention)


def _as_changed(pair: ProofPair, cell: Cell, plan: Plan, machine: Machine | None, series: Series) -> Evidence:
    """Return the changed trial with the cell, the plan and the machine that it was to have."""
    factor, trial = pair.intervention.factor, pair.changed
    if pair.intervention.change == "twice the memory":
        cell = cell.model_copy(update={"memory_bytes": round(factor * cell.memory_bytes)})
    if pair.intervention.change == "half the CPUs":
        before = plan.cpus or (machine.cpus if machine else None)
        plan = plan.model_copy(update={"cpus": round(factor * before) if before else None})
        if machine and trial.held_cpus:
            machine = machine.model_copy(update={"held_cpus": trial.held_cpus.cpus})
    return Evidence(trial, cell, plan, machine, series.get(trial.id, ()))


def _unseen(pair: ProofPair, cell: Cell, machine: Machine | None) -> Message | None:
    """Return what shows that the change was not made; None if what was read back shows it.

    A check of every trial covers the CPUs that server and load were held to.
    """
    match pair.intervention.change:
        case "slower flushes" | "slower reads":
            return _not_slowed(pair)
        case "half the CPUs":
            return None if pair.changed.held_cpus else say("the CPUs of server and load were not recorded")
        case "flushes relaxed":
            return _still_waits(pair, cell, machine) or _same_settings(pair)
        case "twice the memory":
            return _same_settings(pair)


def _not_slowed(pair: ProofPair) -> Message | None:
    slowed = [disk for disk in pair.changed.virtual_disks if disk.slowed]
    if not slowed:
        return say("no virtual disk reports that it was slowed")
    if any(disk.slowed for disk in pair.as_it_was.virtual_disks):
        return say("a disk was slowed in the unchanged trial too")
    for disk in slowed:
        assert disk.slowed is not None
        served = disk.read if disk.slowed.on == "read" else disk.flush
        if not disk.slowed.requests or served.latency_us is None:
            return say("not one {kind} of `{disk}` was slowed", kind=disk.slowed.on, disk=disk.name)
        if served.latency_us.mean < disk.slowed.add_us:
            return say(
                "a {kind} of `{disk}` took {time}, less than the {added} that were added to it",
                kind=disk.slowed.on,
                disk=disk.name,
                time=us(served.latency_us.mean),
                added=us(disk.slowed.add_us),
            )
    return None


def _same_settings(pair: ProofPair) -> Message | None:
    before = {setting.name: setting.observed for setting in pair.as_it_was.settings}
    after = {setting.name: setting.observed for setting in pair.changed.settings}
    changed = [name for name, value in after.items() if name in before and before[name] != value]
    return None if changed else say("the server's settings did not change")


def _still_waits(pair: ProofPair, cell: Cell, machine: Machine | None) -> Message | None:
    server = machine.server(cell.server) if machine else None
    observed = {setting.name: setting.observed for setting in pair.changed.settings}
    if server is None or not commits_wait_for_flush(server.family, observed):
        return None
    return say("by the server's settings each commit still waits for a flush")
