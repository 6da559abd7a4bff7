"""The campaign of known truths in its shortest form: one run of each design, resumed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import verdicts

PROGRAM = Path(verdicts.__file__)

TINY = ("--kinds", "equal", "--runs", "1", "--at-most", "24", "--family", "sqlite", "--measure", "0.5")
SOON = ("--warm-up", "0", "--design", "blocks = 3; same_within = 0.49; repeat_disturbed = false")


@pytest.mark.skipif(os.geteuid() != 0, reason="the campaign mounts a tmpfs, which root alone may")
@pytest.mark.timeout(300)
def test_a_campaign_is_made_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    words = ["--out", str(tmp_path / "out"), *TINY, *SOON]
    first = subprocess.run(
        [sys.executable, str(PROGRAM), *words, "--arms", "until"], check=False, capture_output=True, text=True
    )
    assert first.returncode == 0, first.stdout + first.stderr
    assert verdicts.main([*words, "--arms", "until"]) == 2
    assert verdicts.main([*words, "--resume"]) == 0
    both = capsys.readouterr().out
    assert "equal until 1: " not in both and "equal fixed 1: " in both
    lines = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert [(one["kind"], one["arm"]) for one in lines] == [("equal", "until"), ("equal", "fixed")]
    assert all(one["blocks"] >= 3 and one["trials_s"] > 0 and Path(one["run"]).is_dir() for one in lines)


def test_a_table_has_exact_bounds() -> None:
    assert verdicts.bounds(0, 200) == "0 (0.0% to 1.5%)"
    assert verdicts.bounds(10, 200) == "10 (2.4% to 9.0%)"
