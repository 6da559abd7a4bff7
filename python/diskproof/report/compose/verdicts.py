"""The verdicts of a run and of a comparison."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, CellComparison, Outcome, Verdict
from diskproof.report import ratio_scale
from diskproof.report.compose import limits_words, verdict_words
from diskproof.report.document import Item, Items, Line, Paragraph, Section, Tone
from diskproof.report.intervals import bar
from diskproof.results.plan import Plan

OUTCOMES: dict[Outcome, tuple[str, Tone]] = {
    "faster": ("▲", "better"),
    "slower": ("▼", "worse"),
    "the same": ("=", "same"),
    "inconclusive": ("?", "open"),
    "not comparable": ("✕", "barred"),
}
"""Mark and tone of each; a mark is never shown without the word that it abbreviates."""

MOST_SHOWN = 8
MOST_OPEN = 12


def section(analysis: Analysis) -> Section:
    """Return the verdicts, the largest effects first, or why there are none."""
    if not has_verdict(analysis):
        blocks: tuple[Paragraph | Items, ...] = (Paragraph(why_no_verdict(analysis)),)
    else:
        ordered = by_importance(analysis.verdicts)
        bars = [one for verdict in ordered if (one := bar(verdict.ratio))]
        items = Items(
            tuple(_item(verdict, analysis) for verdict in ordered),
            style="verdicts",
            most=MOST_SHOWN,
            most_open=MOST_OPEN,
            noun="verdict",
            axis=ratio_scale.axis(bars, analysis.plan.same_within, axis_words(analysis.plan)),
        )
        blocks = (items,)
    return Section("Verdicts", blocks, anchor="verdicts", contents="Verdicts", quiet=True)


def _item(verdict: Verdict, analysis: Analysis) -> Item:
    held_back = limits_words.under_verdict(analysis, verdict)
    return item(verdict, verdict_words.verdict(verdict), verdict.factor, held_back)


def item(
    verdict: Verdict | CellComparison, sentence: str, where: str = "", held_back: Sequence[Line] = ()
) -> Item:
    """Return a verdict with its reasons."""
    mark, tone = OUTCOMES[verdict.outcome]
    lines = (*held_back, *map(Line, verdict_words.further_reasons(verdict)))
    return Item(sentence, mark, verdict.outcome, where=where, tone=tone, lines=lines, bar=bar(verdict.ratio))


def has_verdict(analysis: Analysis) -> bool:
    """Report whether there is anything to say; if no trial is valid, every verdict would say the same."""
    return bool(analysis.verdicts) and analysis.trials_valid > 0


def why_no_verdict(analysis: Analysis) -> str:
    """Return why a run has no verdict, and what would give one."""
    if not analysis.trials_run:
        return "No verdict: no trial has finished. Continue with `diskproof run --resume`."
    if not analysis.trials_valid:
        return "No verdict: no trial is valid. The findings say why."
    if not analysis.varying and analysis.plan.imported:
        return "No verdict: the results are of a single cell. Add those of another storage or server."
    if not analysis.varying:
        return "No verdict: the study has a single cell. Add a second storage or tuning level."
    return "No verdict: no two levels of a factor could be compared."


def axis_words(plan: Plan) -> str:
    """Return what the axis of ratios shows."""
    metrics = {plan.metric(cell) for cell in plan.cells}
    what = "throughputs" if metrics == {"transactions_per_s"} else "speeds"
    return f"ratio of {what} with its interval, logarithmic; at 1: the band of “the same”"


def by_importance(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Order verdicts: the largest effects first, then the same, the inconclusive and the not comparable."""
    return sorted(verdicts, key=_importance)


def _importance(verdict: Verdict) -> tuple[int, float]:
    ratio = verdict.ratio.estimate if verdict.ratio else 1.0
    effect = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    rank = list(OUTCOMES).index(verdict.outcome)
    return max(rank, 1), -effect  # faster and slower rank alike: the size of the effect decides
