"""A virtual disk compared with the published figures of the real one: simulated, and served and measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from diskproof import __version__, disk
from diskproof.fio import program as fio
from diskproof.profile.jobs import Length, Target
from diskproof.profile.measure import Bench, Watcher, describe
from diskproof.profile.plan import OVERHEAD_S
from diskproof.profile.simulated import figure_of, simulated
from diskproof.refusal import RefusalError
from diskproof.results.machine import VirtualFacts
from diskproof.results.profile import Probe, ProfileCell
from diskproof.results.verification import (
    Lateness,
    MeasureName,
    Verification,
    VerifiedFigure,
    VerifiedProbe,
)
from diskproof.storage import path_cost, virtual
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.waiting import watched
from diskproof.system.journal import Journal, machine_taken

ATTACHING_S = 1.0
"""Time to attach and detach a disk, for the remaining time."""

MOST_WRITTEN_BYTES = 2 * 2**30
"""Sequential writes start over after this much, since memory holds what they write. It matters to a model
only if it is less than a cache or a zone."""

_PERCENTILES: Mapping[str, str] = {"median_us": "50", "p95_us": "95", "p99_us": "99"}


@dataclass(frozen=True)
class Order:
    """A comparison to be made."""

    device: str
    seconds: float = 10.0
    ramp_s: float = 2.0
    simulated_s: int = 60
    serve: bool = True
    """False: only simulate the model, in virtual time."""
    below_floor: bool = False
    seed: int = 1


def verify(order: Order, watcher: Watcher) -> Verification:
    """Compare a device with its published figures; RefusalError if it has none, or cannot be served."""
    shown = disk.show(order.device)
    published = [figure for told in shown["published"] for figure in _figures(told)]
    if not published:
        raise RefusalError(
            f"{shown['title']}: it has no published figures to compare with; "
            "attach it and measure it with `diskproof disk profile`"
        )
    probes = list(dict.fromkeys(figure.probe for figure in published))
    version = _check_means() if order.serve else None
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    model = {probe: _simulated(order, probe) for probe in probes}
    measured, facts = _served(order, probes, watcher) if order.serve else ([], None)
    cells = {one.cell.probe: one.cell for one in measured}
    figures = [
        figure.model_copy(
            update={
                "model": figure_of(model[figure.probe], figure.measure),
                "measured": _of_cell(cells.get(figure.probe), figure.measure),
            }
        )
        for figure in published
    ]
    return Verification(
        diskproof_version=__version__,
        device=order.device,
        title=shown["title"],
        started_at=started_at,
        fio_version=version,
        path_us=facts.path_us if facts else None,
        floor_us=facts.floor_us if facts else None,
        label=facts.label if facts else None,
        machine=describe(),
        probes=measured,
        figures=figures,
    )


def _figures(told: dict[str, Any]) -> list[VerifiedFigure]:
    return [
        VerifiedFigure(
            probe=Probe(**told["probe"]),
            measure=measure,
            published=value,
            source=told["source"],
            fitted=told["fitted"],
        )
        for measure, value in told["measure"].items()
    ]


def _check_means() -> str:
    if lacking := virtual.missing_means():
        raise StorageError(
            f"no virtual disk can be served here: {lacking}; `--simulate` only simulates the model"
        )
    return fio.version()


def _simulated(order: Order, probe: Probe) -> disk.Facts:
    return simulated(order.device, probe, seconds=order.simulated_s, seed=order.seed)


def _served(
    order: Order, probes: Sequence[Probe], watcher: Watcher
) -> tuple[list[VerifiedProbe], VirtualFacts]:
    with machine_taken(f"verification of {order.device}", watcher.left_behind) as journal:
        return _one_by_one(order, probes, journal, watcher)


def _one_by_one(
    order: Order, probes: Sequence[Probe], journal: Journal, watcher: Watcher
) -> tuple[list[VerifiedProbe], VirtualFacts]:
    each_s = order.seconds + order.ramp_s + OVERHEAD_S + ATTACHING_S
    watcher.begins(probes, each_s * len(probes))
    bench = Bench(journal, Length(order.seconds, order.ramp_s))
    wanted = virtual.Wanted(
        order.device,
        seed=order.seed,
        path_us=path_cost.path_us(journal, below_floor=order.below_floor),
        below_floor=order.below_floor,
    )
    measured = []
    for done, probe in enumerate(probes):
        watcher.cell_begins(probe, each_s * (len(probes) - done))
        # Each probe gets a new disk: its model is fresh, and the memory of the last disk is free again.
        attached = virtual.attach(wanted, journal)
        try:
            one = _measured(bench, attached, probe, order)
        finally:
            attached.detach()
        measured.append(one)
        watcher.cell_ends(one.cell)
    return measured, attached.facts


def _measured(bench: Bench, attached: virtual.VirtualDisk, probe: Probe, order: Order) -> VerifiedProbe:
    target = Target(attached.block, attached.facts.size_bytes, direct=True, engine=fio.engine())
    attached.control.set_timing(on=True)
    with watched(attached.control, attached.block_name, attached.facts.path_us) as account:
        cell = bench.measure(_bounded(probe, target), target, order.seconds + order.ramp_s)
    statistics = account.statistics
    attached.control.set_timing(on=False)
    of_answers = statistics["lateness_us"]
    lateness = Lateness(
        p99_us=of_answers["p99"] if of_answers else None,
        share=statistics["lateness_share"],
        late=statistics["late"],
    )
    cell = cell.model_copy(update={"probe": probe})
    return VerifiedProbe(
        cell=cell, lateness=lateness, waiting=account.waiting, modelled_us=_modelled_us(statistics)
    )


def _modelled_us(statistics: disk.Facts) -> float | None:
    kinds = [statistics[kind] for kind in ("read", "write") if statistics[kind]["latency_us"]]
    requests = sum(kind["requests"] for kind in kinds)
    if not requests:
        return None
    return float(sum(kind["latency_us"]["mean"] * kind["requests"] for kind in kinds) / requests)


def _bounded(probe: Probe, target: Target) -> Probe:
    if probe.pattern not in ("sequential-write", "synced-append"):
        return probe
    span = min(probe.span_bytes or target.size_bytes, target.size_bytes, MOST_WRITTEN_BYTES)
    return probe.model_copy(update={"span_bytes": span})


def _of_cell(cell: ProfileCell | None, measure: MeasureName) -> float | None:
    if cell is None or cell.requests is None:
        return None
    if measure == "flushes_per_s":
        return cell.flushes.per_s if cell.flushes else None
    if measure in _PERCENTILES:
        return cell.requests.percentiles_us.get(_PERCENTILES[measure])
    return float(getattr(cell.requests, "per_s" if measure == "iops" else measure))
