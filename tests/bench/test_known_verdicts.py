"""The campaign of known truths in its shortest form: one run of each design, resumed."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import verdicts
from diskproof.results.folder import RunFolder
from support.command import diskproof_here

TINY = ("--kinds", "equal", "--runs", "1", "--at-most", "23", "--family", "sqlite", "--measure", "0.5")
SOON = ("--warm-up", "0", "--design", "blocks = 3; same_within = 0.49; repeat_disturbed = false")


@pytest.mark.skipif(os.geteuid() != 0, reason="the campaign mounts a tmpfs, which root alone may")
@pytest.mark.usefixtures("never_repeated")
@pytest.mark.timeout(300)
def test_a_campaign_is_made_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each run is a process of its own: Python's start and the pictures take longer than its trials.
    here = SimpleNamespace(run=lambda command, **_: diskproof_here(tmp_path, *command[3:]))
    monkeypatch.setattr(verdicts, "subprocess", here)
    # Each trial counts as so many seconds that the first blocks use up the time.
    monkeypatch.setattr(RunFolder, "trials_s", lambda folder: 4.0 * len(folder.trials()))
    words = ["--out", str(tmp_path / "out"), *TINY, *SOON]
    assert verdicts.main([*words, "--arms", "until"]) == 0
    assert "equal until 1: " in capsys.readouterr().out
    assert verdicts.main([*words, "--arms", "until"]) == 2
    assert verdicts.main([*words, "--resume"]) == 0
    both = capsys.readouterr().out
    assert "equal until 1: " not in both and "equal fixed 1: " in both
    lines = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert [(one["kind"], one["arm"]) for one in lines] == [("equal", "until"), ("equal", "fixed")]
    assert all(one["blocks"] >= 2 and one["trials_s"] > 0 and Path(one["run"]).is_dir() for one in lines)


def test_a_table_has_exact_bounds() -> None:
    assert verdicts.bounds(0, 200) == "0 (0.0% to 1.5%)"
    assert verdicts.bounds(10, 200) == "10 (2.4% to 9.0%)"
