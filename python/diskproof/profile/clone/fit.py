"""Fits a kind of device to figures: bounded steps along one parameter after the other, in virtual time."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diskproof import disk
from diskproof.profile.clone.cells import Asked, Observation
from diskproof.profile.clone.device import Parameter, Tree, Value, device_text
from diskproof.profile.simulated import figure_of
from diskproof.results.modelled import GOALS, MeasureName
from diskproof.results.profile import Pattern

STEPS = (1.6, 1.25, 1.1, 1.04)
"""Factors by which a parameter is moved, from coarse to fine."""

SWEEPS = 3
"""Most passes over all parameters with one step."""

IN_ONE_DIRECTION = 4
"""Most steps of one parameter before the next has its turn."""

LEAST_GAIN = 0.005
"""Error that a step must remove, or a parameter that shows in nothing would drift with the noise."""

ENOUGH_REQUESTS = 1_500
"""Of a probe that reads a drive without an arm: fifteen are beyond the 99th percentile."""

SLOW_PER_S = 1_000.0
"""Fewer reads a second wait for an arm. A cache before it fills while they are measured."""

MOST_REQUESTS, MOST_BYTES = 50_000, 1600 * 2**20
"""Of a probe that writes, whichever is less: the buffer is full, and garbage is collected."""

ROUGHLY = 4
"""A rough fit only chooses among kinds: what it writes is shortened to one part in so many."""

SAMPLE = 3
"""One probe in so many is asked first: if they alone make a step too bad, the others are not asked."""

LONGEST_S = 60
"""Virtual seconds of a probe on the slowest disk."""

IMPOSSIBLE = 10.0
"""The error of a figure that a model does not have, or of a device that is refused."""

ASSUMED = "assumed: nothing that was measured shows it"

Values = Mapping[str, Value]


@dataclass(frozen=True)
class Knob:
    """A parameter that is fitted, within bounds or from a list."""

    name: str
    patterns: frozenset[Pattern]
    """The patterns that it changes; it is fitted to them alone."""
    least: float = 0.0
    most: float = math.inf
    choices: tuple[Value, ...] = ()
    whole: bool = False
    shown_by: frozenset[Pattern] = frozenset()
    """Those of its patterns that show it, if the others only follow."""

    def neighbours(self, value: Value, step: float) -> Iterator[tuple[Value, ...]]:
        """Yield the ways from a value: up, then down, each as the values that are met in turn."""
        if self.choices:
            at = self.choices.index(value)
            yield self.choices[at + 1 :]
            yield self.choices[:at][::-1]
            return
        for factor in (step, 1 / step):
            yield tuple(self._moved(float(value), factor**count) for count in range(1, IN_ONE_DIRECTION + 1))

    def _moved(self, value: float, factor: float) -> float:
        moved = min(max(value * factor, self.least), self.most)
        return round(moved) if self.whole else moved


@dataclass(frozen=True)
class Setting:
    """The parameters of a candidate while its file is written: values, and where they come from."""

    values: Values
    sources: Mapping[str, str]

    def number(self, name: str) -> float:
        """Return a value that is a number."""
        return float(self.values[name])

    def fitted(self, name: str, value: Value | None = None, assumed: str = ASSUMED) -> Parameter:
        """Return a parameter that is fitted, or follows from one that is; else it is `assumed`."""
        return Parameter(self.values[name] if value is None else value, self.sources.get(name, assumed))


@dataclass(frozen=True)
class Candidate:
    """A kind of device, with a first guess of its parameters."""

    kind: str
    start: Values
    knobs: tuple[Knob, ...]
    build: Callable[[Setting], Tree]
    """Makes the device of the values."""

    def tree(self, values: Values, patterns: frozenset[Pattern]) -> Tree:
        """Return the device; a knob that no measured pattern shows is called assumed."""
        sources = {
            knob.name: f"fitted to {', '.join(sorted(knob.patterns & patterns))}"
            for knob in self.knobs
            if knob.patterns & patterns
        }
        return self.build(Setting(values, sources))


@dataclass(frozen=True)
class Fitted:
    """A candidate after its fit."""

    candidate: Candidate
    values: Values
    tree: Tree
    error: float
    """See `Tried.error`."""


class Model:
    """Runs probes on devices in virtual time; what was asked before is remembered."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        """Start with an empty memory; every draw of the models comes from the seed."""
        self._file = folder / "candidate.toml"
        self._seed = seed
        self._known: dict[tuple[str, Asked], disk.Facts | None] = {}
        self.before_each: Callable[[], None] = lambda: None
        """Called before the program is asked: a fit asks it hundreds of times."""

    def errors(
        self, tree: Tree, observations: Sequence[Observation], *, roughly: bool = False
    ) -> list[float]:
        """Return the mean error of each observation's figures."""
        told = self._answers(tree, observations, roughly=roughly)
        return [_error(one, facts) for one, facts in zip(observations, told, strict=True)]

    def figures(
        self, tree: Tree, observations: Sequence[Observation]
    ) -> list[Mapping[MeasureName, float | None]]:
        """Return the model's figures beside those that were measured."""
        told = self._answers(tree, observations)
        return [
            {measure: figure_of(facts, measure) if facts else None for measure in one.figures}
            for one, facts in zip(observations, told, strict=True)
        ]

    def _answers(
        self, tree: Tree, observations: Sequence[Observation], *, roughly: bool = False
    ) -> list[disk.Facts | None]:
        text = device_text("a candidate", "A candidate.", tree)
        asked = [(text, _asked(one, roughly=roughly)) for one in observations]
        new = list(dict.fromkeys(one for one in asked if one not in self._known))
        if new:
            self._known.update(zip(new, self._new_answers(text, [one for _, one in new]), strict=True))
        return [self._known[one] for one in asked]

    def _new_answers(self, text: str, asked: Sequence[Asked]) -> Sequence[disk.Facts | None]:
        self.before_each()
        self._file.write_text(text, encoding="utf-8")
        try:
            return disk.simulate_probes(str(self._file), [one.line for one in asked], self._seed)
        except disk.DiskError:  # a combination of parameters that no device has
            return [None] * len(asked)


