"""What the cuts showed: verdicts, a table for each way to die and never one for all, documentation."""

from collections.abc import Callable, Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import (
    ControlOutcome,
    CutAnswer,
    CutFinding,
    DocumentedAnswer,
    Safety,
    Spread,
)
from diskproof.report.compose import cut_words as said
from diskproof.report.compose import findings, rows
from diskproof.report.compose.answer import worst_of_cells
from diskproof.report.compose.cut_words import TAKEN, TITLES
from diskproof.report.compose.tables import figures, levels, table
from diskproof.report.document import Block, Column, Item, Items, Paragraph, Section, Table, Tone
from diskproof.results.crash import OF_DISKS, Way
from diskproof.results.factor import CutFactor
from diskproof.results.plan import Cell
from diskproof.wording.numbers import NOT_OBSERVED, listed

NOTE = (
    "Lost: what was acknowledged to a client and was missing after recovery. Window: from the first of it to "
    "the cut; +: the load was too short to see all of it. All: in some cut everything was lost. Shares: "
    "exact 95% intervals (Clopper, Pearson), or one-sided bounds. At risk: more had been acknowledged since "
    "the last flush than there were clients, or a disk had writes that were not safe yet."
)


def section(analysis: Analysis) -> Section:
    """Return the section about the cuts; an empty one if the study asks for none."""
    safety = analysis.safety
    if safety is None:
        return Section("", ())
    blocks: Iterator[Block | Section] = (
        _blocks(safety)
        if safety.made
        else iter([Paragraph("No cut has been made yet. Continue with `--resume`.")])
    )
    return Section("Safety", tuple(blocks), anchor="safety", contents="Safety")


def _blocks(safety: Safety) -> Iterator[Block | Section]:
    yield from (one.table() for one in rows.cuts(safety))
    yield Items(
        tuple(
            Item(reason, name=f"{said.level(one.cell)} ({TITLES[one.way].lower()})")
            for one in worst_of_cells(safety)
            for reason in said.reasons(safety, one)
        )
    )
    yield _controls(safety)
    yield Items(tuple(Item(why, name=name, tone="warning") for name, why in safety.unverified.items()))
    for way in ways(safety):
        yield Section(TITLES[way], (Paragraph(TAKEN[way]), cuts(safety, way)))
    yield Paragraph(NOTE)
    yield _documentation(safety)
    found = [(one.finding, where(one)) for one in safety.findings]
    yield Section("Findings of the cuts", (findings.items(found),))


def _controls(safety: Safety) -> Section:
    """Return what came of the controls, or that there are none."""
    none = Paragraph("No control: nothing shows that a campaign without a loss would detect one.")
    items = [
        Item(said.control(safety, one), lead=f"control {one.outcome}", tone=TONES[one.outcome])
        for one in safety.controls
    ]
    items += [Item(said.unasked(one), lead="not asked", tone="warning") for one in safety.unasked]
    return Section("The controls", (Items(tuple(items)) if items else none,))


TONES: dict[ControlOutcome, Tone] = {
    "holds": "note",
    "failed": "alarm",
    "too weak": "alarm",
    "not tried": "warning",
}


def where(found: CutFinding, most: int = findings.MOST_PLACES) -> str:
    """Return the cuts that a finding concerns, the first few by name."""
    return listed(found.cuts, most)


# ---------------------------------------------------------------- a row a cell

Filled = tuple[Column, Callable[[CutAnswer], str]]


def ways(safety: Safety) -> list[Way]:
    """Return the ways in which something has died, the worst first."""
    return list(dict.fromkeys(one.way for one in safety.answers if one.made))


def cuts(safety: Safety, way: Way) -> Table:
    """Return a row a cell: how many of its cuts lost something, how much, and what was left."""
    answers = [one for one in safety.answers if one.way == way]
    # A figure that no cell has (a kill has no torn writes) needs no column.
    known = [one for one in _COLUMNS if any(one[1](answer) != NOT_OBSERVED for answer in answers)]
    heads = levels(levels_shown(cells_of(safety)))
    return table(answers, *heads, *known, label=TITLES[way], heads=len(heads))


