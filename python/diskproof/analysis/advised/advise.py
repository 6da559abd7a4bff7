"""The cheapest disk that meets a target, from predictions on everything that can be bought."""

from collections import Counter
from collections.abc import Mapping, Sequence

from diskproof.analysis.advised.chance import probability
from diskproof.analysis.advised.records import Advice, Candidate, Configuration, Target
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.observed import observe
from diskproof.analysis.other_disk.predict import MEMORY
from diskproof.analysis.other_disk.records import Predicted
from diskproof.families.durability import at_risk
from diskproof.wording import Message, counted, say

SURE = 0.9
"""A disk is advised if it meets the target with at least this probability."""

LIKELY = 0.5
"""A cheaper disk that more probably than not meets the target is named beside it: it is worth a test."""

CLEARLY = 1.1
"""A step up gives at least this many times as much: less is within the error of a prediction."""


def durable_cells(gathered: Gathered) -> dict[str, bool]:
    """Return by cell whether its settings and its tables keep every acknowledged commit at a power cut.

    A disk is trusted to keep what it has flushed.
    """
    found = {}
    for cell in gathered.plan.cells:
        seen = gathered.once(observe, cell)
        if seen is not None and seen.family is not None:
            found[cell.id] = seen.covers_tables and not at_risk(seen.family, seen.settings)
    return found


def advise(
    target: Target,
    configurations: Sequence[Configuration],
    predicted: Sequence[Predicted],
    durable: Mapping[str, bool],
    *,
    durable_only: bool,
) -> Advice:
    """Rank what can be bought: of each the load that meets the target most probably.

    `predicted` has each load on each device, and on main memory; `durable` says by cell whether its commits
    survive a power cut.
    """
    safe = [one for one in predicted if durable.get(one.cell.id, False)]
    lasting = [one for one in configurations if one.outlives_machine]
    if durable_only:
        configurations, predicted = lasting, safe
    candidates = []
    for one in sorted(configurations, key=lambda one: one.a_month):
        loads = [
            Candidate(
                configuration=one,
                predicted=load,
                durable=durable.get(load.cell.id, False) and one.outlives_machine,
                probability=probability(target, load),
            )
            for load in predicted
            if load.device == one.name
        ]
        candidates += [max(loads, key=_merit)] if loads else []
    chosen = cheapest(candidates, SURE)
    likely = cheapest(candidates, LIKELY)
    step_up = next((one for one in candidates if chosen and _steps_up(one, chosen)), None)
    known = [one.per_s.estimate for one in predicted if one.device == MEMORY and one.per_s]
    return Advice(
        target=target,
        durable_only=durable_only,
        candidates=candidates,
        chosen=chosen,
        cheaper=likely if chosen and likely and likely.a_month < chosen.a_month else None,
        nearest=None if chosen else _worth_a_test(candidates),
        step_up=step_up,
        held_back_by=chosen.predicted.limit if chosen and step_up is None else None,
        most_per_s=max(known, default=None),
        notes=_notes(candidates),
    )


def _merit(one: Candidate) -> tuple[float, float]:
    """Return the probability, and of equally probable ones the throughput."""
    per_s = one.predicted.per_s
    return (-1.0 if one.probability is None else round(one.probability, 3)), per_s.estimate if per_s else 0.0


def cheapest(candidates: Sequence[Candidate], least: float) -> Candidate | None:
    """Return the cheapest that meets the target with this probability; of one price the likeliest."""
    found = sorted((one for one in candidates if one.meets_with(least)), key=_merit, reverse=True)
    return min(found, key=lambda one: one.a_month, default=None)


def _worth_a_test(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the cheapest that more probably than not meets the target, else the likeliest."""
    known = [one for one in candidates if one.probability is not None]
    return cheapest(known, LIKELY) or max(known, key=_merit, default=None)


def _steps_up(one: Candidate, chosen: Candidate) -> bool:
    """Tell whether a disk costs more than the chosen one and does clearly more."""
    a, b = one.predicted.per_s, chosen.predicted.per_s
    if a is None or b is None:
        return False
    return one.a_month > chosen.a_month and a.estimate >= CLEARLY * b.estimate


def why_unknown(one: Candidate) -> Message | None:
    """Return why it is not known whether a disk meets the target; None if it is."""
    if one.probability is not None:
        return None
    return one.predicted.missing or say("a latency of the target was not recorded; record longer trials")


def _notes(candidates: Sequence[Candidate]) -> list[Message]:
    """Return the reasons of missing predictions, and the prices that are old."""
    unknown = Counter(filter(None, map(why_unknown, candidates)))
    sold = {one.configuration.card: one.configuration for one in candidates}
    return [
        *(
            say("nothing is predicted for {n}: {why}", n=counted(count, "disk"), why=why)
            for why, count in unknown.items()
        ),
        *(
            say(
                "the prices of {card} are of {day}, more than a year ago; check them: {source}",
                card=card,
                day=one.stale_since,
                source=one.source,
            )
            for card, one in sold.items()
            if one.stale_since is not None
        ),
    ]
