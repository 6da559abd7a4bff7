"""The words of messages and verdicts, for tests that look at them."""

from collections.abc import Iterable

from diskproof.analysis.answers import Analysis, Comparison
from diskproof.report.compose import cut_words, verdict_words
from diskproof.wording import Message


def texts(messages: Iterable[Message]) -> list[str]:
    return [one.text for one in messages]


def compared(comparison: Comparison) -> list[str]:
    """Return what each cell of two runs came to, in words."""
    return [verdict_words.result(one) for one in comparison.cells]


def on_safety(analysis: Analysis) -> tuple[str, list[str]]:
    """Return what is said of the only verdict on safety: what its cuts showed, and its reasons."""
    assert analysis.safety
    [verdict] = analysis.safety.verdicts
    answer = analysis.safety.answer(verdict.cell, verdict.way)
    assert answer
    return cut_words.outcome(answer), list(cut_words.reasons(analysis.safety, answer))
