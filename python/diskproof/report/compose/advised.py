"""The cheapest disk for a target: the answer in sentences, then every candidate by price."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.advised.answer import LIKELY, SURE
from diskproof.analysis.advised.records import Advice, Candidate, Configuration, Measured, Target
from diskproof.report.compose.predicted import HOW
from diskproof.report.compose.tables import figures, table
from diskproof.report.document import Column, Document, Figure, Item, Items, Paragraph, Section
from diskproof.report.intervals import bounds, estimate, with_bounds
from diskproof.results.limit import IN_WORDS
from diskproof.wording.numbers import NOT_OBSERVED, count, listed, milliseconds, number, percent, time

MOST_SHOWN = 30


def compose(advice: Advice, drawings: Sequence[Figure] = ()) -> Document:
    """Return the advice, the candidates, and what must be known of their prices."""
    rows = table(
        advice.candidates,
        ("Disk", lambda one: one.configuration.name),
        (figures("Price a month"), lambda one: _price(one.configuration)),
        (figures("Transactions/s", short="TPS"), lambda one: estimate(one.predicted.per_s)),
        (figures("Interval"), lambda one: bounds(one.predicted.per_s)),
        (figures("p95 ms"), lambda one: milliseconds(one.predicted.p95_us)),
        (figures("Meets it"), lambda one: _chance(one.probability)),
        (Column("Load", drop=2), _load),
        (
            Column("Limit", drop=1),
            lambda one: IN_WORDS[one.predicted.limit] if one.predicted.limit else "none alone",
        ),
        most=MOST_SHOWN,
        noun="disk",
    )
    notes = Items(tuple(Item(one.text, tone="warning") for one in advice.notes))
    return Document(
        name="",
        heading=f"Disks for {_target(advice.target)}",
        lead=tuple(Paragraph(text) for text in _answer(advice)),
        sections=(
            Section("On virtual disks", _verified(advice)),
            Section("What can be bought", (*drawings, rows)),
            Section("What must be known", (Paragraph(HOW), *((notes,) if advice.notes else ()))),
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
        yield _nearest(advice)
        return
    keeps = _keeps(chosen)
    yield (
        f"The cheapest disk that meets the target with a probability of at least {percent(SURE)} is "
        f"{_named(chosen)} {keeps}"
    )
    if cheaper is not None and cheaper.meets_with(LIKELY):
        gone = "" if _keeps(cheaper) == keeps else f" {_keeps(cheaper)}"
        test = " `--verify` runs both disks." if advice.verification is None else ""
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
    return (
        f"{one.configuration.name}, for {_price(one.configuration)} a month. "
        f"{with_bounds(one.predicted.per_s)} transactions/s are predicted ({_load(one)}), and the "
        f"probability is {_chance(one.probability)}."
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


def _verified(advice: Advice) -> tuple[Paragraph, ...]:
    """Say whether the advice held; nothing if it was not verified."""
    made, chosen = advice.verification, advice.chosen
    if made is None or chosen is None:
        return ()
    said = {True: "The advice held.", False: "The advice did not hold.", None: "The advice was not tested."}
    paragraphs = [Paragraph(f"{said[made.advised.meets]} {_measured(made.advised)}")]
    if made.cheaper is not None:
        paragraphs.append(Paragraph(f"A cheaper disk: {_measured(made.cheaper)}{_instead(advice)}"))
    paragraphs.append(Paragraph(f"The run is {made.run}; `diskproof run {made.study}` repeats it."))
    return tuple(paragraphs)


def _instead(advice: Advice) -> str:
    """Say that the cheaper disk will do; nothing if it did not."""
    made, cheaper = advice.verification, advice.cheaper
    if made is None or made.cheaper is None or cheaper is None or not made.cheaper.meets:
        return ""
    return f" Buy it for {_price(cheaper.configuration)} a month."


def _measured(one: Measured) -> str:
    if one.per_s is None:
        return f"{one.name} has no valid trial; the run's report says why."
    figures = [f"{number(one.per_s)} transactions/s"]
    figures += [f"a mean of {time(one.mean_us)}"] if one.mean_us is not None else []
    figures += [f"a 95th percentile of {time(one.p95_us)}"] if one.p95_us is not None else []
    meets = {
        True: "That meets the target",
        False: "That misses the target",
        None: "The target was not observed",
    }
    within = {
        True: ", and lies in the predicted interval",
        False: ", and lies outside the predicted interval",
    }
    end = "" if one.within is None else within[one.within]
    return f"{one.name} did {listed(figures)}. {meets[one.meets]}{end}."


def _nearest(advice: Advice) -> str:
    said = f"No disk here meets the target with a probability of at least {percent(SURE)}."
    nearest = advice.nearest
    if nearest is not None:
        rank = "cheapest that does so more probably than not" if nearest.meets_with(LIKELY) else "likeliest"
        said += f" The {rank} is {_named(nearest)} {_keeps(nearest)}"
    target, most = advice.target.per_s, advice.most_per_s
    if target is not None and most is not None and most < target:
        said += (
            f" Main memory is predicted to do {number(most)} transactions/s, and no disk does more: the load "
            "needs other CPUs, other settings or fewer statements."
        )
    return said


def _price(one: Configuration) -> str:
    return f"{one.a_month:,.2f} {one.currency}"


def _chance(probability: float | None) -> str:
    if probability is None:
        return NOT_OBSERVED
    if 0.01 <= probability <= 0.99:
        return percent(round(probability, 2))
    return "under 1%" if probability < 0.5 else "over 99%"
