"""The pages of runs that grow: what they say, and the templates that they fill."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from diskproof.analysis.so_far import CellSoFar, PairSoFar
from diskproof.audit.run import varying_factors
from diskproof.history.shelf import Shelved, began
from diskproof.report.compose import verdict_words
from diskproof.report.compose.rows import UNITS, ratio_row, ratio_scale
from diskproof.report.document import Bar, Column, Table
from diskproof.report.intervals import as_shown, bounds, estimate
from diskproof.report.one_screen import Block, absolute_scale
from diskproof.report.write import html
from diskproof.results.plan import Metric, Plan
from diskproof.site.following import Now
from diskproof.wording import numbers

COURSE_PX = (600, 100)
"""The drawing of a trial's course, which is stretched to its place."""

WAYS = {"power": "power cut", "stop": "stop of the system", "kill": "kill", "restart": "restart"}


def templates() -> Environment:
    """Return what fills the templates of this room."""
    return html.environment("diskproof.site")


def address(run: Path) -> str:
    """Return the address of a run's page."""
    return f"/run/{quote(run.parent.name, safe='')}/{run.name}"


# ---------------------------------------------------------------- one run


def now(run: Now) -> str:
    """Return what is under way, as a part of the page."""
    said = {"said": _state(run), "trial": _trial(run), "course": _course(run)}
    return templates().get_template("now.html.j2").render(said)


def made(run: Now) -> str:
    """Return what has been made, as a part of the page."""
    metrics = dict.fromkeys(map(run.plan.metric, run.plan.cells))
    tables = [_cells(run.plan, metric, run.cells) for metric in metrics]
    tables += [_pairs(run.plan, run.pairs), _deaths(run)]
    return templates().get_template("made.html.j2").render(tables=[one for one in tables if one.rows])


def page(run: Now) -> str:
    """Return the page of a run without a report: its parts follow the run if it is under way."""
    return (
        templates()
        .get_template("run.html.j2")
        .render(
            name=run.path.parent.name,
            began=began(run.path),
            question=run.plan.question,
            events=f"{address(run.path)}/events" if run.state == "under way" else "",
            now=Markup(now(run)),  # noqa: S704 - a template made it, which escapes
            made=Markup(made(run)),  # noqa: S704
        )
    )


def _state(run: Now) -> str:
    counts = (
        (run.trials, len(run.plan.trials), "trial"),
        (run.cuts, run.planned_cuts, "cut"),
    )
    said = " and ".join(f"{done} of {numbers.count(all_of, noun)}" for done, all_of, noun in counts if all_of)
    said += f", {numbers.count(run.proofs, 'pair')} of proofs" if run.proofs else ""
    match run.state:
        case "under way" if run.trials + run.cuts == len(run.plan.trials) + run.planned_cuts:
            return f"{said}. The rest is under way: proofs, or the report."
        case "under way":
            more = " or more, until it is decided" if run.plan.at_most_s is not None else ""
            return f"{said}, about {numbers.duration(_rounded(run.left_s))} left{more}."
        case "ended early":
            return f"{said}. The run ended early. Continue it with {run.plan.resumed_by}."
        case "done":
            path = f"{run.path}/report.html"
            return f"{said}. Its report: `diskproof report {run.path} --html {path}`."


def _rounded(left_s: float) -> float:
    """Return a time to ten seconds from a minute on: each second another one would be read for a clock."""
    return round(left_s, -1) if left_s >= 60 else round(left_s)


def _trial(run: Now) -> str:
    """Return what the trial under way does: ``b02-t03, disk, 8 clients: warming up, 1,204 a second``."""
    if run.live is None:
        return ""
    cell = {one.id: one.cell for one in run.plan.trials}.get(run.live.trial)
    known = {one.id: one for one in run.plan.cells}.get(cell or "")
    of = f", {verdict_words.cell_words(known, varying_factors(run.plan.cells))}" if known else ""
    course = run.live.course
    if not course:
        return f"{run.live.trial}{of}: getting ready for {max(0, run.at_s - run.live.began_s):.0f} s"
    at_s, rate = course[-1]
    does = "warming up" if at_s <= 0 else f"measured for {at_s:.0f} s"
    if known and at_s > 0 and run.plan.metric(known) != "seconds":
        does += f" of {run.plan.phases_of(known).measure_s:g}"
    return f"{run.live.trial}{of}: {does}, {numbers.number(rate)} a second"


