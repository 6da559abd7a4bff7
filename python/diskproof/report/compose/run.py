"""The report of a run: composed once, for every form."""

from collections.abc import Mapping, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import (
    answer,
    cells,
    efficiency,
    findings,
    head,
    limits,
    machine,
    method,
    operations,
    prices,
    published,
    safety,
    settings,
    summary,
    tpcc,
    verdicts,
)
from diskproof.report.document import Document, Figure, Paragraph, Section
from diskproof.results.trial import Trial

NOTHING_DRAWN = "There is nothing to draw: no trial is valid."

Figures = Mapping[str, Sequence[Figure]]
"""Figures by the anchor of their section."""


def compose(
    analysis: Analysis,
    trials: Sequence[Trial] = (),
    figures: Figures | None = None,
) -> Document:
    """Return the report of a run; trials and figures are shown on a page alone."""
    plan = analysis.plan
    has_speed = head.has_speed(plan)
    drawn = figures or {}
    version = f" {analysis.machine.diskproof_version}" if analysis.machine else ""
    sections = [
        *([Section("", (safety.alarms(analysis.safety),))] if analysis.safety else []),
        Section("", (summary.run(analysis),), anchor=answer.ANCHOR),
        *([verdicts.section(analysis)] if has_speed else []),
        safety.section(analysis, drawn.get("safety", ())),
        published.section(analysis, drawn.get("published", ())),
        head.prose(plan),
        *([cells.section(analysis)] if has_speed else []),
        limits.section(analysis, drawn.get("limits", ())),
        operations.section(analysis),
        tpcc.section(analysis),
        efficiency.section(analysis),
        prices.section(analysis, drawn.get("price", ())),
        *([_charts(drawn.get("charts"))] if has_speed else []),
        settings.differences(analysis),
        findings.section(analysis),
        machine.section(analysis, trials),
        *([settings.section(analysis, trials)] if figures is not None else []),
        method.section(analysis, trials),
    ]
    return Document(
        name=plan.study,
        heading=plan.question,
        lead=head.lead(analysis),
        sections=tuple(sections),
        foot=f"Made from the run folder alone by diskproof{version}.",
    )


def _charts(drawn: Sequence[Figure] | None) -> Section:
    nothing = () if drawn is None else (Paragraph(NOTHING_DRAWN),)
    return Section(
        "Charts", tuple(drawn) if drawn else nothing, anchor="charts", contents="Charts", only="full"
    )
