"""Machines that made a load together, as a trial records them."""

from typing import Any

from diskproof.results.load import ClientAccount, LoadResult
from diskproof.results.load_host import LoadHost, Network
from support.trials import change

NETWORK = Network(
    round_trip_us=150.0,
    to_database_bytes_per_s=1e8,
    from_database_bytes_per_s=1e8,
)


def make_load_hosts(load: LoadResult, **changes: Any) -> list[LoadHost]:
    """Return two machines with half of a load each; the second is changed."""
    assert load.latency_us is not None
    first = LoadHost(
        name="one",
        clients=load.known_clients // 2,
        cpus=2,
        host_cpus=2,
        seconds=30.0,
        transactions_per_s=load.transactions_per_s / 2,
        latency_mean_us=load.latency_us.mean,
        client=ClientAccount(workers=2, cpu_user_s=2.0, cpu_system_s=2.0),
        host_cpu_busy_s=4.5,
        host_cpu_steal_s=0.0,
        began_after_us=0.0,
        clock_error_us=60.0,
        network=NETWORK,
    )
    return [first, change(first, name="two", **changes)]
