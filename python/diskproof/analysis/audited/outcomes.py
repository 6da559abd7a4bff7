"""The outcomes of checks over many subjects, put together: a run's trials."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from diskproof.analysis.audited.shapes import CheckAnswer, Instance, Raised
from diskproof.audit.check import Check, Configuration, Evidence, Outcome, Run, State
from diskproof.results.trial import SEVERITIES, Finding, Severity
from diskproof.wording import NOTHING, Message, together, without_figures

Looked = TypeVar("Looked", Evidence, Run, Configuration)

_ORDER: tuple[State, ...] = ("failed", "cannot be told", "passed", "does not apply")
"""The first of these states that a subject is in counts for all of them."""


def ask(
    checks: Sequence[Check[Looked]], subjects: Sequence[tuple[str, Looked]], *, imported: bool = False
) -> list[CheckAnswer]:
    """Return what the checks say of all subjects together, each with its name; a single name may be empty."""
    return [
        _together(check, [(name, check.outcome(subject)) for name, subject in subjects], imported)
        for check in checks
        if subjects
    ]


def recorded_findings(found: Sequence[tuple[str, Finding]]) -> list[CheckAnswer]:
    """Return the findings that trials recorded while they ran, by check."""
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
                reason="It was found while the trial ran.",
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
        why_apart=next((outcome.why_apart for _, outcome in outcomes if outcome.why_apart), NOTHING),
    )


def _merged(found: Sequence[tuple[Sequence[str], Severity, Message, Message]], several: bool) -> list[Raised]:
    """Merge findings that differ in figures alone, the gravest first; each keeps its own figures.

    Findings of a single subject are not merged.
    """
    kinds: dict[tuple[Severity, Hashable], list[tuple[Sequence[str], Message, Message]]] = {}
    for where, severity, message, remedy in found:
        key = (
            severity,
            (without_figures(message), without_figures(remedy)) if several else (message, remedy),
        )
        kinds.setdefault(key, []).append((where, message, remedy))
    merged = [_one(severity, all_of) for (severity, _), all_of in kinds.items()]
    return sorted(merged, key=lambda one: SEVERITIES.index(one.severity))


def _one(severity: Severity, found: Sequence[tuple[Sequence[str], Message, Message]]) -> Raised:
    """Return the finding that findings of a kind make together."""
    places: dict[Message, list[str]] = {}
    for where, message, _ in found:
        places.setdefault(message, []).extend(where)
    return Raised(
        severity=severity,
        message=together(list(places)),
        remedy=together([remedy for _, _, remedy in found]),
        within=list(dict.fromkeys(at for where, _, _ in found for at in where)),
        each=[Instance(message=message, within=where) for message, where in places.items()]
        if len(places) > 1
        else [],
    )
