"""What the disks' models say of a run's curves: predictions of what was measured, and where disks lie."""

from collections.abc import Callable, Iterator, Sequence

from diskproof import disk
from diskproof.analysis.folder import gather_folder
from diskproof.analysis.gather import Gathered
from diskproof.analysis.other_disk.calibrated import Source, calibrate
from diskproof.analysis.other_disk.predict import MEMORY, load_key, predict, sources_of
from diskproof.analysis.other_disk.records import Load, Simulated
from diskproof.refusal import RefusalError
from diskproof.results.dial import FLUSH, Dials, Mark, PredictedPoint
from diskproof.results.folder import RunFolder
from diskproof.run.slower import append_us
from diskproof.stats.grouping import grouped
from diskproof.study.dials import device_of

TIMELESS = "null"
"""The device that stands for main memory: it takes no time."""


def write_dials(folder: RunFolder, note: Callable[[str], None]) -> None:
    """Predict the points of a run's curves from their ends, and write that beside the trials.

    What a model cannot say is left out: the trials are worth more than that.
    """
    points = folder.plan().dials.values()
    if not points:
        return
    try:
        over_flush = [point.device for point in points if next(iter(point.values)) == FLUSH]
        marks = list(_catalogue(over_flush[0])) if over_flush else []
        folder.write(Dials(predicted=list(_predicted(gather_folder(folder))), marks=marks))
    except RefusalError as error:
        note(f"the curve has no prediction: {error}")


def simulate(device: str, loads: Sequence[Load]) -> list[Simulated]:
    """Run loads on a device's model, in virtual time."""
    shown = TIMELESS if device == MEMORY else device
    made = disk.simulate_loads(shown, [load.model_dump(mode="json") for load in loads])
    return [Simulated.model_validate(one) for one in made]


def _predicted(gathered: Gathered) -> Iterator[PredictedPoint]:
    """Yield a prediction of each point between the ends of its curve."""
    dials = gathered.plan.dials
    sources = [one for one in sources_of(gathered, {}) if isinstance(one, Source)]
    on_curve = [one for one in sources if one.cell.storage in dials]
    curves = grouped(on_curve, lambda one: (dials[one.cell.storage].family, load_key(one.cell)))
    for curve in curves.values():
        ordered = sorted(curve, key=lambda one: dials[one.cell.storage].value)
        between = ordered[1:-1]
        known = calibrate([ordered[0], ordered[-1]], simulate) if between else []
        for one in between if known else ():
            for found in predict(known, [one.device], simulate):
                if found.per_s is not None:
                    yield PredictedPoint(cell=one.cell.id, per_s=found.per_s.estimate)


def flush_us_like(took_us: float, device: str) -> float:
    """Return the flush with which a device's synced write of 4 KiB takes so long, by its model."""
    return took_us - 2 * append_us(device_of(device, {FLUSH: [0.0]}))


def _catalogue(varied: str) -> Iterator[Mark]:
    """Yield the disks that come with diskproof, but for the one that is varied and those without time."""
    for shown in disk.devices():
        name = shown["name"]
        if name != varied and (value := flush_us_like(2 * append_us(name), varied)) > 0:
            yield Mark(name=name, value=value)
