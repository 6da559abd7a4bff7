"""What the cuts showed: a row a level, a table for each way to die and never one for all, documentation."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import ControlOutcome, CutAnswer, DocumentedAnswer, Safety
from diskproof.analysis.safety.speed import cells_of, speeds_of
from diskproof.analysis.safety.worst import worst_of_cells
from diskproof.report.compose import cut_words as said
from diskproof.report.compose import faults, findings
from diskproof.report.compose.cut_words import TAKEN, TITLES
from diskproof.report.compose.tables import levels, table
from diskproof.report.document import Block as PageBlock
from diskproof.report.document import Item, Items, Paragraph, Section, Table, Tone
from diskproof.report.intervals import estimate
from diskproof.report.one_screen import SHARES, Block, Row
from diskproof.results.crash import Way
from diskproof.results.factor import CutFactor
from diskproof.results.plan import Cell
from diskproof.wording.numbers import NOT_OBSERVED, count, listed

NOTE = (
    "Lost: what was acknowledged to a client and was missing after recovery. Worst: how long before the cut "
    "the first of it was acknowledged; ≥: the load was too short to see all of it. Intervals: exact, 95% "
    "(Clopper, Pearson), or one-sided bounds. Commits/s: until the cut, or as measured alone. At risk: cuts "
    "in which something was not safe yet."
)


def section(analysis: Analysis) -> Section:
    """Return the section about the cuts; an empty one if the study asks for none."""
    safety = analysis.safety
    if safety is None:
        return Section("", ())
    return Section("Safety", tuple(_blocks(safety)), anchor="safety", contents="Safety")


def _blocks(safety: Safety) -> Iterator[PageBlock | Section]:
    if not safety.made:
        yield Paragraph("No cut has been made yet. Continue with `--resume`.")
        return
    if safety.faults:
        yield from (one.table() for one in faults.rows(safety))
    for way in ways(safety):
        found = [one for one in safety.answers if one.way == way]
        yield Section(TITLES[way], (Paragraph(TAKEN[way]), rows(safety, found).table()))
    yield Paragraph(NOTE)
    yield Items(
        tuple(
            Item(reason, name=f"{said.level(one.cell)} ({TITLES[one.way].lower()})")
            for one in worst_of_cells(safety)
            for reason in said.reasons(safety, one)
        )
    )
    yield _controls(safety)
    yield Items(tuple(Item(why, name=name, tone="warning") for name, why in safety.unverified.items()))
    yield Section("Beside the documentation", (documented(safety),))
    told = [(one.finding, listed(one.cuts, findings.MOST_PLACES)) for one in safety.findings]
    yield Section("Findings of the cuts", (findings.items(told),))


def _controls(safety: Safety) -> Section:
    """Return what came of the controls, or that there are none."""
    shown = "what was lost shows" if any(one.with_loss for one in safety.answers) else "nothing shows"
    none = Paragraph(f"No control: {shown} that these cuts would reveal a loss.")
    items = [
        Item(said.control(safety, one), lead=f"control {one.outcome}", tone=TONES[one.outcome])
        for one in safety.controls
    ]
    items += [Item(said.unasked(one), lead="not asked", tone="warning") for one in safety.unasked]
    return Section("The controls: outcomes known beforehand", (Items(tuple(items)) if items else none,))


TONES: dict[ControlOutcome, Tone] = {
    "holds": "note",
    "failed": "alarm",
    "too weak": "alarm",
    "not tried": "warning",
}


# ---------------------------------------------------------------- a row a cell


def ways(safety: Safety) -> list[Way]:
    """Return the ways in which something has died, the worst first."""
    return list(dict.fromkeys(one.way for one in safety.answers if one.made))


def on_screen(safety: Safety) -> Iterator[Block]:
    """Yield a row a level: what the way to die that took most took, or in a study of faults what they did."""
    if safety.faults:
        yield from faults.rows(safety)
    elif answers := [one for one in worst_of_cells(safety) if one.made]:
        yield rows(safety, answers)


def rows(safety: Safety, answers: Sequence[CutAnswer]) -> Block:
    """Return a row a cell: the share of its cuts that lost something, the most that one took, its speed.

    A table has more; what no cell has, such as damage, needs no column.
    """
    factors, speeds = levels_shown([one.cell for one in answers]), speeds_of(safety)
    dying = {one.way for one in answers}
    columns: dict[str, Callable[[CutAnswer], str]] = {
        "worst loss": worst_loss,
        "commits/s": lambda one: estimate(speeds.get(one.cell.id)),
        **_COLUMNS,
    }
    known = {
        title: entry
        for title, entry in columns.items()
        if title == "worst loss" or any(entry(one) not in NOTHING for one in answers)
    }
    made = []
    for one in answers:
        share = None if one.states else one.loss_share
        tone: Tone = "plain" if one.is_whole else "alarm" if one.gone or one.damaged else "worse"
        names = tuple(one.cell.level(factor) for factor in factors)
        made.append(
            Row(
                (*names, one.way) if len(dying) > 1 else names,
                f"{one.with_loss} of {one.telling}" if one.telling and not one.states else "",
                tone if one.telling else "open",
                share,
                tuple(entry(one) for entry in known.values()),
                interval=said.interval(share) if share else "",
            )
        )
    causes = listed(sorted(said.CAUSES[way] for way in dying))
    title = "cuts that lost something" if dying == {"power"} else f"lost something to {causes}"
    most = 1 + ("commits/s" in known)
    return Block(title, tuple(made), tuple(known), SHARES, "of all cuts", most_figures=most)


def levels_shown(cells: Sequence[Cell]) -> list[CutFactor]:
    """Return what tells the cells that are cut apart; every table has storage and tuning."""
    several = len({cell.server for cell in cells}) > 1
    known: list[CutFactor] = ["server", "storage", "tuning"] if several else ["storage", "tuning"]
    further: tuple[CutFactor, ...] = ("fault", "clients")
    return known + [one for one in further if len({cell.level(one) for cell in cells}) > 1]


def worst_loss(one: CutAnswer) -> str:
    """Return the worst that a cut took, commits by their time: ``nothing``, ``≥ 1.0 s of commits``."""
    if not one.telling or one.loss_share is None:
        return "not known"
    if one.gone:
        return f"database, {said.cuts(one.gone)}"
    if one.damaged:
        return f"damage, {said.cuts(one.damaged)}"
    if not one.with_loss:
        states = sum(seen.checked for seen in one.states)
        return f"none in {count(states, 'state')}" if states else "nothing"
    if one.window_s is None:
        return NOT_OBSERVED
    return f"{'≥ ' if one.open_windows else ''}{said.seconds(one.window_s.worst)} of {said.taken(one.cell)}s"


def _number(figure: float | None) -> str:
    return NOT_OBSERVED if figure is None else f"{figure:,.0f}"


def _binlog(answer: CutAnswer) -> str:
    if answer.binlog is None:
        return NOT_OBSERVED
    return f"{answer.binlog.cuts_binlog_only}, {answer.binlog.cuts_engine_only}"


def _recovery_s(answer: CutAnswer) -> str:
    return said.seconds(answer.recovery_s.median).removesuffix(" s") if answer.recovery_s else NOT_OBSERVED


NOTHING = (NOT_OBSERVED, "none", "0, 0")

_COLUMNS: Mapping[str, Callable[[CutAnswer], str]] = {
    "at risk": lambda one: _number(one.at_risk) if one.telling else NOT_OBSERVED,
    "most lost": lambda one: "all" if one.gone else _number(one.lost.worst if one.lost else None),
    "damage, by cuts": lambda one: said.kinds(one.damage) or "none",
    "binlog ahead, behind": _binlog,
    "recovery s": _recovery_s,
    "not telling, by cuts": lambda one: said.causes([*one.silent, *one.unfinished]) or "none",
}


# ---------------------------------------------------------------- documentation


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
        ("Source and note", _source),
        label="What documentation says, beside what was observed",
        heads=len(heads) + 1,
    )


def _says(answer: DocumentedAnswer) -> str:
    within_s, allowed_s = answer.documented.within_s, answer.allowed_s
    said_s = f", up to {within_s:g} s" if within_s is not None else ""
    late = f" ({allowed_s:.3g} s with a timer and two flushes)" if allowed_s is not None else ""
    return f"{answer.documented.says}{said_s}{late}"


def _source(answer: DocumentedAnswer) -> str:
    texts = (answer.documented.source, answer.documented.note)
    return "; ".join(text.rstrip(".") for text in texts if text)


def _observed(safety: Safety, one: DocumentedAnswer) -> str:
    answer = safety.answer(one.cell.id, one.way)
    return said.outcome(answer) if answer else NOT_OBSERVED
