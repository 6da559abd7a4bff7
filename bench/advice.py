"""How often `diskproof advise` finds the cheapest adequate disk: many targets, with a truth that is drawn.

``python bench/advice.py RUN...`` predicts the loads of recorded runs on everything that the shipped price
cards sell. Each load gets targets spread over what those disks are predicted to do. The truth is simulated:
the prediction itself, or the prediction with an error as wide as its interval says, one for each load and
card. An advice is right if the chosen disk meets the target in truth and costs at most 5% more than the
cheapest one that does. Ends with 1 if too few of the named disks are right with predictions as the truth.
"""

import argparse
import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from diskproof.analysis.advised import answer as advised
from diskproof.analysis.advised.records import Advice, Configuration, Target
from diskproof.analysis.folder import gather_folder
from diskproof.analysis.other_disk.answer import answer, load_key
from diskproof.analysis.other_disk.records import Predicted
from diskproof.cli.predict import simulate
from diskproof.cli.sold import sold
from diskproof.results.folder import RunFolder
from diskproof.stats.groups import grouped
from diskproof.study.price_cards import shipped_cards

GOAL = 0.95
DEARER = 1.05
TARGETS = 100
"""Of each load."""
BEYOND = 1.1
"""The highest target, over the most that a disk is predicted to do."""
SEED = 1
GIB = 100.0

Truth = dict[str, float]
"""Transactions a second by configuration."""

RIGHT, TOO_DEAR, MISSES = OF_NAMED = ("right", "too dear", "misses the target")
NONE_NAMED, IMPOSSIBLE = "none named", "impossible"
ADVISED, VERIFIED, LIKELIER = "advised", "with --verify", "over 50%"
"""Which disk is named: the chosen one; the cheaper one instead if it meets the target when --verify runs it;
the cheapest that more probably than not meets it."""


def main() -> int:
    """Predict once, then advise and judge many times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        configurations, files = sold(shipped_cards(), GIB, Path(folder))
        loads = [load for run in arguments.runs for load in predicted(run, configurations, files)]
    table = Table("truth", "rule", "targets", "none named", "named", *OF_NAMED, box=None)
    shares = []
    for name, draw in (("as predicted", as_predicted), ("with errors", with_errors)):
        for rule in (ADVISED, VERIFIED, LIKELIER):
            found = judged(loads, configurations, draw, rule)
            named = sum(found[outcome] for outcome in OF_NAMED)
            shares.append(found[RIGHT] / max(named, 1))
            counts = (str(found.total()), str(found[NONE_NAMED]), str(named))
            table.add_row(name, rule, *counts, *(f"{found[one] / named:.0%}" for one in OF_NAMED))
    console = Console(width=110)
    console.print(f"{len(loads)} loads, {len(configurations)} disks and volumes")
    console.print(table)
    return 0 if shares[0] >= GOAL else 1


def predicted(
    run: Path, configurations: Sequence[Configuration], files: dict[str, str]
) -> list[list[Predicted]]:
    """Return each load of a run that can be predicted, on every configuration."""
    found = answer(
        gather_folder(RunFolder.open(run)),
        [one.name for one in configurations],
        lambda device, loads: simulate(files.get(device, device), loads),
        {},
    )
    known = [one for one in found.cells if one.per_s is not None]
    return list(grouped(known, lambda one: load_key(one.cell)).values())


def judged(
    loads: Sequence[Sequence[Predicted]],
    configurations: Sequence[Configuration],
    draw: Callable[[Sequence[Predicted], dict[str, str], random.Random], Truth],
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
            target = math.exp(low + (high - low) * (number + 0.5) / TARGETS)
            truth = draw(load, cards, chance)
            made = advised.advise(Target(per_s=target), configurations, load, {}, durable_only=False)
            outcomes[_outcome(_bought(made, rule, target, truth), target, truth, prices)] += 1
    return outcomes


def _bought(made: Advice, rule: str, target: float, truth: Truth) -> str | None:
    """Return the disk that a rule names; None if it names none."""
    found = made.chosen
    if rule == LIKELIER:
        found = advised.cheapest(made.candidates, advised.LIKELY)
    elif rule == VERIFIED and made.cheaper and truth[made.cheaper.configuration.name] >= target:
        found = made.cheaper
    return found.configuration.name if found else None


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


def with_errors(load: Sequence[Predicted], cards: dict[str, str], chance: random.Random) -> Truth:
    """Return the predictions with an error of each card, normal on logarithms."""
    errors = {card: chance.gauss() for card in sorted(set(cards.values()))}
    found = {}
    for one in load:
        if one.per_s is not None and one.per_s.high is not None:
            width = math.log(one.per_s.high / one.per_s.estimate) / advised.QUANTILE
            found[one.device] = one.per_s.estimate * math.exp(width * errors[cards[one.device]])
    return found


if __name__ == "__main__":
    raise SystemExit(main())
