"""The answer to the study's question: a sentence for each two levels that it compares."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis, Outcome, RunFinding, Verdict
from diskproof.audit.host import host_busy
from diskproof.report.compose import difference_words, verdict_words
from diskproof.report.compose.verdicts import has_verdict
from diskproof.report.document import Paragraph, Section
from diskproof.results.factor import Factor
from diskproof.stats.groups import grouped
from diskproof.wording import numbers

CONDITIONS: tuple[Factor, ...] = ("workload", "clients")
"""Factors that a study varies to see the others under them. They are the question if nothing else varies."""

UNDECIDED: tuple[Outcome, ...] = ("inconclusive", "not comparable")

MOST_SENTENCES = 4


def section(analysis: Analysis) -> Section:
    """Return the answer; empty if there is no verdict."""
    verdicts = analysis.verdicts if has_verdict(analysis) else []
    asked = [one for one in verdicts if one.factor not in CONDITIONS] or verdicts
    groups = list(grouped(asked, lambda one: (one.factor, one.level, one.baseline)).values())
    if not groups:
        return Section("Answer", ())
    sentences = [_sentence(group) for group in groups[:MOST_SENTENCES]]
    if (left := len(groups) - MOST_SENTENCES) > 0:
        sentences.append(f"{numbers.count(left, 'more pair', 'more pairs')} of levels: see the verdicts.")
    answer = Paragraph(" ".join(sentences), style="lead")
    return Section("Answer", (answer, *map(_caution, _disturbed(analysis))), anchor="answer")


def _sentence(verdicts: Sequence[Verdict]) -> str:
    """Return the answer of two levels: ``disk is 12% to 45% slower than dram in 3 of 4 comparisons; …``."""
    first, of = verdicts[0], len(verdicts)
    if of == 1:
        return f"{verdict_words.verdict(first)}{_mostly(verdicts)}."
    by_outcome = grouped(verdicts, lambda one: one.outcome)
    decided = [some for outcome, some in by_outcome.items() if outcome not in UNDECIDED and some[0].ratio]
    rest = [
        f"{len(by_outcome[one])} of {of} {'is' if len(by_outcome[one]) == 1 else 'are'} {one}"
        for one in UNDECIDED
        if one in by_outcome
    ]
    if not decided:
        return f"{verdict_words.against(first)}: {' and '.join(rest)}."
    said = [f"{_outcome(some)}{_where(some, of)}" for some in sorted(decided, key=len, reverse=True)]
    verb = "are" if first.factor == "clients" and first.level != "1" else "is"
    level = verdict_words.subject(first.factor, first.level)
    return "; ".join([f"{level} {verb} {numbers.listed(said)}{_mostly(verdicts)}", *rest]) + "."


def _outcome(verdicts: Sequence[Verdict]) -> str:
    """Return an outcome that verdicts share: ``12% to 45% slower than dram``."""
    baseline = verdict_words.subject(verdicts[0].factor, verdicts[0].baseline)
    if verdicts[0].outcome == "the same":
        return f"the same as {baseline} within {numbers.percent(verdicts[0].same_within)}"
    ratios = [one.ratio.estimate for one in verdicts if one.ratio]
    return f"{verdict_words.by_how_much(*ratios)} {baseline}"


def _where(verdicts: Sequence[Verdict], of: int) -> str:
    """Return under which conditions an outcome was found, or under how many."""
    if len(verdicts) == 1:
        return verdict_words.conditions(verdicts[0].held)
    return f" in {'all' if len(verdicts) == of else f'{len(verdicts)} of'} {of} comparisons"


def _mostly(verdicts: Sequence[Verdict]) -> str:
    """Return the part of a transaction's time that makes most of each difference; empty if none does."""
    mostly = {difference_words.largest(one.difference) for one in verdicts if one.difference}
    name = mostly.pop() if len(mostly) == 1 else None
    return f", mostly because of {name}" if name else ""


def _disturbed(analysis: Analysis) -> Iterator[RunFinding]:
    """Yield what took CPU time from the trials: it weakens every verdict."""
    yield from (one for one in analysis.findings if one.finding.check == host_busy.name)


def _caution(found: RunFinding) -> Paragraph:
    of = numbers.count(len(found.trials), "trial")
    text = numbers.sentence_case(found.finding.message.text)
    return Paragraph(f"{text} ({of}). Measure again when the machine is idle.", lead="Caution")
