"""Checks of the machines that made a trial's load together."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Said, check, invalid, warning
from diskproof.audit.host import OTHER_SHARE, STEAL_SHARE
from diskproof.audit.load import CLIENT_CPU_SHARE, LITTLE_TOLERANCE, LONG_TRANSACTION
from diskproof.results.load_host import LoadHost
from diskproof.wording import counted, say, share, us

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
        yield warning("{where} other work took {share} of the CPU time", where=where, share=share(other))
