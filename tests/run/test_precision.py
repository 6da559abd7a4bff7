"""Runs that a study asks for by their precision alone: real SQLite, and a short pilot."""

from pathlib import Path
from typing import Any

import pytest

from diskproof.analysis import pilot
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Pilot
from diskproof.run import pilot as run_pilot
from diskproof.run.resume import resumed_plan
from diskproof.study.plan import next_block, with_pilot
from diskproof.study.read import StudyError, parse_study
from support.command import diskproof_here
from support.studies import plan_of

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "Which of two?"
[design]
precision = "40 %"
repeat_disturbed = false
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
"""


def test_a_pilot_chooses_and_the_run_ends_when_it_is_precise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_pilot, "LOAD_S", 0.6)
    monkeypatch.setattr(pilot, "LENGTHS_S", (0.5, 1))
    monkeypatch.setattr(pilot, "SHORTEST_WARM_UP_S", 0.1)
    study, out = tmp_path / "two.toml", tmp_path / "runs"
    study.write_text(STUDY)
    arguments = ["run", str(study), "--out", str(out), "--at-most", "90s"]
    made = diskproof_here(tmp_path, *arguments)
    assert made.returncode in (0, 12), made.stderr
    (path,) = (out / "two").iterdir()
    folder = RunFolder.open(path)
    plan = folder.plan()
    assert plan.pilot is not None and plan.pilot.trials == len(folder.pilot()) == 6
    assert (plan.warm_up_s, plan.measure_s) == (plan.pilot.warm_up_s, plan.pilot.measure_s)
    assert all(f"--seconds {plan.measure_s:g} " in one.load_command for one in folder.trials())
    assert not {one.id for one in folder.trials()} & {one.id for one in folder.pilot()}
    assert folder.trials_s() > sum(one.took_s for one in folder.trials())
    assert "the pilot chose a warm-up of " in made.stderr
    markdown = diskproof_here(tmp_path, "report", str(path), "--format", "markdown").stdout
    assert "| Pilot | 6 trials, which do not count, chose " in markdown
    assert "| It ended | when each ratio was known within 40%" in markdown
    planned = diskproof_here(tmp_path, "plan", str(study), "--out", str(out)).stdout
    assert "a pilot that chooses warm_up_s and measure_s" in " ".join(planned.split())
    again = diskproof_here(tmp_path, *arguments, "--resume")
    assert again.returncode in (0, 12) and "pilot 1/3" not in again.stderr, again.stderr
    assert len(folder.pilot()) == 6


def test_a_pilot_chooses_only_what_the_study_leaves_to_it() -> None:
    assert plan_of(STUDY).left_to_a_pilot == ["warm_up_s", "measure_s"]
    assert plan_of(STUDY).at_most_s == 1200
    given = STUDY.replace("clients", "measure_s = 7\nclients")
    assert plan_of(given).left_to_a_pilot == ["warm_up_s"] and plan_of(given).measure_s == 7
    own = STUDY + "warm_up_s = 1\nmeasure_s = 2\n"
    assert plan_of(own).left_to_a_pilot == []
    fixed = STUDY.replace('precision = "40 %"', "blocks = 5")
    assert plan_of(fixed).left_to_a_pilot == [] and plan_of(fixed).at_most_s is None


def test_a_resumed_run_keeps_what_its_pilot_chose() -> None:
    begun = plan_of(STUDY)
    found: dict[str, Any] = {
        "trials": 6,
        "load_s": 5,
        "settled_s": 1,
        "start": 0.02,
        "second": 0.05,
        "start_s": 2,
    }
    chosen = Pilot(**found, warm_up_s=1.5, measure_s=4, blocks=9)
    made = with_pilot(parse_study(STUDY, "two.toml"), begun, chosen)
    assert (made.warm_up_s, made.measure_s) == (1.5, 4)
    longer = made.model_copy(update={"trials": [*made.trials, *next_block(made, {made.cells[0].id})]})
    assert resumed_plan(longer, begun.model_copy(update={"at_most_s": 99.0})) == longer.model_copy(
        update={"at_most_s": 99.0}
    )


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
