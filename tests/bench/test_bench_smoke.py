"""`make bench` in its shortest form: it runs every comparison, judges nothing, and leaves a table."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from diskproof.server.base import ServerError
from diskproof.server.registry import find

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
    assert groups == {"loading", "throughput", "client CPU", "agreement", "memory", "overhead"}
    assert all(row["ours"] > 0 and row["peer"] > 0 for row in rows)
    assert "point-select, 64 clients" in ended.stdout
