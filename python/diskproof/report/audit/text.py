"""An audit for a terminal; nothing that a file holds can steer it."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.report import words as common
from diskproof.report.audit import words
from diskproof.report.terminal import hanging, print_parts, shown
from diskproof.results.trial import Severity

MOST_SUBJECTS = 24
MOST_FAILURES = 24
MOST_NOTES = 8
MOST_MISSING = 16
MOST_REMARKS = 4
"""What a screen or two hold; the rest is counted, and stands in the other forms."""

_ELSEWHERE = "see --format markdown"

_STYLES: dict[Severity, str] = {"invalid": "bold red", "warning": "bold yellow", "note": "bold green"}

_MARKS: dict[Severity, str] = {"invalid": "x", "warning": "!", "note": "+"}


def render(audit: AuditAnswer, console: Console) -> None:
    """Print the audit: a sentence a subject, what failed, what cannot be told, what passed."""
    print_parts(
        [
            [shown(words.summary(audit), style="bold")],
            _verdicts(audit, console),
            _found("What failed", words.failures(audit), audit, console, MOST_FAILURES),
            _found("To be known", words.notes(audit), audit, console, MOST_NOTES),
            _untold(audit, console),
            _rest(audit),
        ],
        console,
    )


def _verdicts(audit: AuditAnswer, console: Console) -> list[Text]:
    told, lines = 0, []
    for one in words.verdicts(audit):
        if told >= MOST_SUBJECTS:
            break
        lines.append(_verdict(one, console, MOST_SUBJECTS - told))
        told += len(one.subjects)
    return [*lines, *_more(len(audit.subjects) - MOST_SUBJECTS, "subject")]


def _verdict(told: words.Verdict, console: Console, most: int) -> Text:
    gravest = words.mark(told.subjects[0])
    heads = "\n".join(told.heads[:most])
    body = Text.assemble(shown(heads, style="bold"), shown(f"\n{told.sentence}"))
    for remark in told.remarks[:MOST_REMARKS]:
        body.append(shown(f"\nremark: {remark}", style="dim"))
    return hanging(Text(_MARKS[gravest], style=_STYLES[gravest]), body, console)


def _found(
    heading: str, found: Sequence[words.Found], audit: AuditAnswer, console: Console, most: int
) -> list[Text]:
    if not found:
        return []
    lines = [_one(each, audit, console) for each in found[:most]]
    return [Text(heading, style="bold"), *lines, *_more(len(found) - most, "finding")]


def _one(found: words.Found, audit: AuditAnswer, console: Console) -> Text:
    severity = found.raised.severity
    first, *others = words.lines(found, len(audit.subjects))
    body = Text.assemble(
        (found.word, _STYLES[severity]),
        shown(f" {found.check.check}: {first}"),
        *(shown(f"\n{other}") for other in others),
    )
    if severity != "note":
        if found.raised.remedy:
            body.append(shown(f"\nRemedy: {found.raised.remedy}", style="dim"))
        body.append(shown(f"\nWhy: {found.check.reason}", style="dim"))
    return hanging(Text(_MARKS[severity], style=_STYLES[severity]), body, console)


def _untold(audit: AuditAnswer, console: Console) -> list[Text]:
    missing = words.untold(audit)
    if not missing:
        return []
    lines = [
        hanging(Text("?", style="bold"), shown(f"{what}: {', '.join(checks)}"), console)
        for what, checks in missing[:MOST_MISSING]
    ]
    heading = Text("Cannot be told, for this was not recorded", style="bold")
    return [heading, *lines, *_more(len(missing) - MOST_MISSING, "thing")]


def _rest(audit: AuditAnswer) -> list[Text]:
    return [
        Text.assemble((f"{heading}: ", "bold"), shown(", ".join(names)))
        for heading, names in (("Passed", words.passed(audit)), ("Does not apply", words.apart(audit)))
        if names
    ]


def _more(left_out: int, noun: str) -> Iterator[Text]:
    if left_out > 0:
        yield Text(f"  {common.count(left_out, f'more {noun}')}: {_ELSEWHERE}", style="dim")
