"""The report as JSON: the whole analysis, for other programs."""

from diskproof.analysis.answers import Analysis


def render(analysis: Analysis) -> str:
    """Return the analysis as indented JSON; ``Analysis.model_json_schema()`` is its schema.

    Names carry their units. What was not observed is null, and so is a figure that is not finite.
    """
    return analysis.model_dump_json(indent=2) + "\n"
