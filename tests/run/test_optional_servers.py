"""A study that names a server which this machine does not have, through the command line."""

from pathlib import Path

import pytest

from diskproof.cli.exits import DONE, TRIAL_INVALID
from diskproof.results.folder import RunFolder
from support.command import diskproof_here

pytestmark = pytest.mark.timeout(120)

STUDY = """
question = "Which server?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0
measure_s = 0.5
clients = [1]
[servers.lite]
family = "sqlite"
[servers.other]
family = "mysql"
basedir = "nowhere"
optional = true
[storages.here]
ram = "300 MiB"
[tunings.safest]
[workloads.load]
rows = 100
"""


THRESHOLD = 'thresholds = ["ratio of server other to lite >= 2"]'

DECIDED = (DONE, TRIAL_INVALID)
"""No failed threshold. A busy machine may make a trial of half a second invalid."""


def test_the_run_goes_on_without_it_and_every_report_says_so(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(THRESHOLD + STUDY)
    planned = diskproof_here(tmp_path, "plan", "study.toml")
    ran = diskproof_here(tmp_path, "run", "study.toml")
    assert planned.returncode == 0, planned.stderr
    assert ran.returncode in DECIDED, ran.stderr
    for result in (planned, ran):
        assert "server `other` is optional and left out: basedir nowhere is not" in result.stderr
    assert "threshold not tested: ratio of server other to lite >= 2: " in ran.stderr
    assert "threshold" not in planned.stderr
    told = "other not measured: this machine does not have it"
    [path] = (tmp_path / "runs" / "study").iterdir()
    assert told in " ".join(ran.stdout.split())
    assert told in (path / "report.md").read_text()
    assert told in (path / "report.html").read_text()
    machine = RunFolder.open(path).machine()
    assert machine is not None
    assert [server.name for server in machine.servers] == ["lite"]

    again = diskproof_here(tmp_path, "run", "study.toml", "--resume")
    assert again.returncode in DECIDED, again.stderr
    assert len(list((tmp_path / "runs" / "study").iterdir())) == 1

    named = diskproof_here(tmp_path, "run", "study.toml", "--resume", "--basedir", "other=elsewhere")
    assert named.returncode == 2
    assert f"basedir {tmp_path}/elsewhere is not a directory" in named.stderr, "no longer optional"
