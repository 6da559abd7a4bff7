"""What the audit says of a publication and of the run that repeats it, question by question.

Checks of an article and of a run have names of their own; a question is what both are asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import audits
from diskproof.analysis.audited.audit import audit_article
from diskproof.analysis.audited.shapes import AuditAnswer, CheckAnswer, SubjectAnswer
from diskproof.analysis.limits.shapes import Limits
from diskproof.report import pipes, tables
from diskproof.report.audit import words
from diskproof.report.limits import words as limit_words
from diskproof.results.trial import Severity


@dataclass(frozen=True)
class Question:
    """What is asked of both, and the checks that answer for each."""

    asks: str
    of_article: tuple[str, ...]
    of_run: tuple[str, ...]


QUESTIONS = (
    Question(
        "Do the figures fit together?",
        ("printed-figures-agree", "printed-littles-law", "printed-tail", "fairness"),
        (
            "littles-law",
            "tail",
            "rate-arithmetic",
            "statement-arithmetic",
            "latency-order",
            "mean-bounds",
            "interval-sum",
        ),
    ),
    Question("Do the words fit the figures?", ("percent-or-ratio", "stated-amount", "stated-order"), ()),
    Question(
        "Repeated, with a spread?",
        ("best-of", "article-repeats", "single-run", "spread", "order-without-spread"),
        ("repeats", "order"),
    ),
    Question("Warmed up, and steady?", ("article-warm-up",), ("warm-up", "steady", "stalls")),
    Question(
        "Does one thing alone differ?",
        ("confounded", "unequal-limits", "alike", "told-placement", "put-back", "random-order"),
        ("confounding", "common-settings", "same-storage", "placement", "held-cpus", "unused-place"),
    ),
    Question(
        "Did the settings act?",
        ("unknown-option", "idle-option", "took-effect", "mixed-durability", "same-level"),
        ("settings", "engine", "levels"),
    ),
    Question(
        "Did the disk answer, and no cache?",
        ("cache-answered", "raw-peak", "above-specified", "article-data-size"),
        (
            "physics",
            "arrived",
            "bytes-written",
            "pool-devices",
            "cached-reads",
            "synced-writes",
            "data-size",
        ),
    ),
    Question(
        "Long enough, and whole?",
        ("article-short-jobs", "skipped-tests", "concurrency"),
        ("short", "rounds", "operations", "estimates", "errors", "whole-phase"),
    ),
    Question("Was the machine itself in the way?", (), ("host-busy", "client", "lateness", "disk-errors")),
)

ASIDE = "not asked"

GRAVE: tuple[Severity, ...] = ("invalid", "warning")
"""What is a failure, the graver first."""


def section(study: str, run: SubjectAnswer, limits: Limits | None) -> Iterator[str]:
    """Yield the audits of a publication and of the run that repeats it beside each other."""
    yield "### The audit, of the publication and of the run here"
    yield f"Of the run here: {pipes.escape(run.verdict)}"
    yield pipes.table(beside(audit_article(audits.read(study)), run, limits))


def failures(run: SubjectAnswer) -> str:
    """Return what failed in a run, as a list; nothing where nothing did."""
    return "\n".join(map(audits.finding, words.failures(AuditAnswer(subjects=[run]))))


def beside(article: SubjectAnswer, run: SubjectAnswer, limits: Limits | None) -> tables.Table:
    """Return a row a question: what the checks of the publication say to it, and those of the run."""
    rows = [(one.asks, _answer(article, one.of_article), _answer(run, one.of_run)) for one in QUESTIONS]
    told = limit_words.summary(limits) if limits else ASIDE
    rows.append(("What holds it back?", _answer(article, ("named-limit",)), told))
    columns = ("Asked", "Of the publication", "Of the run here")
    return tables.Table(tuple(map(tables.Column, columns)), tuple(rows))


def _answer(subject: SubjectAnswer, names: Sequence[str]) -> str:
    """Return the gravest that these checks say; of those that failed, which."""
    asked = [one for one in subject.checks if one.check in names]
    if failed := [one for one in asked if one.state == "failed"]:
        return "; ".join(_failed(subject, failed))
    states = {one.state for one in asked}
    return next((state for state in ("passed", "cannot be told") if state in states), ASIDE)


def _failed(subject: SubjectAnswer, failed: Sequence[CheckAnswer]) -> Iterator[str]:
    """Yield the checks that failed, by how grave that is."""
    for severity in GRAVE:
        named = [f"`{one.check}`" for one in failed if severity == _gravest(one)]
        if named:
            yield f"{words.word(subject, severity)}: {', '.join(named)}"


def _gravest(answer: CheckAnswer) -> Severity | None:
    severities = {one.severity for one in answer.raised}
    return next((one for one in GRAVE if one in severities), None)
