"""The libraries that draw on a page, as one script: Vega, Vega-Lite and Vega-Embed with all that they use."""

from functools import cache
from importlib import metadata
from pathlib import Path

import vl_convert

TEMPLATES = Path(__file__).parent / "templates"

PACKAGE = "vl-convert-python"


@cache
def script() -> str:
    """Return the script that `lay_down` has left; one is made if there is none, in a second or two."""
    path = laid_down()
    return path.read_text(encoding="utf-8") if path.is_file() else _bundled()


def lay_down() -> None:
    """Leave the script beside the templates, whole or not at all, so that no page has to wait for it."""
    path = laid_down()
    for old in path.parent.glob("vega-*"):
        old.unlink(missing_ok=True)
    scratch = path.with_suffix(".partial")
    scratch.write_text(_bundled(), encoding="utf-8")
    scratch.rename(path)


def laid_down() -> Path:
    """Return the file of these very versions: another release of the package has another name for it."""
    return TEMPLATES / f"vega-{metadata.version(PACKAGE)}.js"


def _bundled() -> str:
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle
