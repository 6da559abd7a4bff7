"""What a run says of an owner's choices: settings, storage, and what would make the database faster.

Each conclusion is a record of what was measured or cut. Where nothing was, its fields are empty.
"""

from collections.abc import Iterator, Sequence

from pydantic import Field

from diskproof.analysis.answers import Analysis, Outcome
from diskproof.analysis.limits.records import CellLimit, WhatIf
from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.analysis.safety.worst import worst_way
from diskproof.families import of
from diskproof.families.facts import LEVELS
from diskproof.results.limit import Limit
from diskproof.results.plan import NO_LEVEL, Cell
from diskproof.results.record import Family, Record
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval
from diskproof.wording import Message


class LevelChoice(Record):
    """One tuning level of a server."""

    tuning: str
    settings: dict[str, str]
    """The variables in which it differs from the level that keeps every commit, as the server reported them;
    of that level itself, those in which it differs from the level that is nearest to it."""
    may_ruin: bool = False
    """Whether a crash may leave no usable database, as the level is meant."""
    losses: list[Message] | None = None
    """What a power cut may take at a level of the user's own, by its settings. None: they do not say, or the
    level is one that every family has."""
    outcomes: list[Outcome] = Field(default_factory=list)
    """Of the verdicts on its speed, held against the level that keeps every commit."""
    gains: dict[str, list[Interval]] = Field(default_factory=dict)
    """Speed over the level that keeps every commit, by storage: those that verdicts decided. Main memory is
    one of them only if it is alone."""
    cuts: list[CutAnswer] = Field(default_factory=list)
    """What the worst way to die took, by storage; empty: it was not cut."""

    @property
    def keeps_all(self) -> bool:
        """Whether a power cut takes nothing by its settings, and none took any: cuts alone prove little."""
        return self.losses == [] and all(one.is_whole for one in self.cuts)


class Durability(Record):
    """Which level of a server keeps every commit, and what the others trade."""

    server: str
    family: Family | None
    safe: LevelChoice
    """Its cuts are those on storages where every cut left all commits; without cuts the level says so."""
    lost_on: list[CutAnswer]
    """Cuts on other storages, where this level lost commits all the same."""
    others: list[LevelChoice]
    """With their cuts on the same storages as those of `safe`."""


class Lever(Record):
    """A change that is predicted to make cells faster which share a limit."""

    limit: Limit
    best: Cell
    """Of the cells, the one that gains most."""
    what_if: WhatIf
    """What that one gains."""
    memory_variable: str | None = None
    """What sizes the memory for data, if reads hold the cells back and all data would fit into more."""


# ---------------------------------------------------------------- settings


def durability(analysis: Analysis) -> Iterator[Durability]:
    """Yield for each server what its levels keep and trade, from the verdicts and cuts of a run."""
    for server, own in grouped(analysis.plan.every_cell, lambda one: one.level("server")).items():
        tunings = [one for one in dict.fromkeys(cell.level("tuning") for cell in own) if one != NO_LEVEL]
        answers = _worst(analysis, server)
        whole = {one.cell.tuning for one in answers if one.is_whole}
        known = [one for one in tunings if (one in whole if answers else one == LEVELS[0])]
        if len(tunings) < 2 or not known:
            continue
        safe = known[0]
        kept = [one for one in answers if one.cell.tuning == safe and one.is_whole]
        storages = {one.cell.storage for one in kept}
        facts = analysis.machine.server(server) if analysis.machine else None
        yield Durability(
            server=server,
            family=facts.family if facts else None,
            safe=_level(analysis, server, safe, kept),
            lost_on=[one for one in answers if one.cell.tuning == safe and one.harmed],
            others=[
                _level(
                    analysis,
                    server,
                    tuning,
                    [one for one in answers if one.cell.tuning == tuning and one.cell.storage in storages],
                    safe,
                )
                for tuning in tunings
                if tuning != safe
            ],
        )


