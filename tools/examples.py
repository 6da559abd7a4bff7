"""Examples in docs/audit.md, made anew by the tool itself from the outputs that the tests read."""

import shown
from marks import renewed
from paths import DOCS, ROOT

PAGE = DOCS / "audit.md"
SAMPLES = ROOT / "tests" / "importers" / "samples"


def page() -> str:
    """Return the page with what the tool prints today between its marks."""
    return renewed(PAGE.read_text(), made)


def made(command: str) -> str:
    """Return a command and its output, as a listing."""
    lines = shown.by_the_lab(*command.split()[1:], folder=SAMPLES)
    return "\n".join(["```", f"$ {command}", *lines, "```"])
