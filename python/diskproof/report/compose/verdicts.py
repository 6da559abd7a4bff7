"""The verdicts of a run: a row each, then what makes the differences, and what must be known of them."""

from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, CellComparison, Verdict
from diskproof.analysis.asked import asked
from diskproof.analysis.limits.records import Difference
from diskproof.report.compose import limits_words, rows, verdict_words
from diskproof.report.compose.answer import has_verdict, why_no_verdict
from diskproof.report.compose.tables import figures, table
from diskproof.report.document import Block, Item, Items, Paragraph, Section, Table
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import milliseconds, sentence_case

Compared = Sequence[tuple[str, Verdict | CellComparison]]
"""Comparisons with their names."""

LITTLE = 0.05
"""Of a difference: a part that makes less of it is not named."""


def section(analysis: Analysis) -> Section:
    """Return the verdicts, first those that the study asks for, or why there are none."""
    if not has_verdict(analysis):
        blocks: tuple[Block | Section, ...] = (Paragraph(why_no_verdict(analysis)),)
    else:
        first = asked(analysis)
        ordered = [*first, *(one for one in analysis.verdicts if one not in first)]
        named = [
            (f"{verdict_words.against(one)}{verdict_words.conditions(one.held)}", one) for one in ordered
        ]
        blocks = (*(one.table() for one in rows.pairs(analysis, ordered)), *explained(named))
    return Section("Verdicts", blocks, anchor="verdicts", contents="Verdicts")


def explained(named: Compared) -> tuple[Block | Section, ...]:
    """Return what comparisons rest on, and the parts of a transaction that make each difference."""
    known = Items(
        tuple(
            Item(reason, name=name, tone="warning")
            for name, one in named
            for reason in verdict_words.reasons(one)
        )
    )
    differences = [(name, one.difference) for name, one in named if one.difference]
    return known, Section("What makes the differences", (_parts(differences),))


def _parts(found: Sequence[tuple[str, Difference]]) -> Table:
    """Return a row a difference: the time of both sides, and by how much each part of it differs."""
    parts = [name for name in limits_words.PARTS if any(_more(one.parts.get(name), one) for _, one in found)]
    return table(
        found,
        ("Mean time", lambda row: row[0]),
        (figures("ms"), lambda row: milliseconds(row[1].baseline_us.estimate + row[1].whole_us.estimate)),
        (figures("Instead of ms"), lambda row: milliseconds(row[1].baseline_us.estimate)),
        *(
            (figures(sentence_case(part)), lambda row, part=part: _more(row[1].parts.get(part), row[1]))
            for part in parts
        ),
        (figures("Unexplained"), lambda row: _more(row[1].unexplained_us, row[1])),
        label="By how many milliseconds each part of the mean time differs",
    )


def _more(part_us: Interval | None, difference: Difference) -> str:
    """Return by how much a part differs; empty if that is little of the whole difference."""
    if part_us is None or abs(part_us.estimate) < LITTLE * abs(difference.whole_us.estimate):
        return ""
    return f"{'+' if part_us.estimate >= 0 else ''}{milliseconds(part_us.estimate)}"
