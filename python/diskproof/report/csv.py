"""The report as CSV: a row a trial and a row a cut, for a spreadsheet or a data frame."""

import csv
import io

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.records import Limits
from diskproof.analysis.published.join import cells_of
from diskproof.analysis.published.measures import trial_figure
from diskproof.report.compose import limits_words
from diskproof.report.cuts_csv import Row, cut_rows, findings, place_in_run, values
from diskproof.report.validity import counting, findings_by_trial
from diskproof.results.counters import COUNTERS
from diskproof.results.folder import RunFolder
from diskproof.results.load import Latency, LoadResult
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Trial
from diskproof.results.usage import Usage

PERCENTILES = ("50", "95", "99")


def render(folder: RunFolder, analysis: Analysis) -> str:
    """Return a heading and one row a trial that was run, in the order of the run, and one a cut after them.

    Columns name their units; what a trial cost is the total over its measured ``seconds``. A figure
    that was not observed is an empty field. Nothing is rounded; 1 is yes, 0 is no.
    Prices are to own a storage, or of a month, as ``price_basis`` says.
    """
    trials = folder.trials()
    valid, found = counting(analysis, trials), findings_by_trial(analysis)
    rows: list[Row] = [
        {
            **place_in_run(trial),
            "valid": int(trial.id in valid),
            **_factors(analysis.plan.cell(trial.cell), analysis.plan.imported),
            **_price(analysis, analysis.plan.cell(trial.cell)),
            **_scale(analysis.plan),
            **_load(trial.load),
            **_latency(trial.load.latency_us if trial.load else None),
            **_cost(trial.usage, trial.load),
            **_limit(analysis.limits, trial.cell),
            **_published(analysis.plan, trial),
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


def _price(analysis: Analysis, cell: Cell) -> Row:
    """Return what a trial's storage costs, in the study's currency; no columns in a study without prices."""
    prices = analysis.prices
    if prices is None:
        return {}
    storage = next((one for one in prices.storages if one.storage == cell.storage), None)
    return {
        "currency": prices.currency,
        "price_basis": prices.basis,
        "storage_price": storage.amount if storage else None,
        "storage_price_per_gb": storage.amount_per_gb if storage else None,
    }


def _scale(plan: Plan) -> Row:
    return {"scale": plan.scale.name} if plan.scale else {}


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


def _published(plan: Plan, trial: Trial) -> Row:
    """Return each published measure of the trial's cell beside the trial's own figure, in the same unit.

    If two published figures are of the same cell and measure, the first is used.
    """
    columns: Row = {}
    for figure in plan.published.figures if plan.published else []:
        name = "_".join(filter(None, (figure.measure, figure.part)))
        columns.setdefault(f"published_{name}", None)
        columns.setdefault(f"measured_{name}", None)
        is_of_cell = plan.cell(trial.cell) in cells_of(plan, figure)
        if is_of_cell and columns[f"published_{name}"] is None:
            columns[f"published_{name}"] = figure.value
            columns[f"measured_{name}"] = trial_figure(trial.load, figure) if trial.load else None
    return columns


def _cost(usage: Usage | None, load: LoadResult | None) -> Row:
    return {counter.name: counter.of(usage, load) for counter in COUNTERS if counter.name}


def _limit(limits: Limits | None, cell: str) -> Row:
    """Return what holds a trial's cell back, over all its trials; no columns if nothing was counted.

    The time of a mean transaction is split as in the other reports, in µs; what is not known is empty.
    """
    if limits is None:
        return {}
    found = next((one for one in limits.cells if one.cell.id == cell), None)
    split = found.split if found else None
    times_us = dict(limits_words.parts(split)) if split else {}
    names = limits_words.part_names(limits.cells)
    return {
        "limit": (found.limit or limits_words.NOT_ESTABLISHED) if found else None,
        "limit_where": found.where if found else None,
        "limit_bound_per_s": found.bound_per_s if found else None,
        **{
            f"time_{name.lower().replace(' ', '_')}_us": times_us.get(name)
            for name in ([*names, limits_words.UNEXPLAINED] if names else [])
        },
    }
