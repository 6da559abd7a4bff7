"""Which disks to run as virtual disks, one after the other, to find the cheapest that meets a target.

Each time it is the one with the largest expected saving: the probability that it meets the target, times what
it saves, as a logarithm of prices. Until one meets it, the saving is that over the dearest plausible one.
After that, only cheaper ones are run.
"""

import math
from collections.abc import Callable, Iterator, Sequence

from diskproof.analysis.advised.margins import Margin, measured_logs, predicted_margins, probability
from diskproof.analysis.advised.records import Candidate, Measured, Target, Verification

MOST_RUNS = 5
"""Runs of a search: a minute or more each. `bench/advice.py` needs two on average."""

PLAUSIBLE = 0.05
"""A disk that meets the target with less is not run."""

WORTH = 1.05
"""A disk is run only if the one to buy otherwise costs more by this factor."""

LEAST_PRICE = 0.01
"""For logarithms of what costs nothing."""

Tried = Sequence[tuple[Candidate, Measured]]


def search(
    target: Target, candidates: Sequence[Candidate], run: Callable[[Candidate], Measured]
) -> Iterator[Verification]:
    """Run disks until no cheaper one is worth it, MOST_RUNS at most; yield what is known after each run.

    `candidates` are by price. Nothing is yielded if no disk is plausible.
    """
    tried: list[tuple[Candidate, Measured]] = []
    while len(tried) < MOST_RUNS and (left := _worth_a_run(target, candidates, tried)):
        one = max(left, key=lambda found: found[1])[0]
        tried.append((one, run(one)))
        still = [found.configuration.name for found, _ in _worth_a_run(target, candidates, tried)]
        found = _found(tried)
        yield Verification(
            runs=[measured for _, measured in tried],
            cheapest=found.configuration.name if found else None,
            not_run=still,
        )


def _found(tried: Tried) -> Candidate | None:
    """Return the cheapest that met the target."""
    met = [one for one, measured in tried if measured.meets]
    return min(met, key=_price, default=None)


def _worth_a_run(
    target: Target, candidates: Sequence[Candidate], tried: Tried
) -> list[tuple[Candidate, float]]:
    """Return the plausible ones that save money, each with its expected saving."""
    found, names = _found(tried), {one.configuration.name for one, _ in tried}
    chances = [
        (one, probability(_margins(target, one, tried)) or 0.0)
        for one in candidates
        if one.configuration.name not in names
    ]
    plausible = [(one, chance) for one, chance in chances if chance >= PLAUSIBLE]
    dearest = max((_price(one) for one, _ in plausible), default=0.0)
    otherwise = _price(found) if found else dearest * WORTH**2
    return [
        (one, chance * math.log(otherwise / _price(one)))
        for one, chance in plausible
        if _price(one) * WORTH < otherwise
    ]


def _price(one: Candidate) -> float:
    return max(one.a_month, LEAST_PRICE)


def _margins(target: Target, one: Candidate, tried: Tried) -> dict[str, Margin] | None:
    """Return what is predicted of a disk, corrected by the latest run of another of its card."""
    margins = predicted_margins(target, one.predicted)
    card = one.configuration.card
    for other, measured in reversed(tried):
        before, logs = predicted_margins(target, other.predicted), measured_logs(target, measured)
        known = measured.meets is not None and not (one.predicted.measured or other.predicted.measured)
        if known and other.configuration.card == card and margins and before and logs:
            return {part: each.corrected(before[part], logs[part]) for part, each in margins.items()}
    return margins
