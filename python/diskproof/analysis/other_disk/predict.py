"""The prediction of each recorded load on another disk."""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from diskproof.analysis.cells import answer_cell
from diskproof.analysis.evidence import Side
from diskproof.analysis.gather import Gathered, as_one
from diskproof.analysis.limits.disks import Disk
from diskproof.analysis.limits.observed import observe
from diskproof.analysis.limits.thresholds import FULL_SHARE, MOST
from diskproof.analysis.other_disk.calibrated import Calibrated, Simulate, Source, calibrate
from diskproof.analysis.other_disk.errors import CONFIDENCE, WIDTH
from diskproof.analysis.other_disk.loads import load_of, moved, why_not
from diskproof.analysis.other_disk.records import Load, Predicted, Predictions, Simulated
from diskproof.results.limit import Limit
from diskproof.results.machine import Place
from diskproof.results.plan import Cell
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval
from diskproof.wording import Message, say

MEMORY = "ram"
"""Main memory, as a study names it."""

MEMORY_BYTES = 16 << 30

NEAREST = 0.1
"""Sources weigh by the square of how far the prediction is from what they measured, as a logarithm. This near
they are alike."""

TOO_SLOW = 0.3
"""Pages that are still to be written at the end, over those that were written: from here on, the disk writes
them more slowly than the load changes them."""


@dataclass(frozen=True)
class LeftOut:
    """A cell without a prediction."""

    cell: Cell
    why: Message


@dataclass(frozen=True)
class Figures:
    """A cell's own figures, each as its report has it: geometric means over blocks."""

    per_s: Interval
    mean_us: float | None
    p95_us: float | None

    @staticmethod
    def of(gathered: Gathered, cell: Cell) -> "Figures | None":
        """Return the figures of a cell; None for a job, for files, and if the study sets the rate."""
        found = answer_cell(gathered, cell)
        if found.throughput_per_s is None or found.rate_held is not None:
            return None
        mean = found.latency_mean_us
        p95 = None if "95" in found.latency_at_least else found.latency_us.get("95")
        return Figures(found.throughput_per_s, mean.estimate if mean else None, p95.estimate if p95 else None)


def sources_of(gathered: Gathered, devices: Mapping[str, str]) -> Iterator[Source | LeftOut]:
    """Yield each cell of a run as a source of predictions, or why it is none.

    `devices` has the device file of a storage that is no virtual disk, by the storage's name.
    """
    for cell in gathered.plan.cells:
        seen = gathered.once(observe, cell)
        if seen is None:
            yield LeftOut(cell, say("it has no valid trial that counted anything"))
            continue
        on = why_not(seen) or _recorded_on(gathered, cell, devices)
        if isinstance(on, Message):
            yield LeftOut(cell, on)
            continue
        device, disk_bytes = on
        timings = [one.trial.timings for one in gathered.valid(cell)]
        preloaded = any(one is not None and one.preload_s for one in timings)
        load = load_of(seen, gathered.plan.phases_of(cell), disk_bytes, preloaded=preloaded)
        if isinstance(load, Message):
            yield LeftOut(cell, load)
            continue
        measured = Figures.of(gathered, cell)
        if measured is None:
            yield LeftOut(cell, say("it has a trial in which no transaction ended"))
            continue
        yield Source(
            cell=cell,
            load=load,
            device=device,
            per_s=measured.per_s.estimate,
            mean_us=measured.mean_us or seen.latency_us or 0.0,
            p95_us=measured.p95_us,
            flushes=_flushes(seen.virtual, seen.per_s or 0.0) if load.logs else None,
        )


def _flushes(disks: Sequence[Disk], per_s: float) -> float | None:
    counted = sum(one.flush.per_s for one in disks if one.flush)
    return counted / per_s if counted and per_s else None


