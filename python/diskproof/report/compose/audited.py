"""What an audit says, put together: findings that several subjects share are one."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from diskproof.analysis.audited.shapes import (
    AuditAnswer,
    CheckAnswer,
    Instance,
    Raised,
    SubjectAnswer,
    SubjectKind,
)
from diskproof.results.findings import FINISHED
from diskproof.results.trial import Severity
from diskproof.stats.grouping import grouped
from diskproof.wording import ranged, together, without_figures
from diskproof.wording.numbers import count, listed

MOST_WITHIN = 4

MOST_EACH = 4
"""Of findings of a kind that differ in several figures, how many are shown with their own."""

_OF_OTHERS: dict[Severity, str] = {"invalid": "error", "warning": "threat", "note": "note"}
"""Of what others made: an error is a figure that cannot be, a threat may have another explanation."""

_ORDER: tuple[Severity, ...] = ("invalid", "warning", "note")


@dataclass(frozen=True)
class Found:
    """One thing that was found, with its check; of several subjects if only figures differ."""

    check: CheckAnswer
    raised: Raised
    word: str
    """Its severity as it reads."""
    each: tuple[tuple[str, Instance], ...]
    """What was found, each with its own figures and its place, and the subject."""


KINDS: tuple[SubjectKind, ...] = ("run", "result", "configuration")
"""Subjects that a summary counts."""


def summary(audit: AuditAnswer) -> str:
    """Return what was looked at, how much was found, and how many checks ended how."""
    numbers = Counter(one.kind for one in audit.subjects)
    subjects = [count(numbers[kind], kind) for kind in KINDS if numbers[kind]]
    states = [one.state for subject in audit.subjects for one in subject.checks]
    refused = f"; {count(len(audit.refused), 'file')} could not be read" if audit.refused else ""
    found = f"{count(len(failures(audit)), 'finding')}, {count(len(notes(audit)), 'note')}"
    return (
        f"{listed(subjects)}{refused}: {found}; "
        f"{count(states.count('cannot be told'), 'check')} cannot be told, {states.count('passed')} passed"
    )


def title(subject: SubjectAnswer) -> str:
    """Return a subject with its place: ``10 clients (old.txt, line 3; sysbench 1.0.17)``."""
    return f"{subject.name} ({subject.place}; {subject.known_as})"


@dataclass(frozen=True)
class Verdict:
    """What is said of one subject, or of several results that support alike."""

    subjects: tuple[SubjectAnswer, ...]
    sentence: str

    @property
    def heads(self) -> list[str]:
        """Return what each is; of several each with its own figure."""
        if len(self.subjects) == 1:
            return [title(self.subjects[0])]
        return [f"{title(one)}: {one.figure.text}" for one in self.subjects]

    @property
    def remarks(self) -> list[str]:
        """Return what was remarked, each once."""
        return list(dict.fromkeys(remark.text for one in self.subjects for remark in one.remarks))


def verdicts(audit: AuditAnswer) -> list[Verdict]:
    """Return what is said of the subjects: of results that support the same beside their figures once."""
    groups: dict[object, list[SubjectAnswer]] = {}
    for at, one in enumerate(audit.subjects):
        groups.setdefault((one.uses, mark(one)) if one.uses else at, []).append(one)
    return [
        Verdict(tuple(all_of), all_of[0].verdict.text if len(all_of) == 1 else f"{EACH}{all_of[0].uses.text}")
        for all_of in groups.values()
    ]


EACH = "Each supports its own figure"


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


def word(subject: SubjectAnswer, severity: Severity) -> str:
    """Return a severity as it reads of a subject: what others made has errors and threats."""
    return severity if subject.own else _OF_OTHERS[severity]


def mark(subject: SubjectAnswer) -> Severity:
    """Return the gravest severity that was found in a subject; ``note`` if nothing failed."""
    severities = {raised.severity for one in subject.checks for raised in one.raised}
    return next(severity for severity in _ORDER if severity in severities or severity == "note")


def failures(audit: AuditAnswer) -> list[Found]:
    """Return what failed, the gravest first; what several subjects share is one entry."""
    return [one for one in _raised(audit) if one.raised.severity != "note"]


def notes(audit: AuditAnswer) -> list[Found]:
    """Return what is merely to be known."""
    return [one for one in _raised(audit) if one.raised.severity == "note"]


def untold(audit: AuditAnswer) -> list[tuple[str, list[str]]]:
    """Return what was not recorded, each with the checks that miss it, most of them first."""
    missing: dict[str, list[str]] = {}
    for subject in audit.subjects:
        for one in subject.checks:
            for what in one.missing:
                names = missing.setdefault(what.text, [])
                if one.check not in names:
                    names.append(one.check)
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


def lines(found: Found, subjects: int) -> list[str]:
    """Return what was found, with its places: one line, or one for each that has its own figures."""
    by_message = grouped(found.each, lambda one: one[1].message)
    whole = ranged(list(by_message))
    shown = {whole: found.each} if whole else by_message
    lines = []
    for message, each in shown.items():
        place = _places(each, subjects)
        lines.append(f"{message.text} ({place})" if place else message.text)
    rest = len(lines) - MOST_EACH
    return [*lines[:MOST_EACH], f"and {rest} more like these: see --format json"] if rest > 0 else lines


def _places(each: Sequence[tuple[str, Instance]], subjects: int) -> str:
    within = list(dict.fromkeys(at for _, one in each for at in one.within))
    names = list(dict.fromkeys(subject for subject, _ in each)) if subjects > 1 else []
    return listed([*names, *within], MOST_WITHIN)


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
    return sorted(found, key=lambda one: (_ORDER.index(one.raised.severity), one.check.check != FINISHED))


def _found(group: Sequence[_Raised]) -> Found:
    _, subject, check, first = group[0]
    remedy = together([one.remedy for *_, one in group])
    each = (
        (label, instance)
        for label, _, _, one in group
        for instance in one.each or [Instance(message=one.message, within=one.within)]
    )
    return Found(
        check, first.model_copy(update={"remedy": remedy}), word(subject, first.severity), tuple(each)
    )
