"""The outcomes of checks over many subjects, put together: a run's trials, an article's results."""

from collections.abc import Sequence
from typing import TypeVar

from diskproof.analysis import alike
from diskproof.analysis.audited.shapes import CheckAnswer, Instance, Raised
from diskproof.audit.check import Check, Configuration, Evidence, Outcome, Run, State
from diskproof.results.article import Article
from diskproof.results.trial import Finding, Severity

Looked = TypeVar("Looked", Evidence, Run, Configuration, Article)

_ORDER: tuple[State, ...] = ("failed", "cannot be told", "passed", "does not apply")
"""Of several subjects the first of these states that one is in speaks for all."""

_SEVERITIES: tuple[Severity, ...] = ("invalid", "warning", "note")


def ask(
    checks: Sequence[Check[Looked]], subjects: Sequence[tuple[str, Looked]], *, imported: bool = False
) -> list[CheckAnswer]:
    """Return what the checks say of all subjects together, each named; a single name may be empty."""
    return [
        _together(check, [(name, check.outcome(subject)) for name, subject in subjects], imported)
        for check in checks
        if subjects
    ]


def recorded_findings(found: Sequence[tuple[str, Finding]]) -> list[CheckAnswer]:
    """Return by check what was noted while trials ran: it stands in their records."""
    names = dict.fromkeys(finding.check for _, finding in found)
    answers = []
    for name in names:
        raised = _merged(
            [
                ((trial,), finding.severity, finding.message, finding.remedy)
                for trial, finding in found
                if finding.check == name
            ],
            several=True,
        )
        failed = any(one.severity != "note" for one in raised)
        answers.append(
            CheckAnswer(
                check=name,
                state="failed" if failed else "passed",
                reason="It was seen while the trial ran.",
                source="the trial's own record",
                raised=raised,
            )
        )
    return answers


def _together(check: Check[Looked], outcomes: Sequence[tuple[str, Outcome]], imported: bool) -> CheckAnswer:
    states = {outcome.state for _, outcome in outcomes}
    raised = _merged(
        [
            (
                (name,) if name else problem.cells,
                problem.severity,
                problem.message,
                check.remedy_of(problem, imported=imported),
            )
            for name, outcome in outcomes
            for problem in outcome.problems
        ],
        several=len(outcomes) > 1,
    )
    return CheckAnswer(
        check=check.name,
        state=next(state for state in _ORDER if state in states),
        reason=check.reason,
        source=check.source,
        raised=raised,
        missing=list(dict.fromkeys(one for _, outcome in outcomes for one in outcome.missing)),
        why_apart=next((outcome.why_apart for _, outcome in outcomes if outcome.why_apart), ""),
    )


def _merged(found: Sequence[tuple[Sequence[str], Severity, str, str]], several: bool) -> list[Raised]:
    """Put together what differs in figures alone, the gravest first; each keeps its own figures.

    What was found of the subject itself stays apart: each row of an article's table is a finding of its own.
    """
    kinds: dict[tuple[Severity, tuple[str, str]], list[tuple[Sequence[str], str, str]]] = {}
    for where, severity, message, remedy in found:
        key = (severity, alike.kind(message, remedy) if several else (message, remedy))
        kinds.setdefault(key, []).append((where, message, remedy))
    merged = [_one(severity, all_of) for (severity, _), all_of in kinds.items()]
    return sorted(merged, key=lambda one: _SEVERITIES.index(one.severity))


def _one(severity: Severity, found: Sequence[tuple[Sequence[str], str, str]]) -> Raised:
    """Return the finding that findings of a kind make together."""
    places: dict[str, list[str]] = {}
    for where, message, _ in found:
        places.setdefault(message, []).extend(where)
    return Raised(
        severity=severity,
        message=alike.told(list(places)),
        remedy=alike.told([remedy for _, _, remedy in found]),
        within=list(dict.fromkeys(at for where, _, _ in found for at in where)),
        each=[Instance(message=message, within=where) for message, where in places.items()]
        if len(places) > 1
        else [],
    )
