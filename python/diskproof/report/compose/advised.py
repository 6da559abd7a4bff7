"""The cheapest disk for a target: every candidate by price, and the answer in sentences."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.advised.advise import LIKELY, SURE
from diskproof.analysis.advised.records import Advice, Candidate, Configuration, Target
from diskproof.analysis.other_disk.errors import CONFIDENCE
from diskproof.report.compose.predicted import HOW, SHORT, basis, weakened
from diskproof.report.document import Paragraph, Section
from diskproof.report.intervals import bounds, estimate, with_bounds
from diskproof.report.one_screen import Block, OneScreen, Row, absolute_scale
from diskproof.results.limit import IN_WORDS
from diskproof.wording.numbers import NOT_OBSERVED, count, listed, milliseconds, number, percent, time

MOST_ON_SCREEN = 8
"""Disks on one screen: those that the answer names, and the cheapest."""


def compose(advice: Advice) -> OneScreen:
    """Return a row a disk, the cheapest first, and what to buy below it; every other disk follows.

    The notes count the disks that nothing is predicted for.
    """
    known = [one for one in advice.candidates if one.predicted.per_s]
    named = [one for one in (advice.cheaper, advice.chosen, advice.step_up, advice.nearest) if one]
    shown = [one for one in known if one in [*named, *known[: MOST_ON_SCREEN - len(named)]]]
    hidden = count(len(known) - len(shown), "disk")
    best = advice.chosen or advice.nearest
    answer, *others = _answer(advice)
    warned = weakened([one.predicted for one in known])
    lines = (
        ("Answer", answer),
        *(("", one) for one in others),
        ("To test", f'run the load on `virtual = "{best.configuration.device}"`' if best else ""),
        ("Beware", "; ".join([*warned, *(one.text for one in advice.notes)])),
        ("More", f"{hidden}: --format markdown" if known != shown else ""),
    )
    return OneScreen(
        f"Disks for {_figures(advice.target)}",
        SHORT,
        (_rows(shown),),
        tuple((lead, text) for lead, text in lines if text),
        rest=(
            Section("What can be bought", (_rows(known).table(),) if known != shown else ()),
            Section("What the intervals hold for", (Paragraph(HOW),)),
        ),
    )


def _rows(some: Sequence[Candidate]) -> Block:
    columns = ("a month", "p95 ms", "per second", f"{percent(CONFIDENCE)} interval", "load", "limit", "basis")
    figures = [one.predicted.per_s for one in some if one.predicted.per_s]
    return Block("meets it with", tuple(map(_row, some)), columns, absolute_scale(figures), most_figures=3)


def _row(one: Candidate) -> Row:
    predicted = one.predicted
    per_s = predicted.per_s
    assert per_s
    return Row(
        (one.configuration.name,),
        _chance(one.probability),
        "better" if one.meets_with(SURE) else "open" if one.meets_with(LIKELY) else "worse",
        per_s,
        (
            _price(one.configuration),
            milliseconds(predicted.p95_us),
            estimate(per_s),
            bounds(per_s),
            _load(one),
            IN_WORDS[predicted.limit] if predicted.limit else "none alone",
            basis(predicted),
        ),
    )


def _figures(one: Target) -> str:
    """Return what is asked."""
    parts = [f"{number(one.per_s)} transactions/s"] if one.per_s is not None else []
    parts += [f"a mean of {time(one.mean_us)}"] if one.mean_us is not None else []
    parts += [f"a 95th percentile of {time(one.p95_us)}"] if one.p95_us is not None else []
    return listed(parts)


def _answer(advice: Advice) -> Iterator[str]:
    chosen, target, most = advice.chosen, advice.target.per_s, advice.most_per_s
    if chosen is not None:
        sure = f"probability {percent(SURE)} or more"
        yield f"The cheapest disk that meets the target ({sure}) is {_named(chosen)}"
        if advice.cheaper is not None:
            yield f"A cheaper one meets it more probably than not: {_named(advice.cheaper)}"
        if advice.step_up is not None:
            yield f"The next step up is {_priced(advice.step_up)}: {_does(advice.step_up)}."
        elif advice.held_back_by is not None:
            yield f"No dearer disk here does clearly more: the limit is then {IN_WORDS[advice.held_back_by]}."
        return
    unknown = sum(one.probability is None for one in advice.candidates)
    yield (
        f"None of {count(len(advice.candidates) - unknown, 'disk')} meets the target with a probability of "
        f"at least {percent(SURE)}; {unknown} could not be predicted."
    )
    if target is not None and most is not None and most < target:
        yield f"Even main memory would do only {number(most)} transactions/s: the load needs other CPUs."
    if advice.nearest is not None:
        yield f"The nearest is {_named(advice.nearest)}"


def _priced(one: Candidate) -> str:
    return f"{one.configuration.name}, for {_price(one.configuration)} a month"


def _does(one: Candidate) -> str:
    known = one.predicted
    return f"{with_bounds(known.per_s)} transactions/s {'measured' if known.measured else 'predicted'}"


def _named(one: Candidate) -> str:
    """Return a disk with its price, what is predicted of it, and how probably it meets the target."""
    disturbed = ", ".join(one.predicted.weakened_by)
    return (
        f"{_priced(one)}: {_does(one)} ({_load(one)}), probability {_chance(one.probability)}. {_keeps(one)}"
        f"{f' The record was disturbed: {disturbed}.' if disturbed else ''}"
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


def _price(one: Configuration) -> str:
    return f"{one.a_month:,.2f} {one.currency}"


def _chance(probability: float | None) -> str:
    if probability is None:
        return NOT_OBSERVED
    if 0.01 <= probability <= 0.99:
        return percent(round(probability, 2))
    return "under 1%" if probability < 0.5 else "over 99%"
