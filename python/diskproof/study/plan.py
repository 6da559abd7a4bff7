"""From a study to its plan: the cells, and the random order of their trials."""

import hashlib
from collections import Counter
from itertools import product

import numpy as np

from diskproof.results.records import Cell, Plan, PlannedTrial, format_bytes
from diskproof.study.model import Study
from diskproof.study.places import PlaceChoice
from diskproof.study.read import StudyError, StudyFile

TRIAL_OVERHEAD_S = 2.0
"""Restore, start and stop of a small data set, as measured on a small machine."""

COPY_BYTES_PER_S = 250e6
"""A cautious rate of copying a data set."""

WRITE_BYTES_PER_S = 20e6
"""An allowance for what a writing load itself puts on the disk."""


def make_plan(file: StudyFile, only: list[str] | None = None) -> Plan:
    """Plan a study; `only` keeps the cells whose id contains one of the given texts."""
    study, design = file.study, file.study.design
    cells = [cell for cell in _cells(study) if not only or any(text in cell.id for text in only)]
    if not cells:
        known = "\n  ".join(cell.id for cell in _cells(study))
        raise StudyError(f"no cell matches {' or '.join(only or [])}; the cells are:\n  {known}")
    trials = _order(cells, design.blocks, design.seed)
    return Plan(
        study=file.name,
        question=study.question,
        expectation=study.expectation.strip(),
        analysis=study.analysis.strip(),
        seed=design.seed,
        same_within=design.same_within,
        warm_up_s=design.warm_up_s,
        measure_s=design.measure_s,
        metrics={
            name: study.workloads[name].metric for name in dict.fromkeys(cell.workload for cell in cells)
        },
        scripts={
            f"{name}/{file}": hashlib.sha256(content).hexdigest()
            for name, workload in study.workloads.items()
            for file, content in workload.files_to_keep.items()
        },
        cells=cells,
        trials=trials,
        estimated_s=sum(_trial_seconds(study, cell) for cell in cells) * design.blocks
        + _copied_bytes(study, cells) / COPY_BYTES_PER_S,
        estimated_bytes=sum(_trial_bytes(study, cell) for cell in cells) * design.blocks
        + _copied_bytes(study, [cell for cell in cells if not _data_place(study, cell).in_memory]),
    )


def load_seconds(study: Study, workload: str) -> float:
    """Return how long a trial's clients are at work: as the design says, or as a job probably takes."""
    chosen = study.workloads[workload]
    return chosen.expected_s if chosen.is_job else study.design.warm_up_s + study.design.measure_s


def _cells(study: Study) -> list[Cell]:
    """Return every combination of the factors, in the order in which the study names their levels."""
    combinations = product(
        study.servers,
        study.storages,
        study.tunings,
        study.workloads,
        study.design.memory,
        study.design.clients,
    )
    return [
        Cell(
            id="/".join([server, storage, tuning, workload, _compact_bytes(memory), f"{clients}c"]),
            server=server,
            storage=storage,
            tuning=tuning,
            workload=workload,
            memory_bytes=int(memory),
            clients=clients,
        )
        for server, storage, tuning, workload, memory, clients in combinations
    ]


def _order(cells: list[Cell], blocks: int, seed: int) -> list[PlannedTrial]:
    """Return randomised complete blocks: every block is a fresh permutation of all cells."""
    random = np.random.default_rng(seed)
    return [
        PlannedTrial(id=f"b{block:02}-t{position:02}", block=block, position=position, cell=cells[index].id)
        for block in range(1, blocks + 1)
        for position, index in enumerate(random.permutation(len(cells)), start=1)
    ]


def _trial_seconds(study: Study, cell: Cell) -> float:
    return load_seconds(study, cell.workload) + TRIAL_OVERHEAD_S


def _trial_bytes(study: Study, cell: Cell) -> int:
    """Estimate what a trial's load writes to storage that wears: nothing where the data lies in memory."""
    if _data_place(study, cell).in_memory or not study.workloads[cell.workload].writes:
        return 0
    return round(load_seconds(study, cell.workload) * WRITE_BYTES_PER_S)


def _copied_bytes(study: Study, cells: list[Cell]) -> int:
    """Estimate what is copied before trials: each time, but once where a place keeps the data set."""
    copies = Counter((cell.storage, cell.server, cell.workload) for cell in cells)
    return sum(
        study.workloads[workload].data_bytes
        * (1 if study.storages[storage].places()["data"].keeps_data_sets else trials * study.design.blocks)
        for (storage, _, workload), trials in copies.items()
    )


def _data_place(study: Study, cell: Cell) -> PlaceChoice:
    return study.storages[cell.storage].places()["data"]


def _compact_bytes(size_bytes: int) -> str:
    """Return a size fit for a cell id: ``256MiB``."""
    return format_bytes(size_bytes).replace(" ", "")
