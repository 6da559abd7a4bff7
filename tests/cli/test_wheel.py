"""A wheel, installed where there is no checkout and no toolchain, for a user without root."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).parents[2]

LOCK = REPOSITORY / "requirements/run.lock"

NOBODY = 65534

PYTHON = "/usr/bin/python3"
"""The system's, because the one that runs the tests may lie in a folder that is root's alone."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

STUDY = """
question = "Which of two?"
[design]
repeat_disturbed = false
blocks = 1
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


def linked(venv: Path, compiled: Path) -> list[str]:
    """Give it the locked libraries of this Python, if it is of the same version; return the other entries.

    They are large: pip takes longest of all for them. What is compiled of them goes to a folder for
    PYTHONPYCACHEPREFIX.
    """
    (to,) = venv.glob("lib/python*/site-packages")
    is_same = to.parent.name == f"python{sys.version_info.major}.{sys.version_info.minor}"
    missing = []
    for entry in re.findall(r"(?m)^\S+==.*(?:\n +.*)*\n", LOCK.read_text()):
        asked = Requirement(entry.partition("\\")[0])
        if asked.marker and not asked.marker.evaluate():
            continue
        found = next(iter(distributions(name=asked.name)), None)
        if not is_same or found is None or found.version not in asked.specifier:
            missing.append(entry)
            continue
        for file in found.files or ():
            source, into = Path(str(found.locate_file(file))), to / file
            if ".." in file.parts or not source.exists():
                continue
            if "__pycache__" in file.parts:
                into = compiled / into.parent.parent.relative_to("/") / into.name
            into.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source, into)
            except OSError:  # on another file system
                shutil.copy2(source, into)
    return missing


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
    home = place / "home"
    compiled = home / "compiled"
    if missing := linked(place / "venv", compiled):
        locked = place / "missing.lock"
        locked.write_text("".join(missing))
        subprocess.run([*pip, "--require-hashes", "-r", str(locked)], check=True)
    home.mkdir(exist_ok=True)
    for folder in (home, *(path for path in home.rglob("*") if path.is_dir())):  # files are links to others'
        os.chown(folder, NOBODY, NOBODY)
    (home / "two.toml").write_text(STUDY)

    def diskproof(*arguments: str) -> str:
        """Run it as that user, with no program but the system's on the path."""
        ended = subprocess.run(
            [place / "venv/bin/diskproof", *arguments],
            cwd=home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPYCACHEPREFIX": str(compiled)},
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
