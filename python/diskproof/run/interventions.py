"""What is changed about a cell to prove what holds it back, and how a trial with the change is made.

Virtual disks and the lab keep the CPUs they have when server and load are held to half: an answer that
leaves late would make another disk of the one that is under test, and two things would be changed at once.
"""

import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import psutil

from diskproof.results.limit import Change, Intervention, Limit, ProofPair
from diskproof.results.plan import Cell, Metric
from diskproof.results.record import Role, format_bytes
from diskproof.results.trial import Trial
from diskproof.run.bench import Bench
from diskproof.server.durability import LOG_ROLE, commits_wait_for_flush, relaxed, roles_needed
from diskproof.storage.virtual import ServedDisk, Slowness
from diskproof.study.part import Family
from diskproof.system.cpus import half, usable

SLOWER: Mapping[Literal["read", "flush"], float] = {"flush": 2.0, "read": 3.0}
"""About how many times as long a flush or a read takes in the mean; whole turns come nearest to it.

What is added to a read may only take the place of a line before the disk that is as long as the read: the
rest of it cannot. A flush that waits in line waits for other flushes, which are longer too.
"""

LEAST_ADDED_US = 200.0
"""A smaller delay is lost in what the way to a virtual disk costs, and in its scatter."""

LEAST_MEAN_US = 50.0
"""Of what takes less, that delay would be a multiple that makes another device of it."""

OF_A_TURN = 0.25
"""Of a turn: what a disk that turns answers sooner in the mean is mostly answered by no platter. What does
not wait for one has no turns to be slowed by, and which answers those are nobody tells."""

MORE_MEMORY = 2

WAYS: dict[Limit, tuple[Change, ...]] = {
    "log flush": ("slower flushes", "flushes relaxed"),
    "data reads": ("slower reads", "twice the memory"),
    "CPU": ("half the CPUs",),
    "disk": ("slower reads", "slower flushes"),
}
"""What can be changed about each limit, what says most first. The first that can be made is."""

NO_WAY: dict[Limit, str] = {
    "page writes": "how many pages must be written depends on the load, the pool, the log and the moment, so "
    "no change to any of them has an effect that could be foretold; and many are under way at a time, so "
    "that slower writes are not fewer",
    "locks": "which transactions meet is the load's own, and another load would be another cell; what is "
    "done while a lock is held would be slower for another limit as well",
    "load generator": "it is not what the study asks about: the remedy is another machine or load",
    "arrivals": "the study itself sets the rate; another rate is another cell",
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
    """Return a way as an earlier pair went it, where both slow the same disks by a slightly other time.

    What disks take in the mean is known better when further trials have been made. A proof that has begun
    goes on with what it began with: its prediction was made for that.
    """
    slowed = {disk.name: disk.slowed for disk in pair.changed.virtual_disks if disk.slowed}
    same = pair.intervention.change == way.intervention.change and slowed.keys() == way.bench.slowness.keys()
    if not slowed or not same:
        return way
    slowness = {name: Slowness(on=how.on, add_us=how.add_us) for name, how in slowed.items()}
    return Way(pair.intervention, way.cell, replace(way.bench, slowness=slowness))


# ---------------------------------------------------------------- the changes, one function each


def _slower_flushes(subject: Subject) -> Way | str:
    roles = _flushed_roles(subject)
    return _slower(subject, roles, "flush") if roles else "nothing of it is flushed at each commit"


def _slower_reads(subject: Subject) -> Way | str:
    return _slower(subject, ["data"], "read")


def _flushes_relaxed(subject: Subject) -> Way | str:
    if not subject.cell.has_server:
        return "there is no server whose settings could be relaxed"
    observed, family = _observed(subject), _family(subject)
    if not _flushed_roles(subject):
        return "by the server's settings no commit waits for a flush"
    variables = relaxed(family, observed)
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
            says="no commit waits for a flush ("
            + ", ".join(f"{key} = {value}" for key, value in variables.items())
            + ")",
            factor=0.0,
        ),
        subject.cell,
        replace(subject.bench, study=study.model_copy(update={"tunings": tunings})),
    )


def _twice_the_memory(subject: Subject) -> Way | str:
    cell = subject.cell
    if not cell.has_server:
        return "there is no server that could have more memory"
    more = cell.model_copy(update={"memory_bytes": MORE_MEMORY * cell.memory_bytes})
    available = psutil.virtual_memory().available
    if more.memory_bytes > available:
        return (
            f"{format_bytes(more.memory_bytes)} of memory are not to be had beside what is there: "
            f"{format_bytes(available)} are free"
        )
    says = f"the server has {more.level('memory')} of memory instead of {cell.level('memory')}"
    intervention = Intervention(change="twice the memory", says=says, factor=MORE_MEMORY)
    return Way(intervention, more, subject.bench)


