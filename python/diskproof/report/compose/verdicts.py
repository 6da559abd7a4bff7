"""The verdicts of a run and of a comparison."""

from collections.abc import Sequence
from typing import TypeVar

from diskproof.analysis.answers import Analysis, CellComparison, Outcome, Verdict
from diskproof.report import ratio_scale
from diskproof.report.compose import difference_words, limits_words, verdict_words
from diskproof.report.compose.answer import asked, has_verdict, why_no_verdict
from diskproof.report.document import Item, Items, Line, Paragraph, Section, Tone
from diskproof.report.intervals import bar
from diskproof.results.plan import Plan

Compared = TypeVar("Compared", Verdict, CellComparison)

OUTCOMES: dict[Outcome, tuple[str, Tone]] = {
    "faster": ("▲", "better"),
    "slower": ("▼", "worse"),
    "the same": ("=", "same"),
    "inconclusive": ("?", "open"),
    "not comparable": ("✕", "barred"),
}
"""Mark and tone of each; a mark is never shown without the word that it abbreviates."""

MOST_OPEN = 12


def section(analysis: Analysis) -> Section:
    """Return the verdicts, first those that the study asks for, or why there are none."""
    if not has_verdict(analysis):
        blocks: tuple[Paragraph | Items, ...] = (Paragraph(why_no_verdict(analysis)),)
    else:
        first = asked(analysis)
        ordered = [*first, *(one for one in analysis.verdicts if one not in first)]
        bars = [one for verdict in ordered if (one := bar(verdict.ratio))]
        items = tuple(_item(verdict, analysis) for verdict in ordered)
        axis = ratio_scale.axis(bars, analysis.plan.same_within, axis_words(analysis.plan))
        blocks = (Items(items, style="verdicts", most_open=MOST_OPEN, noun="verdict", axis=axis),)
    return Section("Verdicts", blocks, anchor="verdicts", contents="Verdicts")


def _item(verdict: Verdict, analysis: Analysis) -> Item:
    lines = limits_words.under_verdict(analysis, verdict)
    if verdict.difference:
        lines = [*difference_words.lines(verdict.difference), *lines]
    return item(verdict, verdict_words.verdict(verdict), verdict.factor, lines)


def item(
    verdict: Verdict | CellComparison, sentence: str, where: str = "", held_back: Sequence[Line] = ()
) -> Item:
    """Return a verdict with its reasons."""
    mark, tone = OUTCOMES[verdict.outcome]
    lines = (*held_back, *map(Line, verdict_words.further_reasons(verdict)))
    return Item(sentence, mark, verdict.outcome, where=where, tone=tone, lines=lines, bar=bar(verdict.ratio))


def axis_words(plan: Plan) -> str:
    """Return what the axis of ratios shows."""
    metrics = {plan.metric(cell) for cell in plan.cells}
    what = "throughputs" if metrics == {"transactions_per_s"} else "speeds"
    return f"ratio of {what} with its interval, logarithmic; at 1: the band of “the same”"


def by_importance(verdicts: Sequence[Compared]) -> list[Compared]:
    """Order verdicts: the largest effects first, then the same, the inconclusive and the not comparable."""
    return sorted(verdicts, key=_importance)


def _importance(verdict: Verdict | CellComparison) -> tuple[int, float]:
    ratio = verdict.ratio.estimate if verdict.ratio else 1.0
    effect = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    rank = list(OUTCOMES).index(verdict.outcome)
    return max(rank, 1), -effect  # faster and slower rank alike: the size of the effect decides
