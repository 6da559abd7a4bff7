"""What all pages are made of: templates, the scripts that draw, and the policy that lets nothing else run."""

import base64
import hashlib
import re
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from diskproof.report import vega, words
from diskproof.report.chart_parts import Figure
from diskproof.report.chart_style import LIGHT, config

MOST_PANELS_SHOWN = 12
"""A figure with more panels shows one at a time, chosen by name."""

_CODE_SPAN = re.compile(r"`([^`]+)`")


def environment() -> Environment:
    """Return a Jinja environment that escapes all that came from a study, a machine or a server."""
    made = Environment(
        loader=PackageLoader("diskproof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(words=words, specifications=_specifications, most_panels_shown=MOST_PANELS_SHOWN)
    made.filters.update(prose=_prose, paragraphs=_paragraphs)
    return made


def ground() -> dict[str, Any]:
    """Return what every page needs besides its own content: style, scripts, policy, the charts' looks."""
    libraries, drawing = _script(vega.script()), _script(_asset("page.js"))
    return {
        "chart_config": config(LIGHT),
        "policy": _policy(libraries, drawing),
        "style": Markup(_asset("page.css")),  # noqa: S704 - our own file
        "vega": libraries,
        "drawing": drawing,
    }


def _specifications(figure: Figure) -> list[dict[str, Any]]:
    return [panel.complete_spec() for panel in figure.panels]


def _prose(text: str) -> Markup:
    """Escape a text; what stands in backticks is set as code."""
    return Markup(_CODE_SPAN.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped before


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


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
