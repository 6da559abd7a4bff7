"""Examples in docs/audit.md, made anew by the tool itself from the outputs that the tests read."""

import re
from pathlib import Path

import shown

PAGE = Path(__file__).parent / "audit.md"
SAMPLES = Path(__file__).parents[1] / "tests" / "importers" / "samples"

_EXAMPLE = re.compile(
    r"(?P<head><!-- diskproof audit (?P<files>[^\n]+): made by `make docs`; do not edit -->\n)"
    r".*?(?P<tail><!-- the example ends -->)",
    re.DOTALL,
)


def page() -> str:
    """Return the page with what the tool says today between its marks."""
    return _EXAMPLE.sub(lambda found: _made(found["head"], found["files"], found["tail"]), PAGE.read_text())


def _made(head: str, files: str, tail: str) -> str:
    lines = shown.by_the_lab("audit", *files.split(), folder=SAMPLES)
    return "\n".join([f"{head}```", f"$ diskproof audit {files}", *lines, "```", tail])
