"""The verdicts of a run and of a comparison."""

from collections.abc import Sequence
from typing import TypeVar

from diskproof.analysis.answers import Analysis, CellComparison, Outcome, Verdict
from diskproof.report import ratio_scale
from diskproof.report.compose import difference_words, limits_words, verdict_words
from diskproof.report.document import Item, Items, Line, Only, Paragraph, Section, Tone
from diskproof.report.intervals import bar
from diskproof.results.plan import Plan
from diskproof.wording.numbers import duration

Compared = TypeVar("Compared", Verdict, CellComparison)

OUTCOMES: dict[Outcome, tuple[str, Tone]] = {
    "faster": ("▲", "better"),
    "slower": ("▼", "worse"),
    "the same": ("=", "same"),
    "inconclusive": ("?", "open"),
    "not comparable": ("✕", "barred"),
}
"""Mark and tone of each; a mark is never shown without the word that it abbreviates."""

MOST_SHOWN = 1
MOST_LINES = 2
MOST_OPEN = 12

MOST_TIMES_MORE = 10
"""Nobody measures more times as many blocks to decide a verdict."""


def section(analysis: Analysis) -> Section:
    """Return the verdicts, the largest effects first, or why there are none."""
    if not has_verdict(analysis):
        # On a terminal the answer has the figure of a single cell.
        only: Only | None = None if analysis.varying or not analysis.trials_valid else "full"
        blocks: tuple[Paragraph | Items, ...] = (Paragraph(why_no_verdict(analysis), only=only),)
    else:
        ordered = by_importance(analysis.verdicts)
        bars = [one for verdict in ordered if (one := bar(verdict.ratio))]
        items = tuple(_item(verdict, analysis) for verdict in ordered)
        axis = ratio_scale.axis(bars, analysis.plan.same_within, axis_words(analysis.plan))
        shown = Items(items, style="verdicts", most_open=MOST_OPEN, noun="verdict", axis=axis, only="full")
        # On a terminal the answer has said which comparisons are not decided.
        decided = tuple(item for item in items if item.lead != "inconclusive") or items
        short = Items(
            decided, style="verdicts", most=MOST_SHOWN, most_lines=MOST_LINES, noun="verdict", only="short"
        )
        blocks = (shown, short)
    return Section("Verdicts", blocks, anchor="verdicts", contents="Verdicts", quiet=True)


def _item(verdict: Verdict, analysis: Analysis) -> Item:
    lines = limits_words.under_verdict(analysis, verdict)
    if verdict.difference:
        lines = [*difference_words.lines(verdict.difference), *lines]
    return item(verdict, verdict_words.verdict(verdict), verdict.factor, lines)


def what_decides(verdicts: Sequence[Verdict], plan: Plan) -> str:
    """Return what would decide inconclusive verdicts."""
    needed = sorted(one.blocks_needed for one in verdicts if one.blocks_needed)
    soon = [one for one in needed if one <= MOST_TIMES_MORE * len(plan.blocks())]
    lengths = [one.advice for one in verdicts if one.advice]
    if len(lengths) * 2 > len(verdicts):
        most = max(lengths, key=lambda one: one.seconds)
        said = f"`measure_s = {most.measure_s:g}` and `blocks = {most.blocks}`"
        return f"{said} would probably decide {len(lengths)} of them, in a new run"
    if plan.at_most_s is not None:
        return "go on with `--resume` and a longer `--at-most`"
    if plan.imported:
        return "more runs of each would narrow the intervals"
    if soon:
        return f"`blocks = {soon[-1]}` would probably decide {len(soon)} of them"
    longer = f"a longer `measure_s` than {duration(plan.measure_s)}, on a quieter machine, may"
    return f"more blocks will hardly decide them; {longer}"


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
        return f"No verdict: no trial has finished. Continue with {analysis.plan.resumed_by}."
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


def by_importance(verdicts: Sequence[Compared]) -> list[Compared]:
    """Order verdicts: the largest effects first, then the same, the inconclusive and the not comparable."""
    return sorted(verdicts, key=_importance)


def _importance(verdict: Verdict | CellComparison) -> tuple[int, float]:
    ratio = verdict.ratio.estimate if verdict.ratio else 1.0
    effect = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    rank = list(OUTCOMES).index(verdict.outcome)
    return max(rank, 1), -effect  # faster and slower rank alike: the size of the effect decides
