"""A verification: published, model and measured side by side, evidence apart."""

from collections.abc import Sequence

from diskproof.report.compose.device import MEASURES
from diskproof.report.compose.probes import probe as named
from diskproof.report.compose.tables import figures as figures_column
from diskproof.report.compose.tables import table
from diskproof.report.document import Block, Document, Item, Items, Paragraph, Section, Table
from diskproof.results.verification import Verification, VerifiedFigure, VerifiedProbe
from diskproof.wording.numbers import milliseconds, number

MOST_WAY_SHARE = 0.10
"""Beyond it what was measured is the machine's as well as the device's: as much as an answer may be late."""


def compose(verification: Verification) -> Document:
    """Return the figures that were held out, then those that were fitted, then what must be known."""
    return Document(
        name="",
        heading=f"{verification.device}: {verification.title}",
        lead=(Paragraph(_how(verification)),),
        sections=(
            Section(
                "Held out: figures that no parameter was fitted to", _figures(verification, fitted=False)
            ),
            Section(
                "Fitted: what the parameters were chosen by, and no evidence",
                _figures(verification, fitted=True),
            ),
            Section("", (Items(tuple(Item(note, tone="warning") for note in notes(verification))),)),
        ),
    )


def _figures(verification: Verification, *, fitted: bool) -> tuple[Block, ...]:
    found = [figure for figure in verification.figures if figure.fitted is fitted]
    return (figures(found), Paragraph(_score(found), style="note")) if found else ()


def figures(found: Sequence[VerifiedFigure]) -> Table:
    """Return a row a figure, with the ratios of model and served disk to what was published."""
    return table(
        found,
        ("Probe", lambda one: named(one.probe)),
        ("Figure", lambda one: MEASURES[one.measure]),
        (figures_column("published"), lambda one: number(one.published)),
        (figures_column("model"), lambda one: number(one.model)),
        (figures_column("ratio"), lambda one: _ratio(one, one.model)),
        (figures_column("measured"), lambda one: number(one.measured)),
        (figures_column("ratio"), lambda one: _ratio(one, one.measured)),
        (figures_column("goal"), lambda one: "none" if one.goal is None else f"{100 * one.goal:.0f} %"),
    )


def _ratio(figure: VerifiedFigure, found: float | None) -> str:
    missed = "!" if figure.within(found) is False else ""
    return f"{missed}{number(figure.ratio(found))}"


def notes(verification: Verification) -> list[str]:
    """Return what must be known of it, the gravest first."""
    said = [f"{named(one.cell.probe)}: {_late_words(one)}" for one in verification.late]
    said += [
        f"{named(one.cell.probe)}: fio measured {milliseconds(one.cell.requests.mean_us)} ms per "
        f"request, and the disk itself took {milliseconds(one.modelled_us)} ms: the path to it added the "
        "rest, because this machine is busy"
        for one in verification.probes
        if one.cell.requests and (one.way_share or 0) > MOST_WAY_SHARE
    ]
    said += [
        f"{named(one.cell.probe)} could not be measured: {one.cell.error}"
        for one in verification.probes
        if one.cell.error
    ]
    return [*said, verification.label] if verification.label else said


def _late_words(one: VerifiedProbe) -> str:
    if one.lateness.late:
        how = (
            f"{number(one.lateness.p99_us)} us at the 99th percentile, "
            f"{number(100 * (one.lateness.share or 0))} % of its mean latency"
        )
    else:
        assert one.waiting is not None
        how = (
            f"its requests took {number(one.waiting.await_us)} us at its block device in the mean, "
            f"{number(100 * one.waiting.share)} % more than its model says: they waited in the kernel"
        )
    return f"the disk was late, {how}: what was measured is not the device's (10 % are allowed)"


def _how(verification: Verification) -> str:
    if not verification.fio_version:
        return "the model alone, in virtual time"
    how = f"the model, and the served disk measured with fio {verification.fio_version}"
    shares = [one.lateness.share for one in verification.probes if one.lateness.share is not None]
    if shares:
        how += f"; latest answers {number(100 * max(shares))} % of the mean latency (p99)"
    return how


def _score(found: Sequence[VerifiedFigure]) -> str:
    """Return how many figures reach their goals."""
    parts = []
    for what, reached in (
        ("the model", [figure.within(figure.model) for figure in found]),
        ("the served disk", [figure.within(figure.measured) for figure in found]),
    ):
        judged = [one for one in reached if one is not None]
        if judged:
            parts.append(f"{what} reaches {sum(judged)} of {len(judged)} goals")
    return f"{'; '.join(parts)} (! marks a ratio beyond its goal)"
