"""The audits of a publication and of the run that repeats it, question by question.

Articles and runs have different checks; a question groups those that ask the same of both.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import audits
from diskproof.analysis.audited.audit import audit_article
from diskproof.analysis.audited.shapes import AuditAnswer, CheckAnswer, SubjectAnswer
from diskproof.analysis.limits.records import Limits
from diskproof.audit.check import State
from diskproof.report.compose import audited as words
from diskproof.report.compose import limits_words
from diskproof.report.document import Column, Table
from diskproof.report.write import markdown
from diskproof.results.trial import Severity


class Question(NamedTuple):
    """One question, and the checks that answer it for each side, separated by spaces."""

    asks: str
    of_article: str
    of_run: str


QUESTIONS = (
    Question(
        "Do the figures fit together?",
        "printed-figures-agree printed-littles-law printed-tail fairness equal-minima rate-arithmetic "
        "statement-arithmetic latency-order mean-bounds",
        "littles-law tail rate-arithmetic statement-arithmetic latency-order mean-bounds interval-sum "
        "client-shares",
    ),
    Question(
        "Do the words fit the figures?",
        "percent-or-ratio stated-amount stated-order quoted-figure cut-axis promised",
        "",
    ),
    Question("Reported well enough to repeat?", "tools command-output unreported", ""),
    Question(
        "Repeated, with a spread?",
        "best-of article-repeats single-run spread order-without-spread",
        "repeats order iterations overlap rounding",
    ),
    Question("Warmed up, and steady?", "article-warm-up first-run", "warm-up steady stalls rate"),
    Question(
        "Does only one thing differ?",
        "confounded unequal-limits alike told-placement put-back random-order undeclared-difference",
        "confounding common-settings same-storage placement held-cpus unused-place unequal-runs",
    ),
    Question(
        "Did the settings take effect?",
        "misspelt-option option-value unknown-option deprecated-option repeated-option idle-option "
        "took-effect same-level safer-and-faster",
        "settings engine levels",
    ),
    Question(
        "Is what is called safe really safe?",
        "mixed-durability unflushed-doublewrite",
        "durable-commits counted-flushes",
    ),
    Question(
        "Did the disk answer, not a cache?",
        "cache-answered raw-peak above-specified article-data-size disk-free-load",
        "physics arrived bytes-written pool-devices pool-counters virtual-bytes cached-reads "
        "synced-writes page-reads data-size",
    ),
    Question(
        "Long enough, and complete?",
        "article-short-jobs coarse-times skipped-tests concurrency article-client-levels "
        "rates-against-clients",
        "finished rows short rounds operations estimates errors whole-phase client-levels",
    ),
    Question(
        "Was the machine itself in the way?",
        "memory",
        "host-busy client lateness virtual-label disk-errors",
    ),
)

LIMIT = "named-limit"
"""The check of the limit that an article names; a run names its limits in another way."""

ASIDE = "not asked"

UNTOLD: State = "cannot be told"

GRAVE: tuple[Severity, ...] = ("invalid", "warning")
"""The severities that are failures, the graver first."""


def section(study: str, run: SubjectAnswer, limits: Limits | None) -> Iterator[str]:
    """Yield the audits of a publication and of the run that repeats it, side by side."""
    yield "## The audits of the publication and of this run"
    yield f"This run: {markdown.escape(run.verdict.text)}"
    yield markdown.table(beside(audit_article(audits.article(study)), run, limits))
    if failed := failures(run):
        yield "Checks that failed in this run:"
        yield failed


def failures(run: SubjectAnswer) -> str:
    """Return what failed in a run as a list; empty if nothing did."""
    return "\n".join(map(audits.finding, words.failures(AuditAnswer(subjects=[run]))))


def beside(article: SubjectAnswer, run: SubjectAnswer, limits: Limits | None) -> Table:
    """Return a row a question: the answer of the publication's checks, and of the run's."""
    rows = [
        (one.asks, _answer(article, one.of_article.split()), _answer(run, one.of_run.split()))
        for one in QUESTIONS
    ]
    rows.append(("Anything else?", _others(article, "of_article"), _others(run, "of_run")))
    told = limits_words.summary(limits) if limits else ASIDE
    rows.append(("What holds it back?", _answer(article, (LIMIT,)), told))
    columns = ("Question", "Publication", "This run")
    return Table(tuple(map(Column, columns)), tuple(rows))


def _answer(subject: SubjectAnswer, names: Sequence[str]) -> str:
    """Return which of these checks failed, and how many cannot be told."""
    asked = [one for one in subject.checks if one.check in names]
    untold = sum(one.state == UNTOLD for one in asked)
    failed = [one for one in asked if one.state == "failed"]
    said = (
        list(_failed(subject, failed)) if failed else ["passed"] * any(one.state == "passed" for one in asked)
    )
    if untold:
        said.append(f"{untold} {UNTOLD}")
    return "; ".join(said) or ASIDE


def _others(subject: SubjectAnswer, side: Literal["of_article", "of_run"]) -> str:
    """Return the answer of the checks that no question covers, so that no failure is left out."""
    known = {LIMIT, *(name for one in QUESTIONS for name in getattr(one, side).split())}
    return _answer(subject, [one.check for one in subject.checks if one.check not in known])


def _failed(subject: SubjectAnswer, failed: Sequence[CheckAnswer]) -> Iterator[str]:
    """Yield the checks that failed, the gravest first."""
    for severity in GRAVE:
        named = [f"`{one.check}`" for one in failed if severity == _gravest(one)]
        if named:
            yield f"{words.word(subject, severity)}: {', '.join(named)}"


def _gravest(answer: CheckAnswer) -> Severity | None:
    severities = {one.severity for one in answer.raised}
    return next((one for one in GRAVE if one in severities), None)
