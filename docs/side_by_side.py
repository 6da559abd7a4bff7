"""What the audit says of a publication and of the run that repeats it, question by question.

Checks of an article and of a run have names of their own; a question is what both are asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import audits
from diskproof.analysis.audited.audit import audit_article
from diskproof.analysis.audited.shapes import AuditAnswer, CheckAnswer, SubjectAnswer
from diskproof.analysis.limits.shapes import Limits
from diskproof.audit.check import State
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
        (
            "printed-figures-agree",
            "printed-littles-law",
            "printed-tail",
            "fairness",
            "rate-arithmetic",
            "statement-arithmetic",
            "latency-order",
            "mean-bounds",
        ),
        (
            "littles-law",
            "tail",
            "rate-arithmetic",
            "statement-arithmetic",
            "latency-order",
            "mean-bounds",
            "interval-sum",
            "client-shares",
        ),
    ),
    Question("Do the words fit the figures?", ("percent-or-ratio", "stated-amount", "stated-order"), ()),
    Question("Told so that it can be made again?", ("tools", "unreported"), ()),
    Question(
        "Repeated, with a spread?",
        ("best-of", "article-repeats", "single-run", "spread", "order-without-spread"),
        ("repeats", "order", "iterations", "overlap", "rounding"),
    ),
    Question("Warmed up, and steady?", ("article-warm-up",), ("warm-up", "steady", "stalls", "rate")),
    Question(
        "Does one thing alone differ?",
        (
            "confounded",
            "unequal-limits",
            "alike",
            "told-placement",
            "put-back",
            "random-order",
            "undeclared-difference",
        ),
        (
            "confounding",
            "common-settings",
            "same-storage",
            "placement",
            "held-cpus",
            "unused-place",
            "unequal-runs",
        ),
    ),
    Question(
        "Did the settings act?",
        (
            "misspelt-option",
            "option-value",
            "unknown-option",
            "deprecated-option",
            "repeated-option",
            "idle-option",
            "took-effect",
            "same-level",
        ),
        ("settings", "engine", "levels"),
    ),
    Question(
        "Is safe what is called so?",
        ("mixed-durability", "unflushed-doublewrite"),
        ("durable-commits", "counted-flushes"),
    ),
    Question(
        "Did the disk answer, and no cache?",
        ("cache-answered", "raw-peak", "above-specified", "article-data-size"),
        (
            "physics",
            "arrived",
            "bytes-written",
            "pool-devices",
            "pool-counters",
            "virtual-bytes",
            "cached-reads",
            "synced-writes",
            "page-reads",
            "data-size",
        ),
    ),
    Question(
        "Long enough, and whole?",
        ("article-short-jobs", "skipped-tests", "concurrency"),
        (
            "finished",
            "rows",
            "short",
            "rounds",
            "operations",
            "estimates",
            "errors",
            "whole-phase",
            "client-levels",
        ),
    ),
    Question(
        "Was the machine itself in the way?",
        ("memory",),
        ("host-busy", "client", "lateness", "virtual-label", "disk-errors"),
    ),
)

LIMIT = "named-limit"
"""What an article says that it waits for, which is asked of a run in another way."""

LEFT_OUT: Mapping[str, str] = {
    "buffered-copy": "of dd's results alone, and a run has none",
    "pgbench-scale": "of pgbench's results alone, and a run has none",
}
"""The checks that no question has, each with its reason."""

ASIDE = "not asked"

UNTOLD: State = "cannot be told"

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
    others = (_others(article, (LIMIT, *_names("of_article"))), _others(run, _names("of_run")))
    if any(said != ASIDE for said in others):
        rows.append(("Anything else?", *others))
    told = limit_words.summary(limits) if limits else ASIDE
    rows.append(("What holds it back?", _answer(article, (LIMIT,)), told))
    columns = ("Asked", "Of the publication", "Of the run here")
    return tables.Table(tuple(map(tables.Column, columns)), tuple(rows))


def _answer(subject: SubjectAnswer, names: Sequence[str]) -> str:
    """Return what these checks say: of those that failed, which, and how many could not be told."""
    asked = [one for one in subject.checks if one.check in names]
    untold = sum(one.state == UNTOLD for one in asked)
    failed = [one for one in asked if one.state == "failed"]
    said = (
        list(_failed(subject, failed)) if failed else ["passed"] * any(one.state == "passed" for one in asked)
    )
    if untold:
        said.append(f"{untold} {UNTOLD}")
    return "; ".join(said) or ASIDE


def _names(side: Literal["of_article", "of_run"]) -> list[str]:
    return [name for one in QUESTIONS for name in getattr(one, side)]


def _others(subject: SubjectAnswer, known: Sequence[str]) -> str:
    """Return what failed that no question asks: nothing that failed is left unsaid."""
    failed = [one for one in subject.checks if one.state == "failed" and one.check not in known]
    return _answer(subject, [one.check for one in failed])


def _failed(subject: SubjectAnswer, failed: Sequence[CheckAnswer]) -> Iterator[str]:
    """Yield the checks that failed, by how grave that is."""
    for severity in GRAVE:
        named = [f"`{one.check}`" for one in failed if severity == _gravest(one)]
        if named:
            yield f"{words.word(subject, severity)}: {', '.join(named)}"


def _gravest(answer: CheckAnswer) -> Severity | None:
    severities = {one.severity for one in answer.raised}
    return next((one for one in GRAVE if one in severities), None)
