"""A document's full form as one page that needs nothing else: no network, no other file.

The templates have all of its HTML.
"""

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from html import unescape
from importlib import resources

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from diskproof.report import document as doc
from diskproof.report.document import Document, Panel
from diskproof.report.write.ink import config, drawable
from diskproof.visible import visible
from diskproof.wording.numbers import unbroken

SIGNS = {
    "circle": "●",
    "square": "■",
    "triangle-up": "▲",
    "diamond": "◆",
    "cross": "✚",
    "colour": "▬",
    "line": "┅",
    "none": "",
}
"""Of a legend, by the shape of a key."""

PANEL_PX = 340
"""Width of a drawing without its axis: it fits a telephone, and several fit a desk."""

MOST_ROWS_SHOWN = 60
"""A longer table scrolls in its box."""

_CODE_SPAN = re.compile(r"`([^`]+)`")


def write(document: Document) -> str:
    """Return the page. All that came from a study, a machine or a server is escaped."""
    template = environment().get_template("page.html.j2")
    page: str = template.render(
        document=replace(document, sections=tuple(doc.written(document.sections))),
        policy=policy(),
        style=_Source(asset("page.css")),
        script=_script(asset("page.js")),
    )
    return page


class _Source(Markup):
    """A script or a style of ours or of a library: it stays as it is, because a hash names its content."""


def _shown(value: object) -> object:
    """Return what a template writes, so that it shows all it holds."""
    return type(value)(visible(value)) if isinstance(value, str) and type(value) is not _Source else value


@cache
def environment(*packages: str) -> Environment:
    """Return what fills the templates of these packages and of this room; it escapes all from outside."""
    made = Environment(
        loader=ChoiceLoader([*map(PackageLoader, packages), PackageLoader("diskproof.report")]),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["prose"] = _prose
    made.globals |= {"picture": picture, "signs": SIGNS, "most_rows": MOST_ROWS_SHOWN}
    return made


def _prose(text: str) -> Markup:
    """Escape a text; what is in backticks is set as code."""
    parts = _CODE_SPAN.split(str(escape(text)))
    said = (f"<code>{part}</code>" if at % 2 else unbroken(part) for at, part in enumerate(parts))
    return Markup("".join(said))  # noqa: S704 - escaped before


_FONT = re.compile(r' font-family="[^"]*"')
_ROLES = re.compile(r' (?:aria-roledescription|role|aria-hidden)="[^"]*"')
_LABELS = re.compile(r' aria-label="([^"]*)"')
_TOLD = re.compile(r".*; (?:cell|trial|disk|cut|storage): (.*); figure: (.*)", re.DOTALL)
_CLIPS = re.compile(r"\bclip(\d+)")
_PLACES = re.compile(r' (?:d|transform|width|height|[xy][12]?)="[^"]*"')
_DIGITS = re.compile(r"(\d\.\d)\d+")
_EMPTY = re.compile(r'<path class="(?:foreground|background)"[^>]*/>')


def picture(panel: Panel) -> Markup:
    """Return a drawing as SVG, its marks with the words that pointing at them shows."""
    import vl_convert  # noqa: PLC0415 - it loads slowly, and pages without drawings need none of it

    spec = {**panel.complete_spec(), "width": PANEL_PX, "config": config()}
    drawn: str = vl_convert.vegalite_to_svg(drawable(spec))
    for pattern in (_FONT, _ROLES, _EMPTY):
        drawn = pattern.sub("", drawn)
    drawn = _PLACES.sub(lambda found: _DIGITS.sub(r"\1", found[0]), drawn)
    drawn = _LABELS.sub(_told, drawn)
    # The library numbers clips through all drawings that it has ever made.
    ids = {number: str(at) for at, number in enumerate(dict.fromkeys(_CLIPS.findall(drawn)))}
    prefix = hashlib.sha256(panel.description.encode()).hexdigest()[:8]
    drawn = _CLIPS.sub(lambda found: f"clip-{prefix}-{ids[found[1]]}", drawn)
    named = f'<svg role="img" aria-label="{escape(panel.description)}"'
    return Markup(drawn.replace("<svg", named, 1))  # noqa: S704 - the library escapes what a study named


def _told(label: re.Match[str]) -> str:
    """Return the words of a mark that has a tooltip: its name and its figure; of others nothing."""
    found = _TOLD.fullmatch(unescape(label[1]))
    return f' tabindex="0" data-told="{escape(f"{found[1]}: {found[2]}")}"' if found else ""


def _script(source: str) -> _Source:
    """Return a script of ours or of a library so that nothing in it can end its element early."""
    harmless = source.replace("</script", r"<\/script").replace("<!--", r"<\!--")
    return _Source(harmless)


def asset(name: str, package: str = "diskproof.report") -> str:
    """Return a style or a script of ours."""
    return (resources.files(package) / "templates" / name).read_text()


@cache
def policy() -> str:
    """Return a report's Content-Security-Policy: its own script alone may run, and nothing may be fetched."""
    script = hashlib.sha256(_script(asset("page.js")).encode())
    digest = base64.b64encode(script.digest()).decode()
    scripts_and_styles = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    return f"default-src 'none'; {scripts_and_styles}; base-uri 'none'; form-action 'none'"
