"""The words of messages and verdicts, for tests that look at them."""

from collections.abc import Iterable

from diskproof.analysis.answers import Analysis, Comparison
from diskproof.report.compose import cut_words, verdict_words
from diskproof.wording import Message


def texts(messages: Iterable[Message]) -> list[str]:
    return [one.text for one in messages]


def compared(comparison: Comparison) -> list[str]:
    """Return the sentence of each cell of two runs."""
    return [verdict_words.comparison(one, comparison) for one in comparison.cells]


def on_safety(analysis: Analysis) -> tuple[str, list[str]]:
    """Return the sentence and the reasons of the only verdict on safety."""
    assert analysis.safety
    [verdict] = analysis.safety.verdicts
    return cut_words.verdict(analysis, analysis.safety, verdict), cut_words.reasons(analysis.safety, verdict)
