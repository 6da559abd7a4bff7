"""The laws of operational analysis: what busy times and counts alone say about throughput and latency.

They hold for whatever was measured, without any assumption about distributions: Denning and Buzen, "The
operational analysis of queueing network models", ACM Computing Surveys 10(3), 1978; Lazowska, Zahorjan,
Graham and Sevcik, "Quantitative System Performance", 1984, chapters 3 (laws) and 5 (bounds). Any unit of time
will do, as long as it is one: demands in seconds go with throughput in 1/s.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Centre:
    """A place at which a transaction is served."""

    demand: float
    """Time of service that a transaction asks for, over all visits."""
    servers: int = 1
    """How many can be served at a time."""


def utilisation(throughput: float, centre: Centre) -> float:
    """Return how busy one of the centre's servers is: U = X D / m (utilisation law)."""
    return throughput * centre.demand / centre.servers


def service_demand(busy: float, completions: int) -> float:
    """Return the service that a transaction asked for: D = B / C, where `busy` sums over all servers.

    ValueError without any completion: then nothing is known.
    """
    if completions <= 0:
        raise ValueError("a service demand needs completed transactions")
    return busy / completions


def mean_present(throughput: float, residence: float) -> float:
    """Return how many are there in the mean: N = X R (Little's law)."""
    return throughput * residence


def saturation(centres: Sequence[Centre]) -> float | None:
    """Return the throughput that no number of clients can exceed: the least m / D; None without demands."""
    return min((one.servers / one.demand for one in centres if one.demand > 0), default=None)


def throughput_bound(centres: Sequence[Centre], clients: int, think: float = 0.0) -> float | None:
    """Return the most that `clients` can do: X <= min(m / D of each centre, N / (D + Z)).

    None without demands. D is the sum of all demands and Z the time that a client thinks between two
    transactions.
    """
    alone = sum(one.demand for one in centres) + think
    highest = saturation(centres)
    return None if highest is None else min(highest, clients / alone)


def response_bound(centres: Sequence[Centre], clients: int, think: float = 0.0) -> float:
    """Return the least mean latency: R >= max(D, N D_max - Z), where D_max is the largest D / m."""
    largest = max((one.demand / one.servers for one in centres), default=0.0)
    return max(sum(one.demand for one in centres), clients * largest - think)


def pessimistic_throughput(centres: Sequence[Centre], clients: int, delay: float = 0.0) -> float | None:
    """Return the least that `clients` do in a closed loop, where each finds all others before it everywhere.

    X >= N / (delay + sum of D (1 + (N - 1) / m)), `delay` being time at no centre at all. With one server
    each this is Lazowska's lower bound (section 5.2); more servers are taken as if those before it took turns
    at them, and never as slower than one. None where nothing takes any time.
    """
    residence = delay + sum(one.demand * (1 + (clients - 1) / one.servers) for one in centres)
    return clients / residence if residence > 0 else None


def knee_clients(centres: Sequence[Centre], think: float = 0.0) -> float | None:
    """Return N*, where the two asymptotes meet: (D + Z) / D_max; from there on clients must queue."""
    highest = saturation(centres)
    return None if highest is None else highest * (sum(one.demand for one in centres) + think)
