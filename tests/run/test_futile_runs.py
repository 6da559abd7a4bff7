"""Loads that cannot work: the run ends early and says why."""

import os
import shutil
from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial
from diskproof.run.room import FullError, Room
from diskproof.system.programs import run
from support.command import diskproof_here
from support.trials import make_places, make_plan, make_trial

STUDY = """
question = "Does it work?"
[design]
blocks = 5
warm_up_s = 0
measure_s = 0.5
clients = [1, 2]
[servers.db]
family = "sqlite"
[storages.disk]
directory = "place"
[tunings.fast]
[workloads.own]
kind = "script"
prepare = "tables.sql"
files = ["load.sql"]
"""


def begun(folder: Path, load: str) -> tuple[int, list[Trial], str]:
    """Run a script; return the exit code, its trials, and what was said."""
    (folder / "study.toml").write_text(STUDY)
    (folder / "tables.sql").write_text("CREATE TABLE t (id INTEGER PRIMARY KEY);")
    (folder / "load.sql").write_text(load)
    ended = diskproof_here(folder, "run", "study.toml")
    [path] = (folder / "runs" / "study").iterdir()
    return ended.returncode, RunFolder.open(path).trials(), ended.stderr


def test_two_trials_that_fail_alike_end_the_run(tmp_path: Path) -> None:
    code, trials, said = begun(tmp_path, "SELECT json('{');\n")
    assert (code, [trial.finished for trial in trials]) == (2, [False, False])
    remedy = trials[0].findings[-1].remedy
    assert remedy and "`diskproof run study.toml --resume`" in remedy.text
    assert "b01-t01 and b01-t02 failed alike, so the others would, too: the trial broke off: " in said
    assert "malformed JSON" in said.partition("failed alike")[2]


def test_a_statement_that_the_server_refuses_ends_the_run_at_once(tmp_path: Path) -> None:
    code, trials, said = begun(tmp_path, "SELECT id FROM t;\nSELECT colour FROM t;\n")
    assert (code, [trial.finished for trial in trials]) == (2, [False])
    why = "load.sql:2 SELECT colour FROM t: the server refuses this statement: no such column: colour"
    assert f"diskproof: the trial broke off: {why}" in said


def test_a_statement_that_is_no_sql_ends_the_run_before_the_data_are_loaded(tmp_path: Path) -> None:
    code, trials, said = begun(tmp_path, "SELECT id FORM t;\n")
    assert (code, trials) == (2, [])
    assert "load.sql:1 SELECT id FORM t: the server refuses this statement: near" in said


def test_a_repeat_that_breaks_off_does_not_replace_a_finished_trial(tmp_path: Path) -> None:
    plan = make_plan()
    folder = RunFolder.create(tmp_path / "run", "", plan)
    trial = make_trial(plan, plan.trials[0])
    broken = trial.model_copy(update={"finished": False, "load": None})
    folder.append(broken)
    folder.append(trial)
    folder.append(broken)
    assert folder.trials() == [trial]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system: root")
def test_a_full_place_says_what_it_needs(tmp_path: Path) -> None:
    place = make_places("dram")[0]
    assert not run(["mount", "-t", "tmpfs", "-o", "size=32m", "none", str(tmp_path)]).code
    try:
        room = Room([place.model_copy(update={"path": str(tmp_path), "kind": "ram"})], lasts_s=10.0)
        (tmp_path / "rows").write_bytes(bytes(20 * 2**20))
        room.check()
        assert room.full() is not None  # enough to blame it for what failed, not to break off
        (tmp_path / "log").write_bytes(bytes(10 * 2**20))
        with pytest.raises(
            FullError, match=r"is full: 2 MiB of 32 MiB are left .* grows by 30 MiB/s; set `ram`"
        ):
            room.check()
        assert shutil.disk_usage(tmp_path).free > 0
    finally:
        run(["umount", str(tmp_path)])
