"""What is changed about a cell to prove what holds it back, and how a trial with the change is made.

If server and load get half of the CPUs, virtual disks and the lab keep theirs. A virtual disk that answers
late would be another disk, and then two things would change at once.
"""

import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import psutil

from diskproof.families import Family, of
from diskproof.families.durability import flushed_logs
from diskproof.results.limit import Change, Intervention, Limit, ProofPair
from diskproof.results.plan import Cell, Metric
from diskproof.results.record import Role
from diskproof.results.trial import Trial
from diskproof.run.bench import Bench
from diskproof.storage.virtual import ServedDisk, Slowness
from diskproof.system.cpus import half, usable
from diskproof.wording import Message, Quantity, bytes_, counted, numbers, say

SLOWER: Mapping[Literal["read", "flush"], float] = {"flush": 2.0, "read": 3.0}
"""By about how much the mean time of a flush or a read is multiplied; whole turns come nearest to it.

Time added to a read may only replace an equally long wait before the disk. A flush that waits in line waits
for other flushes, which take longer too."""

LEAST_ADDED_US = 200.0
"""A smaller delay is lost in the cost of the path to a virtual disk, and in its scatter."""

LEAST_MEAN_US = 50.0
"""Below this mean the delay would be a multiple that makes another device of the disk."""

OF_A_TURN = 0.25
"""Share of a turn. If the mean is shorter, a cache answers most requests, and which of them is not recorded.
Those have no turns by which they could be slowed."""

MORE_MEMORY = 2

WAYS: dict[Limit, tuple[Change, ...]] = {
    "log flush": ("slower flushes", "flushes relaxed"),
    "data reads": ("slower reads", "twice the memory"),
    "CPU": ("half the CPUs",),
    "disk": ("slower reads", "slower flushes"),
}
"""What can be changed about each limit, the strongest evidence first. The first possible change is made."""

NO_WAY: dict[Limit, str] = {
    "page writes": "the number of page writes depends on the load, the pool, the log and the moment, so the "
    "effect of a change cannot be predicted; and many writes run at a time, so slower writes are not fewer",
    "locks": "the load decides which transactions meet, and another load would be another cell; work under a "
    "lock would also be slower for another limit",
    "load generator": "the study does not ask about it: use another machine or load",
    "network": "another network is another pair of machines",
    "arrivals": "the study sets the rate, and another rate is another cell",
}
"""Limits that no intervention proves, and why."""


@dataclass(frozen=True)
class Way:
    """An intervention, with the cell and the bench of a trial that has it."""

    intervention: Intervention
    cell: Cell
    bench: Bench


@dataclass(frozen=True)
class Subject:
    """A cell whose limit is to be proved, with its trials that count."""

    bench: Bench
    cell: Cell
    metric: Metric
    trials: Sequence[Trial]


def choose(subject: Subject, limit: Limit) -> Way | str:
    """Return the intervention that fits a limit, or why there is none."""
    if subject.metric == "latency_mean_us":
        return NO_WAY.get(limit, NO_WAY["arrivals"])
    reasons = []
    for change in WAYS.get(limit, ()):
        found = _CHANGES[change](subject)
        if isinstance(found, Way):
            return found
        reasons.append(found)
    return "; ".join(reasons) or NO_WAY[limit]


def as_begun(way: Way, pair: ProofPair) -> Way:
    """Return a way as an earlier pair took it, if both slow the same disks by slightly different times.

    Further trials change the known mean of a disk. A proof that has begun keeps its change, since its
    prediction was made for that.
    """
    slowed = {disk.name: disk.slowed for disk in pair.changed.virtual_disks if disk.slowed}
    same = pair.intervention.change == way.intervention.change and slowed.keys() == way.bench.slowness.keys()
    if not slowed or not same:
        return way
    slowness = {name: Slowness(on=how.on, add_us=how.add_us) for name, how in slowed.items()}
    return Way(pair.intervention, way.cell, replace(way.bench, slowness=slowness))


def _slower_flushes(subject: Subject) -> Way | str:
    roles = _flushed_roles(subject)
    return _slower(subject, roles, "flush") if roles else "no commit waits for a flush"


