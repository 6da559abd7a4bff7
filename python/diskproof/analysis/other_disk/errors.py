"""How far predictions were off, by what held the predicted cell back: where their intervals come from.

Made by ``tools/prediction.py`` from recorded runs; docs/prediction.md has the runs and the whole table.
"""

from collections.abc import Mapping

from diskproof.results.limit import Limit

CONFIDENCE = 0.9

WIDTH: Mapping[Limit | None, float] = {
    "CPU": 1.05,
    None: 0.98,
    "data reads": 0.86,
    "log flush": 0.87,
}
"""The 90% quantile of |ln(measured / predicted)| over the record's doubt; None: of all cells."""

LATENCY_WIDTH = 0.34
"""The 90% quantile of |ln(measured / predicted)| of 95th percentiles."""
