"""Runs that go on until each verdict is decided: real SQLite, one large difference and one of nothing."""

import json
import time
from pathlib import Path

import pytest

from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan
from diskproof.results.trial import Finding, Trial
from diskproof.run import trials
from diskproof.run.resume import resumed_plan
from diskproof.run.served import ServerAttempt
from diskproof.study.plan import next_block
from diskproof.study.read import StudyError
from diskproof.system.idle import may_keep_cores_awake
from diskproof.wording import as_message
from support.command import diskproof_here
from support.studies import plan_of

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "Which of three?"
[design]
blocks = 5
warm_up_s = 0
measure_s = 0.5
clients = [1]
same_within = 0.001
[servers.lite]
family = "sqlite"
[storages.disk]
directory = "place"
[tunings.safest]
[tunings.as-safe]
base = "safest"
[tunings.unsafe]
[workloads.load]
mix = "update-index"
tables = 1
rows = 500
"""


def write(path: Path, more: str = "") -> Path:
    study = path / "three.toml"
    study.write_text(STUDY.replace("blocks = 5", f"blocks = 5\n{more}"))
    return study


def plan_with(more: str, at_most_s: float | None = None) -> Plan:
    return plan_of(STUDY.replace("blocks = 5", f"blocks = 5\n{more}"), at_most_s=at_most_s)


def run_folder(out: Path) -> RunFolder:
    (path,) = (out / "three").iterdir()
    return RunFolder.open(path)


TRIAL_S = 2.5


@pytest.fixture
def by_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each trial count as so many seconds, so that a slow machine makes as many as a quick one."""
    monkeypatch.setattr(RunFolder, "trials_s", lambda folder: TRIAL_S * len(folder.trials()))
    monkeypatch.setattr(
        trials, "_mean_seconds", lambda folder: {cell.id: TRIAL_S for cell in folder.plan().cells}
    )


@pytest.mark.usefixtures("by_trials")
def test_time_goes_to_the_open_verdicts(tmp_path: Path) -> None:
    study, out = write(tmp_path, "repeat_disturbed = false"), tmp_path / "runs"
    arguments = ["run", str(study), "--until-decided", "--out", str(out)]
    first = diskproof_here(tmp_path, *arguments, "--at-most", f"{TRIAL_S * 21}s")
    assert first.returncode in (0, 12), first.stderr
    folder = run_folder(out)
    plan = folder.plan()
    blocks = {cell.tuning: len(plan.blocks(cell)) for cell in plan.cells}
    # Without flushes it is many times as fast: soon decided. The same settings twice are not, to 0.1%.
    assert blocks["safest"] == blocks["as-safe"] > blocks["unsafe"] >= 5
    assert len(folder.trials()) <= 21
    assert "1 verdict open; needed: " in first.stderr and "left of --at-most: " in first.stderr
    assert "as-safe against safest: " in first.stderr
    assert (
        f"3 cells in {blocks['unsafe']} to {blocks['safest']} blocks"
        in (folder.path / "report.md").read_text()
    )
    report = json.loads(diskproof_here(tmp_path, "report", str(folder.path), "--format", "json").stdout)
    outcomes = {verdict["level"]: verdict["outcome"] for verdict in report["verdicts"]}
    assert outcomes == {"as-safe": "inconclusive", "unsafe": "faster"}

    more = diskproof_here(tmp_path, *arguments, "--at-most", f"{TRIAL_S * 24}s", "--resume")
    assert more.returncode in (0, 12), more.stderr
    longer = run_folder(out).plan()
    assert longer.trials[: len(plan.trials)] == plan.trials and len(longer.trials) > len(plan.trials)
    assert longer.at_most_s == TRIAL_S * 24
    # Resumed without the option it stays what it is: its time is used up.
    again = diskproof_here(tmp_path, "run", str(study), "--resume", "--out", str(out))
    assert again.returncode in (0, 12) and "left of --at-most: " in again.stderr
    assert (run_folder(out).plan().trials, run_folder(out).plan().at_most_s) == (
        longer.trials,
        longer.at_most_s,
    )


