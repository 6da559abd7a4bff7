"""`plan` of a study with cuts: what it says of controls and bytes, and what it refuses."""

from pathlib import Path

import pytest

from diskproof.cli import call

STUDY = """question = "What is lost?"
[servers.lite]
family = "sqlite"
[storages.ssd]
virtual = "laptop-ssd-2012"
size = "1 GiB"
[storages.here]
directory = "/tmp/diskproof-tests-here"
[tunings.safest]
[tunings.fast]
[crash]
cuts = 2
ways = ["kill"]
accounts = 1_000_000
[[crash.controls]]
ways = ["power"]
tunings = ["fast"]
must = "lose"
[[crash.controls]]
tunings = ["safest"]
must = "keep"
"""

APART = """[storages.apart]
data = { virtual = "laptop-ssd-2012", size = "1 GiB" }
redo = { virtual = "laptop-ssd-2012", size = "1 GiB", label = "log" }
"""


def plan(folder: Path, text: str) -> int:
    (folder / "study.toml").write_text(text)
    return call(["plan", str(folder / "study.toml")])


def test_a_control_that_no_cut_is_of_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan(tmp_path, STUDY) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 control is not tested: fast on ssd and here must lose" in said
    assert "but this run cuts no such cell" in said
    assert "must keep" not in said


def test_kills_on_a_disk_of_the_users_own_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan(tmp_path, STUDY) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "GiB written to storage" in said  # four kills, each with a copy of some 250 MB


def test_what_the_log_of_cut_disks_takes_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    virtual = STUDY.replace('directory = "/tmp/diskproof-tests-here"', 'virtual = "null"')
    assert plan(tmp_path, virtual.replace('ways = ["kill"]', 'ways = ["power"]')) == 0
    assert "nothing is written to your own disks but data sets of" in (said := capsys.readouterr().out)
    assert "the log of each cut's requests" in " ".join(said.split())
    assert plan(tmp_path, virtual) == 0
    assert "the log of each cut" not in capsys.readouterr().out


@pytest.mark.parametrize(("crash", "code"), [("", 2), ('storages = ["ssd"]\n', 0)])
def test_a_log_that_sqlite_cannot_put_elsewhere_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], crash: str, code: int
) -> None:
    text = STUDY[: STUDY.index("[[crash.controls]]")].replace("cuts = 2\n", f"cuts = 2\n{crash}")
    assert plan(tmp_path, text.replace("[tunings.safest]", APART + "[tunings.safest]")) == code
    refused = "`lite` keeps its log beside its data, not on the `redo` of storage `apart`"
    assert (refused in " ".join(capsys.readouterr().err.split())) == (code == 2)


def test_a_measured_cell_is_refused_for_the_same_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = STUDY[: STUDY.index("[crash]")].replace("[tunings.safest]", APART + "[tunings.safest]")
    assert plan(tmp_path, text + '[workloads.load]\nmix = "read-write"\nrows = 100\n') == 2
    assert "not on the `redo` of storage `apart`" in " ".join(capsys.readouterr().err.split())
