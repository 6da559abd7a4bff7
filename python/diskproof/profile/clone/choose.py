"""Chooses the kind of device that comes nearest to the fitted figures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from diskproof.profile.clone.cells import Observation
from diskproof.profile.clone.fit import STEPS, Candidate, Fitted, Model, fit
from diskproof.profile.clone.kinds import bridge, cloud, flash, spinning
from diskproof.profile.clone.sight import Sight

HOPELESS = 1.5
"""After the coarsest steps, a kind with more than so many times the least error is given up."""

REMOVED_US = 1_500.0
"""No flash drive and no memory answers reads of 4 KiB so late."""

Tell = Callable[[str, int, int], None]
"""Gets what is fitted, and which fit of how many in this round it is; the second round is close. It is called
again with the same for as long as that fit goes on."""


def candidates(sight: Sight) -> Iterator[Candidate]:
    """Yield every kind that the figures do not rule out."""
    yield cloud.candidate(sight)
    read_us = sight.latency_us("random-read")
    if read_us is None or read_us < REMOVED_US:
        yield cloud.in_batches(sight)
        yield from flash.candidates(sight)
    yield from spinning.candidates(sight)
    yield from bridge.candidates(sight)


def choose(sight: Sight, model: Model, observations: Sequence[Observation], tell: Tell) -> list[Fitted]:
    """Fit all kinds; return them with the nearest first. `observations` are those that may be fitted to."""

    def roughly(some: Sequence[Candidate]) -> Iterator[Fitted]:
        for number, one in enumerate(some, 1):
            model.before_each = partial(tell, f"{one.kind}, roughly", number, len(some))
            model.before_each()
            yield fit(one, model, observations, STEPS[:1], roughly=True)

    coarse = list(roughly(list(candidates(sight))))
    limit = HOPELESS * min(one.error for one in coarse) + 0.05
    fitted = [one for one in coarse if one.error > limit]
    near = [one for one in coarse if one.error <= limit]
    for number, one in enumerate(near, 1):
        model.before_each = partial(tell, f"{one.candidate.kind}, closely", number, len(near))
        model.before_each()
        fitted.append(_closely(one, model, observations))
    return sorted(fitted, key=lambda one: one.error)


def _closely(one: Fitted, model: Model, observations: Sequence[Observation]) -> Fitted:
    """Fit a kind in small steps, from three starts if one may lead to a compromise that no step leaves."""
    starts = [one.values]
    shown = tuple(replace(knob, patterns=knob.shown_by) for knob in one.candidate.knobs if knob.shown_by)
    if shown:
        others = tuple(knob for knob in one.candidate.knobs if not knob.shown_by)
        for knobs in (shown, (*shown, *others)):
            start = replace(one.candidate, knobs=knobs)
            starts.append(fit(start, model, observations, STEPS[:1], roughly=True).values)
    close = (fit(one.candidate, model, observations, STEPS, values) for values in starts)
    return min(close, key=lambda one: one.error)
