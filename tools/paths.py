"""Where the project's files lie."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
STUDIES = ROOT / "studies"
