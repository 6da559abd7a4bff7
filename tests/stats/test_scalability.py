"""The Universal Scalability Law: what was put in comes out, within its interval."""

import numpy as np
import pytest

from diskproof.stats.scalability import fit_scalability

COUNTS = [1, 2, 4, 8, 16, 32, 64]


def law(clients: float, per_client: float, contention: float, coherency: float) -> float:
    return per_client * clients / (1 + contention * (clients - 1) + coherency * clients * (clients - 1))


@pytest.mark.parametrize(
    ("per_client", "contention", "coherency"),
    [(100.0, 0.02, 0.0005), (12_000.0, 0.3, 0.0), (995.0, 0.0, 0.002), (3.0, 0.0, 0.0)],
)
def test_exact_points_give_the_parameters(per_client: float, contention: float, coherency: float) -> None:
    points = [law(count, per_client, contention, coherency) for count in COUNTS]
    fit = fit_scalability(COUNTS, points)
    assert fit.per_client.estimate == pytest.approx(per_client, rel=1e-6)
    assert fit.contention.estimate == pytest.approx(contention, abs=1e-6)
    assert fit.coherency.estimate == pytest.approx(coherency, abs=1e-7)
    assert fit.residual == pytest.approx(0, abs=1e-9)


def test_noisy_points_hold_the_parameters_in_their_intervals() -> None:
    """Of 20 data sets at 95% a few may miss; half of them missing would be a wrong interval."""
    missed = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        clients = COUNTS * 5
        points = [law(count, 100, 0.05, 0.001) * float(np.exp(random.normal(0, 0.02))) for count in clients]
        fit = fit_scalability(clients, points)
        missed += fit.contention.excludes(0.05) + fit.coherency.excludes(0.001) + fit.per_client.excludes(100)
        assert fit.per_client.uncertainty is not None
        assert fit.per_client.uncertainty < 0.05
        assert 0.01 < fit.residual < 0.03
    assert missed <= 9  # of 60


def test_the_peak_is_where_the_curve_turns() -> None:
    fit = fit_scalability(COUNTS, [law(count, 100, 0.02, 0.0005) for count in COUNTS])
    peak = fit.peak_clients
    assert peak == pytest.approx((0.98 / 0.0005) ** 0.5)
    assert peak is not None
    fitted = [one.estimate for one in (fit.per_client, fit.contention, fit.coherency)]
    assert law(peak, *fitted) > max(law(peak * 0.9, *fitted), law(peak * 1.1, *fitted))
    assert fit_scalability(COUNTS, [law(count, 100, 0.3, 0.0) for count in COUNTS]).peak_clients is None


def test_parameters_never_fall_below_zero() -> None:
    """More than twice the throughput of twice the clients would ask for a negative contention."""
    fit = fit_scalability([1, 2, 4, 8], [100, 220, 500, 1100])
    assert fit.contention.estimate >= 0
    assert fit.coherency.estimate >= 0
    assert fit.contention.low is not None
    assert fit.contention.low >= 0


def test_what_is_no_sweep_is_refused() -> None:
    with pytest.raises(ValueError, match="4 different"):
        fit_scalability([1, 2, 4, 4, 4], [1, 2, 3, 3, 3])
    with pytest.raises(ValueError, match="above 0"):
        fit_scalability([1, 2, 4, 8], [1, 2, 0, 3])
    with pytest.raises(ValueError, match="no points"):
        fit_scalability([1, 2, 4, 8], [1, 2, 3])
    with pytest.raises(ValueError, match="above 0"):
        fit_scalability([0, 2, 4, 8], [1, 2, 3, 4])


def test_the_same_points_give_the_same_interval() -> None:
    points = [101, 188, 330, 520, 690, 700, 590]
    assert fit_scalability(COUNTS, points) == fit_scalability(COUNTS, points)
