"""Trials sorted by cell, each with what the audit says of it: what every answer starts from."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from diskproof.analysis.answers import RunFinding
from diskproof.audit.check import Evidence, Run
from diskproof.audit.registry import (
    RESULT_CHECKS,
    RUN_CHECKS,
    TRIAL_CHECKS,
    all_findings,
    audit_run,
    bars_comparison,
)
from diskproof.results.load import LoadResult
from diskproof.results.machine import Machine
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import SEVERITIES, Finding, Severity, Trial
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import RatioTest, geometric_mean_interval, independent_ratio, paired_ratio
from diskproof.stats.sequential import anytime_ratio
from diskproof.wording import Message, say, together, without_figures

Found = TypeVar("Found")


@dataclass(frozen=True)
class Audited:
    """One trial with all findings: those of its record and those of the audit."""

    evidence: Evidence
    """The trial, with the machine that it was made on."""
    findings: list[Finding]
    _found: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def trial(self) -> Trial:
        """The record."""
        return self.evidence.trial

    @cached_property
    def valid(self) -> bool:
        """Whether the trial's figures are used."""
        return self.trial.finished and not any(one.severity == "invalid" for one in self.findings)

    @cached_property
    def load(self) -> LoadResult:
        """What was measured; only valid trials are asked."""
        return self.evidence.load

    def once(self, find: Callable[["Audited"], Found]) -> Found:
        """Return what is to be found of the trial alone; it is looked for once, for block and cell."""
        if find not in self._found:
            self._found[find] = find(self)
        found: Found = self._found[find]
        return found


def ratio_of(
    plan: Plan, above: Mapping[int, float], below: Mapping[int, float], *, on_one_host: bool
) -> RatioTest | None:
    """Return one positive figure over another, both by block; None if no trials can be compared.

    Pairs are of one block. Blocks of two machines (not `on_one_host`) have nothing in common but their
    number. Nothing says which of another tool's runs belong together. Neither are paired: chance would
    change the interval.
    """
    if plan.imported or not on_one_host:
        return independent_ratio([*above.values()], [*below.values()]) if above and below else None
    blocks = sorted(above.keys() & below.keys())
    ratio = paired_ratio if plan.at_most_s is None else anytime_ratio
    return ratio([above[at] for at in blocks], [below[at] for at in blocks]) if blocks else None


