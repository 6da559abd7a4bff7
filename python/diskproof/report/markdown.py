"""The report of a run as Markdown, to be pasted where people talk: it begins with a summary of five lines."""

from dataclasses import replace

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import answer, head, summary
from diskproof.report.compose.run import compose
from diskproof.report.document import Paragraph, Section
from diskproof.report.write import markdown


def render(analysis: Analysis) -> str:
    """Return the whole report; its summary has the lead and the answer of the other forms."""
    whole = compose(analysis)
    scale = head.scale(analysis.plan)
    first = Section("", (summary.run(analysis), *([Paragraph(scale)] if scale else [])))
    rest = [section for section in whole.sections if section.anchor != answer.ANCHOR]
    rest.insert(1 if analysis.safety else 0, first)  # nothing stands above what went wrong in cuts
    return markdown.write(replace(whole, name="", lead=(), sections=tuple(rest)))
