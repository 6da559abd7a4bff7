"""Checks of many machines: those that make a load together, and whether those of a run are alike."""

import math
from collections.abc import Iterator
from statistics import fmean

from diskproof.audit.check import (
    Evidence,
    NothingToCheckError,
    Run,
    Said,
    Untold,
    check,
    invalid,
    note,
    warning,
)
from diskproof.audit.host import OTHER_SHARE, STEAL_SHARE
from diskproof.audit.load import CLIENT_CPU_SHARE, LITTLE_TOLERANCE, LONG_TRANSACTION
from diskproof.results.load_host import LoadHost
from diskproof.results.machine import differences
from diskproof.results.plan import Cell
from diskproof.results.record import recorded
from diskproof.stats.intervals import independent_ratio
from diskproof.stats.multiple import holm
from diskproof.wording import counted, say, share, us

LEVEL = 0.05

FEWEST_BLOCKS = 2
"""Of each host: one has no scatter."""

SOFTWARE = ("server ", "load generator", "fio")
"""How the facts begin that are no part of a machine, and must be equal if machines are compared."""


@check(
    "unlike-hosts",
    reason="If machines are compared, another version of a server or load is part of their difference. "
    "If they share the blocks, they should be equal: what differs widens intervals, and may change ratios.",
    remedy="install the same versions on each machine; machines that share blocks should be equal: leave the "
    "one that differs out of `names`",
    source="what each machine reports of itself before its first trial; Fisher, The Design of Experiments, "
    "1935, on confounding",
)
def unlike_hosts(run: Run) -> Iterator[Said]:
    """Compare the facts of the machines: of machines that are compared only the software."""
    if len(run.plan.hosts) < 2:
        raise NothingToCheckError("one machine ran it")
    machines = recorded(run.machine, "the facts of the machines").others
    known = [host for host in run.plan.hosts if host in machines]
    if len(known) < len(run.plan.hosts):
        yield Untold("the facts of each machine")
    for host in known[1:]:
        for fact, ours, theirs in differences(machines[known[0]], machines[host]):
            matters = fact != "host" if run.plan.shares_blocks else fact.startswith(SOFTWARE)
            if matters:
                yield warning(
                    "hosts `{baseline}` and `{host}` differ in {fact}: {ours} against {theirs}",
                    baseline=known[0],
                    host=host,
                    fact=fact,
                    ours=ours,
                    theirs=theirs,
                )


@check(
    "equal-hosts",
    reason="If machines share the blocks, a cell's figure is the mean of the machines' figures. It holds for "
    "each machine only if they are alike.",
    remedy='more `blocks` show whether they are equal; if they are not, use `how = "compare"`, or leave the '
    "one that differs out of `names`",
    source="Welch, Biometrika 34, 1947; Holm, Scandinavian Journal of Statistics 6, 1979",
)
def equal_hosts(run: Run) -> Iterator[Said]:
    """Compare the speeds of blocks between the machines that share them, over the cells that each has."""
    if not run.plan.shares_blocks:
        raise NothingToCheckError("no machines share its blocks")
    baseline, *others = run.plan.hosts
    blocks: dict[str, dict[int, list[float]]] = {host: {} for host in run.plan.hosts}
    for of_cell in (_logs(run, cell) for cell in run.plan.cells):
        if all(of_cell.values()):
            middle = fmean(fmean(speeds.values()) for speeds in of_cell.values())
            for host, speeds in of_cell.items():
                for block, speed in speeds.items():
                    blocks[host].setdefault(block, []).append(speed - middle)
    speeds_of = {host: [math.exp(fmean(one)) for one in of_host.values()] for host, of_host in blocks.items()}
    if any(len(speeds) < FEWEST_BLOCKS for speeds in speeds_of.values()):
        yield Untold("two blocks or more on each host")
        return
    ratios = {host: independent_ratio(speeds_of[host], speeds_of[baseline]) for host in others}
    ps = [1.0 if ratio.p is None else ratio.p for ratio in ratios.values()]
    adjusted = dict(zip(ratios, holm(ps), strict=True))
    for host, ratio in ratios.items():
        low, high = ratio.interval.low, ratio.interval.high
        assert low is not None
        assert high is not None
        if max(abs(math.log(low)), abs(math.log(high))) <= math.log1p(run.plan.same_within):
            continue
        found = warning if adjusted[host] < LEVEL else note
        form = "host `{host}` is {ratio:.3f} times as fast as `{baseline}` ({low:.3f} to {high:.3f}, 95%)"
        if found is note:
            form += ", so it is not known whether they are equal"
        yield found(form, host=host, ratio=ratio.interval.estimate, baseline=baseline, low=low, high=high)


