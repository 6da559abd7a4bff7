"""Checks of the machine around the measurement."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, Problem, check

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
def host_busy(evidence: Evidence) -> Iterator[Problem]:
    """Find CPU time that the hypervisor or other programs took."""
    usage, machine = evidence.trial.usage, evidence.machine
    if usage is None or machine is None or usage.seconds <= 0:
        return
    # The kernel counts the time of every CPU of the host, whichever of them the run may use.
    host_cpus = machine.host_cpus or machine.cpus
    capacity_s = usage.seconds * host_cpus
    stolen = (usage.host_cpu_steal_s or 0) / capacity_s
    if stolen > STEAL_SHARE:
        yield Problem("warning", f"the hypervisor withheld {stolen:.0%} of the CPU time (steal)")
    if usage.host_cpu_busy_s is None or (usage.server_cpu_s is None and not evidence.embedded):
        return
    if machine.cpus != host_cpus:
        return  # what others do on the CPUs that are not ours takes nothing from the run
    account = evidence.load.client
    ours_s = (usage.server_cpu_s or 0) + account.cpu_user_s + account.cpu_system_s
    other = (usage.host_cpu_busy_s - ours_s) / capacity_s
    if other > OTHER_SHARE:
        yield Problem(
            "warning", f"other work took {other:.0%} of the machine's CPU time while the trial was measured"
        )
