"""The answer to the study's question: a sentence for each two levels that it compares."""

from collections.abc import Callable, Sequence

from diskproof.analysis.answers import Analysis, Outcome, Verdict
from diskproof.report.compose import difference_words, verdict_words
from diskproof.report.compose.verdicts import Compared, has_verdict
from diskproof.results.factor import Factor
from diskproof.stats.groups import grouped
from diskproof.wording import numbers

CONDITIONS: tuple[Factor, ...] = ("workload", "clients")
"""Factors that a study varies to see the others under them. They are the question if nothing else varies."""

UNDECIDED: tuple[Outcome, ...] = ("inconclusive", "not comparable")

MOST_SENTENCES = 4

ANCHOR = "answer"


def sentences(analysis: Analysis) -> list[str]:
    """Return the answer; empty if there is no verdict."""
    verdicts = analysis.verdicts if has_verdict(analysis) else []
    asked = [one for one in verdicts if one.factor not in CONDITIONS] or verdicts
    groups = list(grouped(asked, lambda one: (one.factor, one.level, one.baseline)).values())
    said = [_sentence(group) for group in groups[:MOST_SENTENCES]]
    if (left := len(groups) - MOST_SENTENCES) > 0:
        said.append(f"{numbers.count(left, 'more pair', 'more pairs')} of levels: see the verdicts.")
    return said


def _sentence(verdicts: Sequence[Verdict]) -> str:
    """Return the answer of two levels: ``disk is 12% to 45% slower than dram in 3 of 4 comparisons; …``."""
    first, of = verdicts[0], len(verdicts)
    if of == 1:
        return f"{verdict_words.verdict(first)}{_mostly(verdicts)}."
    verb = "are" if first.factor == "clients" and first.level != "1" else "is"
    level, baseline = (verdict_words.subject(first.factor, one) for one in (first.level, first.baseline))
    said, rest = outcomes(verdicts, baseline, first.same_within, lambda some: _where(some, verdicts))
    if not said:
        return f"{verdict_words.against(first)}: {rest}."
    return f"{level} {verb} {said}{_mostly(verdicts)}{f'; {rest}' if rest else ''}."


def outcomes(
    found: Sequence[Compared], baseline: str, same_within: float, where: Callable[[Sequence[Compared]], str]
) -> tuple[str, str]:
    """Return the outcomes of comparisons with one baseline, and how many have none; each may be empty.

    ``12% to 45% slower than dram in 3 of 4 comparisons``, ``1 of 4 is inconclusive``.
    """
    by_outcome = grouped(found, lambda one: one.outcome)
    decided = [some for outcome, some in by_outcome.items() if outcome not in UNDECIDED and some[0].ratio]
    said = [
        f"{_outcome(some, baseline, same_within)}{where(some)}"
        for some in sorted(decided, key=len, reverse=True)
    ]
    rest = [
        f"{len(by_outcome[one])} of {len(found)} {'is' if len(by_outcome[one]) == 1 else 'are'} {one}"
        for one in UNDECIDED
        if one in by_outcome
    ]
    return numbers.listed(said) if said else "", " and ".join(rest)


def _outcome(found: Sequence[Compared], baseline: str, same_within: float) -> str:
    """Return an outcome that comparisons share: ``12% to 45% slower than dram``."""
    if found[0].outcome == "the same":
        return f"the same as {baseline} within {numbers.percent(same_within)}"
    return f"{verdict_words.by_how_much(*(one.ratio.estimate for one in found if one.ratio))} {baseline}"


def _where(some: Sequence[Verdict], verdicts: Sequence[Verdict]) -> str:
    """Return under which conditions an outcome was found, if it was found under them alone, and how often."""
    shared = dict(set.intersection(*(set(one.held.items()) for one in some)))
    apart = {
        factor: level
        for factor, level in shared.items()
        if any(one.held.get(factor) != level for one in verdicts)
    }
    meet = [one for one in verdicts if apart.items() <= one.held.items()]
    if len(some) == 1:
        return verdict_words.conditions(some[0].held)
    if apart and len(meet) == len(some):
        return f"{verdict_words.conditions(apart)} ({len(some)} comparisons)"
    of = len(verdicts)
    return f" in {'all' if len(some) == of else f'{len(some)} of'} {of} comparisons"


def _mostly(verdicts: Sequence[Verdict]) -> str:
    """Return the part of a transaction's time that makes most of each difference; empty if none does."""
    mostly = {difference_words.largest(one.difference) for one in verdicts if one.difference}
    name = mostly.pop() if len(mostly) == 1 else None
    return f", mostly because of {name}" if name else ""
