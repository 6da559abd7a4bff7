"""The pictures of what holds the cells back, in the order in which a page shows them."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.chart_parts import Drawing
from diskproof.report.limits.device_chart import devices_over_time
from diskproof.report.limits.split_chart import time_split
from diskproof.report.limits.sweep_chart import throughput_with_bounds
from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial


def drawings(
    folder: RunFolder, analysis: Analysis, trials: Sequence[Trial], *, legend: bool = False
) -> list[Drawing]:
    """Return those that have something to draw; none where nothing is said of limits."""
    drawn = (
        time_split(analysis, legend=legend),
        throughput_with_bounds(analysis, legend=legend),
        devices_over_time(folder, analysis, trials, legend=legend),
    )
    return [one for one in drawn if one]
