"""Showing a run's progress: a bar with the time left on a terminal, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import Progress
from rich.text import Text

from diskproof.cli.bar import progress_bar
from diskproof.cli.screen import messages
from diskproof.report import words
from diskproof.results.records import Finding, Plan, PlannedTrial, Trial
from diskproof.run.execute import Progress as Watcher


@contextmanager
def progress_display(plan: Plan) -> Iterator[Watcher]:
    """Show a run of this plan, in the way that the place of stderr suits."""
    if not messages.is_terminal:
        yield _Lines(plan)
        return
    with progress_bar() as bar:
        yield _Bar(plan, bar)


class _TimeLeft:
    """The time left: the estimate at first, then by the trials that were run."""

    def __init__(self, plan: Plan) -> None:
        self._estimate_s = plan.estimated_s / len(plan.trials)
        self._seconds: list[float] = []
        self._left = len(plan.trials)

    def count(self, trial: Trial) -> None:
        self._left -= 1
        if trial.timings:
            self._seconds.append(trial.timings.total_s)

    def skip(self, trials: int) -> None:
        self._left -= trials

    def text(self) -> str:
        each = sum(self._seconds) / len(self._seconds) if self._seconds else self._estimate_s
        return f"about {words.duration(each * self._left)} left"


class _Bar:
    """A bar that moves."""

    def __init__(self, plan: Plan, bar: Progress) -> None:
        self._plan, self._bar = plan, bar
        self._left = _TimeLeft(plan)
        self._task = bar.add_task("getting ready", total=len(plan.trials), left=self._left.text())
        self._begun = 0

    def note(self, text: str) -> None:
        self._bar.console.print(Text(text))

    def trial_begins(self, planned: PlannedTrial) -> None:
        position = self._plan.trials.index(planned)
        if not self._begun and position:
            self._left.skip(position)
            self._bar.update(self._task, completed=position)
        self._begun += 1
        self._bar.update(self._task, description=planned.cell, left=self._left.text())

    def trial_ends(self, trial: Trial, invalid: list[Finding]) -> None:
        self._left.count(trial)
        self._bar.update(self._task, advance=1, left=self._left.text())
        if invalid:
            self.note(_trial_line(self._plan, trial, invalid))


class _Lines:
    """One line a trial."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._left = _TimeLeft(plan)
        self._count = len(plan.trials)
        self._begun = False

    def note(self, text: str) -> None:
        messages.print(Text(text), soft_wrap=True)

    def trial_begins(self, planned: PlannedTrial) -> None:
        """Say what lies ahead before the first trial; a trial's own line comes with its result."""
        if not self._begun:
            self._begun = True
            self._left.skip(self._plan.trials.index(planned))
            self.note(f"{self._count} trials, {self._left.text()}")

    def trial_ends(self, trial: Trial, invalid: list[Finding]) -> None:
        self._left.count(trial)
        number = [planned.id for planned in self._plan.trials].index(trial.id) + 1
        self.note(f"[{number}/{self._count}] {_trial_line(self._plan, trial, invalid)}; {self._left.text()}")


def _trial_line(plan: Plan, trial: Trial, invalid: list[Finding]) -> str:
    if invalid:
        return f"{trial.cell}: invalid: {invalid[0].message}"
    assert trial.load is not None  # a trial that counts has measured something
    metric = plan.metric(plan.cell(trial.cell))
    match metric:
        case "seconds":
            mark = words.extrapolated(trial.load.rests_on_estimates())
            figure = f"{words.number(trial.load.figure(metric))}{mark} s"
        case "latency_mean_us":
            figure = f"{words.milliseconds(trial.load.figure(metric))} ms"
        case "transactions_per_s":
            figure = f"{trial.load.transactions_per_s:,.0f} transactions/s"
    return f"{trial.cell}: {figure}"
