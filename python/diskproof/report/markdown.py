"""The report as Markdown: verdicts, tables and findings, to be pasted where people talk."""

import re
from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, Outcome, RunFinding, Verdict
from diskproof.report import tables, words

_CODE_SPAN = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([\\`*\[<|~]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])|^[#>+=-])")
"""What Markdown or HTML would read as markup; an underscore only at the edge of a word."""


def render(analysis: Analysis) -> str:
    """Return the whole report; text that came from the study or a server is escaped."""
    parts = [*_heading(analysis), *_verdicts(analysis), *_prose(analysis), *_cells(analysis)]
    parts += [*_differences(analysis), *_findings(analysis), *_machine(analysis), *_method(analysis)]
    return "\n\n".join(parts) + "\n"


def table(content: tables.Table) -> str:
    """Return a table in the pipe notation."""
    lines = [
        _row(tuple(column.title for column in content.columns)),
        _row(tuple("---:" if column.figures else "---" for column in content.columns), escaped=True),
        *map(_row, content.rows),
    ]
    return "\n".join(lines)


def verdict_item(outcome: Outcome, sentence: str, reasons: Sequence[str]) -> str:
    """Return a verdict as an item of a list, its reasons below it."""
    further = (f"\n  - {escape(reason)}" for reason in words.further_reasons(sentence, reasons))
    return f"- **{outcome}**: {escape(sentence)}{''.join(further)}"


def escape(text: str) -> str:
    """Return one line of text that Markdown shows as it is; whole code spans stay code."""
    parts = _CODE_SPAN.split(" ".join(text.split()))
    return "".join(
        part.replace("|", r"\|") if index % 2 else _SPECIAL.sub(r"\\\1", part)
        for index, part in enumerate(parts)
    )


def _row(entries: tuple[str, ...], *, escaped: bool = False) -> str:
    return "| " + " | ".join(entry if escaped else escape(entry) for entry in entries) + " |"


def _heading(analysis: Analysis) -> list[str]:
    plan = analysis.plan
    state = "" if analysis.complete else "**Incomplete:** "
    return [
        f"# {escape(plan.question)}",
        f"{state}{escape(plan.study)}: {words.progress(analysis)}; {words.design(plan)}.",
    ]


def _verdicts(analysis: Analysis) -> list[str]:
    if not words.has_verdict(analysis):
        return [words.why_no_verdict(analysis)]
    return ["## Verdicts", "\n".join(map(_verdict, words.by_importance(analysis.verdicts)))]


def _verdict(verdict: Verdict) -> str:
    return verdict_item(verdict.outcome, verdict.sentence, verdict.reasons)


def _prose(analysis: Analysis) -> list[str]:
    parts = []
    if analysis.plan.expectation:
        parts += ["## What was expected", _paragraphs(analysis.plan.expectation)]
    if analysis.plan.analysis:
        parts += ["## How to read it", _paragraphs(analysis.plan.analysis)]
    return parts


def _paragraphs(prose: str) -> str:
    return "\n\n".join(escape(paragraph) for paragraph in prose.split("\n\n") if paragraph.strip())


def _cells(analysis: Analysis) -> list[str]:
    if not analysis.cells:
        return []
    return [
        "## Cells",
        table(tables.cells(analysis)),
        f"What one {words.work(analysis.plan)} costs (median over the valid trials; n/a: not observed):",
        table(tables.costs(analysis)),
        *_operations(analysis),
    ]


def _operations(analysis: Analysis) -> list[str]:
    if not analysis.operations:
        return []
    return ["## Operations", words.operations_note(analysis), table(tables.operations(analysis))]


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
        return ["The run ended before the machine's facts were gathered."]
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
    return ["## How it was measured", words.method(analysis)]
