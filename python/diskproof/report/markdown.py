"""The report as Markdown: verdicts, tables and findings, to be pasted where people talk."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, Outcome, RunFinding, Verdict
from diskproof.report import beside, headings, money, tables, words
from diskproof.report.limits import markdown as limits
from diskproof.report.limits import words as limit_words
from diskproof.report.pipes import escape, table
from diskproof.report.safety import markdown as safety
from diskproof.results.plan import Plan


def render(analysis: Analysis) -> str:
    """Return the whole report; text that came from the study or a server is escaped."""
    parts = [
        *_heading(analysis),
        *(safety.alarms(analysis.safety) if analysis.safety else []),
        *(_verdicts(analysis) if headings.has_speed(analysis.plan) else []),
        *(safety.parts(analysis, analysis.safety) if analysis.safety else []),
        *published(analysis),
        *prose(analysis),
        *_cells(analysis),
        *limits.parts(analysis),
        *efficiency(analysis),
        *prices(analysis),
        *_differences(analysis),
        *_findings(analysis),
        *_machine(analysis),
        *_method(analysis),
    ]
    return "\n\n".join(parts) + "\n"


def verdict_item(
    outcome: Outcome, sentence: str, reasons: Sequence[str], held_back: Sequence[str] = ()
) -> str:
    """Return a verdict as an item of a list; below it what holds its cells back, and its reasons."""
    told = [*held_back, *words.further_reasons(sentence, reasons)]
    further = (f"\n  - {escape(one)}" for one in told)
    return f"- **{outcome}**: {escape(sentence)}{''.join(further)}"


def _heading(analysis: Analysis) -> list[str]:
    plan = analysis.plan
    state = "" if analysis.complete else "**Incomplete:** "
    return [
        f"# {escape(plan.question)}",
        f"{state}{escape(plan.study)}: {headings.progress(analysis)}; {_prose(plan, headings.design(plan))}.",
        *([escape(words.scale(plan))] if plan.scale else []),
    ]


def _verdicts(analysis: Analysis) -> list[str]:
    if not words.has_verdict(analysis):
        return [words.why_no_verdict(analysis)]
    return [
        "## Verdicts",
        "\n".join(_verdict(verdict, analysis) for verdict in words.by_importance(analysis.verdicts)),
    ]


def _verdict(verdict: Verdict, analysis: Analysis) -> str:
    held_back = limit_words.under_verdict(analysis, verdict)
    return verdict_item(verdict.outcome, verdict.sentence, verdict.reasons, held_back)


def published(analysis: Analysis) -> list[str]:
    """Return the parts about what was published; none where nothing was."""
    if not analysis.beside:
        return []
    said = f"{escape(beside.source(analysis))}. {beside.summary(analysis)}."
    parts = ["## Beside the published figures", said, escape(beside.note())]
    for group in beside.groups(analysis):
        parts += [*published_ratios(group), *published_figures(group)]
    return parts


def published_ratios(group: beside.Group) -> list[str]:
    """Return the heading of a published table, its ratios, and why those that do not agree do not."""
    parts = [f"### {escape(group.title)}", escape(group.place)]
    if group.ratios:
        parts.append(table(tables.published_ratios(group)))
    if items := beside.reasons(group):
        parts.append("\n".join(_reasons(whom, why) for whom, why in items))
    return parts


def published_figures(group: beside.Group) -> list[str]:
    """Return the figures of a published table, and why some were not measured; none where it has none."""
    parts = [table(tables.published_figures(group))] if group.figures else []
    return parts + [f"n/a: {escape(why)}." for why in beside.missing(group)]


def _reasons(whom: str, why: Sequence[str]) -> str:
    return "\n  - ".join([f"- {escape(whom)}", *map(escape, why)])


def prose(analysis: Analysis) -> list[str]:
    """Return what the study's author wrote: what was expected, and how to read it."""
    return prose_of(analysis.plan.expectation, analysis.plan.analysis)


