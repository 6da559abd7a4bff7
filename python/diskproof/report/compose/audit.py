"""An audit: verdicts first, then what failed, what cannot be told, what passed."""

from collections.abc import Sequence

from diskproof.analysis.audited import shared
from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.report.compose import audited
from diskproof.report.document import Item, Items, Paragraph, Section, Tone
from diskproof.report.one_screen import OneScreen
from diskproof.results.trial import Severity
from diskproof.wording.numbers import count

LEGEND = (
    "error (of our own runs: invalid): the figures cannot be as they are reported. threat (warning): what is "
    "concluded from them may not hold. A note explains, and is no failure."
)

TONES: dict[Severity, tuple[str, Tone]] = {
    "invalid": ("x", "alarm"),
    "warning": ("!", "warning"),
    "note": ("+", "better"),
}
"""Mark and tone of each."""


MOST_ON_SCREEN = 6
"""Findings on one screen; of more, the least grave are counted."""

MOST_VERDICTS = 3


def compose(audit: AuditAnswer) -> OneScreen:
    """Return the findings of an audit, the gravest first, and what the figures support."""
    found, notes = shared.failures(audit), shared.notes(audit)
    shown = found[:MOST_ON_SCREEN]
    lines = [(audited.word(one), f"{one.check.check}: {_first(one, audit)}") for one in shown]
    more = [count(len(found) - MOST_ON_SCREEN, "more finding")] if len(found) > MOST_ON_SCREEN else []
    more += [count(len(notes), "note")] if notes else []
    lines += [("", f"{' and '.join(more)}: --why")] if more else []
    lines += [("not read", why) for why in audit.refused[:MOST_ON_SCREEN]]
    verdicts = audited.verdicts(audit)
    lines += [("verdict", _told(one, audit, len(verdicts))) for one in verdicts[:MOST_VERDICTS]]
    if (rest := len(verdicts) - MOST_VERDICTS) > 0:
        lines.append(("", f"{count(rest, 'more verdict')}: --why"))
    untold = (Item(", ".join(checks), "?", name=what.text) for what, checks in shared.untold(audit))
    passed = ", ".join(shared.passed(audit)) or "none"
    return OneScreen(
        "Audit",
        f"{audited.summary(audit)}.",
        (),
        tuple(lines),
        answer="" if found else "No check failed.",
        rest=(
            Section("", (Items(tuple(map(_verdict, verdicts))),)),
            Section("Not read", (Items(tuple(Item(why, "x", tone="alarm") for why in audit.refused)),)),
            Section("What failed", (findings(found, audit),)),
            Section("To be known", (findings(notes, audit),)),
            Section("Cannot be told, because this was not recorded", (Items(tuple(untold)),)),
            Section("", (Paragraph(f"{passed}.", "Passed"), Paragraph(LEGEND))),
        ),
    )


def _first(found: shared.Found, audit: AuditAnswer) -> str:
    first, *others = audited.lines(found, len(audit.subjects))
    return f"{first}; {len(others)} more like it" if others else first


def _told(verdict: audited.Verdict, audit: AuditAnswer, of: int) -> str:
    first, several = audit.subjects.index(verdict.subjects[0]), len(verdict.subjects)
    name = shared.labels(audit)[first] if several == 1 else count(several, "result")
    return f"{name}: {verdict.sentence}" if of > 1 or len(verdict.subjects) > 1 else verdict.sentence


def _verdict(verdict: audited.Verdict) -> Item:
    mark, tone = TONES[shared.mark(verdict.subjects[0])]
    name, *others = verdict.heads if len(verdict.subjects) == 1 else ["", *verdict.heads]
    lines = (
        *(Paragraph(head) for head in others),
        *(Paragraph(remark, lead="remark") for remark in verdict.remarks),
    )
    return Item(verdict.sentence, mark, name=name, tone=tone, lines=lines)


def findings(found: Sequence[shared.Found], audit: AuditAnswer) -> Items:
    """Return what was found as a list, each with its remedy and why it matters; what is the same once."""
    told: set[Paragraph] = set()
    return Items(tuple(_finding(one, len(audit.subjects), told) for one in found))


def _finding(found: shared.Found, subjects: int, told: set[Paragraph]) -> Item:
    first, *others = audited.lines(found, subjects)
    mark, tone = TONES[found.raised.severity]
    lines = [Paragraph(other) for other in others]
    if found.raised.severity != "note":
        advice = [Paragraph(found.raised.remedy.text, lead="Remedy")] if found.raised.remedy else []
        advice.append(Paragraph(f"{found.check.reason} ({found.check.source})", lead="Why"))
        lines += [line for line in advice if line not in told]
        told.update(advice)
    return Item(first, mark, lead=audited.word(found), name=found.check.check, tone=tone, lines=tuple(lines))
