"""The cuts on a terminal: what failed first, then verdicts, speed beside safety, and each way to die."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.analysis.safety.shapes import Agreement, Safety, SafetyOutcome, SafetyVerdict
from diskproof.report import words as common
from diskproof.report.safety import words
from diskproof.report.tables import safety as tables
from diskproof.report.tables.table import Table
from diskproof.report.terminal import hanging, layout, shown
from diskproof.results.crash_plan import Way

MOST_VERDICTS = 8
MOST_CELLS = 16
MOST_DOCUMENTED = 8
MOST_FINDINGS = 6
"""What a screen holds; the rest is counted, and stands in the other reports."""

_ELSEWHERE = "see report.html in the run folder, or --format markdown"

STYLES: dict[SafetyOutcome, str] = {
    "kept": "bold",  # no green: it holds for so many cuts, and for no other
    "lost": "bold yellow",
    "damaged": "bold red",
    "unverified": "bold magenta",
    "not known": "bold magenta",
}

DIFFERING: tuple[Agreement, ...] = ("contradicts", "not seen")

Block = Text | RichTable


def alarms(safety: Safety, console: Console) -> list[Text]:
    """Return what stands above everything else: controls that did not do what they must."""
    return [
        hanging(
            Text("!", style="bold red"),
            Text.assemble((f"control {one.outcome}", "bold red"), shown(f": {one.sentence}")),
            console,
        )
        for one in words.broken_controls(safety)
    ]


def parts(safety: Safety, console: Console) -> list[Sequence[Block]]:
    """Return the parts of the report about the cuts."""
    if not safety.made:
        return [[Text("No cut has been made yet. Go on with `--resume`.")]]
    made = [_verdicts(safety, console), _beside(safety, console)]
    made += [_way(safety, way, console) for way in tables.ways(safety)]
    return [*made, _documented(safety, console), _findings(safety, console)]


def _verdicts(safety: Safety, console: Console) -> list[Block]:
    lines = [_verdict(one, console) for one in safety.verdicts[:MOST_VERDICTS]]
    rest = _rest(len(safety.verdicts) - MOST_VERDICTS, "verdict")
    return [Text("Safety", style="bold"), *lines, *rest, shown(words.controls(safety), style="dim")]


def _verdict(verdict: SafetyVerdict, console: Console) -> Text:
    utf = console.encoding.lower().startswith("utf")
    sign = (words.OUTCOME_MARKS if utf else words.PLAIN_OUTCOME_MARKS)[verdict.outcome]
    body = shown(verdict.sentence)
    for reason in verdict.reasons:
        body.append(shown(f"\n{reason}", style="dim"))
    return hanging(Text(sign, style=STYLES[verdict.outcome]), body, console)


def _beside(safety: Safety, console: Console) -> list[Block]:
    table = tables.speed_and_safety_in_short(safety)
    if not table.rows:
        return []
    others = len(safety.speeds) - len(table.rows)
    return [
        Text("Speed beside safety", style="bold"),
        *_first(table, console),
        *_rest(others, "speed at another load", "speeds at other loads"),
    ]


def _way(safety: Safety, way: Way, console: Console) -> list[Block]:
    heading = Text.assemble((f"{words.TITLES[way]}. ", "bold"), (words.TAKEN[way], "dim"))
    return [heading, *_first(tables.cuts_in_short(safety, way), console)]


def _documented(safety: Safety, console: Console) -> list[Block]:
    if not safety.documented:
        return []
    differing = [one for one in words.by_outcome(safety.documented) if one.outcome in DIFFERING]
    lines = [
        hanging(
            Text("!" if one.outcome == "contradicts" else "?", style="bold yellow"),
            Text.assemble((one.outcome, "bold"), shown(f": {words.documented_words(one)}")),
            console,
        )
        for one in differing[:MOST_DOCUMENTED]
    ]
    heading = [Text("Beside the documentation", style="bold"), Text(f"{words.documented_summary(safety)}.")]
    return [*heading, *lines, *_rest(len(differing) - MOST_DOCUMENTED, "row")]


def _findings(safety: Safety, console: Console) -> list[Block]:
    lines: list[Block] = [
        hanging(Text("!", style="bold yellow"), shown(one), console) for one in words.unverified(safety)
    ]
    for found in safety.findings[:MOST_FINDINGS]:
        body = Text.assemble(
            (found.finding.severity, "bold"),
            shown(f" {found.finding.check}: {found.finding.message} "),
            (f"({words.where(found)})", "dim"),
        )
        if found.finding.remedy and found.finding.severity != "note":
            body.append(shown(f"\nRemedy: {found.finding.remedy}", style="dim"))
        lines.append(hanging(Text("!", style="bold yellow"), body, console))
    return [*lines, *_rest(len(safety.findings) - MOST_FINDINGS, "finding of cuts", "findings of cuts")]


def _first(table: Table, console: Console) -> Iterator[Block]:
    yield layout(Table(table.columns, table.rows[:MOST_CELLS]), console)
    yield from _rest(len(table.rows) - MOST_CELLS, "cell")


def _rest(left_out: int, noun: str, plural: str | None = None) -> Iterator[Text]:
    if left_out > 0:
        more = common.count(left_out, f"more {noun}", f"more {plural}" if plural else None)
        yield Text(f"  {more}: {_ELSEWHERE}", style="dim")
