"""What holds each cell back: limits, known shapes of trouble, proofs."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.records import Limits, ProofAnswer
from diskproof.report.compose import limits_words as words
from diskproof.report.compose.tables import cells_table, figures, noted, table
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Figure, Item, Items, Paragraph, Section, Table
from diskproof.report.intervals import with_bounds
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import number

NOTE = "Named if two instruments show it and fewer contradict it. What a change would do is predicted."

PROOF_NOTE = "Each change should matter if the limit is right. Its effect was predicted before the trials."

MOST_CELLS_NAMED = 3


def section(analysis: Analysis, drawn: Sequence[Figure] = ()) -> Section:
    """Return the section about limits; an empty one if nothing was counted."""
    limits = analysis.limits
    if limits is None or not limits.cells:
        return Section("", ())
    return Section(
        words.TITLE,
        (
            Paragraph(NOTE),
            limits_table(analysis, limits),
            _troubles(analysis, limits),
            *drawn,
            noted("Proofs", PROOF_NOTE, proofs(analysis, limits)),
        ),
        anchor="limits",
        contents="Limits",
    )


# ---------------------------------------------------------------- troubles


def _troubles(analysis: Analysis, limits: Limits) -> Section:
    """Return each trouble with the cells that have it: what many cells have is said once."""
    found = [(cell_words(cell.cell, analysis.varying), one) for cell in limits.cells for one in cell.troubles]
    items = []
    for alike in grouped(found, lambda one: (one[1].name, one[1].remedy)).values():
        more = [f"{len(alike) - MOST_CELLS_NAMED} more"] if len(alike) > MOST_CELLS_NAMED else []
        first, where = alike[0][1], "; ".join([*(cell for cell, _ in alike[:MOST_CELLS_NAMED]), *more])
        lines = (Paragraph(first.remedy.text, lead="Remedy"), Paragraph(first.source, lead="Source"))
        items.append(Item(first.says.text, lead=first.name, name=f"({where})", tone="warning", lines=lines))
    return Section("Known shapes of trouble", (Items(tuple(items)),))


# ---------------------------------------------------------------- tables of cells


def limits_table(analysis: Analysis, found: Limits) -> Table:
    """Return a row a cell: its limit, the bound, the evidence, and what a change would do."""
    return cells_table(
        analysis,
        found.cells,
        ("Held back by", lambda one: one.limit or words.NOT_ESTABLISHED),
        ("Why, and what would free it", lambda one: one.sentence.text),
        label="What holds each cell back",
    )


# ---------------------------------------------------------------- proofs


def proofs(analysis: Analysis, found: Limits) -> Table:
    """Return a row a proof: what was changed, what was predicted, and what came of it."""
    return table(
        found.proofs,
        ("Cell", lambda one: cell_words(analysis.plan.cell(one.cell), analysis.varying)),
        ("Limit", lambda one: one.limit),
        ("What was changed", lambda one: one.intervention.says.text),
        (figures("Predicted ratio"), _predicted),
        (figures("Measured ratio"), lambda one: with_bounds(one.measured)),
        ("Outcome", lambda one: one.outcome),
        ("How it was predicted", lambda one: one.basis.text),
        label="Interventions, what was predicted, and what was measured",
    )


def _predicted(proof: ProofAnswer) -> str:
    low, high = number(proof.predicted_low), number(proof.predicted_high)
    return f"{number(proof.predicted_ratio)} ({low} to {high})"
