"""The report as one page that needs nothing else: no network, no other file, no database."""

from functools import cache

from jinja2 import Environment

from diskproof.analysis.answers import Analysis
from diskproof.analysis.words import subject
from diskproof.report import charts, tables, words
from diskproof.report.chart_style import encode
from diskproof.report.curves import over_time
from diskproof.report.disk_tables import virtual_disks
from diskproof.report.page_parts import environment, ground
from diskproof.report.ratio_scale import ratio_scale
from diskproof.results.folder import RunFolder

MOST_VERDICTS_OPEN = 12
"""Verdicts beyond these are folded away, not left out."""


def render(folder: RunFolder, analysis: Analysis) -> str:
    """Return the page. All that came from the study, the machine or a server is escaped."""
    trials = folder.trials()
    figures = [
        charts.throughput(analysis),
        charts.throughput(analysis, charts.SECONDS),
        charts.latency(analysis),
        over_time(folder, analysis, trials),
        charts.cost(analysis),
    ]
    ratios = [verdict.ratio for verdict in analysis.verdicts if verdict.ratio]
    page = _environment().get_template("page.html.j2")
    return page.render(
        analysis=analysis,
        plan=analysis.plan,
        verdicts=words.by_importance(analysis.verdicts),
        findings=words.by_severity(analysis.findings),
        most_verdicts_open=MOST_VERDICTS_OPEN,
        scale=ratio_scale(ratios, analysis.plan.same_within),
        figures=[figure for figure in figures if figure],
        encoding=encode(analysis.plan.cells),
        started_at=min((trial.started_at for trial in trials), default=None),
        settings=tables.settings(analysis.plan, trials),
        load_commands=tables.load_commands(analysis, trials),
        virtual_disks=virtual_disks(analysis, trials),
        **ground(),
    )


@cache
def _environment() -> Environment:
    made = environment()
    made.globals.update(subject=subject, tables=tables)
    return made
