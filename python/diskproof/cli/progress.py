"""Showing a run's progress: a bar with the time left on a terminal, plain lines elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import Progress
from rich.text import Text

from diskproof.cli.bar import progress_bar
from diskproof.cli.screen import messages
from diskproof.report import words
from diskproof.results.crash_plan import PlannedCut
from diskproof.results.cut import CutTrial
from diskproof.results.limit import ProofPair
from diskproof.results.plan import Plan, PlannedTrial
from diskproof.results.trial import Finding, Trial
from diskproof.run.session import PlannedPair
from diskproof.run.session import Progress as Watcher


@contextmanager
def progress_display(plan: Plan) -> Iterator[Watcher]:
    """Show a run of this plan, in the way that the place of stderr suits."""
    if not messages.is_terminal:
        yield _Lines(plan)
        return
    with progress_bar() as bar:
        yield _Bar(plan, bar)


class _Steps:
    """Trials, proofs or cuts: how many are left, and how long each takes: estimated, until some are made."""

    def __init__(self, ids: list[str], estimated_s: float) -> None:
        self._numbers = {step: number for number, step in enumerate(ids, start=1)}
        self._estimate_s = estimated_s / len(ids) if ids else 0.0
        self._seconds: list[float] = []
        self._left = len(ids)

    @property
    def count(self) -> int:
        return len(self._numbers)

    @property
    def seconds_left(self) -> float:
        each = sum(self._seconds) / len(self._seconds) if self._seconds else self._estimate_s
        return each * self._left

    def begins(self, step: str) -> int:
        """Return how many lie before a step; those before the first of a resumed run were made earlier."""
        before = self._numbers[step] - 1
        self._left = self.count - before
        return before

    def ends(self, step: str, seconds: float | None) -> None:
        self._left = self.count - self._numbers[step]
        if seconds is not None:
            self._seconds.append(seconds)

    def are_over(self) -> None:
        """Know that none is left: in a run that is gone on with all may have been made earlier."""
        self._left = 0

    def number(self, step: str) -> str:
        return f"{self._numbers[step]}/{self.count}"


class _Ahead:
    """All that lies ahead: trials, then pairs of trials that prove something, then cuts."""

    def __init__(self, plan: Plan) -> None:
        crash = plan.crash
        self.trials = _Steps([planned.id for planned in plan.trials], plan.estimated_s)
        self.proofs = _Steps([], 0.0)
        cuts = [planned.id for planned in crash.trials] if crash else []
        self.cuts = _Steps(cuts, crash.estimated_s if crash else 0.0)

    def prove(self, pairs: Sequence[PlannedPair]) -> None:
        """Add what is known when the trials have been made."""
        self.trials.are_over()
        self.proofs = _Steps([pair.id for pair in pairs], sum(pair.estimated_s for pair in pairs))

    def left(self) -> str:
        seconds = self.trials.seconds_left + self.proofs.seconds_left + self.cuts.seconds_left
        return f"about {words.duration(seconds)} left"

    def described(self) -> str:
        parts = [(self.trials.count, "trials"), (self.proofs.count, "pairs"), (self.cuts.count, "cuts")]
        return ", ".join(f"{count} {what}" for count, what in parts if count)


class _Bar:
    """A bar that moves."""

    def __init__(self, plan: Plan, bar: Progress) -> None:
        self._plan, self._bar = plan, bar
        self._ahead = _Ahead(plan)
        total = self._ahead.trials.count + self._ahead.cuts.count
        self._task = bar.add_task("getting ready", total=total, left=self._ahead.left())

    def note(self, text: str) -> None:
        self._bar.console.print(Text(text))

    def trial_begins(self, planned: PlannedTrial) -> None:
        self._show(planned.cell, self._ahead.trials.begins(planned.id))

    def trial_ends(self, trial: Trial, invalid: list[Finding]) -> None:
        self._ahead.trials.ends(trial.id, trial.timings.total_s if trial.timings else None)
        self._bar.update(self._task, advance=1, left=self._ahead.left())
        if invalid:
            self.note(_trial_line(self._plan, trial, invalid))

    def proofs_begin(self, pairs: Sequence[PlannedPair]) -> None:
        self._ahead.prove(pairs)
        self.note(_proofs_line(pairs))
        total = self._ahead.trials.count + self._ahead.proofs.count + self._ahead.cuts.count
        self._bar.update(self._task, total=total)

    def pair_begins(self, planned: PlannedPair) -> None:
        before = self._ahead.trials.count + self._ahead.proofs.begins(planned.id)
        self._show(f"proof: {planned.cell}", before)

    def pair_ends(self, pair: ProofPair, failing: Sequence[str]) -> None:
        self._ahead.proofs.ends(pair.id, _pair_s(pair))
        self._bar.update(self._task, advance=1, left=self._ahead.left())
        if failing:
            self.note(_pair_line(self._plan, pair, failing))

    def cut_begins(self, planned: PlannedCut) -> None:
        before = self._ahead.trials.count + self._ahead.proofs.count + self._ahead.cuts.begins(planned.id)
        self._show(f"{planned.cell}, {planned.way}", before)

    def cut_ends(self, cut: CutTrial) -> None:
        self._ahead.cuts.ends(cut.id, cut.timings.total_s if cut.finished else None)
        self._bar.update(self._task, advance=1, left=self._ahead.left())
        if not cut.tells:
            self.note(cut_line(cut))

    def _show(self, what: str, before: int) -> None:
        self._bar.update(self._task, description=what, completed=before, left=self._ahead.left())


class _Lines:
    """One line a trial, or a cut."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._ahead = _Ahead(plan)
        self._begun = False

    def note(self, text: str) -> None:
        messages.print(Text(text), soft_wrap=True)

    def trial_begins(self, planned: PlannedTrial) -> None:
        """Say what lies ahead before the first trial; a trial's own line comes with its result."""
        self._ahead.trials.begins(planned.id)
        self._begin()

    def trial_ends(self, trial: Trial, invalid: list[Finding]) -> None:
        self._ahead.trials.ends(trial.id, trial.timings.total_s if trial.timings else None)
        number = self._ahead.trials.number(trial.id)
        self.note(f"[{number}] {_trial_line(self._plan, trial, invalid)}; {self._ahead.left()}")

    def proofs_begin(self, pairs: Sequence[PlannedPair]) -> None:
        self._ahead.prove(pairs)
        self.note(_proofs_line(pairs))

    def pair_begins(self, planned: PlannedPair) -> None:
        self._ahead.proofs.begins(planned.id)

    def pair_ends(self, pair: ProofPair, failing: Sequence[str]) -> None:
        self._ahead.proofs.ends(pair.id, _pair_s(pair))
        number = self._ahead.proofs.number(pair.id)
        self.note(f"[pair {number}] {_pair_line(self._plan, pair, failing)}; {self._ahead.left()}")

    def cut_begins(self, planned: PlannedCut) -> None:
        self._ahead.trials.are_over()
        self._ahead.proofs.are_over()
        self._ahead.cuts.begins(planned.id)
        self._begin()

    def cut_ends(self, cut: CutTrial) -> None:
        self._ahead.cuts.ends(cut.id, cut.timings.total_s if cut.finished else None)
        self.note(f"[cut {self._ahead.cuts.number(cut.id)}] {cut_line(cut)}; {self._ahead.left()}")

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self.note(f"{self._ahead.described()}, {self._ahead.left()}")