def _asked(one: Observation, *, roughly: bool) -> Asked:
    return Asked(one.probe, *length_of(one, roughly=roughly), one.fio_window_s)


def length_of(one: Observation, *, roughly: bool = False) -> tuple[int, int]:
    """Return the virtual seconds, and the most requests, that show a probe's figures."""
    if one.probe.writes:
        most = min(MOST_REQUESTS, MOST_BYTES // one.probe.block_bytes)
        return max(1, round(one.seconds)), most // ROUGHLY if roughly else most
    per_s = one.figures.get("iops") or one.probe.depth / (_latency_us(one) / 1e6)
    least_s = one.seconds if per_s < SLOW_PER_S else 1
    seconds = max(math.ceil(ENOUGH_REQUESTS / max(per_s, 1e-9)), round(least_s))
    return min(seconds, LONGEST_S), max(ENOUGH_REQUESTS, round(least_s * SLOW_PER_S))


def _latency_us(one: Observation) -> float:
    return one.figures.get("median_us") or one.figures.get("mean_us") or 1000.0


def _error(one: Observation, told: disk.Facts | None) -> float:
    if told is None:
        return IMPOSSIBLE
    found = []
    for measure, measured in one.figures.items():
        goal, modelled = GOALS[measure], figure_of(told, measure)
        if goal is None or measured <= 0:
            continue
        if not modelled or modelled <= 0:
            found.append(IMPOSSIBLE)
            continue
        distance = math.log(modelled / measured) / math.log1p(goal)
        found.append(math.log1p(distance**2))  # a figure that no parameter reaches must not rule all others
    return sum(found) / len(found) if found else 0.0


@dataclass
class _Search:
    """Where a fit is."""

    candidate: Candidate
    model: Model
    observations: Sequence[Observation]
    values: dict[str, Value]
    roughly: bool
    errors: dict[Observation, float] = field(default_factory=dict)

    def tree(self, values: Values) -> Tree:
        return self.candidate.tree(values, frozenset(one.probe.pattern for one in self.observations))

    def walk(self, knob: Knob, step: float) -> bool:
        """Move one parameter for as long as that helps; return whether it moved."""
        affected = [one for one in self.observations if one.probe.pattern in knob.patterns]
        if not affected:
            return False
        affected = [*affected[::SAMPLE], *(one for n, one in enumerate(affected) if n % SAMPLE)]
        before = sum(self.errors[one] for one in affected)
        for way in knob.neighbours(self.values[knob.name], step):
            moved = False
            for value in way:
                values = {**self.values, knob.name: value}
                errors = self._errors_below(before - LEAST_GAIN, values, affected)
                if errors is None:
                    break
                before, self.values, moved = sum(errors), values, True
                self.errors.update(zip(affected, errors, strict=True))
            if moved:
                return True
        return False

    def _errors_below(
        self, limit: float, values: Values, observations: Sequence[Observation]
    ) -> list[float] | None:
        """Return the errors, or None if their sum is not below the limit. No error is negative."""
        tree, errors = self.tree(values), list[float]()
        sample = -(-len(observations) // SAMPLE)
        for some in (observations[:sample], observations[sample:]):
            errors += self.model.errors(tree, some, roughly=self.roughly)
            if sum(errors) >= limit:
                return None
        return errors


def fit(
    candidate: Candidate,
    model: Model,
    observations: Sequence[Observation],
    steps: Sequence[float] = STEPS,
    values: Values | None = None,
    *,
    roughly: bool = False,
) -> Fitted:
    """Fit a candidate to observations: a pattern search (Hooke and Jeeves, 1961) in logarithms.

    It starts from `values`, or from the candidate's first guess.
    """
    search = _Search(candidate, model, observations, dict(values or candidate.start), roughly)
    errors = model.errors(search.tree(search.values), observations, roughly=roughly)
    search.errors.update(zip(observations, errors, strict=True))
    for step in steps:
        for _ in range(SWEEPS):
            moved = [knob.name for knob in candidate.knobs if search.walk(knob, step)]
            if not moved:
                break
    error = sum(search.errors.values()) / max(len(observations), 1)
    return Fitted(candidate, search.values, search.tree(search.values), error)