@dataclass(frozen=True)
class Course:
    """The throughput of a trial over time, to be drawn."""

    points: str
    began_px: float | None
    """Where the measured phase begins; None: not in the picture."""
    most: str
    words: str
    width: int = COURSE_PX[0]
    height: int = COURSE_PX[1]


def _course(run: Now) -> Course | None:
    course = run.live.course if run.live else ()
    if len(course) < 2:
        return None
    width, height = COURSE_PX
    first, last = course[0][0], course[-1][0]
    most, span = max(rate for _, rate in course) or 1.0, (last - first) or 1.0
    points = (
        f"{(t_s - first) / span * width:.0f},{height - rate / most * height:.0f}" for t_s, rate in course
    )
    began = -first / span * width if first < 0 < last else None
    words = f"Throughput of the last {span:.2g} s, at most {numbers.number(most)} a second"
    return Course(" ".join(points), began, numbers.number(most), words)


# ---------------------------------------------------------------- tables


def _cells(plan: Plan, metric: Metric, every: Sequence[CellSoFar]) -> Table:
    """Return a row a cell: its figure with interval, and how many of its trials are made and count."""
    some = [one for one in every if plan.metric(one.cell) == metric]
    varying = varying_factors(plan.cells)
    figures = [as_shown(metric, one.figure) for one in some]
    known = [one for one in figures if one]
    return Table(
        tuple(map(Column, ("Cell", UNITS[metric], "Interval", "Trials"))),
        tuple(
            (
                verdict_words.cell_words(one.cell, varying_factors(plan.cells)),
                estimate(figure) if figure else "",
                bounds(figure) if figure else "",
                f"{one.made} of {one.planned}{_invalid(one)}",
            )
            for one, figure in zip(some, figures, strict=True)
        ),
        f"Cells so far, {UNITS[metric]}",
        scale=absolute_scale(known) if known and varying else None,
        bars=tuple(Bar(one.estimate, one.low, one.high, "same") if one else None for one in figures),
    )


def _invalid(one: CellSoFar) -> str:
    return f", {one.made - one.counting} invalid" if one.made > one.counting else ""


def _pairs(plan: Plan, pairs: Sequence[PairSoFar]) -> Table:
    """Return a row a comparison: what it would come to if the run ended now."""
    varying = varying_factors(plan.cells)
    known = [one for one in pairs if one.ratio]
    rows = []
    for one in known:
        held = {factor: one.cell.level(factor) for factor in varying if factor != one.factor}
        sides = (one.cell, one.baseline)
        levels = [verdict_words.subject(one.factor, side.level(one.factor)) for side in sides]
        name = f"{' against '.join(levels)}{verdict_words.conditions(held)}"
        rows.append(ratio_row((name,), one, ()))
    scale = ratio_scale([one.ratio for one in known if one.ratio])
    return Block("Comparisons so far", tuple(rows), scale=scale).table()


def _deaths(run: Now) -> Table:
    """Return a row for each way in which a cell dies: how many cuts did harm."""
    return Table(
        tuple(map(Column, ("Cuts", "Way", "Lost or damaged something"))),
        tuple(
            (cell, WAYS[way], f"{harmed} of {tells}" if tells else "")
            for cell, way, tells, harmed in run.deaths
        ),
        "Cuts so far",
    )


# ---------------------------------------------------------------- many runs


@dataclass(frozen=True)
class Line:
    """A run in the list."""

    run: Shelved
    state: str

    @property
    def address(self) -> str:
        """Where its page is."""
        return address(self.run.path)


def overview(root: Path, lines: Sequence[Line], has_more: bool, find: str) -> str:
    """Return the list of all runs; it refreshes itself while one of them is under way."""
    refresh = any(one.state == "under way" for one in lines)
    said = {"root": root, "lines": lines, "has_more": has_more, "find": find, "refresh": refresh}
    return templates().get_template("overview.html.j2").render(said)