def _recorded_on(gathered: Gathered, cell: Cell, devices: Mapping[str, str]) -> tuple[str, int] | Message:
    """Return the model of the cell's disk and the bytes of it that were used, or why there is none."""
    found = Side.of(gathered, cell).lately
    if not found:
        return say("it is not known where its files were")
    if len({one.device_number for one in found}) > 1 or any(one.pool for one in found):
        return say("its files are on several disks; record it with all of them on one")
    place: Place = found[0]
    if place.in_memory:
        return MEMORY, MEMORY_BYTES
    if place.barriers_off or (place.virtual and place.virtual.flushes_ignored):
        return say("no flush reached its disk; record it on a disk that gets them")
    size = place.virtual.size_bytes if place.virtual else place.device.size_bytes if place.device else None
    device = place.virtual.device if place.virtual else devices.get(cell.storage)
    if device is None or size is None:
        return say(
            "its disk has no model; name its device file with `--was {storage}=FILE.toml`",
            storage=cell.storage,
        )
    return device, size


def answer(
    gathered: Gathered,
    targets: Sequence[str],
    simulate: Simulate,
    devices: Mapping[str, str],
    model_of: Callable[[str], Hashable] = str,
) -> Predictions:
    """Predict every load of a run on each target; `devices` are those of `sources_of`.

    Devices with one `model_of` are one disk. What was measured on a target takes a prediction's place.
    """
    found = list(sources_of(gathered, devices))
    sources = [one for one in found if isinstance(one, Source)]
    left_out = [one for one in found if isinstance(one, LeftOut)]
    return Predictions(
        run=gathered.plan.study,
        cells=[
            one.model_copy(update={"weakened_by": _weakened_by(gathered, one)})
            for one in _measured_first(
                predict(calibrate(sources, simulate), targets, simulate),
                list(_measured(gathered, targets, devices, model_of)),
            )
        ],
        left_out=[
            say("{cells}: {why}", cells=[one.cell.id for one in group], why=why)
            for why, group in grouped(left_out, lambda one: one.why).items()
        ],
    )


def _measured(
    gathered: Gathered,
    targets: Sequence[str],
    devices: Mapping[str, str],
    model_of: Callable[[str], Hashable],
) -> Iterator[Predicted]:
    """Yield what was measured on a target itself, as the report has it."""
    models = {MEMORY: MEMORY, **{one: model_of(one) for one in targets if one != MEMORY}}
    for cell in gathered.plan.cells:
        on, measured = _recorded_on(gathered, cell, devices), Figures.of(gathered, cell)
        if isinstance(on, Message) or measured is None:
            continue
        model = models.get(on[0]) or model_of(on[0])
        yield from (
            Predicted(
                device=target,
                cell=cell,
                recorded={cell.storage: measured.per_s.estimate},
                measured=True,
                per_s=measured.per_s,
                mean_us=measured.mean_us,
                p95_us=measured.p95_us,
            )
            for target in targets
            if models[target] == model
        )


def _measured_first(predicted: Sequence[Predicted], measured: Sequence[Predicted]) -> list[Predicted]:
    """Return the predictions, with what was measured of the same load on the same disk in their place."""
    seen = {(one.device, load_key(one.cell)): one for one in measured}
    made = {(one.device, load_key(one.cell)): one for one in predicted}
    return [
        seen[key].model_copy(update={"limit": made[key].limit if key in made else None})
        if key in seen
        else made[key]
        for key in {**made, **seen}
    ]


def _weakened_by(gathered: Gathered, one: Predicted) -> dict[str, Message]:
    """Return by check what is wrong with the valid trials that a figure rests on."""
    cells = [cell for cell in gathered.plan.cells if load_key(cell) == load_key(one.cell)]
    trials = [trial for cell in cells if cell.storage in one.recorded for trial in gathered.valid(cell)]
    warnings = [found for trial in trials for found in trial.findings if found.severity == "warning"]
    return {check: as_one(found).message for check, found in grouped(warnings, lambda one: one.check).items()}


