"""The laws hold for a closed network that was solved exactly, and the bounds enclose it."""

from collections.abc import Sequence

import pytest

from diskproof.stats.operational import (
    Centre,
    pessimistic_throughput,
    saturation,
    utilisation,
)

NETWORKS = [
    [Centre(0.008)],
    [Centre(0.004), Centre(0.004)],
    [Centre(0.0005), Centre(0.008), Centre(0.002)],
    [Centre(0.001), Centre(0.0011), Centre(0.0009), Centre(0.02)],
]


def mean_value_analysis(centres: Sequence[Centre], clients: int, think: float) -> tuple[float, float]:
    """Solve a closed network of single servers exactly (Reiser and Lavenberg, JACM 27(2), 1980)."""
    queues = [0.0] * len(centres)
    throughput = residence = 0.0
    for present in range(1, clients + 1):
        times = [centre.demand * (1 + queue) for centre, queue in zip(centres, queues, strict=True)]
        residence = sum(times)
        throughput = present / (residence + think)
        queues = [throughput * time for time in times]
    return throughput, residence


@pytest.mark.parametrize("delay", [0.0, 0.05])
@pytest.mark.parametrize("clients", [1, 2, 5, 40])
@pytest.mark.parametrize("centres", NETWORKS)
def test_bounds_enclose_the_exact_solution(centres: list[Centre], clients: int, delay: float) -> None:
    throughput, residence = mean_value_analysis(centres, clients, delay)
    highest, lowest = saturation(centres), pessimistic_throughput(centres, clients, delay)
    assert highest is not None
    assert lowest is not None
    assert lowest <= throughput * (1 + 1e-9)
    assert throughput <= highest * (1 + 1e-9)
    assert throughput * (residence + delay) == pytest.approx(clients), (
        "Little's law, of the test's own solver"
    )
    assert all(utilisation(throughput, one) <= 1 + 1e-9 for one in centres)


def test_many_clients_meet_the_saturation_and_one_never_waits() -> None:
    centres = NETWORKS[2]
    alone, _ = mean_value_analysis(centres, 1, 0.0)
    assert alone == pytest.approx(1 / 0.0105)
    assert alone == pytest.approx(pessimistic_throughput(centres, 1))
    crowd, _ = mean_value_analysis(centres, 500, 0.0)
    assert crowd == pytest.approx(125, rel=1e-6)
    assert saturation(centres) == 125
    assert utilisation(crowd, centres[1]) == pytest.approx(1.0)


def test_several_servers_share_a_demand() -> None:
    cpus = Centre(0.002, servers=4)
    assert utilisation(1000, cpus) == pytest.approx(0.5)
    assert saturation([cpus]) == 2000
    # Alone nobody is in the way, however many servers there are.
    assert pessimistic_throughput([cpus], 1) == pytest.approx(500)


def test_a_bound_needs_a_demand() -> None:
    assert saturation([Centre(0.0)]) is None
    assert saturation([]) is None
    assert pessimistic_throughput([], 3) is None
