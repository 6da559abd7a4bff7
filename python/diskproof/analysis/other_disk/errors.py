"""How far predictions were off, by what held the predicted cell back: where their intervals come from.

Made by ``tools/prediction.py`` from recorded runs; docs/prediction.md has the runs and the whole table.
"""

from collections.abc import Mapping

from diskproof.results.limit import Limit

CONFIDENCE = 0.9

WIDTH: Mapping[Limit | None, float] = {
    "CPU": 0.28,
    None: 0.29,
    "data reads": 0.13,
    "log flush": 0.33,
}
"""The 90% quantile of |ln(measured / predicted)|; None: of all cells."""

LATENCY_WIDTH = 0.46
"""The 90% quantile of |ln(measured / predicted)| of 95th percentiles."""
