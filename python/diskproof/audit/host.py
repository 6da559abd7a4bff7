"""Checks of the machine around the measurement."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Said, Untold, check, invalid, warning
from diskproof.results.machine import Machine
from diskproof.results.record import NotRecordedError, recorded
from diskproof.results.usage import Usage
from diskproof.wording import Message, counted, say, share

STEAL_SHARE = 0.05
OTHER_SHARE = 0.10
"""The kernel's own threads, the lab and a quiet system together need less than this."""


@check(
    "host-busy",
    reason="The measurement lacks the CPU time that others take, in each trial another amount.",
    remedy="stop other work, or use dedicated CPUs",
    source="Gregg, Systems Performance, 2020, section 12.3; /proc/stat",
)
def host_busy(evidence: Evidence) -> Iterator[Said]:
    """Find CPU time that the hypervisor or other processes took."""
    stolen = _stolen(evidence)
    if stolen is None:
        yield Untold("the CPU time that a hypervisor withheld")
    elif stolen > STEAL_SHARE:
        yield warning("the hypervisor withheld {share} of the CPU time (steal)", share=share(stolen))
    other, whose = _other(evidence)
    if other > OTHER_SHARE:
        yield warning("other processes took {share} of {whose}", share=share(other), whose=whose)


def taken_by_others(evidence: Evidence) -> float | None:
    """Return the share of the usable CPU time that other work and the hypervisor took; None: not known."""
    try:
        return max(_other(evidence)[0], 0.0) + (_stolen(evidence) or 0.0)
    except NotRecordedError:
        return None


def _stolen(evidence: Evidence) -> float | None:
    """Return the share of the host's CPU time that a hypervisor withheld; None if no kernel reports it."""
    usage, machine = _recorded(evidence)
    if usage.host_cpu_steal_s is None:
        return None
    return usage.host_cpu_steal_s / (usage.host_seconds * (machine.host_cpus or machine.cpus))


def _other(evidence: Evidence) -> tuple[float, str]:
    """Return the share of CPU time that other processes took, and whose time that is."""
    usage, machine = _recorded(evidence)
    is_here = not evidence.elsewhere or (evidence.server is not None and evidence.server.may_be_here)
    if usage.server_cpu_s is None and evidence.cell.has_server and not evidence.embedded and is_here:
        raise NotRecordedError("the server's CPU time")
    # The kernel counts the time of every CPU of the host, whichever of them the run may use.
    host_cpus = machine.host_cpus or machine.cpus
    ours_s = usage.server_cpu_s or 0
    if not evidence.trial.load_hosts:  # else the load used other machines' CPUs
        ours_s += evidence.load.known_client.cpu_s
    if "sides" in usage.cpu:
        ours_s += usage.cpu["sides"].used_s  # of an older version, whose servers could be up together
    if "disks" in usage.cpu and len(machine.held_cpus) in (0, machine.cpus):
        ours_s += usage.cpu["disks"].used_s  # else the virtual disks have CPUs of their own
    if usage.held_cpu_busy_s is not None and machine.held_cpus:
        # What others do on other CPUs takes nothing from server and load.
        busy_s, cpus = usage.held_cpu_busy_s, len(machine.held_cpus)
        whose = "the CPU time that server and load are held to"
    elif machine.cpus == host_cpus:
        busy_s, cpus = recorded(usage.host_cpu_busy_s, "the CPU time that others took"), host_cpus
        whose = "all CPU time"
    else:
        return 0.0, ""  # what others do on CPUs that are not ours takes nothing; only steal could
    # Beyond a bare load's own seconds fio starts and ends, on one CPU at most: no work of others.
    edges_s = max(usage.host_seconds - usage.seconds, 0)
    return (busy_s - ours_s - edges_s) / (usage.host_seconds * cpus), whose


def _recorded(evidence: Evidence) -> tuple[Usage, Machine]:
    usage = recorded(evidence.trial.usage, "what the machine's CPUs did meanwhile")
    if usage.seconds <= 0:
        raise NotRecordedError("what the machine's CPUs did meanwhile")
    return usage, recorded(evidence.machine, "the machine")


@check(
    "held-cpus",
    reason="The trial did not get the CPUs that the study gives it, so a comparison is not of the disks "
    "alone.",
    remedy="check that nothing changes the affinity of running programs (`taskset --all-tasks --pid PID`, "
    "cpusets), or leave `cpus` out of `[design]`",
    source="the kernel's affinity of every thread of the server and its load (sched_getaffinity(2))",
)
def held_cpus(evidence: Evidence) -> Iterator[Said]:
    """Find a server or a load that was not held to the CPUs that the study gives them."""
    wanted, held = evidence.plan.cpus, evidence.trial.held_cpus
    if wanted is None:
        raise NothingToCheckError("the study holds server and load to no CPUs")
    given = say("the study gives server and load {cpus}", cpus=counted(wanted, "CPU"))
    if held is None:
        yield invalid("{given}, but which they had was not recorded", given=given)
        return
    if len(held.cpus) != wanted:
        yield invalid("{given}, but they were held to {cpus}", given=given, cpus=_numbers(held.cpus))
    for program, allowed in (("server", held.server), ("load generator", held.load)):
        if allowed is not None and allowed != held.cpus:
            ran = (
                say("it could run on {cpus}", cpus=_numbers(allowed))
                if allowed
                else say("it was gone when asked")
            )
            yield invalid(
                "the {program} should be held to {cpus}, but {ran}",
                program=program,
                cpus=_numbers(held.cpus),
                ran=ran,
            )


def _numbers(cpus: list[int]) -> Message:
    return say("CPU {numbers:/, }", numbers=[str(cpu) for cpu in cpus])