def levels_shown(cells: Sequence[Cell]) -> list[CutFactor]:
    """Return what tells the cells that are cut apart; every table has storage and tuning."""
    several = len({cell.server for cell in cells}) > 1
    known: list[CutFactor] = ["server", "storage", "tuning"] if several else ["storage", "tuning"]
    further: tuple[CutFactor, ...] = ("fault", "clients")
    return known + [one for one in further if len({cell.level(one) for cell in cells}) > 1]


def cells_of(safety: Safety) -> list[Cell]:
    """Return the cells that are cut, in the order of the plan."""
    return list({one.cell.id: one.cell for one in safety.answers}.values())


def _number(figure: float | None) -> str:
    return NOT_OBSERVED if figure is None else f"{figure:,.0f}"


def _seconds(spread: Spread | None, which: str) -> str:
    return NOT_OBSERVED if spread is None else said.seconds(getattr(spread, which)).removesuffix(" s")


def _worst_lost(answer: CutAnswer) -> str:
    return "all" if answer.gone else _number(answer.lost.worst if answer.lost else None)


def _telling(figure: Callable[[CutAnswer], float | None]) -> Callable[[CutAnswer], str]:
    return lambda one: _number(figure(one)) if one.telling else NOT_OBSERVED


def _torn(answer: CutAnswer) -> str:
    """Return the torn writes of cuts; states of a log have none."""
    return NOT_OBSERVED if answer.way not in OF_DISKS or answer.states else _number(answer.torn_writes)


def _binlog(answer: CutAnswer) -> str:
    if answer.binlog is None:
        return NOT_OBSERVED
    return f"{answer.binlog.cuts_binlog_only}, {answer.binlog.cuts_engine_only}"


def _share(answer: CutAnswer) -> str:
    return said.interval(answer.loss_share) if answer.loss_share and not answer.states else NOT_OBSERVED


_COLUMNS: tuple[Filled, ...] = (
    (figures("Cuts"), lambda one: f"{one.telling} of {one.planned}"),
    (figures("States"), lambda one: _number(sum(seen.checked for seen in one.states) or None)),
    (figures("At risk"), _telling(lambda one: one.at_risk)),
    (figures("With loss"), lambda one: f"{one.with_loss} of {one.telling}"),
    (figures("Share, 95%"), _share),
    (figures("Median lost"), lambda one: _number(one.lost.median if one.lost else None)),
    (figures("Worst"), _worst_lost),
    (figures("Window s"), lambda one: f"{_seconds(one.window_s, 'worst')}{'+' * bool(one.open_windows)}"),
    (Column("Damage, by cuts"), lambda one: said.kinds(one.damage) or "none"),
    (figures("Binlog ahead, behind"), _binlog),
    (figures("Recovery s"), lambda one: _seconds(one.recovery_s, "median")),
    (figures("Torn writes"), _torn),
    (Column("Not telling, by cuts"), lambda one: said.causes([*one.silent, *one.unfinished]) or "none"),
)


# ---------------------------------------------------------------- documentation


def _documentation(safety: Safety) -> Section:
    return Section("Beside the documentation", (documented(safety),))


def documented(safety: Safety) -> Table:
    """Return a row a cell and way: what documentation says, what was observed, and whether they agree."""
    heads = levels(levels_shown(cells_of(safety)))
    return table(
        safety.documented,
        *heads,
        ("Dies by", lambda one: one.way),
        ("Documented", _says),
        ("Observed", lambda one: _observed(safety, one)),
        ("Outcome", lambda one: one.outcome),
        (
            "Source and note",
            lambda one: "; ".join(
                text.rstrip(".") for text in (one.documented.source, one.documented.note) if text
            ),
        ),
        label="What documentation says, beside what was observed",
        heads=len(heads) + 1,
    )


def _says(answer: DocumentedAnswer) -> str:
    within_s, allowed_s = answer.documented.within_s, answer.allowed_s
    said_s = f", up to {within_s:g} s" if within_s is not None else ""
    late = f" ({allowed_s:.3g} s with a timer and two flushes)" if allowed_s is not None else ""
    return f"{answer.documented.says}{said_s}{late}"


def _observed(safety: Safety, one: DocumentedAnswer) -> str:
    answer = safety.answer(one.cell.id, one.way)
    return said.outcome(answer) if answer else NOT_OBSERVED
