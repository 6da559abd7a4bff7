"""The picture of how busy the devices were over time: a panel a cell, a line a device."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle

import altair as alt

from diskproof.analysis.answers import Analysis
from diskproof.report.charts.curves import FEWEST_POINTS_A_TRIAL, MOST_POINTS, PANEL_HEIGHT_PX, Curve, thin
from diskproof.report.charts.parts import Row, Spec, colours, over_seconds
from diskproof.report.charts.style import COLOURS
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Figure, Key, Panel
from diskproof.report.validity import counting
from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial
from diskproof.wording.numbers import NOT_OBSERVED

SOURCE = "device:"
"""What the source of a device's series begins with; its kernel name follows."""


def devices_over_time(folder: RunFolder, analysis: Analysis, trials: Sequence[Trial]) -> Figure | None:
    """Return the devices' utilisation in the first valid trial of each cell.

    None if nothing is said of limits, or no series has it.
    """
    if analysis.limits is None:
        return None
    firsts = _first_valid(analysis, trials)
    read = {cell: _curves(folder, trial) for cell, trial in firsts.items()}
    devices = sorted({device for curves in read.values() for device in curves})
    if not devices:
        return None
    by_device = dict(zip(devices, cycle(COLOURS), strict=False))
    most = max(FEWEST_POINTS_A_TRIAL, MOST_POINTS // sum(map(len, read.values())))
    spec = _spec(by_device)
    panels = []
    for cell in analysis.plan.cells:
        if curves := read.get(cell.id):
            rows = [row for device, curve in curves.items() for row in _rows(device, thin(curve, most))]
            name = cell_words(cell, analysis.varying)
            described = f"Utilisation over time of {name}: {_means(curves)}."
            panels.append(Panel(name, described, spec, rows, len(curves)))
    caption = (
        "The share of time in which a device had something to do, in the first valid trial of each cell. "
        "The measured phase begins at 0. A device that works on several requests at a time can do more even "
        "when it is never idle."
    )
    keys = tuple(Key(device, colour=colour) for device, colour in by_device.items())
    return Figure("devices", "How busy the devices were", caption, tuple(panels), keys)


def _first_valid(analysis: Analysis, trials: Sequence[Trial]) -> dict[str, Trial]:
    """Return the first valid trial of each cell."""
    valid = counting(analysis, trials)
    firsts: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda one: (one.block, one.position)):
        if trial.id in valid:
            firsts.setdefault(trial.cell, trial)
    return firsts


def _curves(folder: RunFolder, trial: Trial) -> dict[str, Curve]:
    """Read the utilisation of each device; a virtual disk by its own name, since its kernel name changes."""
    series = folder.series(trial.id, metric="utilisation")
    if series is None:
        return {}
    names = {disk.block: disk.name for disk in trial.virtual_disks if disk.block}
    curves: dict[str, Curve] = defaultdict(list)
    for row in series.to_pylist():
        if row["source"].startswith(SOURCE) and row["value"] is not None:
            device = row["source"].removeprefix(SOURCE)
            curves[names.get(device, device)].append((row["t_s"], row["value"]))
    return {device: sorted(curve) for device, curve in sorted(curves.items())}


def _rows(device: str, curve: Curve) -> list[Row]:
    """Return a device's rows. A share is of the time before its moment: the first one's began at 0."""
    first = [(0.0, share) for t_s, share in curve[:1] if t_s > 0]
    return [
        {"device": device, "t": round(t_s, 3), "v": float(f"{share:.4g}")} for t_s, share in first + curve
    ]


def _means(curves: dict[str, Curve]) -> str:
    """Return how busy each device was in the measured phase."""
    means = []
    for device, curve in curves.items():
        measured = [share for t_s, share in curve if t_s > 0]
        mean = f"{sum(measured) / len(measured):.0%}" if measured else NOT_OBSERVED
        means.append(f"{device} {mean}")
    return ", ".join(means)


def _spec(by_device: dict[str, str]) -> Spec:
    # Two readings are never exactly as far apart as the kernel counts, so that a full device may show 1.01.
    y = alt.Y(
        "v:Q",
        title=None,
        scale=alt.Scale(domain=[0, 1], clamp=True, nice=False),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%"),
    )
    lines = alt.Chart().mark_line(strokeWidth=1.8, opacity=0.85, interpolate="step-before")
    device = colours("device", by_device)
    return over_seconds(lines, y, PANEL_HEIGHT_PX, color=device, tooltip=[alt.Tooltip("device:N")])
