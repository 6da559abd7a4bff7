"""One screen in the characters of a terminal: at most 24 lines of 80 columns."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.console import Console
from rich.text import Text

from diskproof.report.document import Scale
from diskproof.report.one_screen import Block, OneScreen, Row, foremost
from diskproof.report.write.terminal import STYLES, marked
from diskproof.wording.numbers import count, unbroken

WIDTH, HEIGHT = 80, 24

MARGIN, GAP = 2, 2
"""Blanks before a row, and between its parts."""

MOST_BAR, FEWEST_BAR = 28, 8
"""Columns of a bar."""

MOST_LEAD = 14
"""Columns of the words before what to know."""

TO_DO = ("To do", "To be surer")
"""They lose only whole sentences, before rows find room."""

MOST_LEVEL = 24
"""Columns of one level."""

FEWEST, CROWDED, MOST, WHOLE = 1, 2, 3, 6
"""Lines of the facts, the answer, and each thing to know: at first the fewest, but `CROWDED` of the answer,
and all of what to do. While all rows find room, the answer grows first, then things to know to `CROWDED`, the
facts to `MOST`, things to know to `MOST`, the facts to `WHOLE`. Without that room, only the first two."""

LEAST_OF_ROWS = 9
"""Lines that rows have at least, before words have a second one."""

HELD = "\ue000"
"""A blank at which no line may end, while lines are made: rich ends them at no-break spaces, too."""

UNICODE, ASCII = "├─┤●┊┼", "|-|o:+"
"""The low end, the bar, the high end, the estimate, equal speed, and a bar that crosses it."""


def write(screen: OneScreen, console: Console, last: Sequence[str] = ()) -> None:
    """Print a screen; `last` are lines that belong below it, such as the path of the page."""
    width = min(console.width, WIDTH)
    signs = UNICODE if console.encoding.lower().startswith("utf") else ASCII
    for line in lines(screen, width, HEIGHT - len(last) - bool(last), signs):
        console.print(line, soft_wrap=True, no_wrap=True)
    if last:
        console.print()
    for text in last:
        console.print(Text(text, style="dim"), soft_wrap=True)


def lines(screen: OneScreen, width: int, height: int, signs: str) -> list[Text]:
    """Return the lines of a screen; rows that find no room are counted."""
    question = _wrapped(screen.question, width, "bold")[:2]
    whole = [one.for_screen() for one in screen.blocks if one.rows]
    parts = _parts(screen, width)
    room = height - len(question) - 1 - sum(len(part.lines) for part in parts)
    need, known = _height(whole), range(2, len(parts))
    fits = room >= need
    growth = [(1, MOST), *[(1, MOST + 1)] * fits, *((at, CROWDED) for at in known)]
    if fits:
        growth += [(0, CROWDED), (0, MOST), *((at, MOST) for at in known)]
        growth += [(0, most) for most in range(MOST + 1, WHOLE + 1)]
    for at, most in growth:
        longer = replace(parts[at], most=most)
        if room - (more := len(longer.lines) - len(parts[at].lines)) >= (need if fits else LEAST_OF_ROWS):
            parts[at], room = longer, room - more
    rows = _drawn(whole, width, signs) if fits else _cut(whole, screen, width, room, signs)
    facts, *others = ([*part.drawn()] for part in parts)
    return [*question, *facts, *rows, Text(), *(line for part in others for line in part)]


@dataclass(frozen=True)
class Part:
    """The facts, the answer or a thing to know, in at most so many lines."""

    lead: str
    text: str
    width: int
    most: int
    style: str = ""

    @property
    def lines(self) -> list[Text]:
        """Its lines without their lead; what to do keeps all sentences that have room, or none."""
        if self.lead in TO_DO:
            return _fitted(self, MOST, _SENTENCES, "") if self.most else []
        return _fitted(self, self.most)

    def drawn(self) -> Iterator[Text]:
        """Yield its lines."""
        for at, line in enumerate(self.lines):
            lead = f"{'' if at else self.lead:{MOST_LEAD}} " if self.lead else ""
            yield Text.assemble((lead, "bold"), line)


def _parts(screen: OneScreen, width: int) -> list[Part]:
    """Return the facts, the answer and each thing to know in as few lines as they may have."""
    known = [
        Part(lead, text, width - MOST_LEAD - 1, 0 if lead == TO_DO[1] else FEWEST)
        for lead, text in screen.lines
    ]
    facts = Part("", screen.facts, width, FEWEST, "dim")
    return [facts, Part("", screen.answer, width - 2, CROWDED, "bold"), *known]


_CLAUSES, _SENTENCES = re.compile(r"(?<=[.;:,])\s|\s(?=\()"), re.compile(r"(?<=[.;])\s")


def _fitted(of: Part, most: int, parts: re.Pattern[str] = _CLAUSES, mark: str = " …") -> list[Text]:
    """Return a part's text in so many lines; one that has more loses whole clauses, for which a mark stands.

    If too little were left of it, it ends within one.
    """
    whole = _wrapped(of.text, of.width, of.style)
    if len(whole) <= most:
        return whole
    for found in reversed([*parts.finditer(of.text)]):
        shown = f"{of.text[: found.start()].rstrip('.;:,')}{mark or '.'}"
        wrapped = _wrapped(shown, of.width, of.style)
        if len(wrapped) <= most and (not mark or len(shown) > of.width * most / 2):
            return wrapped
    last = whole[most - 1]
    last.truncate(of.width - 2)
    last.rstrip()
    return [*whole[: most - 1], last.append(" …")]


def _wrapped(text: str, width: int, style: str) -> list[Text]:
    """Return a text in lines."""
    if not text:
        return []
    whole = marked(unbroken(" ".join(text.split()), HELD), style)
    lines = list(whole.wrap(Console(width=width), width))
    for line in lines:
        line.rstrip()
        line.plain = line.plain.replace(HELD, " ")
    return lines


# ---------------------------------------------------------------- rows


def _cut(blocks: Sequence[Block], screen: OneScreen, width: int, room: int, signs: str) -> Iterator[Text]:
    """Yield the foremost rows that fit into so many lines; the others are counted."""
    every = sum(len(one.rows) for one in blocks)
    fitting = (some for most in range(every, -1, -1) if _height(some := foremost(blocks, most)) < room)
    shown = next(fitting, [])
    yield from _drawn(shown, width, signs)
    hidden = every - sum(len(one.rows) for one in shown)
    yield Text(f"  {count(hidden, 'more row')}: {screen.whole}", style="dim")


def _height(blocks: Sequence[Block]) -> int:
    return sum(1 + len(one.rows) for one in blocks) + bool(blocks)


@dataclass(frozen=True)
class Columns:
    """Where the parts of all rows stand: columns of a terminal."""

    levels: tuple[int, ...]
    said: int
    interval: int
    bar: int
    """0: there is none, or no room for one."""
    figures: tuple[int, ...]

    @property
    def left(self) -> int:
        """What stands before the bar."""
        return MARGIN + sum(wide + GAP for wide in self.levels) + self.said + self.interval

    @property
    def all(self) -> int:
        """All of them together."""
        return self.left + self.bar + sum(wide + GAP for wide in self.figures)


def _columns(blocks: Sequence[Block], width: int) -> Columns:
    """Return the columns of blocks; too many lose last figures, then letters of levels."""
    rows = [row for block in blocks for row in block.rows]
    whole = _widths([row.levels for row in rows])
    levels = [min(wide, MOST_LEVEL if whole[1:] else 2 * MOST_LEVEL) for wide in whole]
    said = max((len(row.said) + 2 * row.is_weak for row in rows), default=0)
    number = max((len(row.figures) for row in rows), default=0)
    figures = _widths([*(block.columns for block in blocks), *(row.figures for row in rows)])[:number]
    shown = [(block.interval, row.interval) for block in blocks for row in block.rows if row.interval]
    interval = max((len(one) for both in shown for one in both), default=0)
    made = Columns(tuple(levels), said + GAP * bool(interval), interval, 0, tuple(figures))
    # A bar says more than some of the figures, where every block has one.
    least = (GAP + FEWEST_BAR) * all(block.scale for block in blocks)
    least *= made.left + least <= width
    while made.figures and made.all + least > width:
        made = replace(made, figures=made.figures[:-1])
    if made.left > width:
        made = replace(made, interval=0)
    while made.left > width and max(levels, default=0) > 1:
        levels[levels.index(max(levels))] -= 1
        made = replace(made, levels=tuple(levels))
    bar = min(MOST_BAR, width - made.all - GAP) if any(block.scale for block in blocks) else 0
    if bar < FEWEST_BAR:
        return made
    gap = GAP if made.interval else 0
    return replace(made, bar=bar, interval=made.interval + gap, said=made.said + GAP - gap)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]


def _drawn(blocks: Sequence[Block], width: int, signs: str) -> Iterator[Text]:
    """Yield the lines of blocks, all with the same columns."""
    if not blocks:
        return
    columns = _columns(blocks, width)
    drawn: Scale | None = None
    yield Text()
    for block in blocks:
        shows_scale = bool(columns.bar) and block.scale != drawn and len(block.title) <= columns.left
        yield _title(block, columns, width, shows_scale=shows_scale)
        drawn = block.scale if block.scale and shows_scale else drawn
        before: tuple[str, ...] = ()
        for row in block.rows:
            yield _row(row, before, columns, block.scale, signs)
            before = row.levels


def _title(block: Block, columns: Columns, width: int, *, shows_scale: bool) -> Text:
    before, figures = columns.left - columns.interval, columns.left + columns.bar
    title = Text.assemble((f"{_short(block.title, width):<{before}}", "bold"))
    if columns.interval and len(block.title) < before and any(row.interval for row in block.rows):
        title.append(f"{block.interval:<{columns.interval}}", "dim")
    title.append(" " * (columns.left - len(title)))
    if block.scale and shows_scale:
        title.append(_ticks(block.scale, columns.bar), "dim")
    title.append(" " * (figures - len(title)))
    if len(title) <= figures and any(row.figures for row in block.rows):
        for column, wide in zip(block.columns, columns.figures, strict=False):
            title.append(f"{'':{GAP}}{_short(column, wide):>{wide}}", "dim")
    title.rstrip()
    return title


def _row(row: Row, before: tuple[str, ...], columns: Columns, scale: Scale | None, signs: str) -> Text:
    """Return a row; levels that it shares with the row `before` are not said again."""
    text = Text(" " * MARGIN)
    for at, wide in enumerate(columns.levels):
        level = row.levels[at] if at < len(row.levels) else ""
        repeated = at < len(row.levels) - 1 and row.levels[: at + 1] == before[: at + 1]
        text.append(f"{'' if repeated else _short(level, wide):<{wide}}{'':{GAP}}")
    result = f"{row.said}{' !' if row.is_weak else ''}"
    text.append(Text(f"{result:<{columns.said}}", style=STYLES[row.tone]))
    text.append(f"{row.interval[: columns.interval]:<{columns.interval}}")
    bar = _bar(row, scale, columns.bar, signs) if scale else " " * columns.bar
    text.append(Text(bar, style=STYLES[row.tone]))
    for figure, wide in zip(row.figures, columns.figures, strict=False):
        text.append(f"{'':{GAP}}{figure:>{wide}}")
    text.rstrip()
    return text


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}…"


def place(scale: Scale, value: float, width: int) -> int:
    """Return the column of a value, from 0; what lies outside goes to the edge."""
    return round(scale.share(value) * (width - 1))


def _bar(row: Row, scale: Scale, width: int, signs: str) -> str:
    if not width:
        return ""
    cells = [" "] * width
    if scale.middle is not None:
        cells[place(scale, scale.middle, width)] = signs[4]
    if bar := row.bar:
        if bar.low is not None and bar.high is not None:
            first, last = place(scale, bar.low, width), place(scale, bar.high, width)
            # What excludes equal speed does not touch its line.
            if scale.middle is not None and bar.high < scale.middle:
                last = max(min(last, place(scale, scale.middle, width) - 1), first)
            elif scale.middle is not None and bar.low > scale.middle:
                first = min(max(first, place(scale, scale.middle, width) + 1), last)
            cells[first : last + 1] = signs[1] * (last - first + 1)
            if last > first:
                cells[first], cells[last] = signs[0], signs[2]
            if scale.middle is not None and first < (at := place(scale, scale.middle, width)) < last:
                cells[at] = signs[5]
        cells[place(scale, bar.estimate, width)] = signs[3]
    return "".join(cells)


def _ticks(scale: Scale, width: int) -> str:
    """Return the words of an axis at their places; one that finds no room is left out."""
    line = [" "] * width
    first = sorted(scale.ticks, key=lambda tick: tick[0] != scale.middle)
    for value, words in first:
        at = place(scale, value, width) - len(words) // 2
        at = min(max(at, 0), width - len(words))
        around = line[max(at - 1, 0) : at + len(words) + 1]
        if at >= 0 and all(one == " " for one in around):
            line[at : at + len(words)] = words
    return "".join(line)