def _slower_reads(subject: Subject) -> Way | str:
    return _slower(subject, ["data"], "read")


def _flushes_relaxed(subject: Subject) -> Way | str:
    if not subject.cell.has_server:
        return "the cell has no server whose settings could be relaxed"
    if not _flushed_roles(subject):
        return "no commit waits for a flush, as the server is set"
    variables = of(_family(subject)).relaxed(_observed(subject))
    study, name = subject.bench.study, subject.cell.tuning
    tuning = study.tunings[name]
    others = {key: value for key, value in tuning.variables.items() if _spelled(key) not in variables}
    changed = tuning.model_copy(
        update={"base": study.tuning_level(name), "variables": {**others, **variables}}
    )
    tunings = {**study.tunings, name: changed}
    return Way(
        Intervention(
            change="flushes relaxed",
            says=say(
                "no commit waits for a flush ({variables:/, })",
                variables=[f"{key} = {value}" for key, value in variables.items()],
            ),
            factor=0.0,
        ),
        subject.cell,
        replace(subject.bench, study=study.model_copy(update={"tunings": tunings})),
    )


def _twice_the_memory(subject: Subject) -> Way | str:
    cell = subject.cell
    if not cell.has_server:
        return "the cell has no server that could get more memory"
    more = cell.model_copy(update={"memory_bytes": MORE_MEMORY * cell.memory_bytes})
    available = psutil.virtual_memory().available
    if more.memory_bytes > available:
        return f"{numbers.size(more.memory_bytes)} of memory are needed, {numbers.size(available)} are free"
    says = say(
        "the server has {more} of memory instead of {now}",
        more=bytes_(more.memory_bytes),
        now=bytes_(cell.memory_bytes),
    )
    intervention = Intervention(change="twice the memory", says=says, factor=MORE_MEMORY)
    return Way(intervention, more, subject.bench)


def _half_the_cpus(subject: Subject) -> Way | str:
    bench = subject.bench
    if bench.elsewhere is not None:
        return "the load has machines of its own, so half of this one's CPUs would be the server's alone"
    if bench.quota is not None:
        return "`cpus_count` holds server and load to a share of the CPUs' time, whichever CPUs they have"
    before = bench.cpus or usable()
    kept = half(before)
    if not kept:
        return "server and load have only one CPU"
    return Way(
        Intervention(
            change="half the CPUs",
            says=say(
                "server and load have {left} instead of {now}",
                left=counted(len(kept), "CPU"),
                now=len(before),
            ),
            factor=len(kept) / len(before),
        ),
        subject.cell,
        replace(bench, starter=bench.starter.on(kept), cpus=kept),
    )


_CHANGES: dict[Change, Callable[[Subject], Way | str]] = {
    "slower flushes": _slower_flushes,
    "flushes relaxed": _flushes_relaxed,
    "slower reads": _slower_reads,
    "twice the memory": _twice_the_memory,
    "half the CPUs": _half_the_cpus,
}


def _slower(subject: Subject, roles: Sequence[Role], on: Literal["read", "flush"]) -> Way | str:
    layout = subject.bench.layouts[subject.cell.storage]
    disks: list[ServedDisk] = []
    for role in roles:
        of_role = layout.disks_of(role)
        if not of_role:
            return f"`{role}` does not lie on a virtual disk: only those can be slowed"
        disks += [disk for disk in of_role if disk not in disks]
    means_us = _means_us(subject.trials, [disk.facts.name for disk in disks], on)
    if not means_us or min(means_us.values()) < LEAST_MEAN_US:
        return f"a {on} of its virtual disks is too short to be slowed by a known multiple"
    turns = {disk.facts.name: turn_us for disk in disks for turn_us in disk.facts.turns_us}
    turns_us = {turn_us for disk in disks for turn_us in disk.facts.turns_us}
    if len(turns_us) > 1:
        return "its disks turn at different speeds, so no delay is whole turns of all of them"
    quick = [name for name, mean_us in means_us.items() if mean_us < OF_A_TURN * turns.get(name, 0.0)]
    if quick:
        return (
            f"a {on} of `{quick[0]}` takes {_ms(means_us[quick[0]])} on average, a turn of its platters "
            f"{_ms(turns[quick[0]])}: a cache answers most of them, so the effect of a delay is not known"
        )
    factor = max(SLOWER[on], *(1 + LEAST_ADDED_US / mean_us for mean_us in means_us.values()))
    added_us = {name: _whole((factor - 1) * mean_us, turns_us) for name, mean_us in means_us.items()}
    slowness = {name: Slowness(on=on, add_us=round(add_us, 1)) for name, add_us in added_us.items()}
    # For words only: requests for pages are included, and the means are the disks' own.
    asked = {name: _requests(subject.trials, name, on) for name in means_us}
    before = sum(asked[name] * mean_us for name, mean_us in means_us.items())
    each = [_longer(name, how.add_us, turns) for name, how in slowness.items()]
    change: Change = "slower reads" if on == "read" else "slower flushes"
    return Way(
        Intervention(
            change=change,
            says=say("every {on} {each:/ and }", on=on, each=each),
            factor=1 + sum(asked[name] * us for name, us in added_us.items()) / before,
            added_us={name: how.add_us for name, how in slowness.items()},
        ),
        subject.cell,
        replace(subject.bench, slowness=slowness),
    )


