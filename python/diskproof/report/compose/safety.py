"""What the cuts showed: verdicts, a table for each way to die and never one for all, documentation."""

from collections.abc import Callable, Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import CutAnswer, CutFinding, DocumentedAnswer, Safety, Spread
from diskproof.report.compose import cut_words as said
from diskproof.report.compose import faults, findings, rows
from diskproof.report.compose.answer import worst_of_cells
from diskproof.report.compose.safety_words import TAKEN, TITLES
from diskproof.report.compose.tables import figures, levels, table
from diskproof.report.document import Block, Column, Item, Items, Paragraph, Section, Table
from diskproof.results.crash import OF_DISKS, Way
from diskproof.results.factor import CutFactor
from diskproof.results.plan import Cell
from diskproof.wording.numbers import NOT_OBSERVED, count, listed, size

NOTE = (
    "Lost: transactions that were acknowledged to a client and were missing after recovery. Median, mean "
    "and worst are over all telling cuts, those without a loss among them. Window: from the first lost "
    "acknowledgement to the cut; the worst loss and the worst window may be of different cuts. The share "
    "of cuts with a loss has an exact two-sided 95% interval (Clopper and Pearson). If none or all of n "
    "cuts lost something, it has a one-sided 95% bound (about 3/n). At risk: more commits had been "
    "acknowledged since the last flush than there were clients. After a power cut it is also at risk if a"
    " disk had writes that were not safe yet, or if something was taken. The other cuts had nothing to "
    "take that is known of. There unasked: transactions that were committed while their answer was under "
    "way; nothing is wrong with them. + after a window: in some cuts all acknowledged transactions were "
    "lost. The window is then as long as the load, and the true one is at least that. All: in some cut "
    "the whole database was lost."
)


def alarms(safety: Safety) -> Items:
    """Return what is shown above everything else: controls that did not do what they must."""
    ranks = {"failed": 0, "too weak": 1, "not tried": 2} if safety.complete else {"failed": 0}
    broken = sorted(
        (one for one in safety.controls if one.outcome in ranks), key=lambda one: ranks[one.outcome]
    )
    items = [Item(said.control(safety, one), lead=f"control {one.outcome}", tone="alarm") for one in broken]
    return Items(tuple(items))


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
    if safety.faults:
        yield faults.details(safety)
    yield Items(
        tuple(
            Item(reason, name=f"{said.level(one.cell)} ({TITLES[one.way].lower()})")
            for one in worst_of_cells(safety)
            for reason in said.reasons(safety, one)
        )
    )
    yield Paragraph(controls(safety))
    made = (Item(said.control(safety, one), lead=one.outcome) for one in safety.controls)
    yield Section("The controls", (Items(tuple(made)),), folded=True)
    yield Items(tuple(Item(why, name=name, tone="warning") for name, why in safety.unverified.items()))
    for way in ways(safety):
        after = Section(
            "After the cuts: damage, recovery, the disks", (after_cuts(safety, way),), folded=True
        )
        taken = Paragraph(TAKEN[way])
        yield Section(TITLES[way], (taken, cuts(safety, way), after))
    yield Paragraph(NOTE)
    yield _documentation(safety)
    found = [(one.finding, where(one)) for one in safety.findings]
    yield Section("Findings of the cuts", (findings.items(found),))


def controls(safety: Safety) -> str:
    """Return what came of the controls, or that there are none."""
    if not safety.controls and not safety.unasked:
        return (
            "The campaign has no controls. `controls` in `[crash]` names cells that must keep or lose "
            "something. Without them, a campaign that detects no loss looks like one in which nothing is "
            "lost."
        )
    held = sum(one.outcome == "holds" for one in safety.controls)
    asked = f"{held} of {count(len(safety.controls), 'control')} did what they must."
    unasked = f" Not asked: {'; '.join(map(said.unasked, safety.unasked))}." if safety.unasked else ""
    return f"{asked}{unasked}"


def where(found: CutFinding, most: int = findings.MOST_PLACES) -> str:
    """Return the cuts that a finding concerns, the first few by name."""
    return listed(found.cuts, most)


# ---------------------------------------------------------------- a row a cell

Filled = tuple[Column, Callable[[CutAnswer], str]]


def ways(safety: Safety) -> list[Way]:
    """Return the ways in which something has died, the worst first."""
    return list(dict.fromkeys(one.way for one in safety.answers if one.made))


def cuts(safety: Safety, way: Way) -> Table:
    """Return a row a cell: how many of its cuts lost something, and how much."""
    return _table(safety, way, _LOSSES, f"Losses: {TITLES[way]}")


