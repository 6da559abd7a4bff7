"""The campaign of known truths in its shortest form: one run of each design, resumed, and drawn runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
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
    assert verdicts.main([*words, "--simulate", "20"]) == 0
    assert "equal" in capsys.readouterr().out


def test_drawn_runs_are_rarely_wrong_and_decide_what_is_large() -> None:
    random = np.random.default_rng(2)

    def runs(kind: verdicts.Kind, true: float, deviation: float) -> list[verdicts.Result]:
        logs = (random.normal(true, deviation, 40) for _ in range(200))
        return [verdicts.drawn(one, kind, "until", number, 10.0) for number, one in enumerate(logs)]

    equal = runs("equal", 0.0, 0.03)
    assert sum(one.false for one in equal) <= 15  # 5% of 200, and three standard deviations of chance
    assert sum(one.right for one in equal) > 100
    delayed = runs("delay", -0.05, 0.02)
    assert sum(one.right for one in delayed) > 180
    assert np.mean([one.trials_s for one in delayed]) < 200
    widths = [one.half_widths for one in delayed]
    assert all((one["600"] or 9) <= (one["60"] or 9) for one in widths)


def test_a_table_has_exact_bounds() -> None:
    assert verdicts.bounds(0, 200) == "0 (0.0% to 1.5%)"
    assert verdicts.bounds(10, 200) == "10 (2.4% to 9.0%)"