def _half_the_cpus(subject: Subject) -> Way | str:
    bench = subject.bench
    before = bench.cpus or usable()
    kept = half(before)
    if not kept:
        return "server and load have one CPU, and no half of it can be given to them"
    count = "1 CPU" if len(kept) == 1 else f"{len(kept)} CPUs"
    return Way(
        Intervention(
            change="half the CPUs",
            says=f"server and load have {count} instead of {len(before)}",
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


# ---------------------------------------------------------------- virtual disks


def _slower(subject: Subject, roles: Sequence[Role], on: Literal["read", "flush"]) -> Way | str:
    """Return the way in which requests of one kind take longer on every disk of some roles."""
    layout = subject.bench.layouts[subject.cell.storage]
    disks: list[ServedDisk] = []
    for role in roles:
        of_role = layout.disks_of(role)
        if not of_role or not all(disk.can_be_slowed for disk in of_role):
            return f"`{role}` does not lie on a virtual disk, which alone can be slowed"
        disks += [disk for disk in of_role if disk not in disks]
    means_us = _means_us(subject.trials, [disk.facts.name for disk in disks], on)
    if not means_us or min(means_us.values()) < LEAST_MEAN_US:
        return f"a {on} of its virtual disks takes too little for a delay to be a known multiple of it"
    turns = {disk.facts.name: turn_us for disk in disks for turn_us in disk.facts.turns_us}
    turns_us = {turn_us for disk in disks for turn_us in disk.facts.turns_us}
    if len(turns_us) > 1:
        return "its disks turn at different speeds, so that no delay is whole turns of all of them"
    quick = [name for name, mean_us in means_us.items() if mean_us < OF_A_TURN * turns.get(name, 0.0)]
    if quick:
        return (
            f"a {on} of `{quick[0]}` takes {_ms(means_us[quick[0]])} in the mean, and a turn of its platters "
            f"{_ms(turns[quick[0]])}: most are answered by none of them, and what of a delay they would wait "
            "out is not known"
        )
    factor = max(SLOWER[on], *(1 + LEAST_ADDED_US / mean_us for mean_us in means_us.values()))
    added_us = {name: _whole((factor - 1) * mean_us, turns_us) for name, mean_us in means_us.items()}
    slowness = {name: Slowness(on=on, add_us=round(add_us, 1)) for name, add_us in added_us.items()}
    each = " and ".join(
        f"of `{name}` takes {_longer(name, how.add_us, turns)}" for name, how in slowness.items()
    )
    change: Change = "slower reads" if on == "read" else "slower flushes"
    return Way(
        Intervention(
            change=change,
            says=f"every {on} {each}",
            factor=_factor(subject.trials, means_us, added_us, on),
            added_us={name: how.add_us for name, how in slowness.items()},
        ),
        subject.cell,
        replace(subject.bench, slowness=slowness),
    )


def _whole(delay_us: float, turns_us: Collection[float]) -> float:
    """Return the whole turns that are nearest to a delay, one at the least; the delay where nothing turns.

    After any other delay a platter stands elsewhere than it would have without: what the next request waits
    for it becomes shorter or longer, by up to a turn, and nobody knows by how much.
    """
    for turn_us in turns_us:
        return max(round(delay_us / turn_us), 1) * turn_us
    return delay_us


def _longer(name: str, add_us: float, turns: Mapping[str, float]) -> str:
    """Say by how much a disk is slowed, and whose turns that are: `turns` is what one takes, by disk."""
    for turning, turn_us in sorted(turns.items(), key=lambda item: item[0] != name):
        count = round(add_us / turn_us)
        whose = "its platters" if turning == name else f"the platters of `{turning}`"
        return f"{_ms(add_us)} longer, {'one turn' if count == 1 else f'{count} turns'} of {whose}"
    return f"{_ms(add_us)} longer"


def _factor(
    trials: Sequence[Trial],
    means_us: Mapping[str, float],
    added_us: Mapping[str, float],
    on: Literal["read", "flush"],
) -> float:
    """Return how many times as long the requests of all disks together take, each as often as it came.

    It is for words: those of pages are among them, and the means are those of the disks' own account.
    """
    asked = {name: _requests(trials, name, on) for name in means_us}
    before = sum(asked[name] * mean_us for name, mean_us in means_us.items())
    return 1 + sum(asked[name] * add_us for name, add_us in added_us.items()) / before


def _means_us(
    trials: Sequence[Trial], names: Sequence[str], on: Literal["read", "flush"]
) -> dict[str, float]:
    """Return what a request takes in the mean, by disk: the median over the trials; none of an idle disk."""
    means = {name: [mean for trial in trials if (mean := _mean_us(trial, name, on))] for name in names}
    return {name: statistics.median(found) for name, found in means.items() if found}


def _mean_us(trial: Trial, name: str, on: Literal["read", "flush"]) -> float:
    """Return what a disk's requests took in a trial; of a log's flush also the write before it.

    Where a disk has no volatile cache the write is what takes the time, and its flush has nothing to do.
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
    """Return how many requests of a kind a disk served in all trials."""
    uses = [use for trial in trials for use in trial.virtual_disks if use.name == name]
    return sum((use.read if on == "read" else use.flush).requests for use in uses)


def _ms(time_us: float) -> str:
    return f"{time_us / 1000:.3g} ms"


# ---------------------------------------------------------------- what the trials say of the server


def _family(subject: Subject) -> Family:
    return subject.bench.servers[subject.cell.server].facts.family


def _observed(subject: Subject) -> Mapping[str, str | None]:
    """Return the variables of the cell's server as they were read back."""
    last = subject.trials[-1].settings if subject.trials else []
    return {setting.name: setting.observed for setting in last}


def _flushed_roles(subject: Subject) -> list[Role]:
    """Return the roles that a commit waits for: the log, and a binary log that is flushed with it."""
    if not subject.cell.has_server:
        return ["data"]
    observed, family = _observed(subject), _family(subject)
    roles: list[Role] = [LOG_ROLE[family]] if commits_wait_for_flush(family, observed) else []
    if "binlog" in roles_needed(family, observed) and observed.get("sync_binlog") == "1":
        roles.append("binlog")
    return roles


def _spelled(variable: str) -> str:
    """Return a variable's name as servers compare it."""
    return variable.replace("-", "_").lower()
