"""Two versions of one study: whether they ask the same of some cells.

A plan names storages, tunings and workloads; the study defines them, and each run has a copy of it. Prose,
published figures, prices and claims may change. Our own definitions (a level's variables, a virtual disk's
timing) are in no study and are not compared.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from diskproof.results.folder import RunFolder
from diskproof.results.plan import CUT_LOAD, NO_LEVEL, Cell
from diskproof.study.design import Design
from diskproof.study.model import Study
from diskproof.study.part import Part
from diskproof.study.read import parse_study, read_study

WHOLE_DESIGN = tuple(Design.model_fields)

LEFT_OUT = {
    "servers": {"optional"},
    "storages": {"bought"},
    "tunings": {"servers"},
    "workloads": {"servers", "storages", "tunings"},
}
"""Keys that say to which cells a part belongs, or what it costs: they do not change a cell."""


def changed_since(
    folder: RunFolder, source: Path, cells: Iterable[Cell], design: Sequence[str] = WHOLE_DESIGN
) -> list[str]:
    """Return the keys at which a run's own study and today's, in the file `source`, differ for some cells.

    Both are read at the run's scale. RefusalError if one of them cannot be read or has no such scale.
    """
    of_run = folder.plan().scale
    scale = of_run.name if of_run else None
    before = parse_study(folder.study_text(), str(source), scale)
    return list(differing(before, read_study(source, scale).study, cells, design))


def differing(
    before: Study, today: Study, cells: Iterable[Cell], design: Sequence[str] = WHOLE_DESIGN
) -> Iterator[str]:
    """Yield each key of two studies at which they differ for some cells: ``storages.disk``, ``design.cpus``.

    `design` names the keys of the design that matter.
    """
    for key in design:
        if getattr(before.design, key) != getattr(today.design, key):
            yield f"design.{key}"
    for part, name in dict.fromkeys(named for cell in cells for named in _levels(cell)):
        if _definition(before, part, name) != _definition(today, part, name):
            yield f"{part}.{name}"


def _levels(cell: Cell) -> Iterator[tuple[str, str]]:
    """Yield the parts of a study that a cell names, each with its name."""
    yield "servers", cell.server
    yield "storages", cell.storage
    yield "tunings", cell.tuning
    if cell.workload != CUT_LOAD:
        yield "workloads", cell.workload


def _definition(study: Study, part: str, name: str) -> dict[str, object] | None:
    """Return the definition of a name in a study; None if it has none."""
    found: Part | None = None if name == NO_LEVEL else getattr(study, part).get(name)
    return None if found is None else found.model_dump(exclude=LEFT_OUT[part])