def _worst(analysis: Analysis, server: str) -> list[CutAnswer]:
    """Return what the worst way to die took from each cell of a server, if a cut was telling."""
    answers = analysis.safety.answers if analysis.safety and not analysis.safety.faults else []
    of_cells = grouped((one for one in answers if one.cell.server == server), lambda one: one.cell.id)
    return [worst for worst in map(worst_way, of_cells.values()) if worst.telling]


def _level(
    analysis: Analysis, server: str, tuning: str, cuts: Sequence[CutAnswer], safe: str = ""
) -> LevelChoice:
    of_level = {cell.id: cell for cell in analysis.plan.cells if cell.server == server}
    verdicts = [
        one
        for one in analysis.verdicts
        if (one.factor, one.level, one.baseline) == ("tuning", tuning, safe) and one.cell in of_level
    ]
    gains: dict[str, list[Interval]] = {}
    on_disks: dict[str, list[Interval]] = {}
    for one in verdicts:
        if one.outcome == "faster" and one.ratio:
            cell = of_level[one.cell]
            for found in (gains,) if in_memory(analysis, cell) else (gains, on_disks):
                found.setdefault(cell.storage, []).append(one.ratio)
    return LevelChoice(
        tuning=tuning,
        settings=_settings(analysis, server, tuning, safe),
        may_ruin=tuning == LEVELS[-1],
        losses=next(
            (
                one.losses
                for one in analysis.level_risks
                if (one.server, one.tuning) == (server, tuning) and tuning not in LEVELS
            ),
            None,
        ),
        outcomes=[one.outcome for one in verdicts],
        gains=on_disks or gains,
        cuts=list(cuts),
    )


def _settings(analysis: Analysis, server: str, tuning: str, other: str) -> dict[str, str]:
    """Return the declared variables in which a level differs from another; empty: the nearest of ours."""
    values: dict[str, dict[str, str]] = {
        one.variable: one.values
        for one in analysis.level_differences
        if one.server == server and one.declared and tuning in one.values
    }
    if not values:  # the levels were cut alone
        for answer in _worst(analysis, server):
            for name, value in answer.settings.items():
                values.setdefault(name, {})[answer.cell.tuning] = value
        values = {name: found for name, found in values.items() if tuning in found}
    known = {level for found in values.values() for level in found} - {tuning}
    others = {other} if other else known & {*LEVELS} or known
    differing = [
        {name: found[tuning] for name, found in values.items() if found.get(level) != found[tuning]}
        for level in sorted(others)
    ]
    return min(differing, key=len, default={})


# ---------------------------------------------------------------- storage and limits


def in_memory(analysis: Analysis, cell: Cell) -> bool:
    """Return whether the data of a cell are in main memory, on any machine that runs it."""
    machines = analysis.machine.running(cell.host) if analysis.machine else []
    places = (place for machine in machines for place in machine.places)
    return any(one.in_memory for one in places if (one.storage, one.role) == (cell.storage, "data"))


def levers(analysis: Analysis) -> Iterator[Lever]:
    """Yield what would make the database faster, from the limits of a run."""
    cells = analysis.limits.cells if analysis.limits else []
    useful = [one for one in cells if one.what_if and one.limit and not in_memory(analysis, one.cell)]
    for (limit, _), alike in grouped(useful, _what_is_changed).items():
        best = max(alike, key=lambda one: one.what_if.ratio if one.what_if else 0.0)
        assert best.what_if  # those without were left out
        facts = analysis.machine.server(best.cell.server) if analysis.machine else None
        family = of(facts.family) if facts else None
        grows = limit == "data reads" and (best.data_bytes or 0) > best.cell.memory_bytes
        yield Lever(
            limit=limit,
            best=best.cell,
            what_if=best.what_if,
            memory_variable=family.memory_variable if family and grows else None,
        )


def _what_is_changed(one: CellLimit) -> tuple[Limit, str]:
    assert one.limit and one.what_if  # those without were left out
    return one.limit, one.what_if.says.form
