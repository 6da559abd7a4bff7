"""A clone: what was held back, what was fitted, and what nobody measured."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from diskproof.report.compose.device import MEASURES
from diskproof.report.compose.profile import probe as named
from diskproof.report.compose.tables import figures as figures_column
from diskproof.report.compose.tables import table
from diskproof.report.document import Block, Column, Document, Item, Items, Paragraph, Section, Table
from diskproof.results.clone import Clone
from diskproof.results.modelled import GOALS, MeasureName, ModelledFigure
from diskproof.results.profile import Probe
from diskproof.wording.numbers import number, size

TAIL = "p95 or p99 µs"

Row = tuple[Probe, dict[str, ModelledFigure]]


def compose(clone: Clone) -> Document:
    """Return the figures that were held back, then those that were fitted, then what must be known."""
    held, fitted = clone.of(fitted=False), clone.of(fitted=True)
    nothing = Paragraph("Nothing was held back: there are too few figures, so nothing shows how good it is.")
    warnings = Items(tuple(Item(one.text, tone="warning") for one in clone.notes))
    return Document(
        heading=f"{clone.device_file}: {clone.title}",
        lead=(Paragraph(f"kind: {clone.kind}"),),
        sections=(
            Section("", (warnings,)),
            Section("Held back: these figures show how good the clone is", _figures(held) or (nothing,)),
            Section("Fitted: chosen to agree, so these figures show nothing", _figures(fitted)),
            Section(
                "What it cannot know", (Items(tuple(Item(one.text, mark="-") for one in clone.unknown)),)
            ),
        ),
    )


def _figures(found: Sequence[ModelledFigure]) -> tuple[Block, ...]:
    return (_table(found), Paragraph("clone/disk is a ratio; ! is beyond its goal.")) if found else ()


def _table(found: Sequence[ModelledFigure]) -> Table:
    rows = [
        (probe, {_column(one.measure): one for one in some})
        for probe, some in groupby(found, key=lambda one: one.probe)
    ]
    usual = min((probe.span_bytes or 0 for probe, _ in rows), default=0)
    columns: list[tuple[Column | str, Callable[[Row], str]]] = [("Probe", partial(_named, usual))]
    for title in dict.fromkeys(_column(measure) for measure in GOALS):
        if any(title in row for _, row in rows):
            columns += [
                (figures_column(title), partial(_measured, title)),
                (figures_column("clone/disk"), partial(_ratio, title)),
            ]
    return table(rows, *columns)


def _column(measure: MeasureName) -> str:
    """Return the column of a measure: with few requests the 95th percentile stands in for the 99th."""
    return TAIL if measure in ("p95_us", "p99_us") else MEASURES[measure]


def _named(usual: int, row: Row) -> str:
    probe = row[0]
    wide = probe.span_bytes and probe.span_bytes > usual
    return f"{named(probe)}, within {size(probe.span_bytes)}" if wide else named(probe)


def _measured(title: str, row: Row) -> str:
    return number(row[1][title].published) if title in row[1] else ""


def _ratio(title: str, row: Row) -> str:
    if title not in row[1]:
        return ""
    figure = row[1][title]
    return f"{'!' if figure.within(figure.model) is False else ''}{number(figure.ratio(figure.model))}"
