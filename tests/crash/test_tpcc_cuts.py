"""TPC-C's transactions when the power fails: acknowledged orders and the twelve conditions."""

from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from diskproof.stats.grouping import grouped
from support.command import diskproof_here
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
[tunings.unsafe]
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
    done = diskproof_here(tmp_path, "crash", "study.toml")
    assert done.returncode in (0, 12), done.stdout + done.stderr
    [path] = (tmp_path / "runs" / "study").glob("*")
    cuts = RunFolder.open(path).cuts()
    for cut in cuts:
        assert cut.finished, cut.findings
        assert cut.ledger is not None
        assert cut.ledger.acknowledged > 0
        assert not cut.ledger.is_broken, "what is there is consistent"
        assert not cut.is_damaged
    lost = grouped(cuts, lambda cut: cut.cell.rpartition("/")[2])
    assert not any(cut.lost for cut in lost["safest"])
    assert any(cut.lost for cut in lost["unsafe"]), "nothing was flushed"
    assert "TPC-C on " in (path / "report.md").read_text()
