"""The short form of `make torture`: a dozen kills over the kinds of work, each quick."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).parents[2] / "torture" / "campaign.py"

CASES = ("48", "51", "56", "63", "66", "71", "78", "84", "86", "96", "106", "116")
"""Of seed 1: virtual disks, servers, a pool, a throttle, `disk attach` and `profile`, and `clean` itself."""


@pytest.mark.timeout(300)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has namespaces and mounts of its own")
def test_a_dozen_kills_leave_nothing_and_harm_nobody() -> None:
    command = [sys.executable, str(CAMPAIGN), "--seed", "1", "--only", *CASES]
    campaign = subprocess.run(command, capture_output=True, text=True, check=False)
    assert campaign.returncode == 0, campaign.stdout + campaign.stderr
