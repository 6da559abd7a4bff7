"""An interruption ends a run within seconds, though its virtual disk does not answer."""

import os
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from support.command import begin, diskproof_here, marks_in, wait_for
from support.virtual import needs_virtual_disks

STUDY = """question = "Does it end?"
[design]
blocks = 1
warm_up_s = 0
measure_s = 1
clients = [1]
[servers.db]
family = "sqlite"
[storages.disk]
virtual = "null"
size = "300 MiB"
below_floor = true
[tunings.safest]
[workloads.load]
tables = 1
rows = 500
"""


SYNC = """#!/bin/sh
case "$*" in *-disk*) touch copied; while [ ! -e stopped ]; do sleep 0.02; done;; esac
exec /bin/sync "$@"
"""
"""Waits until the disk is stopped, after data was copied to it."""


def disk_of(folder: Path) -> psutil.Process:
    """Return the program of the run's virtual disk."""
    (processes,) = marks_in(folder).values()
    return next(process for process in processes if process.name() == "diskproof-disk")


@needs_virtual_disks
@pytest.mark.parametrize("again", [False, True])
def test_a_run_ends_within_seconds_although_its_disk_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """The disk is stopped while data is copied to it; and again and again, while the lab clears away."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "sync").write_text(SYNC)
    (tmp_path / "sync").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    process = begin(tmp_path, "run", "study.toml")
    wait_for((tmp_path / "copied").exists)
    disk = disk_of(tmp_path)
    try:
        disk.suspend()
        (tmp_path / "stopped").touch()
        time.sleep(0.3)
        began = time.monotonic()
        process.terminate()
        while again and process.poll() is None and time.monotonic() - began < 60:
            with suppress(psutil.NoSuchProcess):
                disk.suspend()
            time.sleep(0.001)
        _, err = process.communicate(timeout=60)
    finally:  # a stopped disk holds up `sync` for the whole machine
        with suppress(psutil.NoSuchProcess):
            disk.kill()
    assert time.monotonic() - began < 20
    assert process.returncode == 130, err
    assert not marks_in(tmp_path)
    assert diskproof_here(tmp_path, "clean").stdout == "nothing to clean\n"
