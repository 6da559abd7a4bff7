"""What holds the cells back, as Markdown."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.shapes import CellLimit, Limits
from diskproof.analysis.limits.words import sentence_case
from diskproof.report.limits import words
from diskproof.report.limits.words import KnownTrouble
from diskproof.report.pipes import escape, table
from diskproof.report.tables import limits as tables
from diskproof.report.tables.table import Table


def parts(analysis: Analysis) -> list[str]:
    """Return the parts of the report about limits; none where nothing was counted."""
    limits = analysis.limits
    if limits is None or not limits.cells:
        return []
    return [
        f"## {words.TITLE}",
        f"{sentence_case(words.summary(limits))} {words.NOTE}",
        *_sentences(analysis, words.unsaid(analysis, limits)),
        table(tables.limits(analysis, limits)),
        *_troubles(analysis, limits),
        *_tabled(f"### {words.split_title(analysis)}", words.SPLIT_NOTE, tables.splits(analysis, limits)),
        *_tabled("", "How each part follows from what was measured:", tables.sources(analysis, limits)),
        *_sweeps(analysis, limits),
        *_proofs(analysis, limits),
        *_tabled("### Demands", words.demands_note(analysis), tables.demands(analysis, limits)),
        *_tabled(
            "### Signals", "All that speaks for a limit, or against it.", tables.signals(analysis, limits)
        ),
    ]


def _sentences(analysis: Analysis, cells: Sequence[CellLimit]) -> list[str]:
    told = [f"- **{escape(words.name(analysis, one))}**: {escape(one.sentence)}" for one in cells]
    return ["\n".join(told)] if told else []


def _tabled(heading: str, note: str, content: Table) -> list[str]:
    if not content.rows:
        return []
    return [*([heading] if heading else []), note, table(content)]


def _troubles(analysis: Analysis, limits: Limits) -> list[str]:
    found = words.troubles(analysis, limits)
    return ["### Known shapes of trouble", "\n".join(map(_trouble, found))] if found else []


def _trouble(found: KnownTrouble) -> str:
    seen = (f"  - {escape(f'{cell}: {says}')}" for cell, says in found.seen)
    remedy = f"  - Remedy: {escape(found.trouble.remedy)} ({escape(found.trouble.source)})"
    return "\n".join([f"- **{escape(found.trouble.name)}**", *seen, remedy])


def _sweeps(analysis: Analysis, limits: Limits) -> list[str]:
    if not limits.sweeps:
        return []
    said = [
        f"- **{escape(words.sweep_name(analysis, one))}**: {escape(one.sentence)}" for one in limits.sweeps
    ]
    return ["### Clients", "\n".join(said), words.sweep_note(limits), table(tables.sweeps(analysis, limits))]


def _proofs(analysis: Analysis, limits: Limits) -> list[str]:
    if not limits.proofs:
        return []
    said = [
        f"- **{one.outcome}**: {escape(f'{words.proof_name(analysis, one)}: {one.sentence}')}"
        for one in limits.proofs
    ]
    return ["### Proofs", words.PROOF_NOTE, "\n".join(said), table(tables.proofs(analysis, limits))]