EXPECTED, READING = "## What was expected", "## How to read it"


def prose_of(expectation: str, analysis: str) -> list[str]:
    """Return what was expected and how to read it, each under its heading."""
    parts = []
    if expectation:
        parts += [EXPECTED, _paragraphs(expectation)]
    if analysis:
        parts += [READING, _paragraphs(analysis)]
    return parts


def _paragraphs(prose: str) -> str:
    return "\n\n".join(escape(paragraph) for paragraph in prose.split("\n\n") if paragraph.strip())


def _cells(analysis: Analysis) -> list[str]:
    if not analysis.cells or not headings.has_speed(analysis.plan):
        return []
    return [
        "## Cells",
        table(tables.cells(analysis)),
        *_costs(analysis),
        *_operations(analysis),
    ]


def _costs(analysis: Analysis) -> list[str]:
    """Return what a transaction costs; nothing of imported results, which tell no cost."""
    if analysis.plan.imported:
        return []
    return [
        f"What one {words.work(analysis.plan)} takes (median over the valid trials; n/a: not observed):",
        table(tables.costs(analysis)),
    ]


def efficiency(analysis: Analysis) -> list[str]:
    """Return the part about each cell's share of the raw peak; none where no peak was measured."""
    if not analysis.efficiency:
        return []
    return ["## Efficiency", tables.EFFICIENCY_NOTE, table(tables.efficiency(analysis))]


def prices(analysis: Analysis) -> list[str]:
    """Return the parts about what the storages cost to buy; none where the study tells no price."""
    known = analysis.prices
    if known is None:
        return []
    parts = ["## Price", money.note(known), table(tables.storage_prices(known))]
    speeds = tables.speed_prices(analysis, known)
    if speeds.rows:
        parts += [money.speed_note(known), table(speeds)]
        if reasons := money.not_durable(known):
            parts.append(escape(reasons))
    return [*parts, "Where the prices come from:", table(tables.device_prices(known))]


def _operations(analysis: Analysis) -> list[str]:
    if not analysis.operations:
        return []
    parts = ["## Operations", words.operations_note(analysis)]
    for one in tables.operations(analysis):
        parts += [f"### {escape(one.workload)}"] if one.workload else []
        parts.append(table(one.table))
    return parts


def _differences(analysis: Analysis) -> list[str]:
    if not analysis.level_differences:
        return []
    return [
        "## What differs between the tuning levels, as read back",
        table(tables.level_differences(analysis)),
    ]


def _findings(analysis: Analysis) -> list[str]:
    if not analysis.findings:
        return []
    return [
        "## Findings",
        "\n".join(_finding(found, analysis) for found in words.by_severity(analysis.findings)),
    ]


def _finding(found: RunFinding, analysis: Analysis) -> str:
    finding = found.finding
    remedy = f"\n  - Remedy: {escape(finding.remedy)}" if finding.remedy else ""
    where = escape(words.where(found, analysis))
    return f"- **{finding.severity}** {escape(finding.check)} ({where}): {escape(finding.message)}{remedy}"


def _machine(analysis: Analysis) -> list[str]:
    if analysis.machine is None:
        return [headings.no_machine(analysis.plan)]
    facts = analysis.machine
    parts = ["## Machine", table(tables.machine(facts))]
    for title, content in (
        ("## Servers", tables.servers(facts)),
        ("## Places", tables.places(facts)),
        ("## Devices", tables.devices(facts)),
    ):
        if content.rows:
            parts += [title, table(content)]
    return parts


def _method(analysis: Analysis) -> list[str]:
    paragraphs = [_prose(analysis.plan, paragraph) for paragraph in headings.method(analysis)]
    return ["## How it was measured", *paragraphs]


def _prose(plan: Plan, text: str) -> str:
    """Return a text of ours, whose marks are meant; that of an imported run names files, and is escaped."""
    return escape(text) if plan.imported else text
