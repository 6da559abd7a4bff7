"""A curve over a property of a disk: a row a value, and which value is enough."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.dials import Curve, Need, figure_at
from diskproof.report.compose import verdict_words
from diskproof.report.compose.tables import figures, table
from diskproof.report.document import Document, Paragraph, Section, Table
from diskproof.report.intervals import bounds, estimate
from diskproof.report.one_screen import Block, Row, absolute_scale
from diskproof.results.dial import FLUSH, DialPoint, Mark
from diskproof.results.limit import IN_WORDS
from diskproof.results.plan import NO_LEVEL
from diskproof.stats.grouping import grouped
from diskproof.wording import numbers

MOST_DRAWN = 2
"""Curves whose values are rows with bars on a screen; of more each is one row."""


def title_of(key: str) -> str:
    """Return a property as an axis has it: ``flush``, ``iops``."""
    return re.sub(r"_us$|\.fixed$", "", key).replace("_", " ")


def unit_of(curve: Curve) -> str:
    """Return what a curve's figures count."""
    return "requests/s" if curve.metric == "requests_per_s" else "transactions/s"


def shown(key: str, value: float) -> str:
    """Return a value with its unit if that is a time: ``300 µs``."""
    return numbers.time(value) if key.endswith("_us") else numbers.number(value)


def held(curve: Curve, but: str = "") -> str:
    """Return what else tells a curve from the others, but for one factor: ``safest, 8 clients``."""
    levels = [
        verdict_words.subject(factor, level)
        for factor, level in curve.held.items()
        if level != NO_LEVEL and factor != but
    ]
    return ", ".join([*levels, *_others(curve.also)])


def answer(curves: Sequence[Curve]) -> str:
    """Return where most of the throughput is lost, in a sentence; empty if no curve comes so low."""
    half = [(curve, need) for curve in curves for need in curve.needs[-1:] if need.value is not None]
    if not half:
        return ""
    first = half[0][0]
    lost = numbers.whole_percent(half[0][1].loss)
    if len(half) > MOST_DRAWN:
        least, most = (shown(first.key, find(need.value or 0 for _, need in half)) for find in (min, max))
        at = least if least == most else f"{least} to {most}, on {len(half)} of {len(curves)} curves"
    else:
        at = numbers.listed(
            [f"{shown(curve.key, need.value or 0)}{_where(curve, ' (', ')')}" for curve, need in half]
        )
    best = f"{title_of(first.key)} {shown(first.key, first.best.value)}"
    return f"{lost} of the throughput at {best} is lost at {at}."


def _where(curve: Curve, before: str, after: str = "") -> str:
    return f"{before}{held(curve)}{after}" if held(curve) else ""


def blocks(analysis: Analysis, weak: Collection[str] = ()) -> Iterator[Block]:
    """Yield the curves, a row a value, or a row a curve if there are many; and the values that are enough."""
    if len(analysis.curves) > MOST_DRAWN:
        yield _many(analysis.curves)
    else:
        yield from (_points(curve, weak) for curve in analysis.curves)
    yield from _needs(analysis.curves)


def _many(curves: Sequence[Curve]) -> Block:
    """Return many curves as figures, a row a curve and a column a value."""
    key = curves[0].key
    known = [(held(one), {point.value: estimate(point.figure) for point in one.points}) for one in curves]
    return _by_value(f"{title_of(key)}; {unit_of(curves[0])}", key, known)


def _by_value(title: str, key: str, known: Sequence[tuple[str, Mapping[float, str]]]) -> Block:
    """Return named rows with a column for each value of a property that one of them has."""
    values = sorted({value for _, figures in known for value in figures})
    rows = (Row((name,), figures=tuple(by.get(value, "") for value in values)) for name, by in known)
    return Block(title, tuple(rows), tuple(shown(key, value) for value in values))


def ratios(analysis: Analysis, found: Sequence[Verdict]) -> Iterator[Block]:
    """Yield how two levels compare at each value of a varied disk: a row a condition, a column a value."""
    dials = analysis.plan.dials
    points = [(one, dials[one.held["storage"]]) for one in found]
    alike = grouped(points, lambda one: (one[0].factor, one[0].level, one[0].baseline, one[1].dial))
    for pair in alike.values():
        key = next(iter(pair[0][1].values))
        known = [
            (condition, {point.values[key]: _ratio(one) for one, point in some})
            for condition, some in grouped(pair, _condition).items()
        ]
        yield _by_value(f"{verdict_words.against(pair[0][0])}, ratio", key, known)


def _ratio(one: Verdict) -> str:
    """Return a ratio: ``2.98``, or ``1.03 open``."""
    if one.ratio is None:
        return numbers.NOT_OBSERVED
    is_open = one.outcome in ("inconclusive", "not comparable")
    return f"{numbers.number(one.ratio.estimate)}{' open' if is_open else ''}"


