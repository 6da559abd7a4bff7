"""The report for a terminal: the verdicts, the cells and the findings, on about one screen."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.analysis.answers import Analysis, RunFinding, Verdict
from diskproof.analysis.prices.shapes import Prices
from diskproof.report import beside, headings, tables, words
from diskproof.report.limits import text as limits
from diskproof.report.safety import text as safety
from diskproof.report.terminal import hanging, layout, mark, print_parts, shown
from diskproof.results.trial import Severity

MOST_VERDICTS = 8
MOST_PUBLISHED = 30
MOST_PARTED = 6
MOST_REASONS = 3
MOST_CELLS = 16
MOST_OPERATIONS = 12
FEWEST_OPERATIONS = 4
MOST_FINDINGS = 6
"""What a screen holds; the rest is counted, and stands in the other reports."""

_ELSEWHERE = "see report.html in the run folder, or --format markdown"

_INTERVALS = "  the ratios' intervals, not adjusted for their number, stand in report.html"

_SEVERITY_STYLES: dict[Severity, str] = {"invalid": "bold red", "warning": "bold yellow", "note": "bold"}


def render(analysis: Analysis, console: Console) -> None:
    """Print the report; colour and marks follow what the console can show."""
    parts: list[Sequence[Text | RichTable]] = [_heading(analysis)]
    if analysis.safety:
        parts.append(safety.alarms(analysis.safety, console))
    if headings.has_speed(analysis.plan):
        parts.append(_verdicts(analysis, console))
    if analysis.safety:
        parts += safety.parts(analysis.safety, console)
    if analysis.beside:
        parts.append(_published(analysis, console))
    if analysis.trials_run:
        parts.append(_cells(analysis, console))
    if analysis.limits:
        parts.append(limits.part(analysis, analysis.limits, console))
    if analysis.operations:
        parts.append(_operations(analysis, console))
    if analysis.efficiency:
        parts.append(_efficiency(analysis, console))
    if analysis.prices:
        parts.append(_prices(analysis, analysis.prices, console))
    if analysis.findings:
        parts.append(_findings(analysis, console))
    print_parts(parts, console)


def _heading(analysis: Analysis) -> list[Text]:
    plan = analysis.plan
    state = "" if analysis.complete else "INCOMPLETE: "
    line = f"{plan.study}: {state}{headings.progress(analysis)}; {headings.design(plan)}"
    scale = [shown(words.scale(plan), style="dim")] if plan.scale else []
    return [shown(plan.question, style="bold"), shown(line, style="dim"), *scale]


def _verdicts(analysis: Analysis, console: Console) -> list[Text]:
    if not words.has_verdict(analysis):
        return [Text(words.why_no_verdict(analysis))]
    ordered = words.by_importance(analysis.verdicts)
    lines = [_verdict(verdict, analysis, console) for verdict in ordered[:MOST_VERDICTS]]
    return [*lines, *_rest(len(ordered) - MOST_VERDICTS, "verdict")]


def _verdict(verdict: Verdict, analysis: Analysis, console: Console) -> Text:
    body = shown(verdict.sentence)
    if held_back := limits.under_verdict(analysis, verdict, console):
        body.append(shown(f"\n{held_back}"))
    for reason in words.further_reasons(verdict.sentence, verdict.reasons):
        body.append(shown(f"\n{reason}", style="dim"))
    return hanging(mark(verdict.outcome, console), body, console)


def _published(analysis: Analysis, console: Console) -> list[Text | RichTable]:
    """Return the first ratios of the published tables, and why those that do not agree do not.

    Ratios that no two cells stand beside are only counted: at a small scale they are most.
    """
    whole = beside.groups(analysis)
    groups = [group.in_short() for group in whole]
    blocks: list[Text | RichTable] = [
        shown(f"Beside {beside.source(analysis)}", style="bold"),
        Text(f"{beside.summary(analysis)}."),
    ]
    if any(group.ratios for group in groups):
        blocks.append(Text(beside.short_note(), style="dim"))
    blocks += [shown(f"  {line}", style="dim") for line in beside.unlisted(groups)]
    if others := sum(len(group.ratios) for group in whole) - sum(len(group.ratios) for group in groups):
        said = words.count(others, "more ratio")
        blocks.append(Text(f"  {said} of the same trials in other measures: {_ELSEWHERE}", style="dim"))
    rows_left, reasons, rows_left_out = MOST_PUBLISHED, [], 0
    for group in (one.with_cells() for one in groups):
        table = tables.published_ratios(group, compact=True)
        first = tables.Table(table.columns, table.rows[:rows_left])
        rows_left -= len(first.rows)
        rows_left_out += len(table.rows) - len(first.rows)
        reasons += beside.reasons(group)
        if first.rows:
            blocks += [shown(group.title, style="dim"), layout(first, console)]
    blocks += _rest(rows_left_out, "published ratio")
    blocks += [_reasons(whom, why, console) for whom, why in reasons[:MOST_PARTED]]
    return [*blocks, *_rest(len(reasons) - MOST_PARTED, "difference")]


def _reasons(whom: str, why: Sequence[str], console: Console) -> Text:
    body = shown(whom)
    for reason in why[:MOST_REASONS]:
        body.append(shown(f"\n{reason}", style="dim"))
    return hanging(Text("!", style="bold yellow"), body, console)


def _cells(analysis: Analysis, console: Console) -> list[Text | RichTable]:
    parts: list[Text | RichTable] = []
    for table in tables.cells_by_kind(analysis):
        first = tables.Table(table.columns, table.rows[:MOST_CELLS])
        # An empty line between two tables, which have other columns.
        parts += [*([Text()] if parts else []), layout(first, console)]
        parts += _rest(len(table.rows) - MOST_CELLS, "cell")
    return parts


def _operations(analysis: Analysis, console: Console) -> list[Text | RichTable]:
    """Return the operations that took longest; all of them stand in the other reports."""
    shares = tables.operations(analysis, bounds=False)
    most = max(MOST_OPERATIONS // len(shares), FEWEST_OPERATIONS)
    parts: list[Text | RichTable] = []
    for share in shares:
        parts += [shown(share.workload, style="dim")] if share.workload else []
        parts += [layout(share.longest(most), console)]
        parts += _rest(len(share.seconds) - most, "operation")
    intervals = [Text(_INTERVALS, style="dim")] if any(row.ratio for row in analysis.operations) else []
    return [*parts, *intervals]


def _efficiency(analysis: Analysis, console: Console) -> list[Text | RichTable]:
    """Return what part of its storage's raw peak each cell moved, without intervals."""
    table = tables.efficiency(analysis, bounds=False)
    first = tables.Table(table.columns, table.rows[:MOST_CELLS])
    heading = Text("Efficiency against the raw peak", style="bold")
    return [heading, layout(first, console), *_rest(len(table.rows) - MOST_CELLS, "cell")]


def _prices(analysis: Analysis, prices: Prices, console: Console) -> list[Text | RichTable]:
    """Return what the storages and their speed cost, without intervals."""
    parts: list[Text | RichTable] = [Text("Price of the storage", style="bold")]
    for table, noun in (
        (tables.storage_prices(prices, bounds=False), "storage"),
        (tables.speed_prices(analysis, prices, bounds=False), "cell"),
    ):
        if table.rows:
            first = tables.Table(table.columns, table.rows[:MOST_CELLS])
            parts += [layout(first, console), *_rest(len(table.rows) - MOST_CELLS, noun)]
    return parts


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
