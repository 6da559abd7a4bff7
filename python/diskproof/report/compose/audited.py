"""The sentences of an audit: what was looked at, what each subject supports, what was found."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.audited.shapes import AuditAnswer, Instance, SubjectAnswer, SubjectKind
from diskproof.analysis.audited.shared import Found, failures, mark, notes
from diskproof.results.trial import Severity
from diskproof.stats.grouping import grouped
from diskproof.wording import ranged
from diskproof.wording.numbers import count, listed

MOST_WITHIN = 4

MOST_EACH = 4
"""Of findings of a kind that differ in several figures, how many are shown with their own."""

_OF_OTHERS: dict[Severity, str] = {"invalid": "error", "warning": "threat", "note": "note"}
"""Of what others made: an error is a figure that cannot be, a threat may have another explanation."""

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
    groups = grouped(audit.subjects, lambda one: (one.uses, mark(one)) if one.uses else id(one))
    return [
        Verdict(tuple(all_of), all_of[0].verdict.text if len(all_of) == 1 else f"{EACH}{all_of[0].uses.text}")
        for all_of in groups.values()
    ]


EACH = "Each supports its own figure"


def word(found: Found) -> str:
    """Return a severity as it reads: what others made has errors and threats."""
    severity = found.raised.severity
    return severity if found.own else _OF_OTHERS[severity]


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
