"""A clone: what was held back, what was fitted, and what nobody measured."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from diskproof.report.compose.device import MEASURES
from diskproof.report.compose.probes import probe as named
from diskproof.report.compose.tables import figures as figures_column
from diskproof.report.compose.tables import table
from diskproof.report.document import Block, Column, Document, Item, Items, Paragraph, Section, Table
from diskproof.results.clone import Clone
from diskproof.results.profile import Probe
from diskproof.results.verification import GOALS, MeasureName, VerifiedFigure
from diskproof.wording.numbers import number, size

EVIDENCE = {
    "measured": "from figures of this run",
    "fio": "from somebody else's fio output: less evidence",
    "data sheet": "from a data sheet's figures: little evidence",
}

Row = tuple[Probe, dict[MeasureName, VerifiedFigure]]


def compose(clone: Clone) -> Document:
    """Return the figures that were held back, then those that were fitted, then what must be known."""
    held, fitted = clone.of(fitted=False), clone.of(fitted=True)
    nothing = Paragraph("nothing was held back: there are too few figures, so nothing shows how good it is")
    return Document(
        name="",
        heading=f"{clone.device_file}: {clone.title}",
        lead=(Paragraph(f"kind: {clone.kind}; {EVIDENCE[clone.evidence]}"),),
        sections=(
            Section("Held back: nothing was fitted to these", _figures(held) or (nothing,)),
            Section("Fitted: no evidence", _figures(fitted)),
            Section("Kinds that were tried", (_tried(clone),)),
            Section(
                "What it cannot know", (Items(tuple(Item(one.text, mark="-") for one in clone.unknown)),)
            ),
            Section("", (Items(tuple(Item(one.text, tone="warning") for one in clone.notes)),)),
        ),
    )


def _figures(found: Sequence[VerifiedFigure]) -> tuple[Block, ...]:
    return (_table(found), Paragraph(score(found), style="note")) if found else ()


def _table(found: Sequence[VerifiedFigure]) -> Table:
    rows: list[Row] = [
        (probe, {one.measure: one for one in some})
        for probe, some in groupby(found, key=lambda one: one.probe)
    ]
    measures = [measure for measure in GOALS if any(measure in row for _, row in rows)]
    columns: list[tuple[Column | str, Callable[[Row], str]]] = [
        ("Probe", lambda row: named(row[0])),
        (figures_column("within"), lambda row: size(row[0].span_bytes) if row[0].span_bytes else "all"),
    ]
    for measure in measures:
        columns += [
            (figures_column(MEASURES[measure]), partial(_measured, measure)),
            (figures_column("clone"), partial(_model, measure)),
            (figures_column("ratio"), partial(_ratio, measure)),
        ]
    return table(rows, *columns)


def _measured(measure: MeasureName, row: Row) -> str:
    return number(row[1][measure].published) if measure in row[1] else ""


def _model(measure: MeasureName, row: Row) -> str:
    return number(row[1][measure].model) if measure in row[1] else ""


def _ratio(measure: MeasureName, row: Row) -> str:
    if measure not in row[1]:
        return ""
    figure = row[1][measure]
    return f"{'!' if figure.within(figure.model) is False else ''}{number(figure.ratio(figure.model))}"


def score(found: Sequence[VerifiedFigure]) -> str:
    """Return how many figures of each measure reach their goal."""
    parts = []
    for measure, goal in GOALS.items():
        judged = [one.within(one.model) for one in found if one.measure == measure and goal is not None]
        if judged:
            reached = sum(one is True for one in judged)
            parts.append(f"{MEASURES[measure]} within {100 * (goal or 0):.0f}%: {reached} of {len(judged)}")
    return f"{'; '.join(parts)} (! marks a ratio beyond its goal)"


def _tried(clone: Clone) -> Table:
    return table(
        clone.tried,
        ("Kind", lambda one: one.kind),
        (figures_column("error of the fitted figures"), lambda one: f"{one.error:.2f}"),
    )
