"""Showing a run's progress: a bar with the time left on a terminal, plain lines elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import Progress

from diskproof.analysis.answers import Verdict
from diskproof.cli.bar import progress_bar
from diskproof.cli.screen import messages, say
from diskproof.report.compose.cut_words import counterexample
from diskproof.report.compose.verdict_words import against, conditions
from diskproof.report.intervals import extrapolated, with_bounds
from diskproof.results.cut import CutTrial
from diskproof.results.folder import Made
from diskproof.results.limit import ProofPair
from diskproof.results.plan import Plan, PlannedCut
from diskproof.results.trial import Trial
from diskproof.run.session import Planned, PlannedPair
from diskproof.run.session import Progress as Watcher
from diskproof.wording import Message, numbers

MOST_OPEN_SHOWN = 4


@contextmanager
def progress_display(plan: Plan) -> Iterator[Watcher]:
    """Show a run of this plan, in the way that the place of stderr suits."""
    if not messages.is_terminal:
        yield _Lines(plan)
        return
    with progress_bar() as bar:
        yield _Bar(plan, bar)


class _Steps:
    """Trials, pairs or cuts: how many are left, and how long each takes: estimated, until some are made."""

    def __init__(self, label: str, ids: Sequence[str], estimated_s: float, at_once: int = 1) -> None:
        """`at_once`: so many machines make them; `estimated_s` is the time of all steps on all machines."""
        self._label, self._at_once = label, at_once
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
        """Return how many steps come before this one; a resumed run made some of them earlier."""
        before = self._numbers[step] - 1
        self._left = self.count - before
        return before

    def add(self, step: str) -> None:
        """Count one more step, if it was not planned when the run began."""
        self._numbers.setdefault(step, self.count + 1)

    def ends(self, step: str, seconds: float | None) -> None:
        self._left = self.count - self._numbers[step]
        if seconds is not None:
            self._seconds.append(seconds / self._at_once)

    def are_over(self) -> None:
        """Note that none is left: a resumed run may have made all of them earlier."""
        self._left = 0

    def number(self, step: str) -> str:
        return f"[{self._label}{self._numbers[step]}/{self.count}]"


class _Display(Watcher):
    """A run's events as steps: trials, then pairs of trials for proofs, then cuts."""

    def __init__(self, plan: Plan) -> None:
        crash = plan.crash
        self._plan = plan
        ids = [planned.id for planned in plan.trials]
        self._at_once = max(1, len(plan.hosts))
        self.trials = _Steps("", ids, plan.estimated_s, self._at_once)
        self.proofs = _Steps("pair ", [], 0.0)
        cuts = [planned.id for planned in crash.trials] if crash else []
        hosts = len({planned.host for planned in crash.trials}) if crash else 1
        at_once = max(hosts, crash.at_once) if crash else 1
        self.cuts = _Steps("cut ", cuts, crash.estimated_s if crash else 0.0, at_once)

    @property
    def parts(self) -> list[_Steps]:
        return [self.trials, self.proofs, self.cuts]

    @property
    def left(self) -> str:
        return f"about {numbers.duration(sum(part.seconds_left for part in self.parts))} left"

    def note(self, text: str) -> None:
        raise NotImplementedError

    def began(self, what: str, before: int) -> None:
        """Show that a step begins, after so many others."""
        raise NotImplementedError

    def ended(self, number: str, line: str, *, counts: bool) -> None:
        """Show that a step has ended."""
        raise NotImplementedError

    def looked(self, is_open: Sequence[Verdict], needed_s: float | None, left_s: float) -> None:
        """Show the open verdicts, and count their next block to come."""
        self.note(_open_line(is_open, needed_s, left_s))

    def proofs_begin(self, pairs: Sequence[PlannedPair]) -> None:
        """Add what is known when the trials have been made."""
        self.trials.are_over()
        estimated_s = sum(pair.estimated_s for pair in pairs) / self._at_once
        self.proofs = _Steps("pair ", [pair.id for pair in pairs], estimated_s, self._at_once)
        self.note(_proofs_line(pairs, estimated_s))

    def begins(self, planned: Planned) -> None:
        """Show a step, and that those of other kinds before it are over."""
        match planned:
            case PlannedPair():
                steps, what = self.proofs, f"proof: {planned.cell}"
            case PlannedCut():
                steps, what = self.cuts, f"{planned.cell}, {planned.way}"
            case _:
                steps, what = self.trials, planned.cell
        steps.add(planned.id)  # added since, or made by an earlier session and only now here
        earlier = self.parts[: self.parts.index(steps)]
        for part in earlier:
            part.are_over()
        self.began(what, sum(part.count for part in earlier) + steps.begins(planned.id))

    def ends(self, made: Made, failing: Sequence[Message] = ()) -> None:
        """Show what came of a step."""
        match made:
            case Trial():
                steps, line = self.trials, _trial_line(self._plan, made, failing)
                took_s = made.timings.total_s if made.timings else None
            case ProofPair():
                steps, line, took_s = self.proofs, _pair_line(self._plan, made, failing), _pair_s(made)
            case CutTrial():
                steps, line = self.cuts, cut_line(made)
                took_s = made.timings.total_s if made.finished else None
        steps.ends(made.id, took_s)
        counts = made.tells if isinstance(made, CutTrial) else not failing
        self.ended(steps.number(made.id), line, counts=counts)


