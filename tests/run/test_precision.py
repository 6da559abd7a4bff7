"""Runs that a study asks for by their precision alone: real SQLite."""

from pathlib import Path

import pytest

from diskproof.audit import registry
from diskproof.results.trial import Trial
from diskproof.run.served import ServerAttempt
from diskproof.study.read import StudyError
from support.command import diskproof_here
from support.studies import plan_of
from support.trials import change

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "Which of two?"
[design]
precision = "40 %"
repeat_disturbed = false
warm_up_s = 0
measure_s = 0.5
clients = [1]
[servers.lite]
family = "sqlite"
[storages.disk]
directory = "place"
[tunings.safest]
[tunings.unsafe]
[workloads.load]
mix = "point-select"
tables = 1
rows = 500
rate = 300
"""


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let trials count that differ by hundredths: how much others disturb them is not asked."""
    recorded = ServerAttempt.record

    def record(attempt: ServerAttempt) -> Trial:
        trial = recorded(attempt)
        return change(trial, load__latency_us__mean=1000.0 + 10 * (trial.block * trial.position % 3))

    monkeypatch.setattr(ServerAttempt, "record", record)
    monkeypatch.setattr(registry, "TRIAL_CHECKS", ())


@pytest.mark.usefixtures("steady")
def test_a_run_ends_when_its_ratios_are_precise(tmp_path: Path) -> None:
    study, out = tmp_path / "two.toml", tmp_path / "runs"
    study.write_text(STUDY)
    made = diskproof_here(tmp_path, "run", str(study), "--out", str(out), "--at-most", "90s")
    assert made.returncode in (0, 12), made.stderr
    (path,) = (out / "two").iterdir()
    markdown = diskproof_here(tmp_path, "report", str(path), "--format", "markdown").stdout
    assert "| It ended | when each ratio was known within 40%" in markdown


def test_a_run_that_goes_on_has_a_limit_of_time() -> None:
    assert plan_of(STUDY).at_most_s == 1200
    fixed = STUDY.replace('precision = "40 %"', "blocks = 5")
    assert plan_of(fixed).at_most_s is None


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ('precision = "3"', "give a percentage as a number and `%`, such as `3 %`"),
        ('precision = "0 %"', "give more than 0"),
        ("precision = 3", "less than 0.5"),
        ('precision = "3 %"\nuntil = "decided"', "leave one of the two out"),
    ],
)
def test_what_is_no_precision(key: str, why: str) -> None:
    with pytest.raises(StudyError, match=why):
        plan_of(STUDY.replace('precision = "40 %"', key))


def test_one_thing_ends_a_run(tmp_path: Path) -> None:
    study = tmp_path / "two.toml"
    study.write_text(STUDY)
    refused = diskproof_here(tmp_path, "run", str(study), "--until-decided")
    assert refused.returncode == 2 and "the study's `precision` says when the run ends" in refused.stderr
