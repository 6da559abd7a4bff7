"""A run while it is made: who holds it, and the course of its trial."""

import subprocess
import sys
from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder
from diskproof.results.live import LIVE, is_being_made, under_way
from support.runs import STUDY_TEXT
from support.trials import make_plan

HOLD = """
import sys, time
from pathlib import Path
from diskproof.results.live import hold
held = hold(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", STUDY_TEXT, make_plan())


def test_the_kernel_shows_who_makes_a_run_until_its_process_is_killed(folder: RunFolder) -> None:
    assert not is_being_made(folder.path)
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder.path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    assert is_being_made(folder.path)
    process.kill()
    process.wait()
    assert not is_being_made(folder.path)


def test_a_run_is_held_as_long_as_its_folder_is_in_use(folder: RunFolder) -> None:
    folder.hold()
    assert is_being_made(folder.path)
    path = folder.path
    del folder
    assert is_being_made(path)  # the fixture has it as well


def test_a_folder_that_cannot_be_held_stops_nobody(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "gone")
    folder.hold()
    assert not is_being_made(folder.path)


def test_a_trial_shows_its_throughput_until_it_ends(folder: RunFolder) -> None:
    writer = folder.series_writer("b01-t01")
    writer.add([(-1.0, "load", "transactions_per_s", 10.0), (0.5, "host", "cpu_busy", 1.0)])
    live = under_way(folder.path)
    assert live is not None
    assert (live.trial, live.course) == ("b01-t01", ((-1.0, 10.0),))
    writer.add([(1.0, "load", "requests_per_s", 1234567.0), (1.0, "load", "latency_p95_us", 3.0)])
    live = under_way(folder.path)
    assert live is not None
    assert live.course == ((-1.0, 10.0), (1.0, 1234570.0))
    writer.close()
    assert under_way(folder.path) is None
    assert not (folder.path / LIVE).exists()


def test_of_a_long_trial_the_last_minutes_are_read(folder: RunFolder) -> None:
    writer = folder.series_writer("b01-t01")
    writer.add([(float(second), "load", "transactions_per_s", 1000.0 + second) for second in range(9_000)])
    live = under_way(folder.path)
    assert live is not None
    assert 300 < len(live.course) < 1_000
    assert [second for second, _ in live.course] == list(map(float, range(9_000 - len(live.course), 9_000)))
    assert all(rate == 1000 + second for second, rate in live.course)
    writer.close()


def test_a_killed_trial_leaves_a_course_that_the_next_one_replaces(folder: RunFolder) -> None:
    folder.series_writer("b01-t01").add([(1.0, "load", "transactions_per_s", 10.0)])
    writer = folder.series_writer("b01-t02")
    live = under_way(folder.path)
    assert live is not None
    assert (live.trial, live.course) == ("b01-t02", ())
    writer.close()


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"b01-t01\n", b"b01-t01 soon\n", b"\xff\xfe\n1 2\n", b"x" * 9_000, b"b01-t01 nan\n"],
)
def test_what_is_no_course_is_none(folder: RunFolder, content: bytes) -> None:
    (folder.path / LIVE).write_bytes(content)
    assert under_way(folder.path) is None


def test_damaged_lines_are_left_out(folder: RunFolder) -> None:
    (folder.path / LIVE).write_bytes(b"b01-t01 1000\n1 2\n1 nan\n1\nx y\n1 2 3\n\xff 1\n2 1e999\n3 4\n5 6")
    live = under_way(folder.path)
    assert live is not None
    assert live.course == ((1.0, 2.0), (3.0, 4.0))


def test_a_link_leads_nobody_out(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("b01-t01 1000\n1 2\n")
    (folder.path / LIVE).symlink_to(tmp_path / "secret")
    assert under_way(folder.path) is not None
    assert under_way(folder.path, folder.path.resolve()) is None
