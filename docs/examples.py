"""Examples in docs/audit.md, made anew by the tool itself from the outputs that the tests read."""

import os
import re
import subprocess
import sys
from pathlib import Path

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
    command = [sys.executable, "-m", "diskproof", "audit", *files.split()]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    said = subprocess.run(
        command, cwd=SAMPLES, env=environment, capture_output=True, text=True, check=False
    ).stdout
    lines = [line.rstrip() for line in said.strip().splitlines()]
    return "\n".join([f"{head}```", f"$ diskproof audit {files}", *lines, "```", tail])
