"""What an audit found, put together: findings that several subjects share are one."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from diskproof.analysis.audited.shapes import AuditAnswer, CheckAnswer, Instance, Raised, SubjectAnswer
from diskproof.results.findings import FINISHED
from diskproof.results.trial import SEVERITIES, Severity
from diskproof.stats.grouping import grouped
from diskproof.wording import Message, together, without_figures


@dataclass(frozen=True)
class Found:
    """One thing that was found, with its check; of several subjects if only figures differ."""

    check: CheckAnswer
    raised: Raised
    own: bool
    """Whether it is of a run of ours."""
    each: tuple[tuple[str, Instance], ...]
    """What was found, each with its own figures and its place, and the subject."""


def labels(audit: AuditAnswer) -> list[str]:
    """Return the subjects' names, each with its place if another one has the same or is in another file."""
    times = Counter(one.name for one in audit.subjects)
    files = {one.place.partition(", line ")[0] for one in audit.subjects if one.kind == "result"}
    return [
        f"{one.name} in {one.place}"
        if times[one.name] > 1 or (one.kind == "result" and len(files) > 1)
        else one.name
        for one in audit.subjects
    ]


def mark(subject: SubjectAnswer) -> Severity:
    """Return the gravest severity that was found in a subject; ``note`` if nothing failed."""
    severities = {raised.severity for one in subject.checks for raised in one.raised}
    return next(severity for severity in SEVERITIES if severity in severities or severity == "note")


def failures(audit: AuditAnswer) -> list[Found]:
    """Return what failed, the gravest first; what several subjects share is one entry."""
    return [one for one in _raised(audit) if one.raised.severity != "note"]


def notes(audit: AuditAnswer) -> list[Found]:
    """Return what is merely to be known."""
    return [one for one in _raised(audit) if one.raised.severity == "note"]


def untold(audit: AuditAnswer) -> list[tuple[Message, list[str]]]:
    """Return what was not recorded, each with the checks that miss it, most of them first."""
    every = [
        (what, one.check) for subject in audit.subjects for one in subject.checks for what in one.missing
    ]
    missing = {
        what: list(dict.fromkeys(check for _, check in alike))
        for what, alike in grouped(every, lambda one: one[0]).items()
    }
    return sorted(missing.items(), key=lambda item: -len(item[1]))


def passed(audit: AuditAnswer) -> list[str]:
    """Return the checks that passed wherever they applied, and had nothing to note."""
    noted = {one.check.check for one in notes(audit)}
    states: dict[str, set[str]] = {}
    for subject in audit.subjects:
        for one in subject.checks:
            states.setdefault(one.check, set()).add(one.state)
    return [
        name
        for name, seen in states.items()
        if "passed" in seen and not seen & {"failed", "cannot be told"} and name not in noted
    ]


_Raised = tuple[str, SubjectAnswer, CheckAnswer, Raised]
"""What a check found in a subject, with the subject's label."""


def _raised(audit: AuditAnswer) -> list[Found]:
    groups: dict[Hashable, list[_Raised]] = {}
    for label, subject in zip(labels(audit), audit.subjects, strict=True):
        for check in subject.checks:
            for one in check.raised:
                # Several subjects share an entry if only figures differ; findings of one subject never do.
                key: Hashable = (
                    check.check,
                    one.severity,
                    without_figures(one.message),
                    without_figures(one.remedy),
                )
                if key in groups and groups[key][-1][0] == label:
                    key = (check.check, one.severity, one.message, one.remedy)
                groups.setdefault(key, []).append((label, subject, check, one))
    found = map(_found, groups.values())
    return sorted(found, key=lambda one: (SEVERITIES.index(one.raised.severity), one.check.check != FINISHED))


def _found(group: Sequence[_Raised]) -> Found:
    _, subject, check, first = group[0]
    remedy = together([one.remedy for *_, one in group])
    each = (
        (label, instance)
        for label, _, _, one in group
        for instance in one.each or [Instance(message=one.message, within=one.within)]
    )
    return Found(check, first.model_copy(update={"remedy": remedy}), subject.own, tuple(each))