def _condition(one: tuple[Verdict, DialPoint]) -> str:
    """Return what is equal on both sides, but for the first property of the disk: ``8 clients``."""
    verdict, point = one
    levels = [verdict_words.subject(*held) for held in verdict.held.items() if held[0] != "storage"]
    return ", ".join([*levels, *_others(dict([*point.values.items()][1:]))]) or "all"


def _others(values: Mapping[str, float]) -> list[str]:
    """Return the values of other properties than the first: ``iops 3,000``."""
    return [f"{title_of(key)} {shown(key, value)}" for key, value in values.items()]


def _of(curve: Curve) -> str:
    title = title_of(curve.key)
    return f"{title if curve.dial == title else f'{title} of {curve.dial}'}{_where(curve, ': ')}"


def _points(curve: Curve, weak: Collection[str] = ()) -> Block:
    """Return a row a value: the figure with its interval, what holds it back, and what was predicted."""
    rows = tuple(
        Row(
            (shown(curve.key, one.value),),
            estimate(one.figure),
            "plain",
            one.figure,
            (IN_WORDS[one.limit] if one.limit else "", numbers.number(one.predicted)),
            one.cell in weak,
            bounds(one.figure),
        )
        for one in curve.points
    )
    columns, scale = ("held back by", "predicted"), absolute_scale([one.figure for one in curve.points])
    return Block(f"{_of(curve)}; {unit_of(curve)}", rows, columns, scale, most_figures=1)


def _needs(curves: Sequence[Curve]) -> Iterator[Block]:
    """Yield which value is enough to keep a share of the throughput: a row a curve."""
    if curves:
        losses = [f"lose {numbers.whole_percent(need.loss)}" for need in curves[0].needs]
        rows = [
            Row((held(curve) or curve.dial,), figures=tuple(_enough(curve, need) for need in curve.needs))
            for curve in curves
        ]
        yield Block(f"{title_of(curves[0].key)} at which you", tuple(rows), tuple(losses))


def _enough(curve: Curve, need: Need) -> str:
    """Return a value; beyond the curve's far end if all of it is good enough."""
    if need.value is None:
        far = curve.points[0] if curve.best is curve.points[-1] else curve.points[-1]
        return f"{'>' if far is curve.points[-1] else '<'} {shown(curve.key, far.value)}"
    return shown(curve.key, need.value)


def section(analysis: Analysis) -> Section:
    """Return the curves as tables; an empty section if no property of a disk varies."""
    parts = [one.table() for one in (*map(_points, analysis.curves), *_needs(analysis.curves))]
    return Section("The curve", (*parts, places(analysis.curves, analysis.marks)), "curve", "Curve")


def places(curves: Sequence[Curve], marks: Sequence[Mark]) -> Table:
    """Return a row a disk that lies on curves over the time of a flush: the throughput there."""
    over = [curve for curve in curves if curve.key == FLUSH]
    on = [mark for mark in marks if any(figure_at(curve, mark.value) for curve in over)]
    return table(
        sorted(on, key=lambda mark: mark.value),
        ("disk", lambda mark: mark.name),
        (figures("flush"), lambda mark: shown(FLUSH, mark.value)),
        *((figures(held(curve) or unit_of(curve)), partial(_throughput, curve)) for curve in over),
        label="Where disks lie on the curve, by interpolation",
    )


def here(curves: Sequence[Curve], mark: Mark) -> Document:
    """Return where one disk lies on a run's curves: you are here."""
    over = [(curve, figure) for curve in curves if (figure := figure_at(curve, mark.value))]
    found = table(
        over,
        ("curve", lambda one: held(one[0]) or one[0].dial),
        (figures(unit_of(curves[0])), lambda one: estimate(one[1])),
        (figures("interval"), lambda one: bounds(one[1])),
        label="This disk on the curves, by interpolation",
    )
    if mark.value <= 0:
        said = f"A synced write on {mark.name} is quicker than one on {curves[0].device} without any flush"
    else:
        said = f"A synced write on {mark.name} takes as long as with a flush of {shown(FLUSH, mark.value)}"
    ends = " and ".join(shown(FLUSH, point.value) for point in (curves[0].points[0], curves[0].points[-1]))
    beyond = "" if over else f", which is not between the ends of the curve, {ends}"
    return Document("You are here", (Paragraph(f"{said}{beyond}."),), (Section("", (found,)),))


def _throughput(curve: Curve, mark: Mark) -> str:
    found = figure_at(curve, mark.value)
    return f"{estimate(found)} ({bounds(found)})" if found else numbers.NOT_OBSERVED
