"""The report as CSV: a row a trial and a row a cut, for a spreadsheet or a data frame."""

import csv
import io
from collections.abc import Iterator

from pydantic import BaseModel

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.count import window_s
from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from diskproof.results.plan import NO_LEVEL, Cell
from diskproof.results.trial import Finding, Trial
from diskproof.wording import Message

LEFT_OUT = ("id", "cell", "histogram", "load_command", "plans", "server_counters")

Row = dict[str, str | float]


def render(folder: RunFolder, analysis: Analysis) -> str:
    """Return a heading, a row a trial that was run and a row a cut that was made, in the order of the run.

    Columns are the fields of the run folder's records by their names (``load.latency_us.mean``); lists are
    left to the records. A figure that was not observed is an empty field, and so is what another tool did
    not tell. Nothing is rounded; 1 is yes, 0 is no. What follows from the trials is in the JSON.
    """
    trials, cuts = folder.trials(), folder.cuts()
    cells = {cell.id: cell for part in (analysis.plan, analysis.plan.crash) if part for cell in part.cells}
    rows = [_of_trial(one, cells[one.cell], analysis) for one in trials]
    rows += [_row(cut, cells[cut.cell], _of_cut(cut), cut.findings) for cut in cuts if cut.cell in cells]
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row) or ["trial"]
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _of_trial(trial: Trial, cell: Cell, analysis: Analysis) -> Row:
    found = [one.finding for one in analysis.findings if trial.id in one.trials]
    valid = trial.finished and all(one.severity != "invalid" for one in found)
    return _row(trial, cell, {"valid": valid}, found)


def _row(one: Trial | CutTrial, cell: Cell, own: dict[str, object], found: list[Finding]) -> Row:
    levels = {name: "" if level in (0, NO_LEVEL) else level for name, level in cell}
    said = "; ".join(f"{finding.severity} {finding.check}" for finding in found)
    return {"trial": one.id, "cell": cell.id} | dict(_flat(levels | own | dict(one) | {"findings": said}))


def _of_cut(cut: CutTrial) -> dict[str, object]:
    if not cut.finished:
        return {"telling": False}
    judged = {"telling": cut.tells, "with_loss": cut.has_loss, "damaged": cut.is_damaged}
    return judged | {
        "lost": cut.lost,
        "window_s": window_s(cut),
        "disk": {one.name: one for one in cut.disks},
    }


def _flat(values: dict[str, object], within: str = "") -> Iterator[tuple[str, str | float]]:
    for name, value in values.items():
        if name in LEFT_OUT:
            continue
        told = value.text if isinstance(value, Message) else value
        if isinstance(told, BaseModel | dict):
            yield from _flat(dict(told), f"{within}{name}.")
        elif isinstance(told, str | float | int):
            yield f"{within}{name}", int(told) if isinstance(told, bool) else told
