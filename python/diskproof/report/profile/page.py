"""A profile as one page that needs nothing else."""

from diskproof.report.page_parts import environment, ground
from diskproof.report.profile import tables
from diskproof.report.profile.charts import drawings
from diskproof.report.profile.words import effort, lies_on, probe, title
from diskproof.results.profile import Profile


def render(profile: Profile) -> str:
    """Return the page."""
    return (
        environment()
        .get_template("profile.html.j2")
        .render(
            profile=profile,
            title=title(profile),
            lies_on=lies_on(profile.place),
            effort=effort(profile),
            probe=probe,
            drawings=drawings(profile),
            sections=tables.sections(profile),
            facts=tables.facts(profile),
            **ground(),
        )
    )
