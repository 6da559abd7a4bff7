"""What virtual disks did, as plain rows of text."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from diskproof.analysis.answers import Analysis
from diskproof.analysis.words import cell_words
from diskproof.report import words
from diskproof.report.tables.table import Column, Table
from diskproof.results.trial import Trial
from diskproof.results.usage import RequestsServed, VirtualUse

KINDS = {"read": "Reads", "write": "Writes", "flush": "Flushes"}


def virtual_disks(analysis: Analysis, trials: Sequence[Trial]) -> Table:
    """Return a row a cell and virtual disk: what it served in all measured phases, and how punctually."""
    used: dict[tuple[str, str], list[VirtualUse]] = defaultdict(list)
    for trial in trials:
        for use in trial.virtual_disks:
            used[trial.cell, use.name].append(use)
    columns = [
        Column("Cell"),
        Column("Virtual disk"),
        *(Column(f"{plural}/s", figures=True) for plural in KINDS.values()),
        *(Column(f"{kind.capitalize()} ms", figures=True) for kind in KINDS),
        Column("Depth", figures=True),
        Column("Late p99 us", figures=True),
        Column("Of its latency", figures=True),
    ]
    rows = tuple(
        (cell_words(cell, analysis.varying), name, *_figures(used[cell.id, name]))
        for cell in analysis.plan.cells
        for name in sorted(disk for cell_id, disk in used if cell_id == cell.id)
    )
    return Table(tuple(columns), rows)


def _figures(uses: Sequence[VirtualUse]) -> list[str]:
    """Return rates and latencies over all trials, and the worst lateness of any."""
    seconds = sum(use.seconds for use in uses)
    served = {kind: [getattr(use, kind) for use in uses] for kind in KINDS}
    late_us = [use.lateness_us.p99 for use in uses if use.lateness_us]
    shares = [use.lateness_share for use in uses if use.lateness_share is not None]
    return [
        *(words.number(sum(one.requests for one in served[kind]) / seconds) for kind in KINDS),
        *(words.milliseconds(_mean_us(served[kind])) for kind in KINDS),
        words.number(fmean(use.queue_depth_mean for use in uses)),
        words.number(max(late_us, default=None)),
        f"{max(shares):.1%}" if shares else words.NOT_OBSERVED,
    ]


def _mean_us(served: Sequence[RequestsServed]) -> float | None:
    """Return the mean modelled latency of all requests; None where none took time."""
    timed = [(one.latency_us.mean, one.requests) for one in served if one.latency_us]
    requests = sum(count for _, count in timed)
    return sum(mean * count for mean, count in timed) / requests if requests else None
