"""The report as CSV: a row a trial and a row a cut, for a spreadsheet or a data frame."""

import csv
import io

from diskproof.analysis.answers import Analysis
from diskproof.report.cuts_csv import Row, cut_rows, findings, place_in_run, values
from diskproof.report.validity import counting, findings_by_trial
from diskproof.results.counters import COUNTERS
from diskproof.results.folder import RunFolder
from diskproof.results.load import Latency, LoadResult
from diskproof.results.plan import Cell
from diskproof.results.trial import Trial
from diskproof.results.usage import Usage

PERCENTILES = ("50", "95", "99")


def render(folder: RunFolder, analysis: Analysis) -> str:
    """Return a heading and one row a trial that was run, in the order of the run, and one a cut after them.

    Columns name their units; what a trial cost is the total over its measured ``seconds``. A figure
    that was not observed is an empty field. Nothing is rounded; 1 is yes, 0 is no. What follows from the
    trials, such as limits, is in the JSON.
    """
    trials = folder.trials()
    valid, found = counting(analysis, trials), findings_by_trial(analysis)
    rows: list[Row] = [
        {
            **place_in_run(trial),
            "valid": int(trial.id in valid),
            **_factors(analysis.plan.cell(trial.cell), analysis.plan.imported),
            **_load(trial.load),
            **_latency(trial.load.latency_us if trial.load else None),
            **_cost(trial.usage, trial.load),
            "findings": findings(found.get(trial.id, [])),
        }
        for trial in trials
    ]
    text = io.StringIO()
    if analysis.plan.crash:
        rows += cut_rows(analysis.plan.crash, folder.cuts())
    columns = dict.fromkeys(name for row in rows for name in row) or ["trial"]
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _factors(cell: Cell, imported: bool) -> Row:
    return {
        "cell": cell.id,
        **values(cell, ("server", "storage", "tuning", "workload")),
        "memory_bytes": cell.memory_bytes or (None if imported else 0),
        "clients": cell.clients or (None if imported else 0),
    }


def _load(load: LoadResult | None) -> Row:
    bare = load if load and load.file_requests else None
    requests = values(bare, ("transactions", "transactions_per_s"))
    return {
        "seconds": load.seconds if load else None,
        **values(None if bare else load, ("transactions", "transactions_per_s")),
        **{name.replace("transactions", "requests"): value for name, value in requests.items()},
        "megabytes_per_s": bare.megabytes_per_s if bare else None,
        "job_s": load.figure("seconds") if load else None,
        "rate_asked_per_s": load.rate.asked_per_s if load and load.rate else None,
        "waiting_at_end": load.rate.waiting if load and load.rate else None,
        **values(load, ("failed_transactions", "retries")),
        "errors": _errors(load),
    }


def _errors(load: LoadResult | None) -> int | None:
    """Return the errors; None if the retries are not known either: then an empty list says nothing."""
    if load is None or (not load.errors and load.retries is None):
        return None
    return sum(error.count for error in load.errors)


def _latency(latency: Latency | None) -> Row:
    percentiles = {f"latency_p{key}_us": latency.exact(key) if latency else None for key in PERCENTILES}
    return {
        "latency_mean_us": latency.mean if latency else None,
        **percentiles,
        "latency_max_us": latency.max if latency else None,
    }


def _cost(usage: Usage | None, load: LoadResult | None) -> Row:
    return {counter.name: counter.of(usage, load) for counter in COUNTERS if counter.name}