def after_cuts(safety: Safety, way: Way) -> Table:
    """Return a row a cell: damage, recovery, the binary log, and what the disks kept."""
    return _table(safety, way, _AFTERWARDS, f"After the cuts: {TITLES[way]}")


def _table(safety: Safety, way: Way, columns: Sequence[Filled], label: str) -> Table:
    answers = [one for one in safety.answers if one.way == way]
    # A figure that no cell has (a kill has no torn writes) needs no column.
    known = [one for one in columns if any(one[1](answer) != NOT_OBSERVED for answer in answers)]
    heads = levels(levels_shown(cells_of(safety)))
    return table(answers, *heads, *known, label=label, heads=len(heads))


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


def _of(spread: Spread | None, which: str) -> str:
    """Return a number of transactions: whole, but for a mean or a median between two cuts."""
    if spread is None:
        return NOT_OBSERVED
    value: float = getattr(spread, which)
    return _number(value) if value == int(value) or value >= 100 else f"{value:.1f}"


def _seconds(spread: Spread | None, which: str) -> str:
    return NOT_OBSERVED if spread is None else said.seconds(getattr(spread, which)).removesuffix(" s")


def _window(answer: CutAnswer, which: str) -> str:
    """Return a window; with a ``+`` if the load was too short to see all of it."""
    shown = _seconds(answer.window_s, which)
    return f"{shown}+" if answer.open_windows else shown


def _worst_lost(answer: CutAnswer) -> str:
    return "all" if answer.gone else _of(answer.lost, "worst")


def _telling(figure: Callable[[CutAnswer], float | None]) -> Callable[[CutAnswer], str]:
    return lambda one: _number(figure(one)) if one.telling else NOT_OBSERVED


def _of_disks(words: Callable[[CutAnswer], str]) -> Callable[[CutAnswer], str]:
    return lambda one: NOT_OBSERVED if one.way not in OF_DISKS else words(one)


def _share(answer: CutAnswer) -> str:
    return said.interval(answer.loss_share) if answer.loss_share and not answer.states else NOT_OBSERVED


def _kept(answer: CutAnswer) -> str:
    drawn = [f"{keep} {one.cuts}" for keep, one in answer.kept.items()]
    return ", ".join(drawn) or NOT_OBSERVED


def _binlog(answer: CutAnswer) -> str:
    if answer.binlog is None:
        return NOT_OBSERVED
    return f"{answer.binlog.cuts_binlog_only}, {answer.binlog.cuts_engine_only}"


_damaged = _telling(lambda one: one.damaged)

_LOSSES: tuple[Filled, ...] = (
    (figures("Cuts"), lambda one: f"{one.telling} of {one.planned}"),
    (figures("States"), lambda one: _number(sum(seen.checked for seen in one.states) or None)),
    (figures("At risk"), _telling(lambda one: one.at_risk)),
    (figures("With loss"), lambda one: f"{one.with_loss} of {one.telling}"),
    (figures("Share, 95%"), _share),
    (figures("Damaged"), _damaged),
    (figures("Median lost"), lambda one: _of(one.lost, "median")),
    (figures("Mean lost"), lambda one: _of(one.lost, "mean")),
    (figures("Worst"), _worst_lost),
    (figures("Median window s"), lambda one: _window(one, "median")),
    (figures("Window s"), lambda one: _window(one, "worst")),
)

_AFTERWARDS: tuple[Filled, ...] = (
    (figures("Acknowledged"), _telling(lambda one: one.acknowledged)),
    (figures("There unasked"), lambda one: _number(one.unacknowledged_present)),
    (figures("Order broken"), lambda one: _number(one.out_of_order or None)),
    (Column("Damage, by cuts"), lambda one: said.kinds(one.damage) or "none"),
    (figures("Binlog ahead, behind"), _binlog),
    (figures("Recovery median s"), lambda one: _seconds(one.recovery_s, "median")),
    (figures("worst s"), lambda one: _seconds(one.recovery_s, "worst")),
    (figures("Torn writes"), _of_disks(lambda one: _number(None if one.states else one.torn_writes))),
    (figures("Lost in the disks"), _of_disks(lambda one: size(one.lost_bytes))),
    (Column("Drawn"), _kept),
    (Column("Silent, by cuts"), lambda one: said.causes(one.silent) or "none"),
    (Column("Broke off, by cuts"), lambda one: said.causes(one.unfinished) or "none"),
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
