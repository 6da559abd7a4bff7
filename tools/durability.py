"""docs/durability.md: what each durability setting lost, beside its documentation.

Made from runs of studies/durability-truth.toml and studies/torn-pages.toml. Each run may have some of the
cells:

    python tools/durability.py runs/durability-truth/20260314-101500 [ANOTHER ...]

A run of studies/torn-pages-today.toml makes the section of servers of today anew, and that alone.

Documentation and controls come from the study as it is today, so they can be reworded without new cuts.
Everything else comes from the records of the runs.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Cuts
from diskproof.study.plan import make_plan
from diskproof.study.read import read_study
from durability_made import Part, differing
from durability_page import CAMPAIGNS, TODAY, TODAY_HEADING, Campaign, page, today
from paths import DOCS, STUDIES
from versions import changed_since

PAGE = DOCS / "durability.md"
SOURCES = {name: STUDIES / f"{name}.toml" for name in (*CAMPAIGNS, TODAY)}

SAME = ("accounts", "filler_bytes", "cut_after_s", "cut_before_s", "keep")
"""The keys of a campaign that decide its cuts, beside its cells."""

SAME_DESIGN = ("redo_log", "cpus")
"""The keys of the design that do; the rest is about speed, or in the cells."""


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="run folders, each with some or all of the cells")
    try:
        found = joined(one for path in parser.parse_args().runs for one in read(RunFolder.open(path)))
    except RefusalError as error:
        print(error, file=sys.stderr)
        return 1
    # The two parts come from different runs: what is not made anew stays.
    before, _, kept = PAGE.read_text().partition(f"{TODAY_HEADING}\n\n")
    if {one.plan.study for one in found} == {TODAY}:
        kept = f"{today(found)}\n"
    else:
        before = "\n\n".join(page(found))
    PAGE.write_text(f"{before.rstrip()}\n\n{TODAY_HEADING}\n\n{kept}")
    return 0


def read(folder: RunFolder) -> Iterator[Campaign]:
    """Yield the cuts of each server of a run; RefusalError for a run of another study."""
    plan, machine = folder.plan(), folder.machine()
    if plan.study not in SOURCES or plan.crash is None or machine is None:
        raise RefusalError(f"{folder.path} is not a run with cuts of {' or '.join(SOURCES)}")
    scale = plan.scale.name if plan.scale else None
    today = make_plan(read_study(SOURCES[plan.study], scale)).crash
    assert today is not None
    whole, cuts = as_of(plan.crash, today), folder.cuts()
    if changed := changed_since(folder, SOURCES[plan.study], whole.cells, SAME_DESIGN):
        raise RefusalError(f"{folder.path}: the study has changed since: {', '.join(changed)}")
    for server in machine.servers:
        crash = only(whole, [cell.id for cell in whole.cells if cell.server == server.name])
        ids = {cell.id for cell in crash.cells}
        of_server = [cut for cut in cuts if cut.cell in ids]
        part = Part(
            study=plan.study,
            scale=scale,
            server=server.name,
            needs_folder=server.flavour == "MySQL",
            cells=tuple(cell.id for cell in crash.cells),
            known=tuple(cell.id for cell in today.cells),
            cuts=crash.cuts,
            planned=len(crash.trials),
            made=len(of_server),
            machine=machine,
            days=tuple(sorted({cut.started_at[:10] for cut in of_server})),
        )
        yield Campaign(server, (part,), plan, crash, of_server)


def as_of(made: Cuts, today: Cuts) -> Cuts:
    """Return a plan with today's documentation and controls; RefusalError if its cells have changed."""
    for key in SAME:
        if getattr(made, key) != getattr(today, key):
            raise RefusalError(f"`{key}` was {getattr(made, key)}, and is {getattr(today, key)} in the study")
    if others := [cell.id for cell, way in made.deaths if (cell, way) not in today.deaths]:
        raise RefusalError(f"the study no longer has these cells, or they have changed: {others}")
    return made.model_copy(update={"documented": today.documented, "controls": today.controls})


def only(crash: Cuts, ids: Iterable[str]) -> Cuts:
    """Return the part of a plan that is of some cells."""
    kept = set(ids)
    return crash.model_copy(
        update={
            "cells": [cell for cell in crash.cells if cell.id in kept],
            "trials": [planned for planned in crash.trials if planned.cell in kept],
        }
    )


def joined(found: Iterable[Campaign]) -> list[Campaign]:
    """Return one campaign for each study and server, in their order, from runs with different cells.

    RefusalError for a cell in two runs (choosing one afterwards would bias the result), and for runs at
    different scales or on different machines.
    """
    by_title: dict[str, Campaign] = {}
    for one in found:
        before = by_title.get(one.title)
        by_title[one.title] = one if before is None else _joined(before, one)
    if why := differing([part for one in by_title.values() for part in one.parts]):
        raise RefusalError(why)
    order = [(study, server) for study in SOURCES for server in read_study(SOURCES[study]).study.servers]
    return sorted(by_title.values(), key=lambda one: order.index((one.plan.study, one.server.name)))


def _joined(one: Campaign, other: Campaign) -> Campaign:
    if twice := {cell.id for cell in one.crash.cells} & {cell.id for cell in other.crash.cells}:
        raise RefusalError(f"{min(twice)} of {one.title} is in two of the runs: name one of them")
    crash = one.crash.model_copy(
        update={
            "cells": [*one.crash.cells, *other.crash.cells],
            "trials": [*one.crash.trials, *other.crash.trials],
            "ways": one.crash.ways | other.crash.ways,
            "unverified": one.crash.unverified | other.crash.unverified,
        }
    )
    return Campaign(one.server, (*one.parts, *other.parts), one.plan, crash, [*one.cuts, *other.cuts])


if __name__ == "__main__":
    sys.exit(main())
