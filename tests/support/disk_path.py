"""The path to virtual disks: measured once for all tests, since that keeps both processors busy."""

import json
import os
from pathlib import Path

from diskproof.storage import path_cost
from diskproof.system.journal import Journal
from support.shared import FOLDER

own_us = path_cost._measured_us
"""What measures it for a run of its own."""


QUIET_US = 60.0
"""A shorter path is shared at once: the fastest disks of the tests read in 75 µs."""


def shared_us(journal: Journal) -> tuple[float, float]:
    """Stand in for what measures it: return the least that a test has measured, anew until it is short.

    A plausible path may still be one that other tests disturbed.
    """
    file = Path(os.environ[FOLDER]) / "path.json"
    known = [tuple(json.loads(file.read_text()))] if file.exists() else []
    if known and known[0][0] <= QUIET_US:
        return known[0]
    found_us, floor_us = min([*known, own_us(journal)])
    if found_us <= path_cost.longest_us(floor_us):
        begun = file.with_suffix(f".{os.getpid()}")
        begun.write_text(json.dumps([found_us, floor_us]))
        begun.rename(file)
    return found_us, floor_us
