"""TPC-C's transactions when the power fails: acknowledged orders and the twelve conditions."""

from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from support.command import diskproof
from support.virtual import needs_virtual_disks

STUDY = """
question = "What does a cut take of TPC-C?"
[design]
memory = ["64 MiB"]
[servers.sqlite]
family = "sqlite"
[storages.ssd]
virtual = "laptop-ssd-2012"
size = "1 GiB"
below_floor = true
[tunings.safest]
[tunings.fast]
[crash]
load = "tpcc"
cuts = 1
clients = 4
keep = "nothing"
cut_after_s = 0.5
cut_before_s = 1.0
"""


@needs_virtual_disks
@pytest.mark.timeout(300)
def test_acknowledged_orders_are_looked_up_and_conditions_checked(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    done = diskproof(tmp_path, "crash", "study.toml")
    assert done.returncode in (0, 12), done.stdout + done.stderr
    [path] = (tmp_path / "runs" / "study").glob("*")
    cuts = {cut.cell.rpartition("/")[2]: cut for cut in RunFolder.open(path).cuts()}
    safest = cuts["safest"]
    assert safest.finished, safest.findings
    assert safest.ledger is not None
    assert safest.ledger.acknowledged > 0
    assert safest.lost == 0
    assert not safest.is_damaged
    fast = cuts["fast"]
    assert fast.ledger is not None
    assert fast.lost
    assert not fast.ledger.is_broken, "what is there is consistent"
    assert "TPC-C's transactions" in (path / "report.md").read_text()
