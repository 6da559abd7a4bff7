"""What a user gets wrong: a clear message, the right exit code, nothing left behind."""

from pathlib import Path

import pytest

from support.command import diskproof_here

STUDY = """
question = "Is it refused?"
[design]
blocks = 1
warm_up_s = 0
measure_s = 0.5
clients = [1]
[servers.db]
family = "mysql"
[storages.here]
directory = "place"
[tunings.safest]
[workloads.load]
rows = 100
"""


def refused(folder: Path, old: str, new: str) -> str:
    """Run the study with one change; it must be refused, and leave the folder as it was."""
    assert old in STUDY
    (folder / "study.toml").write_text(STUDY.replace(old, new))
    before = {path for path in folder.rglob("*") if "state" not in path.parts}
    result = diskproof_here(folder, "run", "study.toml")
    assert result.returncode == 2, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    left = {path for path in folder.rglob("*") if "state" not in path.parts} - before
    assert not left, left
    assert not list((folder / "state").glob("*.jsonl"))
    return result.stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("blocks = 1", "bloks = 1", "study.toml:4: unknown key `design.bloks`; did you mean `blocks`?"),
        ("blocks = 1", 'blocks = "many"', "study.toml:4: `design.blocks`"),
        ('family = "mysql"', 'family = "oracle"', "`servers.db.family`: give 'mysql'"),
        ("rows = 100", "rows = 900_000_000", "free, but data set and load need about 193 GiB"),
        ('directory = "place"', 'ram = "900 TiB"', "lower `ram`"),
        ('family = "mysql"', 'family = "mysql"\nbasedir = "/usr/share/doc"', "/usr/share/doc"),
        ('family = "mysql"', 'family = "sqlite"\nbasedir = "/usr"', "takes no basedir"),
        ('directory = "place"', 'directory = "/proc"', "/proc"),
        ('directory = "place"', 'directory = "study.toml"', "is not a directory"),
    ],
)
def test_a_study_that_cannot_be_run_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in refused(tmp_path, old, new)


def test_runs_are_not_written_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "dangling").symlink_to("nothing")
    for out, said in (("dangling/x", "dangling is a link to nothing"), ("a/" * 400, "name a shorter path")):
        result = diskproof_here(tmp_path, "run", "study.toml", "--out", out)
        assert result.returncode == 2
        assert result.stderr.startswith("diskproof: --out: ")
        assert said in result.stderr


def test_a_directory_of_somebody_elses_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "precious").write_text("x")
    assert "is not empty (it holds `precious`)" in refused(tmp_path, "rows = 100", "rows = 200")
    assert (tmp_path / "place" / "precious").read_text() == "x"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    result = diskproof_here(tmp_path, "run", "studdy.toml")
    assert result.returncode == 2
    assert "there is no file studdy.toml; did you mean study.toml?" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnu", "x"], 'Did you mean "run"?'),
        (["run"], "STUDY"),
        (["run", "x.toml", "--blocks", "3"], "--blocks"),
        (["report", "."], "is not a run folder: it has no plan.json"),
        (["compare", ".", "."], "is not a run folder"),
        (["plan", "--only", "disk", "nosuch.toml"], "there is no file nosuch.toml"),
        (["report", ".", "--format", "pdf"], "pdf"),
        (["completion", "tcsh"], "tcsh"),
        (["plan"], "plan: STUDY is missing; `diskproof plan --help` shows the options"),
        (["run", "x.toml", "more"], "run: unknown argument `more`; `diskproof run --help`"),
        (["run", "x.toml", "--prove", "--pairs", "x"], "--pairs takes a whole number, not `x`"),
        (["plan", "."], ". cannot be read: it is a folder: name a file"),
        (["plan", "/dev/zero"], "/dev/zero is a device, not a regular file"),
    ],
)
def test_a_wrong_command_line_is_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    result = diskproof_here(tmp_path, *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_only_names_the_cells_when_none_matches(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    result = diskproof_here(tmp_path, "plan", "study.toml", "--only", "tape")
    assert result.returncode == 2
    assert "no cell matches `tape`; the cells are:\n  db/here/safest/load/256MiB/1c" in result.stderr


def test_resume_without_a_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    result = diskproof_here(tmp_path, "run", "study.toml", "--resume")
    assert result.returncode == 2
    assert "there is no run under runs/study to resume" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [("run", "study.toml", "--basedir", "db=~no-such-user/db"), ("disk", "profile", "~no-such-user/x")],
)
def test_a_home_that_nobody_has_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    result = diskproof_here(tmp_path, *arguments)
    assert result.returncode == 2
    assert "~no-such-user is nobody's home: give the whole path" in result.stderr
