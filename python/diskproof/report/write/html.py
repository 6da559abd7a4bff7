"""A document's full form as one page that needs nothing else: no network, no other file."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup, escape

from diskproof.report import document as doc
from diskproof.report import vega
from diskproof.report.document import (
    Axis,
    Bar,
    Block,
    Document,
    Figure,
    Item,
    Items,
    Key,
    Line,
    Paragraph,
    Section,
    Table,
)
from diskproof.report.ratio_scale import ticks
from diskproof.report.write.ink import LIGHT, config
from diskproof.wording.numbers import count, sentence_case

MOST_PANELS_SHOWN = 12
"""A figure with more panels shows one at a time, chosen by name."""

_CODE_SPAN = re.compile(r"`([^`]+)`")

SIGNS = {
    "circle": '<circle cx="17" cy="6" r="4.5"/>',
    "square": '<rect x="13" y="2" width="8" height="8"/>',
    "triangle-up": '<path d="M17 1 22 10.5H12Z"/>',
    "diamond": '<path d="M17 0 22 6 17 12 12 6Z"/>',
    "cross": '<path d="M15 1h4v3h3v4h-3v3h-4v-3h-3v-4h3Z"/>',
}
"""How a legend draws the shapes of charts."""


def write(document: Document) -> str:
    """Return the page. All that came from a study, a machine or a server is escaped."""
    full = doc.form(document, "full")
    libraries, drawing = _script(vega.script()), _script(_asset("page.js"))
    page: str = _template().render(
        document=full,
        lead=_join(_lead(one) for one in full.lead),
        body=_join(map(_section, full.sections)),
        chart_config=config(LIGHT),
        policy=_policy(libraries, drawing),
        style=Markup(_asset("page.css")),  # noqa: S704 - our own file
        vega=libraries,
        drawing=drawing,
    )
    return page


@cache
def _template() -> Template:
    made = Environment(
        loader=PackageLoader("diskproof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return made.get_template("page.html.j2")


def _join(parts: Iterable[Markup]) -> Markup:
    return Markup("\n").join(part for part in parts if part)


def _prose(text: str) -> Markup:
    """Escape a text; what is in backticks is set as code."""
    return Markup(_CODE_SPAN.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


# ---------------------------------------------------------------- sections and paragraphs


def _section(section: Section) -> Markup:
    columns = [one for one in section.blocks if isinstance(one, Section)]
    if len(columns) == len(section.blocks) and not section.heading:
        beside = _join(_column(one) for one in columns)
        return Markup('<section class="columns">\n{}\n</section>').format(beside)
    body = _join(_blocks(section.blocks))
    heading = Markup("<h2>{}</h2>\n").format(section.heading) if section.heading else ""
    anchor = Markup(' id="{}"').format(section.anchor) if section.anchor else Markup()
    return Markup("<section{}>\n{}{}\n</section>").format(anchor, heading, body)


def _column(section: Section) -> Markup:
    return Markup("<div><h2>{}</h2>\n{}\n</div>").format(section.heading, _join(_blocks(section.blocks)))


def _blocks(blocks: Sequence[Block | Section]) -> Iterator[Markup]:
    for block in blocks:
        if not isinstance(block, Section):
            yield _block(block)
        elif block.folded:
            yield _folded(block.heading, _join(_blocks(block.blocks)))
        else:
            yield Markup("<h3>{}</h3>").format(block.heading)
            yield from _blocks(block.blocks)


def _folded(summary: str, body: Markup) -> Markup:
    return Markup("<details><summary>{}</summary>\n{}\n</details>").format(summary, body)


def _block(block: Block) -> Markup:
    match block:
        case Paragraph():
            kind = Markup(' class="lead"') if block.style == "lead" else Markup()
            return Markup("<p{}>{}{}</p>").format(kind, _strong(block.lead), _prose(block.text))
        case Items():
            return _items(block)
        case Table():
            return _table(block)
        case doc.Code():
            piece = Markup('<dt>{}</dt><dd><pre tabindex="0"><code>{}</code></pre></dd>')
            pieces = _join(piece.format(name, code) for name, code in block.pieces)
            return Markup('<dl class="commands">\n{}\n</dl>').format(pieces)
        case Figure():
            return _figure(block)


def _lead(paragraph: Paragraph) -> Markup:
    return Markup('<p class="run">{}{}</p>').format(_strong(paragraph.lead), _prose(paragraph.text))


def _strong(lead: str) -> Markup:
    return Markup("<strong>{}:</strong> ").format(_prose(lead)) if lead else Markup()


# ---------------------------------------------------------------- lists


def _items(block: Items) -> Markup:
    if block.style == "alarms":
        alarm = Markup('<p class="alarm" role="alert"><strong>{}.</strong> {}</p>')
        return _join(alarm.format(sentence_case(one.lead), _prose(one.text)) for one in block.items)
    first = _list(block, block.items[: block.most_open])
    rest = block.items[block.most_open :] if block.most_open is not None else ()
    return (
        _join([first, _folded(count(len(rest), f"more {block.noun}"), _list(block, rest))]) if rest else first
    )


def _list(block: Items, items: Sequence[Item]) -> Markup:
    shown = [_item(one, block) for one in items]
    if block.axis and any(one.bar for one in items):
        shown.append(_drawn_axis(block.axis))
    tag = "ol" if block.style == "verdicts" else "ul"
    return Markup('<{0} class="items {1}">\n{2}\n</{0}>').format(tag, block.style, _join(shown))


def _item(item: Item, block: Items) -> Markup:
    is_verdict = block.style == "verdicts"
    marked = [Markup('<span aria-hidden="true">{}</span>').format(item.mark)] if is_verdict else []
    head = Markup(" ").join(
        [
            *marked,
            *(Markup("<strong>{}</strong>").format(one) for one in (item.lead,) if one),
            *(Markup("<b>{}</b>").format(one) for one in (item.name,) if one),
            *(Markup('<span class="where">{}</span>').format(one) for one in (item.where,) if one),
        ]
    )
    parts = [Markup('<p class="head">{}</p>').format(head)] if head else []
    parts += [Markup('<p class="text">{}</p>').format(_prose(item.text))] if item.text else []
    parts += map(_line, item.lines)
    said = _join(parts)
    if not is_verdict:
        return Markup('<li class="{}">\n{}\n</li>').format(item.tone, said)
    if block.axis is None:
        return Markup('<li class="verdict alone {}">\n<div>\n{}\n</div>\n</li>').format(item.tone, said)
    bar = _bar(item.bar, block.axis) if item.bar else Markup('<p class="no-bar">no ratio</p>')
    return Markup('<li class="verdict {}">\n<div>\n{}\n</div>\n{}\n</li>').format(item.tone, said, bar)


def _line(line: Line) -> Markup:
    lead = Markup("<strong>{}:</strong> ").format(line.lead) if line.lead else Markup()
    return Markup('<p class="line {}">{}{}</p>').format(line.style, lead, _prose(line.text))


# ---------------------------------------------------------------- the axis of verdicts


def _bar(bar: Bar, axis: Axis) -> Markup:
    same_low, same_high = axis.percent(1 - axis.same_within), axis.percent(1 + axis.same_within)
    one, estimate = axis.percent(1), axis.percent(bar.estimate)
    interval = Markup()
    if bar.low is not None and bar.high is not None:
        low, high = axis.percent(bar.low), axis.percent(bar.high)
        interval = Markup('<rect class="interval" x="{}%" y="6" width="{}%" height="14" rx="2"/>\n').format(
            low, round(high - low, 2)
        )
    return Markup(
        '<svg class="ratio" height="26" role="img" aria-label="ratio {words}">\n'
        '<rect class="same" x="{same}%" y="0" width="{width}%" height="26"/>\n'
        '<line class="one" x1="{one}%" x2="{one}%" y1="0" y2="26"/>\n'
        "{interval}"
        '<line class="effect" x1="{one}%" x2="{estimate}%" y1="13" y2="13"/>\n'
        '<circle class="estimate" cx="{estimate}%" cy="13" r="4"/>\n</svg>'
    ).format(
        words=bar.words,
        same=same_low,
        width=round(same_high - same_low, 2),
        one=one,
        interval=interval,
        estimate=estimate,
    )


def _drawn_axis(axis: Axis) -> Markup:
    tick = Markup('<text x="{}%" y="13" text-anchor="middle">{:g}</text>')
    return Markup(
        '<li class="verdict axis" aria-hidden="true">\n<p>{}</p>\n'
        '<svg class="ratio" height="18">\n{}\n</svg>\n</li>'
    ).format(axis.words, _join(tick.format(axis.percent(one), one) for one in ticks(axis.low, axis.high)))


# ---------------------------------------------------------------- tables


def _table(table: Table) -> Markup:
    classes = [Markup(' class="figures"') if one.figures else Markup() for one in table.columns]
    head = Markup().join(
        Markup('<th scope="col"{}>{}</th>').format(kind, column.title)
        for kind, column in zip(classes, table.columns, strict=True)
    )
    entries = [Markup('<th scope="row"{}>{}</th>')] * table.heads
    entries += [Markup("<td{}>{}</td>")] * (len(table.columns) - table.heads)
    rows = _join(
        Markup("<tr>{}</tr>").format(
            Markup().join(
                entry.format(kind, text) for entry, kind, text in zip(entries, classes, row, strict=True)
            )
        )
        for row in table.rows
    )
    return Markup(
        '<div class="scroll{}" role="region" aria-label="{}" tabindex="0">\n<table>\n'
        "<thead><tr>{}</tr></thead>\n<tbody>\n{}\n</tbody>\n</table>\n</div>"
    ).format(" tall" if table.tall else "", table.label, head, rows)


# ---------------------------------------------------------------- figures


def _figure(figure: Figure) -> Markup:
    chosen = len(figure.panels) > MOST_PANELS_SHOWN
    single = " single" if chosen or len(figure.panels) == 1 else ""
    panels = _join(_panel(figure, at, chosen=chosen) for at in range(len(figure.panels)))
    specifications = htmlsafe_json_dumps([panel.complete_spec() for panel in figure.panels])
    return Markup(
        '<figure class="drawing" id="figure-{name}">\n'
        "<figcaption><h3>{title}</h3><p>{caption}</p></figcaption>\n{keys}\n{choice}"
        '<div class="panels{single}">\n{panels}\n</div>\n'
        '<script type="application/json" id="specifications-{name}">{specifications}</script>\n</figure>'
    ).format(
        name=figure.name,
        title=figure.title,
        caption=figure.caption,
        keys=_legend(figure.keys),
        choice=_choice(figure) if chosen else "",
        single=single,
        panels=panels,
        specifications=specifications,
    )


def _choice(figure: Figure) -> Markup:
    option = Markup('<option value="{}">{}</option>')
    options = _join(option.format(at, panel.title) for at, panel in enumerate(figure.panels))
    return Markup(
        '<label class="choice">Cell <select class="chooser" id="choice-{}">\n{}\n</select></label>\n'
    ).format(figure.name, options)


def _panel(figure: Figure, at: int, *, chosen: bool) -> Markup:
    panel = figure.panels[at]
    by = Markup(' data-chosen-by="choice-{}"{}').format(figure.name, Markup(" hidden") if at else Markup())
    heading = Markup("<h4>{}</h4>\n").format(panel.title) if panel.title and not chosen else Markup()
    return Markup(
        '<div class="panel" data-index="{at}"{by}>\n{heading}'
        '<div class="chart{tall}"{focus} data-figure="{name}" data-panel="{at}" data-marks="{marks}"></div>\n'
        "</div>"
    ).format(
        at=at,
        by=by if chosen else Markup(),
        heading=heading,
        tall=" tall" if panel.tall else "",
        focus=Markup(' tabindex="0"') if panel.tall else Markup(),
        name=figure.name,
        marks=panel.marks,
    )


def _legend(keys: Sequence[Key]) -> Markup:
    if not keys:
        return Markup()
    return Markup('<ul class="legend">\n{}\n</ul>').format(_join(map(_key, keys)))


def _key(key: Key) -> Markup:
    sign = Markup(SIGNS.get(key.shape, ""))  # noqa: S704 - our own
    if key.colour and not key.shape:
        drawn = Markup(
            '<svg width="22" height="12" aria-hidden="true">'
            '<rect x="2" y="1" width="18" height="10" rx="2" fill="{}"/></svg>'
        ).format(key.colour)
    elif key.colour:
        drawn = Markup(
            '<svg width="34" height="12" aria-hidden="true" class="sign" style="fill: {}">{}</svg>'
        ).format(key.colour, sign)
    else:
        dash = key.dash or (1, 0)
        dashes = " ".join(map(str, dash)) if dash[1] else "none"
        drawn = Markup(
            '<svg width="34" height="12" aria-hidden="true" class="sign">'
            '<line x1="0" x2="34" y1="6" y2="6" stroke-dasharray="{}"/>{}</svg>'
        ).format(dashes, sign)
    return Markup("<li>{}{}</li>").format(drawn, key.words)


# ---------------------------------------------------------------- scripts


def _script(source: str) -> Markup:
    """Return a script of ours or of a library so that nothing in it can end its element early."""
    harmless = source.replace("</script", r"<\/script").replace("<!--", r"<\!--")
    return Markup(harmless)  # noqa: S704 - no data goes into a script


def _asset(name: str) -> str:
    return (resources.files("diskproof.report") / "templates" / name).read_text()


def _policy(*scripts: str) -> str:
    """Return a Content-Security-Policy: these scripts alone may run, and nothing may be fetched."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    scripts_and_styles = f"script-src {hashes}; style-src 'unsafe-inline'"
    return f"default-src 'none'; {scripts_and_styles}; base-uri 'none'; form-action 'none'"


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
