"""The cheapest disk for a target: the answer in sentences, then every candidate by price."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.advised.advise import LIKELY, SURE
from diskproof.analysis.advised.records import (
    Advice,
    Candidate,
    Configuration,
    Measured,
    Target,
)
from diskproof.report.compose.predicted import INTERVALS, SHORT, basis, disturbances, how, weakened
from diskproof.report.compose.tables import figures, table
from diskproof.report.document import Block, Column, Document, Figure, Item, Items, Paragraph, Section
from diskproof.report.intervals import bounds, estimate, with_bounds
from diskproof.report.one_screen import Block as Rows
from diskproof.report.one_screen import OneScreen, Row, absolute_scale
from diskproof.results.limit import IN_WORDS
from diskproof.wording.numbers import NOT_OBSERVED, count, listed, milliseconds, number, percent, time

MOST_SHOWN = 30

TARGET_IS = {True: "met", False: "missed", None: "not tested"}


MOST_ON_SCREEN = 8
"""Disks on one screen: those that the answer names, and the cheapest."""


def screen(advice: Advice) -> OneScreen:
    """Return the advice on one screen: a row a disk, the cheapest first, and what to buy below it."""
    known = [one for one in advice.candidates if one.predicted.per_s]
    named = [one for one in (advice.cheaper, advice.chosen, advice.step_up, advice.nearest) if one]
    shown = [one for one in known if one in [*named, *known[: MOST_ON_SCREEN - len(named)]]]
    rows = [
        Row(
            (one.configuration.name,),
            _chance(one.probability),
            "better" if one.meets_with(SURE) else "open" if one.meets_with(LIKELY) else "worse",
            one.predicted.per_s.estimate if one.predicted.per_s else None,
            one.predicted.per_s.low if one.predicted.per_s else None,
            one.predicted.per_s.high if one.predicted.per_s else None,
            (_price(one.configuration), estimate(one.predicted.per_s), milliseconds(one.predicted.p95_us)),
            interval=bounds(one.predicted.per_s),
        )
        for one in shown
    ]
    scale = absolute_scale([one.predicted.per_s for one in shown if one.predicted.per_s])
    found = [*_bought(advice), *_answer(advice)]
    warned = weakened([one.predicted for one in known])
    lines = [("Answer", found[0]), *(("", one) for one in found[1:4])]
    lines += [("Beware", "; ".join(warned))] if warned else []
    lines += (
        [("More", f"{count(len(known) - len(shown), 'disk')}: --format markdown")] if known != shown else []
    )
    return OneScreen(
        f"Disks for {_target(advice.target)}",
        SHORT,
        "",
        (Rows("meets it with", tuple(rows), ("a month", "per second", "p95 ms"), scale),),
        tuple(lines),
        "--format markdown",
    )


def compose(advice: Advice, drawings: Sequence[Figure] = ()) -> Document:
    """Return the advice, the candidates, and what must be known of their prices.

    The notes count the disks that nothing is predicted for.
    """
    rows = table(
        [one for one in advice.candidates if one.predicted.per_s],
        ("Disk", lambda one: one.configuration.name),
        (figures("Price a month"), lambda one: _price(one.configuration)),
        (figures("Transactions/s"), lambda one: estimate(one.predicted.per_s)),
        (figures("Interval"), lambda one: bounds(one.predicted.per_s)),
        ("Basis", lambda one: basis(one.predicted)),
        (figures("p95 ms"), lambda one: milliseconds(one.predicted.p95_us)),
        (figures("Meets it"), lambda one: _chance(one.probability)),
        (Column("Load"), _load),
        (
            Column("Limit"),
            lambda one: IN_WORDS[one.predicted.limit] if one.predicted.limit else "none alone",
        ),
    )
    predicted = tuple(Paragraph(text) for text in _answer(advice))
    bought = tuple(Paragraph(text) for text in _bought(advice))
    figures_of = [one.predicted for one in advice.candidates]
    notes = Items(tuple(Item(one.text, tone="warning") for one in advice.notes))
    return Document(
        name="",
        heading=f"Disks for {_target(advice.target)}",
        lead=bought or predicted,
        sections=(
            Section("On virtual disks", _verified(advice)),
            Section("As predicted", predicted if bought else ()),
            Section("What can be bought", (*drawings, rows)),
            Section(
                "What must be known",
                (
                    Paragraph(INTERVALS if advice.verification else how(figures_of)),
                    *disturbances(figures_of),
                    *((notes,) if advice.notes else ()),
                ),
            ),
        ),
    )


def _target(target: Target) -> str:
    parts = [f"{number(target.per_s)} transactions/s"] if target.per_s is not None else []
    parts += [f"a mean of {time(target.mean_us)}"] if target.mean_us is not None else []
    parts += [f"a 95th percentile of {time(target.p95_us)}"] if target.p95_us is not None else []
    return listed(parts)


def _answer(advice: Advice) -> Iterator[str]:
    chosen, cheaper = advice.chosen, advice.cheaper
    if chosen is None:
        yield from _nearest(advice)
        return
    keeps = _keeps(chosen)
    yield (
        f"The cheapest disk that meets the target with a probability of at least {percent(SURE)} is "
        f"{_named(chosen)} {keeps}"
    )
    if cheaper is not None:
        gone = "" if _keeps(cheaper) == keeps else f" {_keeps(cheaper)}"
        test = " `--verify` finds out which to buy." if advice.verification is None else ""
        yield f"A cheaper one meets it more probably than not: {_named(cheaper)}{gone}{test}"
    if advice.step_up is not None:
        yield (
            f"The next step up is {advice.step_up.configuration.name}, for "
            f"{_price(advice.step_up.configuration)} a month: {with_bounds(advice.step_up.predicted.per_s)} "
            "transactions/s."
        )
    elif advice.held_back_by is not None:
        yield f"No dearer disk here does clearly more. The limit is then {IN_WORDS[advice.held_back_by]}."
    if advice.durability_costs is not None:
        yield (
            f"Commits that survive a power cut cost {advice.durability_costs:,.2f} "
            f"{chosen.configuration.currency} a month more than commits that need not."
        )


def _named(one: Candidate) -> str:
    """Return a disk with its price, what is predicted of it, and how probably it meets the target."""
    predicted = one.predicted
    disturbed = (
        f" The record was disturbed: {', '.join(predicted.weakened_by)}." if predicted.weakened_by else ""
    )
    return (
        f"{one.configuration.name}, for {_price(one.configuration)} a month. {with_bounds(predicted.per_s)} "
        f"transactions/s {'were measured' if predicted.measured else 'are predicted'} ({_load(one)}), and "
        f"the probability is {_chance(one.probability)}.{disturbed}"
    )


def _load(one: Candidate) -> str:
    cell = one.predicted.cell
    return f"{cell.server}, {cell.tuning}, {count(cell.clients, 'client')}"


def _keeps(one: Candidate) -> str:
    if not one.configuration.outlives_machine:
        return "Its data are gone when the machine stops."
    if one.durable:
        return "By its settings, commits survive a power cut."
    return "By its settings, a power cut may lose commits."


def _bought(advice: Advice) -> Iterator[str]:
    """Say which disk the runs found, and what became of the advised one; nothing if it was not verified."""
    made = advice.verification
    if made is None:
        return
    sold, ran = _by_name(advice), {one.name: one for one in made.runs}
    one = sold[made.cheapest] if made.cheapest is not None else None
    if all(did.meets is None for did in made.runs):
        yield "No run tested the target, so which disk to buy is not known."
    elif one is None:
        yield "No disk met the target when it was run as a virtual disk."
    else:
        yield (
            f"Buy {one.configuration.name}, for {_price(one.configuration)} a month. As a virtual disk it "
            f"did {_did(ran[one.configuration.name])}, which meets the target ({_load(one)}). {_keeps(one)}"
        )
    if advice.chosen is not None:
        chosen = advice.chosen.configuration
        became = TARGET_IS[ran[chosen.name].meets] if chosen.name in ran else "not run"
        yield f"Advised was {chosen.name}, for {_price(chosen)} a month; the target: {became}."
    if made.not_run:
        yield (
            f"The search ended after {count(len(made.runs), 'run')}; {count(len(made.not_run), 'disk')} that "
            f"may meet the target {'was' if len(made.not_run) == 1 else 'were'} not run. The cheapest is "
            f"{made.not_run[0]}."
        )
    if all(did.within is False for did in made.runs):
        yield (
            "Every run is outside its predicted interval. Predictions are for the CPUs of the recorded run, "
            "without other work on them."
        )


def _by_name(advice: Advice) -> dict[str, Candidate]:
    return {one.configuration.name: one for one in advice.candidates}


def _did(one: Measured) -> str:
    figures = [f"{number(one.per_s)} transactions/s"] if one.per_s is not None else []
    figures += [f"a mean of {time(one.mean_us)}"] if one.mean_us is not None else []
    figures += [f"a 95th percentile of {time(one.p95_us)}"] if one.p95_us is not None else []
    return listed(figures)


def _verified(advice: Advice) -> tuple[Block, ...]:
    """Return the runs in their order; nothing if it was not verified."""
    made = advice.verification
    if made is None:
        return ()
    sold = _by_name(advice)
    rows = table(
        made.runs,
        ("Disk", lambda one: one.name),
        (figures("Price a month"), lambda one: _price(sold[one.name].configuration)),
        (figures("Predicted"), lambda one: bounds(sold[one.name].predicted.per_s)),
        (figures("Transactions/s"), lambda one: number(one.per_s)),
        (figures("Mean ms"), lambda one: milliseconds(one.mean_us)),
        (figures("p95 ms"), lambda one: milliseconds(one.p95_us)),
        ("Target", lambda one: TARGET_IS[one.meets]),
    )
    return (rows, Items(tuple(map(_run, made.runs))))


def _run(one: Measured) -> Item:
    """Return where a run is, and what is wrong with it."""
    if one.per_s is None:
        return Item("No trial was valid; its report says why.", name=one.run, tone="warning")
    if one.taken is not None:
        share = percent(round(one.taken, 2))
        why = f"Other work took {share} of the CPU time. That may be why it missed the target."
        return Item(why, name=one.run, tone="warning")
    return Item(f"`diskproof run {one.study}` repeats it.", name=one.run, mark="-")


def _nearest(advice: Advice) -> Iterator[str]:
    """Yield that no disk meets the target, what main memory would do, and the nearest disk."""
    unknown = sum(one.probability is None for one in advice.candidates)
    none = f"None of {count(len(advice.candidates) - unknown, 'disk')}" if unknown else "No disk here"
    more = f" Nothing could be predicted for {unknown} more." if unknown else ""
    yield f"{none} meets the target with a probability of at least {percent(SURE)}.{more}"
    target, most = advice.target.per_s, advice.most_per_s
    if target is not None and most is not None and most < target:
        yield (
            f"Even main memory would do only {number(most)} transactions/s: the load needs other CPUs, "
            "other settings or fewer statements."
        )
    nearest = advice.nearest
    if nearest is not None:
        rank = "cheapest that does so more probably than not" if nearest.meets_with(LIKELY) else "likeliest"
        yield f"The {rank} is {_named(nearest)} {_keeps(nearest)}"


def _price(one: Configuration) -> str:
    return f"{one.a_month:,.2f} {one.currency}"


def _chance(probability: float | None) -> str:
    if probability is None:
        return NOT_OBSERVED
    if 0.01 <= probability <= 0.99:
        return percent(round(probability, 2))
    return "under 1%" if probability < 0.5 else "over 99%"
