"""The laws hold for a closed network that was solved exactly, and the bounds enclose it."""

import math
from collections.abc import Sequence

import pytest

from diskproof.stats.operational import (
    Centre,
    knee_clients,
    mean_present,
    pessimistic_throughput,
    response_bound,
    saturation,
    service_demand,
    throughput_bound,
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


@pytest.mark.parametrize("think", [0.0, 0.05])
@pytest.mark.parametrize("clients", [1, 2, 5, 40])
@pytest.mark.parametrize("centres", NETWORKS)
def test_bounds_enclose_the_exact_solution(centres: list[Centre], clients: int, think: float) -> None:
    throughput, residence = mean_value_analysis(centres, clients, think)
    highest, lowest = (
        throughput_bound(centres, clients, think),
        pessimistic_throughput(centres, clients, think),
    )
    assert highest is not None and lowest is not None
    assert lowest <= throughput * (1 + 1e-9)
    assert throughput <= highest * (1 + 1e-9)
    assert residence >= response_bound(centres, clients, think) * (1 - 1e-9)
    assert mean_present(throughput, residence + think) == pytest.approx(clients)
    assert all(utilisation(throughput, one) <= 1 + 1e-9 for one in centres)


def test_one_client_meets_the_upper_bound_and_many_the_saturation() -> None:
    centres = NETWORKS[2]
    alone, _ = mean_value_analysis(centres, 1, 0.0)
    assert alone == pytest.approx(1 / 0.0105)
    assert alone == throughput_bound(centres, 1)
    crowd, _ = mean_value_analysis(centres, 500, 0.0)
    assert crowd == pytest.approx(125, rel=1e-6)
    assert saturation(centres) == 125


def test_the_knee_is_where_the_asymptotes_meet() -> None:
    centres, think = [Centre(0.002), Centre(0.008)], 0.03
    knee = knee_clients(centres, think)
    assert knee == pytest.approx(5.0)
    assert knee is not None
    below, above = throughput_bound(centres, math.floor(knee), think), throughput_bound(centres, 6, think)
    assert below == saturation(centres) == above


def test_several_servers_share_a_demand() -> None:
    cpus = Centre(0.002, servers=4)
    assert utilisation(1000, cpus) == pytest.approx(0.5)
    assert saturation([cpus]) == 2000
    # Alone nobody is in the way, however many servers there are.
    assert pessimistic_throughput([cpus], 1) == pytest.approx(500)
    assert throughput_bound([cpus], 1) == pytest.approx(500)


def test_a_demand_needs_completions_and_a_bound_needs_a_demand() -> None:
    assert service_demand(9.3, 1000) == pytest.approx(0.0093)
    with pytest.raises(ValueError, match="completed"):
        service_demand(1.0, 0)
    assert saturation([Centre(0.0)]) is None
    assert throughput_bound([], 3) is None
    assert knee_clients([]) is None
    assert pessimistic_throughput([], 3) is None
    assert response_bound([], 3) == 0