def _whole(delay_us: float, turns_us: Collection[float]) -> float:
    """Return the nearest number of whole turns to a delay, at least one; the delay itself if nothing turns.

    After any other delay the platter is at another angle: the next request then waits up to a turn longer or
    shorter, by an unknown amount.
    """
    for turn_us in turns_us:
        return max(round(delay_us / turn_us), 1) * turn_us
    return delay_us


def _longer(name: str, add_us: float, turns: Mapping[str, float]) -> Message:
    longer = say(
        "of `{disk}` takes {added:3} longer", disk=name, added=Quantity(value=add_us / 1000, unit="ms")
    )
    for turning, turn_us in sorted(turns.items(), key=lambda item: item[0] != name):
        count = counted(round(add_us / turn_us), "turn")
        whose = "its platters" if turning == name else f"the platters of `{turning}`"
        return say("{longer}, {turns} of {whose}", longer=longer, turns=count, whose=whose)
    return longer


def _means_us(
    trials: Sequence[Trial], names: Sequence[str], on: Literal["read", "flush"]
) -> dict[str, float]:
    """Return the mean time of a request by disk (median over the trials); idle disks are left out."""
    means = {name: [mean for trial in trials if (mean := _mean_us(trial, name, on))] for name in names}
    return {name: statistics.median(found) for name, found in means.items() if found}


def _mean_us(trial: Trial, name: str, on: Literal["read", "flush"]) -> float:
    """Return the mean time of a disk's requests in a trial; for a log's flush with the write before it.

    On a disk without a volatile cache, the write takes the time and the flush has nothing to do.
    """
    use = next((one for one in trial.virtual_disks if one.name == name), None)
    if use is None:
        return 0.0
    read, write, flush = (
        one.latency_us.mean if one.latency_us else 0.0 for one in (use.read, use.write, use.flush)
    )
    if on == "read":
        return read
    return flush if flush >= write or not use.flush.requests else flush + write


def _requests(trials: Sequence[Trial], name: str, on: Literal["read", "flush"]) -> int:
    uses = [use for trial in trials for use in trial.virtual_disks if use.name == name]
    return sum((use.read if on == "read" else use.flush).requests for use in uses)


def _ms(time_us: float) -> str:
    return f"{time_us / 1000:.3g} ms"


def _family(subject: Subject) -> Family:
    return subject.bench.servers[subject.cell.server].facts.family


def _observed(subject: Subject) -> Mapping[str, str | None]:
    """Return the server's variables as they were read back."""
    last = subject.trials[-1].settings if subject.trials else []
    return {setting.name: setting.observed for setting in last}


def _flushed_roles(subject: Subject) -> list[Role]:
    """Return the roles that a commit waits for: the log, and a binary log that is flushed with it."""
    if not subject.cell.has_server:
        return ["data"]
    return flushed_logs(_family(subject), _observed(subject))


def _spelled(variable: str) -> str:
    """Return a variable's name as servers compare it."""
    return variable.replace("-", "_").lower()
