"""The report of a run: composed once, for every form."""

from collections.abc import Mapping, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import (
    cells,
    dials,
    findings,
    further,
    head,
    limits,
    machine,
    one_screen,
    prices,
    published,
    rows,
    safety,
    to_do,
    verdicts,
)
from diskproof.report.compose.answer import answer
from diskproof.report.document import Document, Figure, Item, Items, Section
from diskproof.wording import numbers

Figures = Mapping[str, Sequence[Figure]]
"""Figures by the anchor of their section; that of the whole answer is the first of ``answer``."""


def compose(analysis: Analysis, figures: Figures | None = None) -> Document:
    """Return the report of a run; figures are shown on a page alone."""
    plan = analysis.plan
    has_speed = head.has_speed(plan)
    drawn = figures or {}
    version = f" {analysis.machine.diskproof_version}" if analysis.machine else ""
    sections = [
        *([verdicts.section(analysis)] if has_speed else []),
        safety.section(analysis),
        _to_do(to_do.actions(analysis)),
        dials.section(analysis),
        published.section(analysis, drawn.get("published", ())),
        *([cells.section(analysis)] if has_speed else []),
        limits.section(analysis, drawn.get("limits", ())),
        *further.sections(analysis),
        prices.section(analysis),
        Section("Charts", tuple(drawn.get("charts", ())), "charts", "Charts"),
        findings.section(analysis),
        head.prose(plan),
        machine.section(analysis),
        machine.method(analysis),
    ]
    return Document(
        name=plan.study,
        heading=plan.question,
        answer=answer(analysis) or rows.single(analysis),
        beside=one_screen.beside(analysis),
        picture=next(iter(drawn.get("answer", ())), None),
        lead=head.lead(analysis),
        about=head.about(analysis),
        sections=tuple(sections),
        foot=f"Made from the run folder alone by diskproof{version}.",
    )


def _to_do(actions: Sequence[to_do.Action]) -> Section:
    """Return all that is to do, if it is more than the first screen has."""
    items = tuple(Item(numbers.sentence_case(one.text), "-", lead=one.of) for one in actions)
    blocks = (Items(items),) if len(items) > 1 else ()
    return Section("What to do", blocks, "to-do", "What to do")