def test_a_plan_says_how_it_ends(tmp_path: Path) -> None:
    assert plan_with("").at_most_s is None
    assert plan_with('until = "decided"').at_most_s == 1200
    assert plan_with('until = "decided"\nat_most_s = 90').at_most_s == 90
    assert plan_with('until = "decided"\nat_most_s = 90', at_most_s=100).at_most_s == 100
    study = write(tmp_path, 'until = "decided"')
    said = diskproof_here(tmp_path, "plan", str(study), "--at-most", "2m")
    assert "then further blocks of open verdicts, 2 min at most" in " ".join(said.stdout.split())


def test_a_further_block_is_a_random_order_of_the_cells_that_are_left() -> None:
    plan = plan_with('until = "decided"')
    left = {cell.id for cell in plan.cells if cell.tuning != "unsafe"}
    block = next_block(plan, left)
    assert {trial.cell for trial in block} == left
    assert [trial.id for trial in block] == ["b06-t01", "b06-t02"]
    assert block == next_block(plan, left)
    orders = set()
    for _ in range(12):
        plan = plan.model_copy(update={"trials": [*plan.trials, *block]})
        block = next_block(plan, left)
        orders.add(tuple(trial.cell for trial in block))
    assert len(orders) == 2


@pytest.mark.parametrize("given", ["soon", "5", "-3s", "0s", "1d", "9999999m", ""])
def test_times_that_are_none(tmp_path: Path, given: str) -> None:
    refused = diskproof_here(tmp_path, "run", str(write(tmp_path)), "--until-decided", f"--at-most={given}")
    assert refused.returncode == 2 and "such as 90s, 20m or 2h" in refused.stderr


def test_what_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"the first 5 blocks of 3 cells take about .* more than the 9 s"):
        plan_with('until = "decided"\nat_most_s = 9')
    with pytest.raises(StudyError, match=r"it needs `until"):
        plan_with("at_most_s = 90")
    lonely = diskproof_here(tmp_path, "run", str(write(tmp_path)), "--at-most", "5m")
    assert lonely.returncode == 2 and "--at-most needs --until-decided" in lonely.stderr


def test_a_fixed_run_may_go_on_until_it_is_decided() -> None:
    fixed, timed = plan_with(""), plan_with("", at_most_s=90)
    assert resumed_plan(fixed, timed).at_most_s == 90
    longer = timed.model_copy(update={"trials": [*timed.trials, *next_block(timed, {timed.cells[0].id})]})
    assert resumed_plan(longer, fixed) == longer


def test_trials_that_break_off_take_time_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = iter("abcdefghijklmno")  # alike, they would end the run

    def breaks_off(_attempt: ServerAttempt) -> None:
        time.sleep(0.3)
        raise RefusalError(next(reasons))

    monkeypatch.setattr(ServerAttempt, "measure", breaks_off)
    study = write(tmp_path, "cores_awake = false")
    study.write_text(study.read_text().replace("blocks = 5", "blocks = 2"))
    made = diskproof_here(tmp_path, "run", str(study), "--out", str(tmp_path / "runs"))
    assert made.returncode == 12, made.stderr
    folder = run_folder(tmp_path / "runs")
    machine = folder.machine()
    assert machine is not None and machine.idle_wake_up_us is None
    assert len(folder.trials()) == 6 and folder.trials_s() > 6 * 0.3


@pytest.mark.parametrize(("busy", "repeats"), [(1, 1), (2, 2), (99, 1)])
def test_what_other_work_disturbs_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: int, repeats: int
) -> None:
    """The first so many records are of a busy machine."""
    seen: list[Trial] = []

    def findings(_folder: RunFolder, trial: Trial) -> list[Finding]:
        seen.append(trial)
        message = as_message("other processes took half")
        disturbed = Finding(check="host-busy", severity="warning", message=message)
        return [disturbed] if len(seen) <= busy else []

    monkeypatch.setattr(trials, "findings_of", findings)
    study, out = write(tmp_path), tmp_path / "runs"
    text = study.read_text().replace("blocks = 5", "blocks = 2")
    study.write_text(text.replace('[tunings.as-safe]\nbase = "safest"\n', ""))
    made = diskproof_here(tmp_path, "run", str(study), "--out", str(out))
    assert made.stderr.count("is repeated: other processes took half") == repeats, made.stderr
    again = [one for one in run_folder(out).trials() if any(f.check == "repeated" for f in one.findings)]
    machine = run_folder(out).machine()
    assert machine is not None and machine.idle_wake_up_us == (0 if may_keep_cores_awake() else None)
    assert len(seen) == 4 + repeats and len(again) == repeats and len(run_folder(out).trials()) == 4
