"""How often `diskproof advise` finds the cheapest adequate disk: many targets, with a truth that is drawn.

``python bench/advice.py RUN...`` predicts the loads of recorded runs on everything that the shipped price
cards sell. Each load gets targets spread over what those disks are predicted to do. The truth is simulated:
the prediction itself, or the prediction with an error as wide as its interval says: one for each load and
card, or one for each load and disk. An advice is right if the named disk meets the target in truth and costs
at most 5% more than the cheapest one that does. Ends with 1 if more of the advised disks miss the target than
their probability says.
"""

import argparse
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from diskproof.analysis.advised import advise as advised
from diskproof.analysis.advised.chance import quantile
from diskproof.analysis.advised.records import Configuration, Target
from diskproof.analysis.folder import gather_folder
from diskproof.analysis.other_disk.predict import answer, load_key
from diskproof.analysis.other_disk.records import Predicted
from diskproof.cli.sold import sold
from diskproof.results.folder import RunFolder
from diskproof.run.dials import simulate
from diskproof.stats.grouping import grouped
from diskproof.study.price_cards import shipped_cards

DEARER = 1.05
TARGETS = 100
"""Of each load."""
BEYOND = 1.1
"""The highest target, over the most that a disk is predicted to do."""
SEED = 1
GIB = 100.0

Truth = dict[str, float]
"""Transactions a second by configuration."""

Draw = Callable[[Sequence[Predicted], dict[str, str], random.Random], Truth]
"""Draws a truth, from predictions and the card of each configuration."""

RIGHT, TOO_DEAR, MISSES = OF_NAMED = ("right", "too dear", "misses the target")
NONE_NAMED, IMPOSSIBLE = "none named", "impossible"
ADVISED, LIKELIER = "advised", "over 50%"
"""Which disk is named: the chosen one; the cheapest that more probably than not meets the target."""


def main() -> int:
    """Predict once, then advise and judge many times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    arguments = parser.parse_args()
    configurations = sold(shipped_cards(), GIB)
    loads = [load for run in arguments.runs for load in predicted(run, configurations)]
    table = Table("truth", "rule", "targets", "none named", "named", *OF_NAMED, box=None)
    shares = []
    for name, draw in TRUTHS.items():
        for rule in (ADVISED, LIKELIER):
            found = judged(loads, configurations, draw, rule)
            named = sum(found[outcome] for outcome in OF_NAMED)
            if rule == ADVISED:
                shares.append(1 - found[MISSES] / max(named, 1))
            counts = (str(found.total()), str(found[NONE_NAMED]), str(named))
            rates = (f"{found[one] / named:.1%}" for one in OF_NAMED)
            table.add_row(name, rule, *counts, *rates)
    console = Console(width=130)
    console.print(f"{len(loads)} loads, {len(configurations)} disks and volumes")
    console.print(table)
    return 0 if min(shares) >= advised.SURE else 1


def predicted(run: Path, configurations: Sequence[Configuration]) -> list[list[Predicted]]:
    """Return each load of a run that can be predicted, on every configuration."""
    devices = {one.name: one.device for one in configurations}
    found = answer(
        gather_folder(RunFolder.open(run)),
        list(devices),
        lambda device, loads: simulate(devices.get(device, device), loads),
        {},
    )
    known = [one for one in found.cells if one.per_s is not None]
    return list(grouped(known, lambda one: load_key(one.cell)).values())


def judged(
    loads: Sequence[Sequence[Predicted]],
    configurations: Sequence[Configuration],
    draw: Draw,
    rule: str,
) -> Counter[str]:
    """Count what became of each advice."""
    chance = random.Random(SEED)
    cards = {one.name: one.card for one in configurations}
    prices = {one.name: one.a_month for one in configurations}
    outcomes: Counter[str] = Counter()
    for load in loads:
        speeds = [one.per_s.estimate for one in load if one.per_s]
        low, high = math.log(min(speeds) / BEYOND), math.log(max(speeds) * BEYOND)
        for number in range(TARGETS):
            target = Target(per_s=math.exp(low + (high - low) * (number + 0.5) / TARGETS))
            truth = draw(load, cards, chance)
            named = _named(target, configurations, load, rule)
            outcomes[_outcome(named, target.per_s or 0.0, truth, prices)] += 1
    return outcomes


def _named(
    target: Target,
    configurations: Sequence[Configuration],
    load: Sequence[Predicted],
    rule: str,
) -> str | None:
    """Return the disk that a rule names; None if it names none."""
    made = advised.advise(target, configurations, load, {}, durable_only=False)
    one = made.chosen if rule == ADVISED else advised.cheapest(made.candidates, advised.LIKELY)
    return one.configuration.name if one else None


def _outcome(chosen: str | None, target: float, truth: Truth, prices: dict[str, float]) -> str:
    adequate = [prices[device] for device, per_s in truth.items() if per_s >= target]
    if chosen is None:
        return NONE_NAMED if adequate else IMPOSSIBLE
    if truth[chosen] < target:
        return MISSES
    return RIGHT if prices[chosen] <= DEARER * min(adequate) else TOO_DEAR


def as_predicted(load: Sequence[Predicted], _cards: dict[str, str], _chance: random.Random) -> Truth:
    """Return the predictions as the truth."""
    return {one.device: one.per_s.estimate for one in load if one.per_s}


def errors_of_cards(load: Sequence[Predicted], cards: dict[str, str], chance: random.Random) -> Truth:
    """Return the predictions with an error of each card, normal on logarithms."""
    errors = {card: chance.gauss() for card in sorted(set(cards.values()))}
    return {one.device: _off(one, errors[cards[one.device]]) for one in load}


def errors_of_disks(load: Sequence[Predicted], _cards: dict[str, str], chance: random.Random) -> Truth:
    """Return the predictions with an error of each disk, normal on logarithms."""
    return {one.device: _off(one, chance.gauss()) for one in load}


def _off(one: Predicted, deviations: float) -> float:
    """Return a throughput that is off by so many standard deviations of its interval."""
    assert one.per_s is not None
    assert one.per_s.high is not None
    wide = math.log(one.per_s.high / one.per_s.estimate)
    return one.per_s.estimate * math.exp(wide * deviations / quantile(one.per_s.confidence))


TRUTHS: dict[str, Draw] = {
    "as predicted": as_predicted,
    "errors of cards": errors_of_cards,
    "errors of disks": errors_of_disks,
}


if __name__ == "__main__":
    raise SystemExit(main())
