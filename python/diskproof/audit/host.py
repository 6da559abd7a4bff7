"""Checks of the machine around the measurement."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.results.record import recorded

STEAL_SHARE = 0.05
OTHER_SHARE = 0.10
"""What the kernel's own threads, the lab and a quiet system need together stays below this."""


@check(
    "host-busy",
    reason="CPU time that goes to others is missing in the measurement, and differently so in each trial.",
    remedy="stop other work on the machine; on a shared virtual machine take one with dedicated CPUs; "
    "more `blocks` in `[design]` average over what cannot be stopped",
    source="Gregg, Systems Performance, 2020, section 12.3; /proc/stat",
)
def host_busy(evidence: Evidence) -> Iterator[Said]:
    """Find CPU time that the hypervisor or other programs took."""
    usage = recorded(evidence.trial.usage, "what the machine's CPUs did meanwhile")
    machine = recorded(evidence.machine, "the machine")
    if usage.seconds <= 0:
        yield Untold("what the machine's CPUs did meanwhile")
        return
    # The kernel counts the time of every CPU of the host, whichever of them the run may use.
    host_cpus = machine.host_cpus or machine.cpus
    capacity_s = usage.host_seconds * host_cpus
    if usage.host_cpu_steal_s is None:
        yield Untold("the CPU time that a hypervisor withheld")
    elif (stolen := usage.host_cpu_steal_s / capacity_s) > STEAL_SHARE:
        yield Problem("warning", f"the hypervisor withheld {stolen:.0%} of the CPU time (steal)")
    if usage.server_cpu_s is None and evidence.cell.has_server and not evidence.embedded:
        yield Untold("the server's CPU time")
        return
    ours_s = (usage.server_cpu_s or 0) + evidence.load.known_client.cpu_s
    if usage.held_cpu_busy_s is not None and machine.held_cpus:
        # What others do on the CPUs that are not theirs takes nothing from server and load.
        busy_s, capacity_s = usage.held_cpu_busy_s, usage.host_seconds * len(machine.held_cpus)
        whose = "the CPU time that server and load are held to"
    elif machine.cpus == host_cpus:
        busy_s = recorded(usage.host_cpu_busy_s, "the CPU time that others took")
        whose = "the machine's CPU time"
    else:
        return  # what others do on the CPUs that are not ours takes nothing from the run: steal alone could
    # Beyond a bare load's own seconds fio starts and ends, on one CPU at most: no work of others.
    edges_s = max(usage.host_seconds - usage.seconds, 0)
    other = (busy_s - ours_s - edges_s) / capacity_s
    if other > OTHER_SHARE:
        yield Problem("warning", f"other work took {other:.0%} of {whose} while the trial was measured")


@check(
    "held-cpus",
    reason="Where the server or its load ran on more or other CPUs than the study gives them, CPU time was "
    "not what it was to be, and a comparison that is to be the disks' alone is not.",
    remedy="see that nothing changes the affinity of running programs (`taskset --all-tasks --pid PID`, "
    "cpusets), or leave `cpus` out of `[design]`",
    source="the kernel's affinity of every thread of the server and its load (sched_getaffinity(2))",
)
def held_cpus(evidence: Evidence) -> Iterator[Said]:
    """Find a server or a load that was not held to the CPUs that the study gives them."""
    wanted, held = evidence.plan.cpus, evidence.trial.held_cpus
    if wanted is None:
        yield Apart("server and load are held to no CPUs")
        return
    if held is None:
        yield Problem(
            "invalid", f"the study gives server and load {_cpus(wanted)}, and nothing tells which they had"
        )
        return
    if len(held.cpus) != wanted:
        yield Problem(
            "invalid",
            f"the study gives server and load {_cpus(wanted)}, and they were held to {_numbers(held.cpus)}",
        )
    for program, allowed in (("server", held.server), ("load generator", held.load)):
        if allowed is not None and allowed != held.cpus:
            ran = f"might run on {_numbers(allowed)}" if allowed else "could not be asked: it was gone"
            yield Problem("invalid", f"the {program} was to be held to {_numbers(held.cpus)}, and {ran}")


def _cpus(count: int) -> str:
    return "1 CPU" if count == 1 else f"{count} CPUs"


def _numbers(cpus: list[int]) -> str:
    return f"CPU {', '.join(map(str, cpus))}"
