"""Runs under way as metrics, in the text format of OpenMetrics 1.0."""

from collections.abc import Iterable, Iterator

from diskproof.site.following import Now

METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

MEANINGS = {
    "diskproof_trials": "Trials that were made",
    "diskproof_trials_planned": "Trials of the plan so far",
    "diskproof_cuts": "Cuts that were made",
    "diskproof_cuts_planned": "Cuts of the plan",
    "diskproof_left_seconds": "Time until the end of what is planned, by what was made",
    "diskproof_throughput": "Transactions or requests a second of the trial under way, without its warm-up",
}


def metrics(runs: Iterable[Now]) -> str:
    """Return the metrics of runs."""
    samples = [sample for run in runs for sample in _samples(run)]
    lines = []
    for name, meaning in MEANINGS.items():
        lines += [f"# TYPE {name} gauge", f"# HELP {name} {meaning}."]
        lines += [f"{name}{labels} {value:.10g}" for of, labels, value in samples if of == name]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _samples(run: Now) -> Iterator[tuple[str, str, float]]:
    of_run = {"study": run.path.parent.name, "run": run.path.name}
    for name, value in (
        ("trials", run.trials),
        ("trials_planned", len(run.plan.trials)),
        ("cuts", run.cuts),
        ("cuts_planned", run.planned_cuts),
        ("left_seconds", run.left_s),
    ):
        yield f"diskproof_{name}", _labels(of_run), value
    if run.live and run.live.course and run.live.course[-1][0] > 0:
        cells = {trial.id: trial.cell for trial in run.plan.trials}
        more = {"trial": run.live.trial, "cell": cells.get(run.live.trial, "")}
        yield "diskproof_throughput", _labels(of_run | more), run.live.course[-1][1]


def _labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
