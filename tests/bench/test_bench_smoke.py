"""`make bench` in its shortest form: it runs every comparison, judges nothing, and leaves a table."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import goals
from diskproof import disk
from diskproof.server.base import ServerError
from diskproof.server.registry import find
from diskproof.storage.virtual import missing_means

BENCH = Path(__file__).parents[2] / "bench"


def missing() -> str:
    """Say what the bench needs and this machine has not."""
    try:
        find("mysql")
    except ServerError as error:
        return str(error)
    absent = [program for program in ("sysbench", "mariadb-slap") if not shutil.which(program)]
    return f"not installed: {', '.join(absent)}" if absent else ""


@pytest.mark.skipif(os.geteuid() != 0, reason="the bench mounts a tmpfs, which root alone may")
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_every_comparison_runs(tmp_path: Path) -> None:
    environment = {**os.environ, "DISKPROOF_STATE": str(tmp_path / "state")}
    out = tmp_path / "results.json"
    ended = subprocess.run(
        [sys.executable, str(BENCH / "load.py"), "--smoke", "--out", str(out)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = json.loads(out.read_text())["rows"]
    groups = {row["group"] for row in rows}
    assert groups == {"loading", "throughput", "client CPU", "agreement", "memory", "fence", "overhead"}
    assert all(row["ours"] > 0 and row["peer"] > 0 for row in rows)
    assert {"point-select, 64 clients, bare loop", "oltp_read_write.lua, 64 clients"} <= {
        row["what"] for row in rows
    }
    assert "Verdict: nothing was judged" in ended.stdout.splitlines()[-1]


@pytest.mark.skipif(bool(missing_means()), reason=str(missing_means()))
@pytest.mark.skipif(not shutil.which("fio"), reason="not installed: fio")
def test_every_figure_of_the_virtual_disk_is_made(tmp_path: Path) -> None:
    environment = {**os.environ, "DISKPROOF_STATE": str(tmp_path / "state")}
    out = tmp_path / "results.json"
    ended = subprocess.run(
        [sys.executable, str(BENCH / "disk.py"), "--smoke", "--out", str(out)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    figures = json.loads(out.read_text())["figures"]
    models = {one["what"] for one in figures if one["group"] == "model"}
    assert models == {device["name"] for device in disk.devices()}
    assert len([one for one in figures if one["group"] == "floor"]) == 2
    assert all(value > 0 for one in figures for value in one["values"])
    assert all(one["goal"] for one in figures)
    assert "depth 64" in ended.stdout


def test_a_goal_that_does_not_exist_is_refused_with_those_that_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["goals.py", "--only", "luck"])
    with pytest.raises(SystemExit) as ended:
        goals.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "luck" in said
    assert "lightness" in said
    assert "floor" in said
