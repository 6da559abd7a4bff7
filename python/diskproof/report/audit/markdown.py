"""An audit as Markdown; what a file holds is shown as it is, and never read as markup."""

from collections.abc import Sequence

from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.report.audit import words
from diskproof.report.pipes import escape
from diskproof.report.words import visible


def render(audit: AuditAnswer) -> str:
    """Return the whole audit."""
    parts = [
        "# Audit",
        f"{shown(words.summary(audit))}.",
        *(_verdict(one) for one in words.verdicts(audit)),
        *_found("## What failed", words.failures(audit), audit),
        *([] if words.failures(audit) else [words.NOTHING_FAILED]),
        *_found("## To be known", words.notes(audit), audit),
        *_untold(audit),
    ]
    for heading, names in (("Passed", words.passed(audit)), ("Does not apply", words.apart(audit))):
        if names:
            parts.append(f"{heading}: {', '.join(f'`{name}`' for name in names)}.")
    return "\n\n".join([*parts, words.LEGEND]) + "\n"


def findings(audit: AuditAnswer) -> str:
    """Return what failed, as a list for a page of others; a sentence where nothing did."""
    found = words.failures(audit)
    return "\n".join(_one(each, audit) for each in found) if found else words.NOTHING_FAILED


def shown(text: str) -> str:
    """Return a text that Markdown shows as it is, code spans too: a name may hold a backtick."""
    return escape(visible(text).replace("\n", " "))


def _verdict(told: words.Verdict) -> str:
    remarks = [f"- remark: {shown(remark)}" for remark in told.remarks]
    heads = [f"**{shown(head)}**" for head in told.heads]
    return "\n".join(
        [*(f"{head}  " for head in heads[:-1]), f"{heads[-1]}: {shown(told.sentence)}", *remarks]
    )


def _found(heading: str, found: Sequence[words.Found], audit: AuditAnswer) -> list[str]:
    return [heading, "\n".join(_one(each, audit) for each in found)] if found else []


def _one(found: words.Found, audit: AuditAnswer) -> str:
    first, *others = words.lines(found, len(audit.subjects))
    lines = [f"- **{found.word}** `{found.check.check}`: {shown(first)}"]
    lines += [f"  - {shown(other)}" for other in others]
    if found.raised.severity != "note":
        if found.raised.remedy:
            lines.append(f"  - Remedy: {shown(found.raised.remedy)}")
        lines.append(f"  - Why: {shown(found.check.reason)} ({shown(found.check.source)})")
    return "\n".join(lines)


def _untold(audit: AuditAnswer) -> list[str]:
    missing = words.untold(audit)
    if not missing:
        return []
    rows = [f"- {shown(what)}: {', '.join(f'`{name}`' for name in checks)}" for what, checks in missing]
    return ["## Cannot be told, for this was not recorded", "\n".join(rows)]
