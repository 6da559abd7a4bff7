"""A wheel, installed where there is no checkout and no toolchain, for a user without root."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]

NOBODY = 65534

PYTHON = "/usr/bin/python3"
"""The system's, because the one that runs the tests may lie in a folder that is root's alone."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

STUDY = """
question = "Which of two?"
[design]
blocks = 2
warm_up_s = 0.1
measure_s = 0.5
clients = [1]
[servers.lite]
family = "sqlite"
[storages.disk]
directory = "place"
[tunings.safest]
[tunings.unsafe]
[workloads.load]
tables = 1
rows = 500
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can read, and that the user without root owns."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="wheel-") as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


@needs_root
@pytest.mark.timeout(1200)  # cargo waits as long as Rust's tests are compiled beside
def test_a_wheel_runs_studies_for_a_user_who_has_nothing_else(place: Path) -> None:
    built = place / "built"
    maturin = Path(sys.executable).with_name("maturin")
    command = [str(maturin), "build", "--release", "--locked", "--compatibility", "linux"]
    command += ["--out", str(built)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", place / "venv"], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(place / "venv/bin/python"), "install"]
    pip += ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"]
    subprocess.run([*pip, str(wheel)], check=True)
    locked = [*pip, "--require-hashes", "-r", str(REPOSITORY / "requirements/run.lock")]
    subprocess.run(locked, check=True)
    home = place / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    (home / "two.toml").write_text(STUDY)

    def diskproof(*arguments: str) -> str:
        """Run it as that user, with no program but the system's on the path."""
        ended = subprocess.run(
            [place / "venv/bin/diskproof", *arguments],
            cwd=home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPYCACHEPREFIX": str(home / "compiled")},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode in (0, 12), ended.stderr
        return ended.stdout

    assert "quickstart-sqlite" in diskproof("studies")
    assert "desktop-7200" in diskproof("disk", "list")
    assert "6 cells x" in diskproof("plan", "quickstart-sqlite")
    assert "unsafe" in diskproof("run", "two.toml")
