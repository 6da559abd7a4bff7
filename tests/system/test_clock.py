"""The library that slows a server's clocks: what a program sees of time that is started with it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from diskproof import disk
from diskproof.system.dilation import TrialTime
from system import waits


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("library") / "clock.so"
    disk.write_clock(path)
    return path


def seen(variables: Mapping[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, waits.__file__],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.parametrize("dilation", [2, 4])
def test_every_clock_and_every_wait_is_slow(library: Path, dilation: int) -> None:
    began_s = time.time()
    saw = seen(TrialTime(dilation).environment(library))
    for name, (shown_s, machine_s) in saw["clocks"].items():
        assert shown_s == pytest.approx(machine_s / dilation, rel=0.1, abs=0.02), name
    for name, (shown_s, machine_s) in saw["waits"].items():
        assert shown_s == pytest.approx(machine_s / dilation, abs=0.01), name
        assert waits.OWN_S * 0.9 <= shown_s < 10 * waits.OWN_S, name
    shown_s, machine_s = saw["cpu_s"]
    assert shown_s == pytest.approx(machine_s, rel=0.1), "CPU time is not slow"
    assert saw["seconds_left"] == 2
    child_s, parent_s = saw["dates"]
    assert began_s < child_s < parent_s < began_s + 20, "one time, of today, in a process and its children"


def test_without_a_dilation_nothing_changes(library: Path) -> None:
    """The variable is missing, or nobody understands it."""
    for variables in ({}, {"DISKPROOF_CLOCK": "slowly"}):
        saw = seen({"LD_PRELOAD": str(library), **variables})
        for name, (shown_s, machine_s) in {**saw["waits"], **saw["clocks"]}.items():
            assert shown_s == pytest.approx(machine_s, abs=0.02), name


def test_a_library_of_the_user_stays_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libtheirs.so")
    assert TrialTime(8, 8).environment(Path("/a.so"))["LD_PRELOAD"] == "/a.so:libtheirs.so"
    assert TrialTime().environment(Path("/a.so")) == {}
