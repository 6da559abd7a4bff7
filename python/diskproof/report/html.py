"""The report as one page that needs nothing else: no network, no other file, no database."""

from functools import cache

from jinja2 import Environment

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.words import sentence_case
from diskproof.analysis.words import subject
from diskproof.report import beside, charts, headings, money, published_charts, tables, words
from diskproof.report.chart_style import encode
from diskproof.report.curves import over_time
from diskproof.report.limits import words as limit_words
from diskproof.report.limits.drawings import drawings as limit_drawings
from diskproof.report.page_parts import environment, ground
from diskproof.report.price_chart import price_legend, speed_against_price
from diskproof.report.ratio_scale import ratio_scale
from diskproof.report.safety import words as safety_words
from diskproof.report.safety.charts import MOMENT_KEYS, loss_encoding, losses, speed_against_loss, worst_cuts
from diskproof.report.tables import limits as limit_tables
from diskproof.report.tables import safety as safety_tables
from diskproof.results.folder import RunFolder

MOST_VERDICTS_OPEN = 12
"""Verdicts beyond these are folded away, not left out."""


def render(folder: RunFolder, analysis: Analysis) -> str:
    """Return the page. All that came from the study, the machine or a server is escaped."""
    trials = folder.trials()
    figures = [
        charts.throughput(analysis),
        charts.throughput(analysis, charts.REQUESTS),
        charts.throughput(analysis, charts.SECONDS),
        charts.latency(analysis),
        over_time(folder, analysis, trials),
        charts.cost(analysis),
    ]
    cuts = [speed_against_loss(analysis), losses(analysis), worst_cuts(analysis)]
    begun = [*(trial.started_at for trial in trials), *(cut.started_at for cut in folder.cuts())]
    ratios = [verdict.ratio for verdict in analysis.verdicts if verdict.ratio]
    page = _environment().get_template("page.html.j2")
    return page.render(
        analysis=analysis,
        plan=analysis.plan,
        verdicts=words.by_importance(analysis.verdicts),
        published_groups=beside.groups(analysis),
        published_drawings=published_charts.drawings(analysis),
        findings=words.by_severity(analysis.findings),
        most_verdicts_open=MOST_VERDICTS_OPEN,
        scale=ratio_scale(ratios, analysis.plan.same_within),
        figures=[figure for figure in figures if figure],
        price_figure=speed_against_price(analysis),
        price_legend=price_legend(analysis),
        limit_drawings=limit_drawings(folder, analysis, trials),
        encoding=encode(analysis.plan.cells),
        has_speed=headings.has_speed(analysis.plan),
        safety_figures=[figure for figure in cuts if figure],
        safety_encoding=loss_encoding(analysis, analysis.safety) if analysis.safety else None,
        moment_keys=MOMENT_KEYS,
        started_at=min(begun, default=None),
        settings=tables.settings(analysis.plan, trials),
        load_commands=tables.load_commands(analysis, trials),
        virtual_disks=tables.virtual_disks(analysis, trials),
        **ground(),
    )


@cache
def _environment() -> Environment:
    made = environment()
    made.globals.update(beside=beside, headings=headings, money=money, subject=subject, tables=tables)
    made.globals.update(limit_tables=limit_tables, limit_words=limit_words, sentence_case=sentence_case)
    made.globals.update(safety_tables=safety_tables, safety_words=safety_words)
    return made
