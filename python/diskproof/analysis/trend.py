"""More than two runs of the same cells: each later one held against the first."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, Comparison
from diskproof.analysis.compare import compare, labels_of
from diskproof.results.record import Record


class Trend(Record):
    """Runs in the order in which they were named."""

    steps: list[Comparison]
    """Each run after the first against it; Holm's correction is over the cells of one such comparison."""


def trend(runs: Sequence[Analysis], labels: Sequence[str] | None = None) -> Trend:
    """Hold each later run against the first; ComparisonError if one has no cell in common with it."""
    first, *others = labels or labels_of(runs)
    pairs = zip(runs[1:], others, strict=True)
    return Trend(steps=[compare(runs[0], run, (first, label)) for run, label in pairs])
