"""Whole reports held against files, so that a change of one word is seen.

After a change that is meant: ``RENEW_SNAPSHOTS=1 pytest tests/report``, then read the difference.
"""

import os
from pathlib import Path


def assert_matches_snapshot(text: str, snapshot: Path) -> None:
    """Compare a text with the file, or write it to the file if RENEW_SNAPSHOTS is set."""
    if os.environ.get("RENEW_SNAPSHOTS"):
        snapshot.write_text(text)
    assert snapshot.is_file(), f"{snapshot} is missing: make it with RENEW_SNAPSHOTS=1"
    assert text == snapshot.read_text()
