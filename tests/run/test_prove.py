"""A real proof on a virtual disk, through the command line, and what of it is refused early."""

from pathlib import Path

import pytest

from diskproof.analysis.folder import analyse_folder
from diskproof.audit import load, registry, server
from diskproof.cli import call
from diskproof.results.folder import RunFolder
from support.command import diskproof_here, marks_in
from support.servers import needs_mariadb
from support.virtual import needs_virtual_disks

ROTATION_US = 60e6 / 7200

STUDY = """
question = "Does the flush of the disk hold it back?"
[design]
blocks = 1
warm_up_s = 0.5
measure_s = 2.5
clients = [1]
memory = ["32 MiB"]
[servers.db]
family = "mysql"
[storages.disk]
data = { virtual = "desktop-7200", size = "1 GiB" }
[tunings.safest]
[workloads.load]
mix = "read-write"
tables = 1
rows = 200
"""


@needs_virtual_disks
@needs_mariadb
@pytest.mark.timeout(240)
def test_a_disk_that_holds_a_server_back_is_proved_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests run beside each other: the gates that a busy machine closes are open, and the others hold."""
    monkeypatch.setattr(registry, "TRIAL_CHECKS", (load.finished, server.settings, server.placement))
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    code = call(["run", "study.toml", "--prove", "--pairs", "3"])
    told = capsys.readouterr().err
    assert code == 0, told
    assert "proving 1 limit with 3 pairs of trials, about " in told
    [path] = (tmp_path / "runs" / "study").iterdir()
    folder = RunFolder.open(path)
    pairs = folder.proofs()
    assert [pair.id for pair in pairs] == ["proof-01-1", "proof-01-2", "proof-01-3"]
    for pair in pairs:
        assert (pair.limit, pair.intervention.change) == ("log flush", "slower flushes")
        [before], [after] = pair.as_it_was.virtual_disks, pair.changed.virtual_disks
        assert before.slowed is None
        assert after.slowed is not None
        assert after.slowed.requests > 0
        turns = after.slowed.add_us / ROTATION_US
        assert turns == pytest.approx(round(turns), abs=1e-4), "or the platter would stand elsewhere"
        assert 1 <= round(turns) <= 2
        assert before.flush.latency_us is not None
        assert after.flush.latency_us is not None
        slower_us = after.flush.latency_us.mean - before.flush.latency_us.mean
        assert slower_us == pytest.approx(after.slowed.add_us, rel=0.3)
        assert before.seed == after.seed
    limits = analyse_folder(folder).limits
    assert limits is not None
    [proof] = limits.proofs
    assert 0.4 < proof.predicted_low <= proof.predicted_high < 0.85
    assert marks_in(tmp_path) == {}
    if proof.left_out:  # beside other tests a pair may lack its CPUs, and then it must not count
        assert all("other work on the machine took" in why.text for why in proof.left_out)
        assert proof.outcome == "open"
        return
    assert proof.measured is not None
    assert 0.4 < proof.measured.estimate < 0.75
    assert proof.outcome != "not as predicted", proof
    assert call(["run", "study.toml", "--prove", "--pairs", "3", "--resume"]) == 0
    assert "proving" not in capsys.readouterr().err, "all pairs count"
    assert [pair.changed.started_at for pair in folder.proofs()] == [
        pair.changed.started_at for pair in pairs
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--pairs", "5"), "--pairs needs --prove"),
        (("--prove", "--pairs", "2"), "--pairs is a number from 3 to 1000, not 2"),
        (("--prove", "--pairs", "9999"), "--pairs is a number from 3"),
        (("--prove", "--resume"), "there is no run under"),
    ],
)
def test_impossible_requests_are_refused_before_the_start(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    refused = diskproof_here(tmp_path, "run", "study.toml", *arguments)
    assert refused.returncode == 2
    assert said in " ".join(refused.stderr.split())
    assert not (tmp_path / "runs").exists()
