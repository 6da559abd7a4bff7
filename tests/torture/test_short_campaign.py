"""The short form of `make torture`: nine kills over the kinds of work, each quick."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).parents[2] / "torture" / "campaign.py"

CASES = ("56", "63", "71", "78", "84", "86", "96", "106", "116")
"""Of seed 1: a pool, slow time, composed disks, `disk attach` and `profile`, files, a server and its load,
and `clean` itself. tests/run kills runs of a server, also on a virtual disk, and interrupts them."""


@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has namespaces and mounts of its own")
def test_nine_kills_leave_nothing_and_harm_nobody() -> None:
    command = [sys.executable, str(CAMPAIGN), "--seed", "1", "--only", *CASES]
    campaign = subprocess.run(command, capture_output=True, text=True, check=False)
    assert campaign.returncode == 0, campaign.stdout + campaign.stderr