def _logs(run: Run, cell: Cell) -> dict[str, dict[int, float]]:
    """Return the logarithms of a cell's speeds, by host and block; every host has an entry."""
    found: dict[str, dict[int, float]] = {host: {} for host in run.plan.hosts}
    for trial, speed in run.speeds_of(cell):
        if host := run.plan.host_of(trial.id):
            found[host][trial.block] = math.log(speed)
    return found


TOGETHER_US = 1000.0
"""Phases of several machines begin within this time of each other: little against any phase. A judgement."""


@check(
    "load-hosts",
    reason="Machines that load a server together must begin together, each with CPU to spare. Their figures "
    "must account for their clients.",
    remedy="give the load more machines or CPUs, keep other work off them, and set their clocks by NTP",
    source="Little, Operations Research 9(3), 1961; Gregg, Systems Performance, 2020, section 12.3",
    bars_from="invalid",
)
def load_hosts(evidence: Evidence) -> Iterator[Said]:
    """Find a load host without spare CPU, with other work, with wrong figures, or that began late."""
    hosts = evidence.trial.load_hosts
    if not hosts:
        raise NothingToCheckError("the load ran beside the server")
    for one in hosts:
        yield from _little(evidence, one)
        yield from _cpu(one)
    latest = max(hosts, key=lambda one: one.began_after_us)
    error_us = max(one.clock_error_us for one in hosts)
    if len(hosts) > 1 and latest.began_after_us + error_us > TOGETHER_US:
        yield warning(
            "load host {host} may have begun {after} after the first: {began} by the clocks, which may be "
            "wrong by {error}",
            host=latest.name,
            after=us(latest.began_after_us + error_us),
            began=us(latest.began_after_us),
            error=us(error_us),
        )


def _little(evidence: Evidence, one: LoadHost) -> Iterator[Said]:
    """Judge the figures of one machine as `littles-law` judges those of all together."""
    load = evidence.load
    if evidence.metric != "transactions_per_s" or one.in_service is None or load.latency_us is None:
        return
    longest = (load.latency_us.max or 0.0) / 1e6 / load.known_seconds
    if longest <= LONG_TRANSACTION and abs(one.in_service / one.clients - 1) > LITTLE_TOLERANCE + longest:
        yield invalid(
            "on load host {host} throughput x mean latency accounts for {busy:.2f} of {clients}",
            host=one.name,
            busy=one.in_service,
            clients=counted(one.clients, "client"),
        )


def _cpu(one: LoadHost) -> Iterator[Said]:
    usable = max(min(one.client.workers, one.cpus), 1)
    used = one.client.cpu_s / (one.seconds * usable)
    if used > CLIENT_CPU_SHARE:
        yield invalid(
            "the client was the bottleneck: on load host {host} the load generator used {share} of the "
            "{cpus} that it can use",
            host=one.name,
            share=share(used),
            cpus=counted(usable, "CPU"),
        )
    whole_s = one.seconds * one.host_cpus
    stolen, other = one.host_cpu_steal_s / whole_s, (one.host_cpu_busy_s - one.client.cpu_s) / whole_s
    where = say("on load host {host}", host=one.name)
    if stolen > STEAL_SHARE:
        yield warning(
            "{where} the hypervisor withheld {share} of the CPU time", where=where, share=share(stolen)
        )
    if other > OTHER_SHARE:
        yield warning("{where} other processes took {share} of the CPU time", where=where, share=share(other))
