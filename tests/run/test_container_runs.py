"""Whole runs with servers in containers: measured, interrupted, killed, and refused without an image."""

import signal
from pathlib import Path

import pytest

from diskproof.analysis.folder import invalidating
from diskproof.results.folder import RunFolder
from support.command import begin, diskproof_here, open_for_others, wait_for
from support.containers import IMAGES, podman

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "How fast is the database in its container?"
[design]
blocks = 1
warm_up_s = 0.2
measure_s = {measure_s}
clients = [2]
repeat_disturbed = false
memory = ["64 MiB"]
[servers.contained]
{line}
[storages.here]
directory = "here"
[tunings.safest]
[workloads.load]
mix = "read-only"
rows = 300
rate = 100
"""


def write_study(folder: Path, line: str, measure_s: float = 1) -> None:
    (folder / "study.toml").write_text(STUDY.format(line=line, measure_s=measure_s))


@pytest.mark.usefixtures("podman_here")
def test_a_container_is_measured_and_left_nowhere(tmp_path: Path) -> None:
    open_for_others(tmp_path)
    image = IMAGES["postgresql"]  # of several processes, and another user's
    write_study(tmp_path, f'image = "{image}"', measure_s=0.5)
    ended = diskproof_here(tmp_path, "run", "study.toml")
    assert ended.returncode in (0, 12), ended.stderr
    folder = RunFolder.open(next((tmp_path / "runs" / "study").iterdir()))
    (trial,) = folder.trials()
    assert trial.finished, trial.findings
    wrong = {finding.check for finding in invalidating(folder, trial)}
    assert not wrong & {"finished", "settings", "placement", "cpus"}, wrong
    assert {file.role for file in trial.open_files if file.role} >= {"data", "redo"}
    assert trial.usage is not None
    assert trial.usage.server_cpu_s
    assert image in (folder.path / "report.md").read_text()

    write_study(tmp_path, f'image = "{image}"', measure_s=60)
    for number in (signal.SIGINT, signal.SIGKILL):
        run = begin(tmp_path, "run", "study.toml")
        wait_for(the_server)
        run.send_signal(number)
        out, err = run.communicate()
        if number == signal.SIGKILL:
            assert the_server()
            cleaned = diskproof_here(tmp_path, "clean")
            assert cleaned.returncode == 0, cleaned.stderr
            assert "removed: process" in cleaned.stdout
        else:
            assert "could not remove" not in out + err
        assert podman("ps", "--all", "--quiet") == ""
        assert list((tmp_path / "state").glob("*.jsonl")) == []
        assert not list((tmp_path / "here").glob("*"))


def the_server() -> str:
    """Return the container of a server, not one that was only asked for its version."""
    return podman("ps", "--quiet", "--filter", "name=diskproof-")


@pytest.mark.usefixtures("podman_here")
def test_a_missing_image_and_a_missing_engine_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_study(tmp_path, 'image = "localhost/mariadb:missing"')
    for verb in ("plan", "run"):
        refused = diskproof_here(tmp_path, verb, "study.toml")
        assert refused.returncode == 2
        assert "`podman pull localhost/mariadb:missing`" in refused.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = diskproof_here(tmp_path, "plan", "study.toml")
    assert refused.returncode == 2
    assert "neither podman nor docker" in refused.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('image = "localhost/other:1"', "family"),
        ('image = "mariadb:11"\nbasedir = "/opt"', "leave this or `image` out"),
        ('image = "--privileged"', "image"),
        ('image = "postgres:17"\nfamily = "sqlite"', "built into the load generator"),
    ],
)
def test_an_image_needs_its_family_and_no_folder(tmp_path: Path, line: str, said: str) -> None:
    write_study(tmp_path, line)
    refused = diskproof_here(tmp_path, "plan", "study.toml")
    assert refused.returncode == 2
    assert said in refused.stderr
