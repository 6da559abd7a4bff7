"""The machines of the load, over a cell's trials: how busy they are, and the way from them to the server.

The worst of several machines counts: they share the clients, so the slowest holds all of them back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diskproof.analysis.evidence import middle
from diskproof.analysis.gather import Audited
from diskproof.results.load_host import LoadHost
from diskproof.wording import Message, say, share


@dataclass(frozen=True)
class Loaders:
    """The machines of the load; medians over trials."""

    busiest: str
    """The machine with the busiest CPUs in the last trial."""
    busy: float
    """Busy share of its CPUs, by anybody."""
    round_trip_us: float
    """Mean over the clients."""
    network_share: float | None
    """Share of the network's measured throughput that was used; None: not known."""


def loaders_of(trials: Sequence[Audited]) -> Loaders | None:
    """Return what is known of the machines; None if the load ran beside the server."""
    of_trials = [one.trial.load_hosts for one in trials if one.trial.load_hosts]

    def worst(figure: Callable[[LoadHost], float | None]) -> float | None:
        return middle(
            max((found for one in hosts if (found := figure(one)) is not None), default=None)
            for hosts in of_trials
        )

    busy, trip_us = worst(lambda one: one.busy_share), middle(map(_round_trip_us, of_trials))
    if busy is None or trip_us is None:
        return None
    return Loaders(
        busiest=max(of_trials[-1], key=lambda one: one.busy_share).name,
        busy=busy,
        round_trip_us=trip_us,
        network_share=worst(lambda one: one.network_share),
    )


def load_machine_busy(loaders: Loaders) -> Message:
    """Say how busy the busiest machine is."""
    return say("the CPUs of load host {name} are {busy} busy", name=loaders.busiest, busy=share(loaders.busy))


def _round_trip_us(hosts: Sequence[LoadHost]) -> float:
    clients = sum(one.clients for one in hosts)
    return sum(one.clients * one.network.round_trip_us for one in hosts) / clients
