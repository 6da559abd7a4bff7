"""How an audit is worded: the same in every form."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from diskproof.analysis import alike
from diskproof.analysis.audited.shapes import AuditAnswer, CheckAnswer, Instance, Raised, SubjectAnswer
from diskproof.analysis.words import listed
from diskproof.report import words
from diskproof.results.trial import Severity

MOST_WITHIN = 4

MOST_EACH = 4
"""Of findings of a kind that differ in several figures, how many are told with their own."""

_OF_OTHERS: dict[Severity, str] = {"invalid": "error", "warning": "threat", "note": "note"}
"""Of what others made: an error is a figure that cannot be, a threat may have another explanation."""

_ORDER: tuple[Severity, ...] = ("invalid", "warning", "note")

LEGEND = (
    "error (of our own runs: invalid): the figures cannot be as they are told; threat (warning): what is "
    "concluded from them may not hold; a note explains, and is no failure."
)

NOTHING_FAILED = "No check failed."


@dataclass(frozen=True)
class Each:
    """One of several findings of a kind."""

    message: str
    subject: str
    within: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """One thing that was found, with the check and the subjects that it was found in."""

    check: CheckAnswer
    raised: Raised
    word: str
    """Its severity as it reads."""
    where: tuple[str, ...]
    """The subjects."""
    each: tuple[Each, ...] = ()
    """What was found, each with its own figures and its place."""


def summary(audit: AuditAnswer) -> str:
    """Return what was looked at, and how many checks ended how."""
    kinds = {
        "run": "run",
        "result": "result",
        "configuration": "configuration",
        "article": "article",
    }
    told = [
        words.count(sum(one.kind == kind for one in audit.subjects), noun)
        for kind, noun in kinds.items()
        if any(one.kind == kind for one in audit.subjects)
    ]
    states = [one.state for subject in audit.subjects for one in subject.checks]
    return (
        f"{listed(told)}: {words.count(states.count('failed'), 'check')} failed, "
        f"{states.count('cannot be told')} cannot be told, {states.count('passed')} passed"
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
        return [f"{title(one)}: {one.figure}" for one in self.subjects]

    @property
    def remarks(self) -> list[str]:
        """Return what was remarked, each once."""
        return list(dict.fromkeys(remark for one in self.subjects for remark in one.remarks))


def verdicts(audit: AuditAnswer) -> list[Verdict]:
    """Return what is said of the subjects: of results that support the same beside their figures once."""
    groups: dict[object, list[SubjectAnswer]] = {}
    for at, one in enumerate(audit.subjects):
        groups.setdefault((one.uses, mark(one)) if one.uses else at, []).append(one)
    return [
        Verdict(tuple(all_of), all_of[0].verdict if len(all_of) == 1 else f"{EACH}{all_of[0].uses}")
        for all_of in groups.values()
    ]


EACH = "Each supports its own figure"


def labels(audit: AuditAnswer) -> list[str]:
    """Return the subjects' names, each with its place where another one has the same."""
    times = Counter(one.name for one in audit.subjects)
    return [one.name if times[one.name] == 1 else f"{one.name} in {one.place}" for one in audit.subjects]


def word(subject: SubjectAnswer, severity: Severity) -> str:
    """Return a severity as it reads of a subject: what others made has errors and threats."""
    return severity if subject.own else _OF_OTHERS[severity]


def mark(subject: SubjectAnswer) -> Severity:
    """Return the gravest severity that was found in a subject; ``note`` where nothing failed."""
    severities = {raised.severity for one in subject.checks for raised in one.raised}
    return next(severity for severity in _ORDER if severity in severities or severity == "note")


def failures(audit: AuditAnswer) -> list[Found]:
    """Return what failed, the gravest first; what several subjects share is told once."""
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
                names = missing.setdefault(what, [])
                if one.check not in names:
                    names.append(one.check)
    return sorted(missing.items(), key=lambda item: -len(item[1]))


def passed(audit: AuditAnswer) -> list[str]:
    """Return the checks that passed wherever they applied, and had nothing to note."""
    noted = {one.check.check for one in notes(audit)}
    names = _named(audit, "passed", besides=("failed", "cannot be told"))
    return [name for name in names if name not in noted]


def apart(audit: AuditAnswer) -> list[str]:
    """Return the checks that had nothing to look at anywhere."""
    return _named(audit, "does not apply", besides=("failed", "cannot be told", "passed"))


def where(found: Found, subjects: int) -> str:
    """Say where it was found; nothing where there is one subject alone and it is the whole of it."""
    return _places(found.each, subjects)


def lines(found: Found, subjects: int) -> list[str]:
    """Return what was found, with its places: one line, or one for each that has its own figures."""
    by_message: dict[str, list[Each]] = {}
    for one in found.each:
        by_message.setdefault(one.message, []).append(one)
    together = alike.together(list(by_message))
    told = {together: found.each} if together is not None else by_message
    lines = [_with_place(message, _places(each, subjects)) for message, each in told.items()]
    rest = len(lines) - MOST_EACH
    return [*lines[:MOST_EACH], f"and {rest} more like these: see --format json"] if rest > 0 else lines


def _with_place(message: str, place: str) -> str:
    return f"{message} ({place})" if place else message


def _places(each: Sequence[Each], subjects: int) -> str:
    within = list(dict.fromkeys(at for one in each for at in one.within))
    names = list(dict.fromkeys(one.subject for one in each)) if subjects > 1 else []
    return listed([*names, *within], MOST_WITHIN)


def _named(audit: AuditAnswer, state: str, besides: Sequence[str]) -> list[str]:
    states: dict[str, set[str]] = {}
    for subject in audit.subjects:
        for one in subject.checks:
            states.setdefault(one.check, set()).add(one.state)
    return [name for name, seen in states.items() if state in seen and not seen & set(besides)]


_Key = tuple[str, Severity, tuple[str, str]]
"""Check, severity, and what findings share in message and remedy."""


def _raised(audit: AuditAnswer) -> list[Found]:
    found: dict[_Key, Found] = {}
    places: dict[_Key, dict[str, None]] = {}
    each: dict[_Key, list[Each]] = {}
    remedies: dict[_Key, list[str]] = {}
    for name, subject in zip(labels(audit), audit.subjects, strict=True):
        for one in subject.checks:
            for raised in one.raised:
                # What differs in figures alone is told together of several subjects, of one each by itself.
                key = (one.check, raised.severity, alike.kind(raised.message, raised.remedy))
                if name in places.get(key, ()):
                    key = (one.check, raised.severity, (raised.message, raised.remedy))
                found.setdefault(key, Found(one, raised, word(subject, raised.severity), (), ()))
                places.setdefault(key, {})[name] = None
                each.setdefault(key, []).extend(_each(raised, name))
                remedies.setdefault(key, []).append(raised.remedy)
    told = [
        replace(
            one,
            raised=one.raised.model_copy(update={"remedy": alike.told(remedies[key])}),
            where=tuple(places[key]),
            each=tuple(each[key]),
        )
        for key, one in found.items()
    ]
    return sorted(told, key=lambda one: _ORDER.index(one.raised.severity))


def _each(raised: Raised, subject: str) -> Iterator[Each]:
    whole = Instance(message=raised.message, within=raised.within)
    for one in raised.each or [whole]:
        yield Each(one.message, subject, tuple(one.within))