def predict(known: Sequence[Calibrated], targets: Sequence[str], simulate: Simulate) -> list[Predicted]:
    """Predict each load on each target, from all storages that it was recorded on."""
    loads = grouped(known, lambda one: load_key(one.source.cell))
    found = []
    for target in targets:
        asked = [scaled(one, target) for one in known]
        made = dict(zip([one.source.cell.id for one in known], simulate(target, asked), strict=True))
        found += [
            combined(target, [(one, made[one.source.cell.id]) for one in group]) for group in loads.values()
        ]
    return found


def load_key(cell: Cell) -> tuple[object, ...]:
    """Return all of a cell but its storage."""
    return cell.server, cell.tuning, cell.workload, cell.memory_bytes, cell.clients, cell.host


def scaled(one: Calibrated, target: str) -> Load:
    """Return what a source asks of another device, with the demands that agree with what was measured."""
    memory = {"from_memory": one.source.device == MEMORY, "to_memory": target == MEMORY}
    return moved(one.scales.of(one.source.load), **memory)


def combined(target: str, found: Sequence[tuple[Calibrated, Simulated]]) -> Predicted:
    """Return the mean of what each source predicts, as logarithms; the nearest source weighs most."""
    weighed = []
    for one, made in found:
        if made.per_s <= 0 or not one.explains:
            continue
        log_per_s = math.log(made.per_s) + one.left
        far = max(abs(log_per_s - math.log(one.source.per_s)), NEAREST)
        weighed.append((far**-2, log_per_s, one, made))
    recorded = {one.source.cell.storage: one.source.per_s for one, _ in found}
    if not weighed:
        missing = say("no transaction would end within the recorded time")
        if not any(one.explains for one, _ in found):
            missing = say(
                "what was counted explains too little of a transaction's time; waits for pages that are "
                "written, or for locks, may be the rest. Record it on a disk that is nearer to this one"
            )
        return Predicted(device=target, cell=found[0][0].source.cell, recorded=recorded, missing=missing)
    total = sum(weight for weight, *_ in weighed)
    log_per_s = sum(weight * value for weight, value, *_ in weighed) / total
    _, _, nearest, made = max(weighed, key=lambda entry: entry[0])
    load, source = scaled(nearest, target), nearest.source
    if too_slow(made, load):
        missing = say(
            "the disk would write pages more slowly than the load changes them, so they would hold it back "
            "in the end; how much depends on the log's size. Record the load on a disk of similar speed, for "
            "minutes"
        )
        return Predicted(device=target, cell=source.cell, recorded=recorded, missing=missing)
    limit = limit_of(made)
    per_s = math.exp(log_per_s)
    doubt = sum(weight * one.doubt for weight, _, one, _ in weighed) / total
    wide = math.exp(WIDTH.get(limit, WIDTH[None]) * doubt)
    p95_us = None
    if source.p95_us is not None and nearest.simulated.p95_us > 0:
        p95_us = made.p95_us * source.p95_us / nearest.simulated.p95_us
    return Predicted(
        device=target,
        cell=source.cell,
        recorded=recorded,
        per_s=Interval(
            estimate=per_s,
            low=per_s / wide,
            high=per_s * wide,
            n=len(weighed),
            confidence=CONFIDENCE,
        ),
        mean_us=source.mean_us * source.per_s / per_s,
        p95_us=p95_us,
        limit=limit,
        doubt=doubt,
    )


def too_slow(made: Simulated, load: Load) -> bool:
    """Tell whether pages wait longer and longer to be written."""
    written = made.page_writes * made.transactions
    return made.pages_owed > 4 * load.page_batch and made.pages_owed > TOO_SLOW * max(written, 1.0)


def limit_of(made: Simulated) -> Limit | None:
    """Return what takes at least half of a transaction's time, or the cores if they are full."""
    if made.cpu_share >= FULL_SHARE:
        return "CPU"
    whole = made.cpu_us + made.log_us + made.reads_us + made.others_us
    parts: list[tuple[Limit, float]] = [
        ("log flush", made.log_us),
        ("data reads", made.reads_us),
        ("locks", made.others_us),
        ("CPU", made.cpu_us),
    ]
    return next((name for name, part in parts if whole > 0 and part >= MOST * whole), None)
