"""The report of a run as one page that needs nothing else: no network, no other file, no database."""

from diskproof.analysis.answers import Analysis
from diskproof.report.charts import cells, cuts, dials, faults, published, still
from diskproof.report.charts.split import time_split
from diskproof.report.compose.run import compose
from diskproof.report.document import Figure
from diskproof.report.write import html


def render(analysis: Analysis) -> str:
    """Return the page."""
    first, *others = [*_answers(analysis), None]
    figures = {
        "answer": (first,),
        "charts": others,
        "published": (published.ratios(analysis),),
        "limits": [time_split(analysis)] if analysis.plan.asks != "limits" else [],
    }
    drawn = {anchor: [figure for figure in found if figure] for anchor, found in figures.items()}
    return html.write(compose(analysis, drawn))


def picture(analysis: Analysis) -> str:
    """Return the picture of the whole answer as SVG; empty if there is nothing to draw."""
    return next((still.svg(one) for one in _answers(analysis)), "")


def _answers(analysis: Analysis) -> list[Figure]:
    """Return what may be the picture of the whole answer, the best first."""
    found = (
        faults.over_time(analysis),
        time_split(analysis) if analysis.plan.asks == "limits" else None,
        dials.curve(analysis),
        cuts.speed_against_loss(analysis),
        *cells.throughput(analysis),
    )
    return [*filter(None, found)]
