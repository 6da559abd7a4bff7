"""`init`: its study can be planned, nothing is overwritten, and wrong options are refused."""

import shlex
from pathlib import Path

import pytest

from diskproof.cli import EXAMPLES
from diskproof.study.read import read_study
from support.command import diskproof_here


def test_a_first_study_can_be_planned_as_the_help_shows(tmp_path: Path) -> None:
    written = diskproof_here(tmp_path, "init")
    assert written.returncode == 0, written.stderr
    assert "study.toml is written. Next: `diskproof plan study.toml`" in written.stderr
    for verb in ("crash", "plan"):
        assert EXAMPLES[verb].startswith(f"diskproof {verb} study.toml")
    planned = diskproof_here(tmp_path, *shlex.split(EXAMPLES["plan"])[1:])
    assert "4 cells x 5 blocks = 20 trials" in planned.stdout, planned.stderr
    study = read_study(tmp_path / "study.toml").study
    assert list(study.storages) == ["ram", "disk"]
    assert study.design.clients == [1, 8]


def test_options_decide_what_is_compared(tmp_path: Path) -> None:
    (tmp_path / "ssd").mkdir()
    storages = ("--storage", "ebs-gp3", "--storage", f"{tmp_path}/ssd/diskproof", "--storage", "./new/ssd/")
    written = diskproof_here(tmp_path, "init", "mine.toml", *storages, "--server", "sqlite3")
    assert written.returncode == 0, written.stderr
    study = read_study(tmp_path / "mine.toml").study
    assert list(study.storages) == ["ebs-gp3", "ssd", "ssd-3"]
    assert (study.storages["ebs-gp3"].virtual, str(study.storages["ssd-3"].directory)) == (
        "ebs-gp3",
        "new/ssd",
    )
    assert (list(study.servers), list(study.tunings)) == (["sqlite"], ["safest", "fast"])
    assert diskproof_here(tmp_path, "plan", "mine.toml").returncode == 0


WRONG = [
    (["there.toml"], "there.toml exists and is not overwritten: name another file, such as there-2.toml"),
    (["study"], "study: a study file ends in .toml: name it study.toml"),
    (["no/study.toml"], "no is no folder; make it first"),
    (["--storage", "desktop-720"], "`desktop-720` is not `ram`, no virtual disk and no path such as"),
    (["--storage", "desktop-720"], "did you mean `desktop-7200`?"),
    (["--storage", "/dev/sdb"], "/dev/sdb is a device: mount it, and name a directory on it"),
    (
        ["--storage", "/nowhere/ssd/x"],
        "storage `x`: /nowhere/ssd does not exist, so /nowhere/ssd/x would lie on /",
    ),
    (["--storage", "."], "is not empty (it holds `there.toml`)"),
    (["--server", "oracle"], "`oracle` is no server: give mysql, postgresql, sqlite"),
    (
        ["--storage", "mysql://root@localhost/x"],
        "is a server, not a storage: `diskproof init --server mysql://root@localhost/x`",
    ),
    (["--server", "mysql://root@localhost/x", "--storage", "ram"], "a server with a URL stays where"),
    (["--server", "mysql://a:geheim@b/c"], "--server: leave the password out of the URL"),
    (["--server", "mysql://b/c"], "--server: it has no user"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_what_could_not_run_is_not_written(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "there.toml").write_text("mine")
    refused = diskproof_here(tmp_path, "init", *arguments)
    assert refused.returncode == 2
    assert said in refused.stderr, refused.stderr
    assert "internal" not in refused.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"there.toml", "state"}
    assert (tmp_path / "there.toml").read_text() == "mine"
