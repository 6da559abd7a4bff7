"""Sections of a page that `make docs` renews, each between two marks; the rest of the page stays as it is."""

import re
from collections.abc import Callable

END = "<!-- end -->"
SECTION = re.compile(
    r"(?P<begin><!-- (?P<name>[^\n]+): made by `make docs`; do not edit -->\n).*?" + END, re.DOTALL
)


def section(name: str, body: str) -> str:
    """Return a section with its marks."""
    return f"<!-- {name}: made by `make docs`; do not edit -->\n\n{body}\n\n{END}"


def renewed(page: str, make: Callable[[str], str]) -> str:
    """Return a page with each section made anew from its name."""
    return SECTION.sub(lambda found: f"{found['begin']}\n{make(found['name'])}\n\n{END}", page)
