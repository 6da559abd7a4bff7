"""The cuts as Markdown."""

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import Safety
from diskproof.report.pipes import escape, table
from diskproof.report.safety import words
from diskproof.report.tables import safety as tables


def alarms(safety: Safety) -> list[str]:
    """Return what stands above everything else: controls that did not do what they must."""
    broken = words.broken_controls(safety)
    return [f"> **Control {one.outcome}:** {escape(one.sentence)}" for one in broken]


def parts(analysis: Analysis, safety: Safety) -> list[str]:
    """Return the parts of the report about the cuts."""
    if not safety.made:
        return ["## Safety", "No cut has been made yet. Go on with `--resume`."]
    return [*_verdicts(safety), *_tables(analysis, safety), *_documented(safety), *_findings(safety)]


def _verdicts(safety: Safety) -> list[str]:
    items = [
        "\n  - ".join([f"- **{words.outcome(one)}**: {escape(one.sentence)}", *map(escape, one.reasons)])
        for one in safety.verdicts
    ]
    told = [f"- **{one.outcome}**: {escape(one.sentence)}" for one in safety.controls]
    listed = ["### Controls", escape(words.controls(safety)), *(["\n".join(told)] if told else [])]
    return ["## Safety", "\n".join(items), *map(escape, words.unverified(safety)), *listed]


def _tables(analysis: Analysis, safety: Safety) -> list[str]:
    made = []
    beside = tables.speed_and_safety(analysis, safety)
    if beside.rows:
        made += ["### Speed beside safety", table(beside)]
    for way in tables.ways(safety):
        made += [
            f"### {words.TITLES[way]}",
            words.TAKEN[way],
            table(tables.cuts(safety, way)),
            table(tables.after_cuts(safety, way)),
        ]
    return [*made, words.NOTE]


def _documented(safety: Safety) -> list[str]:
    if not safety.documented:
        return []
    return [
        "### Beside the documentation",
        f"{words.documented_summary(safety)}.",
        table(tables.documented(safety)),
    ]


def _findings(safety: Safety) -> list[str]:
    if not safety.findings:
        return []
    items = [
        f"- **{found.finding.severity}** {escape(found.finding.check)} ({escape(words.where(found))}): "
        f"{escape(found.finding.message)}"
        + (f"\n  - Remedy: {escape(found.finding.remedy)}" if found.finding.remedy else "")
        for found in safety.findings
    ]
    return ["### Findings of the cuts", "\n".join(items)]
