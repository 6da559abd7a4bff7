"""The laws of operational analysis: what busy times and counts say about throughput and latency.

They hold for any measurement, without assumptions about distributions: Denning and Buzen, "The operational
analysis of queueing network models", ACM Computing Surveys 10(3), 1978; Lazowska, Zahorjan, Graham and
Sevcik, "Quantitative System Performance", 1984, chapters 3 (laws) and 5 (bounds). Any unit of time will do if
it is the same everywhere: demands in seconds go with throughput in 1/s.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Centre:
    """A place at which a transaction is served."""

    demand: float
    """Service time of a transaction, over all visits."""
    servers: int = 1
    """How many it serves at a time."""


def utilisation(throughput: float, centre: Centre) -> float:
    """Return how busy one of the centre's servers is: U = X D / m (utilisation law)."""
    return throughput * centre.demand / centre.servers


def saturation(centres: Sequence[Centre]) -> float | None:
    """Return the throughput that no number of clients can exceed: the lowest m / D; None without demands."""
    return min((one.servers / one.demand for one in centres if one.demand > 0), default=None)


def pessimistic_throughput(centres: Sequence[Centre], clients: int, delay: float = 0.0) -> float | None:
    """Return the least throughput of a closed loop: each client finds all others before it everywhere.

    X >= N / (delay + sum of D (1 + (N - 1) / m)); `delay` is time at no centre. With one server each this is
    Lazowska's lower bound (section 5.2). With more, the clients before it share the servers evenly. None if
    nothing takes any time.
    """
    residence = delay + sum(one.demand * (1 + (clients - 1) / one.servers) for one in centres)
    return clients / residence if residence > 0 else None
