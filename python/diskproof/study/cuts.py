"""From a study to the plan of its cuts: which cells, in which ways, in what random order."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from diskproof.refusal import RefusalError
from diskproof.results.crash import OF_DISKS, Way
from diskproof.results.fault import NO_FAULT
from diskproof.results.plan import CUT_LOAD, NO_LEVEL, Cell, Control, Cuts, Documented, PlannedCut
from diskproof.study.costs import COPY_BYTES_PER_S, copied_bytes, written_bytes
from diskproof.study.crash import CrashChoice, OfCellsChoice
from diskproof.study.model import Study
from diskproof.study.storages import StorageChoice
from diskproof.system.cpus import usable

AS_DECLARED = {
    *("cuts", "keep", "load", "warehouses", "accounts", "filler_bytes"),
    *("cut_after_s", "cut_before_s", "states"),
}
"""What the plan has as the study declares it."""

CUT_OVERHEAD_S = 4.0
"""Restore, start, recovery and verification of a small database, measured on a small machine."""


USUAL_AT_ONCE = 3
"""A cut mostly waits, for its disk and its moment: three on two CPUs made 2.3 times as many as one."""


def plan_cuts(
    study: Study, only: list[str] | None = None, no_power_cuts: str | None = None, *, over_hosts: bool = False
) -> Cuts | None:
    """Plan the cuts of a study; None if it asks for none, or `only` leaves none.

    `only` keeps the cells whose id contains one of the given texts. `no_power_cuts` says why only
    processes can be killed here.
    """
    crash = study.crash
    if crash is None:
        return None
    if study.faults and crash.states is not None:
        raise RefusalError("`states` are those of a disk that only loses power: leave them, or [faults], out")
    ways = {
        storage: _ways(storage, study.storages[storage], crash, no_power_cuts)
        for storage in crash.storages or study.storages
    }
    deaths = [
        (cell, way)
        for cell in _cells(study, crash)
        for way in ways[cell.storage]
        if cell.fault not in study.faults or way in study.faults[cell.fault].ways
        if not only or any(text in cell.id for text in only)
    ]
    if not deaths:
        return None
    cells = list({cell.id: cell for cell, _ in deaths}.values())
    storages = dict.fromkeys(cell.storage for cell in cells)
    for name in storages if crash.states else ():
        disks = {place.key for place in study.storages[name].places().values() if place.can_be_cut}
        if len(disks) > 1:
            raise RefusalError(
                f"storage `{name}` has {len(disks)} virtual disks, and states are tried of one: give all "
                "roles one disk, or leave `states` out"
            )
    dying = [cell for cell, _ in deaths] * crash.cuts
    tries = crash.states or 1
    load_s = (crash.cut_after_s + crash.cut_before_s) / 2
    at_once = 1 if over_hosts else _at_once(study, crash, storages)
    slow_s = load_s * study.design.slower
    # Half of the lanes, rounded up, are under load.
    cut_s = max((CUT_OVERHEAD_S * tries + slow_s) / at_once, slow_s / ((at_once + 1) // 2))
    return Cuts(
        cells=cells,
        ways={storage: ways[storage] for storage in storages},
        unverified={
            storage: why
            for storage in storages
            if (why := _unverified(study.storages[storage]) or no_power_cuts)
        },
        **crash.model_dump(include=AS_DECLARED) | ({} if study.program is None else {"load": "program"}),
        controls=[Control(**_of_cells(study, one)) for one in crash.controls],
        faults={name: study.faults[name].record() for name in _faults(study, crash)},
        documented=[Documented(**_of_cells(study, one)) for one in crash.documented],
        at_once=at_once,
        trials=_order(deaths, crash.cuts, study.design.seed),
        estimated_s=len(dying) * cut_s + copied_bytes(study, dying) / COPY_BYTES_PER_S,
        estimated_bytes=copied_bytes(study, dying, wearing=True)
        + sum(written_bytes(study, cell.storage, load_s) for cell in dying),
    )


def _at_once(study: Study, crash: CrashChoice, storages: Iterable[str]) -> int:
    """Return how many cuts are made at once; RefusalError if the study asks for some that cannot be."""
    own = {name: study.storages[name].places().values() for name in storages}
    shared = [name for name, places in own.items() if not all(place.in_memory for place in places)]
    if shared and (crash.at_once or 1) > 1:
        raise RefusalError(
            f"`at_once` needs storages that can be made several times, and `{shared[0]}` has a place that "
            "is there only once: leave `at_once` out, or use virtual disks"
        )
    # The time within which something is lost is that of a cut that has the CPUs to itself. A program may use
    # a fixed port, or a file in /tmp.
    within = any(one.within_s is not None for one in crash.documented)
    alone = shared or within or study.program or study.design.slower > 1 or len(usable()) < 2
    # With two, one load has the CPUs but for the other's recovery.
    return 1 if crash.states else crash.at_once or (1 if alone else 2 if study.workloads else USUAL_AT_ONCE)


def _cells(study: Study, crash: CrashChoice) -> list[Cell]:
    several, faults = len(_clients(study, crash)) > 1, [NO_FAULT, *_faults(study, crash)]
    return [
        Cell(
            id="/".join(
                [
                    *(server, storage, tuning),
                    *([fault] if study.faults else []),
                    *([f"{clients}c"] if several else []),
                ]
            ),
            server=server,
            storage=storage,
            tuning=tuning,
            workload=CUT_LOAD,
            memory_bytes=int(study.design.memory[0]) if study.program is None else 0,
            clients=clients,
            fault=fault if study.faults else NO_LEVEL,
        )
        for server in crash.servers or study.servers
        for storage in crash.storages or study.storages
        for tuning in crash.tunings or study.tunings
        if study.tunings[tuning].is_for(server, storage)
        for fault in faults
        if fault == NO_FAULT or study.faults[fault].is_for(server, storage, tuning)
        for clients in _clients(study, crash)
    ]


def _clients(study: Study, crash: CrashChoice) -> list[int]:
    """Return how many clients commit: of a replay those of the log, and a program is one."""
    if study.program is not None:
        return [1]
    return (study.load(CUT_LOAD).clients or [1]) if crash.load == "replay" else crash.clients


def _faults(study: Study, crash: CrashChoice) -> list[str]:
    return [name for name in crash.faults or study.faults if name != NO_FAULT]


def _ways(name: str, storage: StorageChoice, crash: CrashChoice, no_power_cuts: str | None) -> list[Way]:
    """Return the ways in which a database on a storage dies; only a kill if its power cannot be cut."""
    asked = crash.ways_on(name)
    if crash.states is not None:
        return [way for way in asked if way == "power"] if _unverified(storage) is None else []
    if asked and _unverified(storage) is not None:
        return ["kill"]
    if asked and no_power_cuts is not None:
        return [way for way in asked if way not in OF_DISKS] or ["kill"]
    return asked


def _unverified(storage: StorageChoice) -> str | None:
    why = storage.why_never_cut()
    return why and f"{why}, so losses by a power cut are not verified here"


def _order(deaths: Sequence[tuple[Cell, Way]], cuts: int, seed: int) -> list[PlannedCut]:
    """Return randomised complete blocks: in each, every cell dies once in each of its ways."""
    pairs = [(cell.id, way) for cell, way in deaths]
    random = np.random.default_rng([seed, 0xC07])
    return [
        PlannedCut(
            id=f"c{block:03}-{position:02}",
            block=block,
            position=position,
            cell=pairs[index][0],
            way=pairs[index][1],
            seed=seed_of(seed, block, *pairs[index]),
        )
        for block in range(1, cuts + 1)
        for position, index in enumerate(random.permutation(len(pairs)), start=1)
    ]


def seed_of(*parts: object) -> int:
    """Return a seed of 53 bits, which every reader of JSON keeps, from what makes it unique."""
    digest = hashlib.sha256(json.dumps(parts).encode()).digest()
    return int.from_bytes(digest[:8]) >> 11


def _of_cells(study: Study, choice: OfCellsChoice) -> dict[str, Any]:
    """Return a choice with all levels that it leaves out."""
    every: dict[str, Iterable[str]] = {
        "servers": study.servers,
        "storages": study.storages,
        "tunings": study.tunings,
        "faults": [NO_FAULT, *study.faults] if study.faults else [],
    }
    return choice.model_dump() | {
        factor: getattr(choice, factor) or list(names) for factor, names in every.items()
    }