def _trial_line(plan: Plan, trial: Trial, invalid: list[Finding]) -> str:
    if invalid:
        return f"{trial.cell}: invalid: {invalid[0].message}"
    return f"{trial.cell}: {_figure(plan, trial)}"


def _figure(plan: Plan, trial: Trial) -> str:
    """Return what a trial that counts has measured."""
    assert trial.load is not None
    metric = plan.metric(plan.cell(trial.cell))
    match metric:
        case "seconds":
            mark = words.extrapolated(trial.load.rests_on_estimates())
            return f"{words.number(trial.load.figure(metric))}{mark} s"
        case "latency_mean_us":
            return f"{words.milliseconds(trial.load.figure(metric))} ms"
        case "transactions_per_s":
            return f"{trial.load.transactions_per_s:,.0f} transactions/s"
        case "requests_per_s":
            return f"{words.number(trial.load.figure(metric))} requests/s"


def _proofs_line(pairs: Sequence[PlannedPair]) -> str:
    """Say what will be proved how, and how long that takes."""
    ways = dict.fromkeys((pair.cell, pair.intervention.says) for pair in pairs)
    took = words.duration(sum(pair.estimated_s for pair in pairs))
    count = words.count(len(ways), "limit")
    said = [f"proving {count} with {words.count(len(pairs), 'pair')} of trials, about {took}:"]
    return "\n".join(said + [f"  {cell}: {says}" for cell, says in ways])


def _pair_line(plan: Plan, pair: ProofPair, failing: Sequence[str]) -> str:
    """Say in a line what a pair of trials measured."""
    if failing:
        return f"{pair.cell}: does not count: {failing[0]}"
    before, after = _figure(plan, pair.as_it_was), _figure(plan, pair.changed)
    return f"{pair.cell}: {before} as it is, {after} where {pair.intervention.says}"


def _pair_s(pair: ProofPair) -> float | None:
    took = [trial.timings.total_s for trial in (pair.as_it_was, pair.changed) if trial.timings]
    return sum(took) if len(took) == 2 else None


def cut_line(cut: CutTrial) -> str:
    """Say in a line what a cut left."""
    return f"{cut.cell}, {cut.way}: {_came_out(cut)}"


def _came_out(cut: CutTrial) -> str:
    """Say in a few words what a cut left."""
    if not cut.finished:
        return f"broke off: {cut.findings[-1].message}"
    if cut.silent_because:
        return f"proves nothing: {cut.silent_because}"
    if cut.recovery is not None and cut.recovery.refused:
        return f"there is no database any more: {cut.recovery.refused.splitlines()[0]}"
    if cut.ledger is None:
        return "damaged: the ledger cannot be read any more"
    damaged = ", and is damaged" if cut.is_damaged else ""
    if cut.ledger.lost:
        window_s = cut.ledger.first_lost_before_s
        since = "" if window_s is None else f", the first {window_s:.2g} s before"
        return f"lost {cut.ledger.lost:,} of {cut.ledger.acknowledged:,} acknowledged{since}{damaged}"
    return f"kept all {cut.ledger.acknowledged:,} acknowledged{damaged}"
