"""Study files in tests: their text as a plan."""

from diskproof.results.plan import Plan
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, parse_study


def plan_of(text: str, only: list[str] | None = None, at_most_s: float | None = None) -> Plan:
    """Return the plan of a study file with this text."""
    return make_plan(StudyFile("study", text, parse_study(text, "study.toml")), only, at_most_s=at_most_s)
