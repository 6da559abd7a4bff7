"""The measured trials of a run, one after another: restore, start, measure, stop.

A run that goes on until its verdicts are decided looks at them after each block. Looking costs no validity:
its intervals hold at any time (`stats/sequential.py`).
"""

import re
from collections.abc import Sequence
from itertools import chain, groupby
from statistics import fmean

from diskproof.analysis.answers import Verdict
from diskproof.analysis.folder import findings_of, invalidating, open_verdicts
from diskproof.audit.host import host_busy
from diskproof.audit.virtual import lateness
from diskproof.refusal import RefusalError
from diskproof.results.findings import REPEATED, START, STATEMENT
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.trial import Trial
from diskproof.run.attempt import Attempt
from diskproof.run.bare import FilesAttempt
from diskproof.run.bench import Bench
from diskproof.run.given import GivenAttempt
from diskproof.run.served import ServerAttempt
from diskproof.run.session import Progress, check_disks
from diskproof.stats.grouping import grouped
from diskproof.study.plan import next_block
from diskproof.wording import Message, say

UNCAUSED = {lateness.name}
"""Checks that other work alone may fail. What else makes a trial invalid has another cause to mend first."""


def run_trials(bench: Bench, progress: Progress) -> None:
    """Run the planned trials that do not count yet, and append each to the run folder.

    If the plan says so, further blocks of the cells of open verdicts follow, and are added to the plan.
    """
    plan, recorded = bench.folder.plan(), bench.folder.trials()
    counted = {trial.id for trial in recorded if not invalidating(bench.folder, trial)}
    started = {_start_key(plan, trial) for trial in recorded if trial.finished}
    trials = _Trials(bench, progress, started)
    trials.run([planned for planned in plan.trials if planned.id not in counted])
    while plan.at_most_s is not None and (is_open := open_verdicts(bench.folder)):
        seconds = _mean_seconds(bench.folder)
        left_s = plan.at_most_s - bench.folder.trials_s()
        cells = set(chain.from_iterable((one.cell, one.baseline_cell) for one in is_open))
        progress.looked(is_open, _needed_s(plan, is_open, seconds), left_s)
        if sum(seconds[cell] for cell in cells) > left_s:
            return
        added = next_block(plan, cells)
        plan = plan.model_copy(update={"trials": [*plan.trials, *added]})
        bench.folder.write(plan)
        trials.run(added)


class _Trials:
    """Runs trials block by block, and once more those that other work disturbed."""

    def __init__(self, bench: Bench, progress: Progress, started: set[tuple[str, str]]) -> None:
        """Remember the bench; `started` has the servers and tunings that are known to start."""
        self._bench, self._progress, self._started = bench, progress, started
        self._plan = bench.folder.plan()
        self._repeats = bench.study.design.repeat_disturbed
        self._futile = False
        self._any_finished = any(trial.finished for trial in bench.folder.trials())
        self._failures: dict[str, Trial] = {}

    def run(self, trials: Sequence[PlannedTrial]) -> None:
        """Run these trials. After each block those are repeated that other work disturbed.

        The choice reads CPU time alone, never a throughput, and the repeat counts whatever it measured:
        to keep the better of two would be a biased choice. After a repeat that was disturbed too, none
        follows until a trial was left in peace.
        """
        for _, block in groupby(trials, key=lambda planned: planned.block):
            disturbed = [(planned, why) for planned in block if (why := self._run(planned))]
            for planned, why in disturbed:
                if self._repeats and not self._futile:
                    self._progress.note(f"{planned.id} is repeated: {why.text}")
                    self._futile = self._run(planned, why) is not None

    def _run(self, planned: PlannedTrial, disturbed: Message | None = None) -> Message | None:
        """Run one trial; return what other work took, if too much."""
        cell = self._plan.cell(planned.cell)
        layout = self._bench.layouts[cell.storage]
        check_disks(layout)
        if self._bench.elsewhere is not None:
            self._bench.elsewhere.check()
        self._progress.begins(planned)
        disturbance = self._take(run_trial(self._bench, planned, cell, disturbed))
        check_disks(layout)
        self._futile = self._futile and disturbance is not None
        return disturbance

    def _take(self, trial: Trial) -> Message | None:
        """Append a trial to the folder and show it; return what other work took from it, if too much."""
        folder = self._bench.folder
        folder.append(trial)
        found = findings_of(folder, trial)
        invalid = [one for one in found if one.severity == "invalid"]
        self._progress.ends(trial, [one.message for one in invalid])
        if trial.finished:
            self._started.add(_start_key(self._plan, trial))
        else:
            last = trial.findings[-1]
            never_started = _start_key(self._plan, trial) not in self._started
            if last.check == STATEMENT or (last.check == START and never_started):
                raise RefusalError(last.message.text)
        self._end_if_all_fail(trial)
        if any(one.check not in UNCAUSED for one in invalid):
            return None
        took = (one.message for one in found if (one.check, one.severity) == (host_busy.name, "warning"))
        return next(took, None)

    def _end_if_all_fail(self, trial: Trial) -> None:
        """End the run if two trials failed alike and none has ever finished."""
        if trial.finished:
            self._any_finished = True
            return
        why = trial.findings[-1].message.text
        first = self._failures.setdefault(re.sub(r"\d+", "#", why.partition("\n")[0]), trial)
        if first.id != trial.id and not self._any_finished:
            raise RefusalError(f"{first.id} and {trial.id} failed alike, so the others would, too: {why}")


def _mean_seconds(folder: RunFolder) -> dict[str, float]:
    """Return what a trial of each cell took."""
    timed = grouped((trial for trial in folder.trials() if trial.timings), lambda trial: trial.cell)
    return {
        cell: fmean(trial.timings.total_s for trial in trials if trial.timings)
        for cell, trials in timed.items()
    }


def _needed_s(plan: Plan, is_open: Sequence[Verdict], seconds: dict[str, float]) -> float | None:
    """Return the seconds after which all verdicts are probably decided; None: not in sight."""
    blocks: dict[str, int] = {}
    made = len(plan.blocks())
    for verdict in is_open:
        if verdict.blocks_needed is None:
            return None
        for cell in (verdict.cell, verdict.baseline_cell):
            blocks[cell] = max(blocks.get(cell, 0), verdict.blocks_needed - made)
    return sum(seconds[cell] * more for cell, more in blocks.items())


def run_trial(bench: Bench, planned: PlannedTrial, cell: Cell, disturbed: Message | None = None) -> Trial:
    """Run one trial to its end. If a part of it fails, the trial records a finding and the run goes on.

    `disturbed`: why it is run again.
    """
    served = GivenAttempt if cell.server in bench.given else ServerAttempt
    attempt: Attempt = (served if cell.has_server else FilesAttempt)(bench, planned, cell)
    if disturbed is not None:
        why = say("it was run again, because {disturbed}; the second run counts", disturbed=disturbed)
        attempt.note(REPEATED, why)
    attempt.take(attempt.restore, attempt.start, attempt.measure, attempt.stop)
    return attempt.record()


def _start_key(plan: Plan, trial: Trial) -> tuple[str, str]:
    """Return what decides whether a server can start at all: itself and its tuning."""
    cell = plan.cell(trial.cell)
    return cell.server, cell.tuning
