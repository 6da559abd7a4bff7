"""The words of messages and verdicts, for tests that look at them."""

from collections.abc import Iterable

from diskproof.analysis.answers import Analysis, Comparison
from diskproof.analysis.safety.shapes import CutAnswer, Safety
from diskproof.analysis.safety.worst import worst_of_cells
from diskproof.report.compose import cut_words, verdict_words
from diskproof.wording import Message


def texts(messages: Iterable[Message]) -> list[str]:
    return [one.text for one in messages]


def compared(comparison: Comparison) -> list[str]:
    """Return what each cell of two runs came to, in words."""
    return [verdict_words.result(one) for one in comparison.cells]


def worst_of(safety: Safety) -> list[CutAnswer]:
    """Return of each cell that was cut the way to die that took most."""
    return [one for one in worst_of_cells(safety) if one.made]


def on_safety(analysis: Analysis) -> tuple[str, list[str]]:
    """Return what is said of the only cell, or the only one that was harmed."""
    assert analysis.safety
    found = worst_of(analysis.safety)
    [answer] = [one for one in found if one.harmed] or found
    return cut_words.outcome(answer), list(cut_words.reasons(analysis.safety, answer))
