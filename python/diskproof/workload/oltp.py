"""The OLTP family as arguments of diskproof-load: what a person would type, so that a report can show it."""

from diskproof.study.model import Workload

PERCENTILES = (50, 75, 90, 95, 99, 99.9)

LONG_MEASUREMENT_S = 20
"""From here on one-second intervals give the steadiness tests enough bins."""


def data_arguments(workload: Workload, seed: int) -> list[str]:
    """Return what determines the data set: arguments of `prepare`, and part of a golden image's key."""
    arguments = _common_arguments(workload)
    if workload.engine:
        arguments += ["--engine", workload.engine]
    return [*arguments, "--seed", str(seed)]


def run_arguments(
    workload: Workload, clients: int, warm_up_s: float, measure_s: float, seed: int
) -> list[str]:
    """Return the arguments of `run` for one trial."""
    arguments = _common_arguments(workload)
    if workload.protocol:
        arguments += ["--protocol", workload.protocol]
    arguments += ["--clients", str(clients), "--warm-up", f"{warm_up_s:g}", "--seconds", f"{measure_s:g}"]
    arguments += ["--report-interval", f"{interval_s(measure_s):g}"]
    arguments += ["--percentiles", ",".join(f"{percentile:g}" for percentile in PERCENTILES)]
    return [*arguments, "--seed", str(seed)]


def interval_s(measure_s: float) -> float:
    """Return the length of an interval: a second, or a twentieth of a short measurement."""
    return 1.0 if measure_s >= LONG_MEASUREMENT_S else max(measure_s / LONG_MEASUREMENT_S, 0.05)


def _common_arguments(workload: Workload) -> list[str]:
    """Return what `prepare` and `run` must agree on; the column k holds draws from the distribution, too."""
    tables = ["--tables", str(workload.tables), "--rows", str(workload.rows)]
    return [*tables, "--mix", workload.mix, "--distribution", workload.distribution]