class _Bar(_Display):
    """A bar that moves."""

    def __init__(self, plan: Plan, bar: Progress) -> None:
        super().__init__(plan)
        self._bar = bar
        self._task = bar.add_task("getting ready", total=self._total, left=self.left)

    @property
    def _total(self) -> int:
        return sum(part.count for part in self.parts)

    def note(self, text: str) -> None:
        messages.print(text)

    def began(self, what: str, before: int) -> None:
        self._bar.update(self._task, description=what, completed=before, total=self._total, left=self.left)

    def ended(self, number: str, line: str, *, counts: bool) -> None:  # noqa: ARG002 - the bar has it
        self._bar.update(self._task, advance=1, left=self.left)
        if not counts:
            self.note(line)


class _Lines(_Display):
    """One line a step."""

    _begun = False

    def note(self, text: str) -> None:
        say(text)

    def began(self, what: str, before: int) -> None:  # noqa: ARG002 - a step's line comes with its result
        """Say how much is left before the first step."""
        if not self._begun:
            self._begun = True
            counts = zip((part.count for part in self.parts), ("trial", "pair", "cut"), strict=True)
            said = [numbers.count(count, noun) for count, noun in counts if count]
            self.note(f"{', '.join(said)}, {self.left}")

    def ended(self, number: str, line: str, *, counts: bool) -> None:  # noqa: ARG002 - each has its line
        self.note(f"{number} {line}; {self.left}")


def _trial_line(plan: Plan, trial: Trial, failing: Sequence[Message]) -> str:
    if failing:
        return f"{trial.cell}: invalid: {failing[0].text}"
    return f"{trial.cell}: {_figure(plan, trial)}"


def _figure(plan: Plan, trial: Trial) -> str:
    """Return what a valid trial measured."""
    assert trial.load is not None
    metric = plan.metric(plan.cell(trial.cell))
    match metric:
        case "seconds":
            mark = extrapolated(trial.load.rests_on_estimates())
            return f"{numbers.number(trial.load.figure(metric))}{mark} s"
        case "latency_mean_us" if (rate := trial.load.rate) and not rate.held:
            return f"rate not held: {rate.achieved_per_s:,.0f} of {rate.asked_per_s:,.0f} transactions/s"
        case "latency_mean_us":
            return f"{numbers.milliseconds(trial.load.figure(metric))} ms"
        case "transactions_per_s":
            return f"{trial.load.transactions_per_s:,.0f} transactions/s"
        case "requests_per_s":
            return f"{numbers.number(trial.load.figure(metric))} requests/s"


def _open_line(is_open: Sequence[Verdict], needed_s: float | None, left_s: float) -> str:
    """Say which verdicts are open, how far each is known, and how long it will probably take."""
    shown = [
        f"  {against(one)}{conditions(one.held)}: {with_bounds(one.ratio)}"
        for one in is_open[:MOST_OPEN_SHOWN]
        if one.ratio is not None
    ]
    more = len(is_open) - len(shown)
    need = "more than there is" if needed_s is None else f"about {numbers.duration(needed_s)}"
    return "\n".join(
        [
            f"{numbers.count(len(is_open), 'verdict')} open; needed: {need}; "
            f"left of --at-most: {numbers.duration(max(0.0, left_s))}",
            *shown,
            *([f"  and {more} more"] if more else []),
        ]
    )


def _proofs_line(pairs: Sequence[PlannedPair], estimated_s: float) -> str:
    """Say what will be proved how, and how long that takes."""
    ways = dict.fromkeys((pair.cell, pair.intervention.says.text) for pair in pairs)
    took = numbers.duration(estimated_s)
    count = numbers.count(len(ways), "limit")
    said = [f"proving {count} with {numbers.count(len(pairs), 'pair')} of trials, about {took}:"]
    return "\n".join(said + [f"  {cell}: {says}" for cell, says in ways])


def _pair_line(plan: Plan, pair: ProofPair, failing: Sequence[Message]) -> str:
    """Say in a line what a pair of trials measured."""
    if failing:
        return f"{pair.cell}: invalid: {failing[0].text}"
    before, after = _figure(plan, pair.as_it_was), _figure(plan, pair.changed)
    return f"{pair.cell}: {before} unchanged, {after} if {pair.intervention.says.text}"


def _pair_s(pair: ProofPair) -> float | None:
    took = [trial.timings.total_s for trial in (pair.as_it_was, pair.changed) if trial.timings]
    return sum(took) if len(took) == 2 else None


def cut_line(cut: CutTrial) -> str:
    """Say in a line what a cut left."""
    return f"{cut.cell}, {cut.way}: {_came_out(cut)}"


def _came_out(cut: CutTrial) -> str:
    """Say in a few words what a cut left, and in which of its states if several were tried."""
    if cut.states is None or not cut.tells:
        return _left(cut)
    states = numbers.count(cut.states.checked, "state")
    if found := counterexample(cut.states):
        return f"{_left(cut)}, in the last of {states}; {found}"
    return f"{_left(cut)}, in each of {states}"


def _left(cut: CutTrial) -> str:
    if not cut.finished:
        return f"broke off: {cut.findings[-1].message.text}"
    if cut.silent_because:
        return f"proves nothing: {cut.silent_because.text}"
    if cut.recovery is not None and cut.recovery.refused:
        return f"the database is lost: {cut.recovery.refused.text.splitlines()[0]}"
    if cut.ledger is None:
        return "damaged: the ledger cannot be read"
    damaged = ", and is damaged" if cut.is_damaged else ""
    if cut.ledger.lost:
        window_s = cut.ledger.first_lost_before_s
        since = "" if window_s is None else f", the first {window_s:.2g} s before"
        return f"lost {cut.ledger.lost:,} of {cut.ledger.acknowledged:,} acknowledged{since}{damaged}"
    return f"kept all {cut.ledger.acknowledged:,} acknowledged{damaged}"
