"""The report for a terminal: the verdicts, the cells and the findings, on about one screen."""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.analysis.answers import Analysis, OperationAnswer, Outcome, RunFinding, Verdict
from diskproof.report import tables, words
from diskproof.results.records import Severity

MOST_VERDICTS = 8
MOST_CELLS = 16
MOST_OPERATIONS = 12
MOST_FINDINGS = 6
"""What a screen holds; the rest is counted, and stands in the other reports."""

_ELSEWHERE = "see report.html in the run folder, or --format markdown"

_INTERVALS = "  the ratios' intervals, not adjusted for their number, stand in report.html"

OUTCOME_STYLES: dict[Outcome, str] = {
    "faster": "bold green",
    "slower": "bold yellow",
    "the same": "bold blue",
    "inconclusive": "bold",
    "not comparable": "bold magenta",
}
_SEVERITY_STYLES: dict[Severity, str] = {"invalid": "bold red", "warning": "bold yellow", "note": "bold"}


def render(analysis: Analysis, console: Console) -> None:
    """Print the report; colour and marks follow what the console can show."""
    parts: list[Sequence[Text | RichTable]] = [_heading(analysis), _verdicts(analysis, console)]
    if analysis.trials_run:
        parts.append(_cells(analysis, console))
    if analysis.operations:
        parts.append(_operations(analysis, console))
    if analysis.findings:
        parts.append(_findings(analysis, console))
    print_parts(parts, console)


def print_parts(parts: Sequence[Sequence[Text | RichTable]], console: Console) -> None:
    """Print the parts of a report with an empty line between them."""
    for index, part in enumerate(part for part in parts if part):
        if index:
            console.print()
        for block in part:
            if isinstance(block, Text):
                for line in block.wrap(console, console.width):
                    line.rstrip()
                    console.print(line, soft_wrap=True)
            else:
                console.print(block)


def layout(table: tables.Table, console: Console) -> RichTable:
    """Lay a table out for a console; where it does not fit, what matters least goes first."""
    gap = 2
    if _width(table, gap) > console.width:
        table = table.renamed("Transactions/s", "TPS")
    if _width(table, gap) > console.width:
        gap = 1
    for title in ("p50 ms", "p99 ms", "Valid"):
        if _width(table, gap) > console.width:
            table = table.without(title)
    rich_table = RichTable(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for column in table.columns:
        justify: Literal["left", "right"] = "right" if column.figures else "left"
        rich_table.add_column(shown(column.title), justify=justify, overflow="fold")
    for row in table.rows:
        rich_table.add_row(*map(shown, row))
    return rich_table


def shown(text: str, style: str = "") -> Text:
    """Return a text of the study's, a server's or the machine's, unable to steer the terminal."""
    return Text(words.visible(text), style=style)


def mark(outcome: Outcome, console: Console) -> Text:
    """Return an outcome's mark in its colour, in ASCII where the console has no more."""
    marks = words.OUTCOME_MARKS if console.encoding.lower().startswith("utf") else words.PLAIN_OUTCOME_MARKS
    return Text(marks[outcome], style=OUTCOME_STYLES[outcome])


def hanging(sign: Text, body: Text, console: Console) -> Text:
    """Return a text wrapped to the console's width, its lines indented behind a sign of one character."""
    lines = body.wrap(console, max(console.width - 2, 1))
    return Text.assemble(sign, " ", Text("\n  ").join(lines))


def _width(table: tables.Table, gap: int) -> int:
    rows = (tuple(column.title for column in table.columns), *table.rows)
    return sum(max(len(row[index]) for row in rows) + gap for index in range(len(table.columns))) - gap


def _heading(analysis: Analysis) -> list[Text]:
    plan = analysis.plan
    state = "" if analysis.complete else "INCOMPLETE: "
    line = f"{plan.study}: {state}{words.progress(analysis)}; {words.design(plan)}"
    return [shown(plan.question, style="bold"), shown(line, style="dim")]


def _verdicts(analysis: Analysis, console: Console) -> list[Text]:
    if not words.has_verdict(analysis):
        return [Text(words.why_no_verdict(analysis))]
    ordered = words.by_importance(analysis.verdicts)
    lines = [_verdict(verdict, console) for verdict in ordered[:MOST_VERDICTS]]
    return [*lines, *_rest(len(ordered) - MOST_VERDICTS, "verdict")]


def _verdict(verdict: Verdict, console: Console) -> Text:
    body = shown(verdict.sentence)
    for reason in words.further_reasons(verdict.sentence, verdict.reasons):
        body.append(shown(f"\n{reason}", style="dim"))
    return hanging(mark(verdict.outcome, console), body, console)


def _cells(analysis: Analysis, console: Console) -> list[Text | RichTable]:
    table = tables.cells(analysis)
    first = tables.Table(table.columns, table.rows[:MOST_CELLS])
    return [layout(first, console), *_rest(len(table.rows) - MOST_CELLS, "cell")]


def _operations(analysis: Analysis, console: Console) -> list[Text | RichTable]:
    """Return the operations that took longest; all of them stand in the other reports."""
    table = tables.operations(analysis, bounds=False)
    longest = tables.Table(
        table.columns,
        tuple(
            row
            for _, row in sorted(
                zip(map(_most_seconds, analysis.operations), table.rows, strict=True),
                key=lambda pair: -pair[0],
            )[:MOST_OPERATIONS]
        ),
    )
    intervals = [Text(_INTERVALS, style="dim")] if any(row.ratio for row in analysis.operations) else []
    return [layout(longest, console), *_rest(len(table.rows) - MOST_OPERATIONS, "operation"), *intervals]


def _most_seconds(operation: OperationAnswer) -> float:
    return max((one.seconds.estimate for one in operation.cells.values() if one.seconds), default=0.0)


def _findings(analysis: Analysis, console: Console) -> list[Text]:
    ordered = words.by_severity(analysis.findings)
    lines = [_finding(found, analysis, console) for found in ordered[:MOST_FINDINGS]]
    return [*lines, *_rest(len(ordered) - MOST_FINDINGS, "finding")]


def _finding(found: RunFinding, analysis: Analysis, console: Console) -> Text:
    finding = found.finding
    style = _SEVERITY_STYLES[finding.severity]
    body = Text.assemble(
        (finding.severity, style),
        shown(f" {finding.check}: {finding.message} "),
        (f"({words.where(found, analysis)})", "dim"),
    )
    if finding.remedy and finding.severity != "note":  # a note explains; nothing is wrong
        body.append(shown(f"\nRemedy: {finding.remedy}", style="dim"))
    return hanging(Text("!", style=style), body, console)


def _rest(left_out: int, noun: str) -> Iterator[Text]:
    if left_out > 0:
        yield Text(f"  {words.count(left_out, f'more {noun}')}: {_ELSEWHERE}", style="dim")