class Gathered:
    """All trials of a run, audited, by cell and block."""

    def __init__(
        self,
        plan: Plan,
        machine: Machine | None,
        trials: Sequence[Trial],
        series: Mapping[str, Sequence[float]],
    ) -> None:
        """Audit every trial and the run as a whole; a trial of no planned cell is left aside."""
        self.plan = plan
        self.machine = machine
        self.series = series
        known = {cell.id: cell for cell in plan.cells}
        hosts = {planned.id: planned.host for planned in plan.trials}
        self._by_cell: dict[str, list[Audited]] = {cell.id: [] for cell in plan.cells}
        self._valid: dict[str, list[Audited]] = {}
        self._found: dict[object, Any] = {}
        for trial in trials:
            if trial.cell in known:
                at = machine.at(hosts.get(trial.id)) if machine else None
                evidence = Evidence(trial, known[trial.cell], plan, at, series.get(trial.id, ()))
                self._by_cell[trial.cell].append(Audited(evidence, all_findings(evidence)))
        valid = [one.trial for one in self.all() if one.valid]
        # A run of cuts alone has no trials to be asked whether they are enough.
        self._of_run = audit_run(Run(plan, machine, valid)) if plan.trials or plan.crash is None else []

    def once(self, find: Callable[["Gathered", Cell], Found], cell: Cell) -> Found:
        """Return what is to be found of a cell; it is looked for once."""
        key = (find, cell.id)
        if key not in self._found:
            self._found[key] = find(self, cell)
        found: Found = self._found[key]
        return found

    def all(self) -> list[Audited]:
        """Return every trial, by cell."""
        return [one for trials in self._by_cell.values() for one in trials]

    def of(self, cell: Cell) -> list[Audited]:
        """Return the cell's trials."""
        return self._by_cell[cell.id]

    def valid(self, cell: Cell) -> list[Audited]:
        """Return the cell's valid trials, in the order of their blocks."""
        if cell.id not in self._valid:
            valid = (one for one in self.of(cell) if one.valid)
            self._valid[cell.id] = sorted(valid, key=lambda one: one.trial.block)
        return self._valid[cell.id]

    def machine_of(self, cell: Cell) -> Machine | None:
        """Return the machine of a cell; if machines share its blocks, the first of them."""
        return self.machine.at(cell.host) if self.machine else None

    def parts(self, cell: Cell) -> frozenset[str]:
        """Return the operations that every valid trial of a job ran; empty for other loads."""
        ran = [one.load.parts for one in self.valid(cell)]
        return frozenset.intersection(*ran) if ran else frozenset()

    def speeds(self, cell: Cell, parts: Collection[str] | None = None) -> dict[int, float]:
        """Return how fast the cell's valid trials were, by block; see ``LoadResult.speed``."""
        metric = self.plan.metric(cell)
        speeds = {one.trial.block: one.load.speed(metric, parts) for one in self.valid(cell)}
        return {block: speed for block, speed in speeds.items() if speed is not None}

    def ratio(
        self, above: Mapping[int, float], below: Mapping[int, float], *, on_one_host: bool = True
    ) -> RatioTest | None:
        """Return `ratio_of` two of this run's figures."""
        return ratio_of(self.plan, above, below, on_one_host=on_one_host)

    def rests_on_estimates(self, cells: Collection[Cell], parts: Collection[str] | None) -> bool:
        """Tell whether the seconds of a job are extrapolated in a valid trial of these cells."""
        return any(one.load.rests_on_estimates(parts) for cell in cells for one in self.valid(cell))

    def bars(self, cell: Cell, other: Cell) -> list[Message]:
        """Return why two cells must not be compared though both have valid trials."""
        reasons = [reason for side in (cell, other) for reason in self.once(Gathered.bars_of, side)]
        pair = {cell.id, other.id}
        reasons += [
            say("{message}; {remedy}", message=finding.message, remedy=finding.remedy)
            for finding, cells in self._of_run
            if bars_comparison(finding) and set(cells) == pair
        ]
        return reasons

    def bars_of(self, cell: Cell) -> list[Message]:
        """Return a reason for each check that bars the cell from any comparison: one trial is enough.

        Trials that failed a gate bar the cell if leaving them out moves its figure.
        """
        moves = self._leaving_out_moves(cell)
        found: dict[tuple[str, Severity], dict[str, Finding]] = {}
        for one in self.of(cell):
            for finding in one.findings:
                # A warning about an invalid trial concerns no figure that is used.
                if bars_comparison(finding) and (one.valid or (finding.severity == "invalid" and moves)):
                    # A check may find several things in one trial: the first stands for it.
                    by_trial = found.setdefault((finding.check, finding.severity), {})
                    by_trial.setdefault(one.trial.id, finding)
        return [
            say("{cell}: {message}", cell=cell.id, message=first.message)
            if severity == "warning"
            else say(
                "{cell}: {failed}: {message}",
                cell=cell.id,
                failed=_failed(check, len(by_trial), len(self.of(cell))),
                message=first.message,
            )
            for (check, severity), by_trial in found.items()
            for first in [next(iter(by_trial.values()))]
        ]

    def _leaving_out_moves(self, cell: Cell) -> bool:
        """Tell whether the invalid trials would have moved the cell's figure out of its interval.

        A gate that depends on a trial's own speed leaves a biased choice. A sensitivity analysis says how
        much that matters: if the mean of all trials stays within the interval of the valid ones, the bias is
        smaller than what the interval already grants to chance.
        """
        metric = self.plan.metric(cell)
        counted = list(self.speeds(cell).values())
        ran = [one.trial.load for one in self.of(cell) if one.trial.finished and one.trial.load]
        every = [speed for load in ran if (speed := load.speed(metric)) is not None]
        interval = geometric_mean_interval(counted) if counted else None
        if interval is None or interval.low is None or interval.high is None:
            return True  # one trial has no interval
        return not interval.low <= geometric_mean_interval(every).estimate <= interval.high

    def findings(self) -> list[RunFinding]:
        """Return all findings, the gravest first; those that differ only in figures are one (`together`)."""
        found = [
            RunFinding(finding=finding, trials=[one.trial.id], cells=[one.trial.cell])
            for one in sorted(self.all(), key=lambda one: (one.trial.block, one.trial.position))
            for finding in one.findings
        ]
        found += [RunFinding(finding=one, trials=[], cells=list(cells)) for one, cells in self._of_run]
        kinds = grouped(found, lambda one: kind_of(one.finding)).values()
        return sorted(map(_together, kinds), key=lambda one: _rank(one.finding))


def _failed(check: str, failed: int, trials: int) -> Message:
    if failed == trials:
        return say(
            "{trials} of {trials} trials failed `{check}`, so none is left to compare",
            trials=trials,
            check=check,
        )
    return say(
        "{failed} of {trials} trials failed `{check}`, which depends on a trial's own speed, so the "
        "others are a biased choice",
        failed=failed,
        trials=trials,
        check=check,
    )


def kind_of(finding: Finding) -> Hashable:
    """Return what findings share that differ in their figures alone."""
    return finding.check, finding.severity, without_figures(finding.message), without_figures(finding.remedy)


def as_one(findings: Sequence[Finding]) -> Finding:
    """Return one finding for several of a kind (`together`)."""
    message = together([one.message for one in findings])
    remedy = together([one.remedy for one in findings])
    return findings[0].model_copy(update={"message": message, "remedy": remedy})


def _together(found: Sequence[RunFinding]) -> RunFinding:
    return RunFinding(
        finding=as_one([one.finding for one in found]),
        trials=[trial for one in found for trial in one.trials],
        cells=list(dict.fromkeys(cell for one in found for cell in one.cells)),
    )


CHECKS_IN_ORDER = (
    *(one.name for one in (*TRIAL_CHECKS, *RESULT_CHECKS)),
    *(one.name for one in RUN_CHECKS),
)

ORDER_OF_CHECKS = {name: at for at, name in enumerate(CHECKS_IN_ORDER)}


def _rank(finding: Finding) -> tuple[int, int]:
    # What the run itself reported (a server that did not start) comes before what the audit found.
    return SEVERITIES.index(finding.severity), ORDER_OF_CHECKS.get(finding.check, -1)
