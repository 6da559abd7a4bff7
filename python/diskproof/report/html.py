"""The report as one page that needs nothing else: no network, no other file, no database."""

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from typing import Any

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from diskproof.analysis.answers import Analysis
from diskproof.analysis.words import subject
from diskproof.report import charts, tables, words
from diskproof.report.chart_parts import Figure
from diskproof.report.chart_style import LIGHT, config, encode
from diskproof.report.curves import over_time
from diskproof.report.ratio_scale import ratio_scale
from diskproof.results.folder import RunFolder

MOST_VERDICTS_OPEN = 12
"""Verdicts beyond these are folded away, not left out."""

MOST_PANELS_SHOWN = 12
"""A figure with more panels shows one at a time, chosen by name."""

_CODE_SPAN = re.compile(r"`([^`]+)`")


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
    vega, drawing = _script(_vega()), _script(_asset("page.js"))
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
        chart_config=config(LIGHT),
        policy=_policy(vega, drawing),
        style=Markup(_asset("page.css")),  # noqa: S704 - our own file
        vega=vega,
        drawing=drawing,
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("diskproof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        words=words,
        subject=subject,
        tables=tables,
        specifications=_specifications,
        most_panels_shown=MOST_PANELS_SHOWN,
    )
    environment.filters.update(prose=_prose, paragraphs=_paragraphs)
    return environment


def _specifications(figure: Figure) -> list[dict[str, Any]]:
    return [panel.complete_spec() for panel in figure.panels]


def _prose(text: str) -> Markup:
    """Escape a text; what stands in backticks is set as code."""
    return Markup(_CODE_SPAN.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


# ---------------------------------------------------------------- scripts


def _script(source: str) -> Markup:
    """Return a script of ours or of a library so that nothing in it can end its element early."""
    harmless = source.replace("</script", r"<\/script").replace("<!--", r"<\!--")
    return Markup(harmless)  # noqa: S704 - no data goes into a script


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; bundling takes seconds, so it is done once."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


def _asset(name: str) -> str:
    return (resources.files("diskproof.report") / "templates" / name).read_text()


def _policy(*scripts: str) -> str:
    """Return a Content-Security-Policy: these scripts alone may run, and nothing may be fetched."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    scripts_and_styles = f"script-src {hashes}; style-src 'unsafe-inline'"
    return f"default-src 'none'; {scripts_and_styles}; base-uri 'none'; form-action 'none'"


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
