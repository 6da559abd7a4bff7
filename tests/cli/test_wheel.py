"""A wheel, where there is no checkout and no toolchain: for a user without root, and in a container."""

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

from support.containers import engine, podman

REPOSITORY = Path(__file__).parents[2]

LOCK = REPOSITORY / "requirements/run.lock"

NOBODY = 65534

PYTHON = "/usr/bin/python3"
"""The system's, because the one that runs the tests may lie in a folder that is root's alone."""

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user, or build the image so"),
    pytest.mark.timeout(1200),  # cargo waits as long as Rust's tests are compiled beside
]


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that every user can read."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="wheel-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def wheel(place: Path) -> Path:
    """What `make wheel` makes, for this machine alone: an older glibc and another processor take long."""
    subprocess.run(["scripts/wheel-data"], cwd=REPOSITORY, env=os.environ | {"VENV": sys.prefix}, check=True)
    command = [str(Path(sys.prefix, "bin/maturin")), "build", "--release", "--locked"]
    command += ["--compatibility", "linux", "--out", str(place / "dist")]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (built,) = (place / "dist").glob("*.whl")
    return built


def linked(to: Path) -> list[str]:
    """Give a `site-packages` the locked libraries of this Python, if it is of the same version.

    They are large: pip takes longest of all for them. Return the other entries of the lock.
    """
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
            into.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source, into)
            except OSError:  # on another file system
                shutil.copy2(source, into)
    return missing


# ---------------------------------------------------------------- a user without root


@pytest.fixture(scope="module")
def venv(place: Path, wheel: Path) -> Path:
    """A virtual environment with the wheel."""
    made = place / "venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", made], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(made / "bin/python"), "install"]
    pip += ["--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, str(wheel)], check=True)
    (site,) = made.glob("lib/python*/site-packages")
    if missing := linked(site):
        locked = place / "missing.lock"
        locked.write_text("".join(missing))
        subprocess.run([*pip, "--require-hashes", "-r", str(locked)], check=True)
    return made


def test_a_wheel_runs_studies_for_a_user_who_has_nothing_else(place: Path, venv: Path) -> None:
    home = place / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)

    def diskproof(*arguments: str) -> str:
        """Run it as that user, with no program but the system's on the path."""
        ended = subprocess.run(
            [venv / "bin/diskproof", *arguments],
            cwd=home,
            env={"PATH": "/usr/bin:/bin", "HOME": str(home)},
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode in (0, 12), ended.stderr
        assert "Traceback" not in ended.stderr
        return ended.stdout

    assert "diskproof-load" in diskproof("doctor")
    assert "quickstart-sqlite" in diskproof("studies")
    assert "desktop-7200" in diskproof("disk", "list")
    assert "6 cells x" in diskproof("plan", "quickstart")
    diskproof("init")
    assert "cells x 5 blocks" in diskproof("plan", "study.toml")
    diskproof("studies", "quickstart-sqlite", "--to", "mine")
    mine = home / "mine/quickstart-sqlite.toml"
    text = mine.read_text()
    short = {"[design]": "[design]\nrepeat_disturbed = false", "blocks = 5": "blocks = 1"}
    short |= {"measure_s = 1.0": "measure_s = 0.5", 'until = "decided"\n': "", "at_most_s = 240\n": ""}
    for key, instead in short.items():
        assert key in text
        text = text.replace(key, instead)
    mine.write_text(text)
    assert "3 of 3 trials" in diskproof("run", str(mine), "--only", "1c")
    assert "3 of 3 trials" in diskproof("report", "newest")
    assert (home / "runs/quickstart-sqlite").is_dir()


def test_a_wheel_has_man_pages_completions_and_the_pages_that_its_words_name(venv: Path) -> None:
    share = venv / "share"
    names = {page.name for page in (share / "man/man1").iterdir()}
    assert names >= {"diskproof.1", "diskproof-load.1", "diskproof-load-run-oltp.1", "diskproof-disk-serve.1"}
    assert ".SH" in (share / "man/man1/diskproof.1").read_text()
    completion = share / "bash-completion/completions/diskproof"
    subprocess.run(["bash", "-c", f". {completion} && complete -p diskproof"], check=True)
    assert (share / "zsh/site-functions/_diskproof").read_text().startswith("#compdef diskproof")
    assert "complete -c diskproof" in (share / "fish/vendor_completions.d/diskproof.fish").read_text()
    (package,) = venv.glob("lib/python*/site-packages/diskproof")
    texts = [path.read_text() for path in package.rglob("*") if path.suffix in (".py", ".json", ".toml")]
    pages = {page for text in texts for page in re.findall(r"(?<![\w/.])docs/[a-z-]+\.md", text)}
    assert len(pages) > 10
    assert [page for page in pages if not (share / "doc/diskproof" / page).is_file()] == []


# ---------------------------------------------------------------- a container

SYSTEM = ("bin", "sbin", "lib", "lib64", "share")
"""Folders of /usr that the containers here have from this machine, instead of Debian's packages: to fetch and
unpack those takes minutes."""

PACKAGES = re.compile(r"RUN apt-get(?:.*\\\n)*.*\n")

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

IMAGE = "localhost/diskproof:test"

STUDY = """
question = "How fast is it here?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0.1
measure_s = 0.5
clients = [1]
memory = ["64 MiB"]
[servers.postgresql]
family = "postgresql"
[storages.disk]
directory = "here"
[tunings.safest]
[workloads.load]
tables = 1
rows = 300
"""


FILES = ("passwd", "group", "nsswitch.conf", "alternatives", "ld.so.cache", "ssl/certs")
"""Of /etc, what users and programs need."""


def machine_as_image(folder: Path) -> str:
    """Return an image that is this machine, once it has the folders of SYSTEM."""
    tree, archive = folder / "machine", folder / "machine.tar"
    for name in (*SYSTEM, "local/bin"):
        (tree / "usr" / name).mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (tree / name).symlink_to(f"usr/{name}")
    for name in ("dev", "opt", "proc", "root", "run", "sys", "tmp", "var/lib", "var/tmp"):
        (tree / name).mkdir(parents=True)
    (tree / "tmp").chmod(0o1777)
    there = [f"etc/{name}" for name in FILES if Path("/etc", name).exists()]
    subprocess.run(["cp", "--archive", "--parents", *there, tree], cwd="/", check=True)
    subprocess.run(["tar", "-C", tree, "-cf", archive, "."], check=True)
    podman("import", str(archive), "localhost/machine:test")
    return "localhost/machine:test"


def test_the_image_measures_what_is_mounted_and_says_what_needs_privileges(place: Path, wheel: Path) -> None:
    context, data = place / "context", place / "data"
    (context / "dist").mkdir(parents=True)
    (context / "requirements").mkdir()
    shutil.copy(wheel, context / "dist")
    shutil.copy(LOCK, context / "requirements")
    recipe, packages = PACKAGES.subn("", (REPOSITORY / "Containerfile").read_text())
    assert packages == 1
    (context / "Containerfile").write_text(recipe)
    said = subprocess.run([PYTHON, "--version"], capture_output=True, text=True, check=True).stdout
    version = "python" + said.split()[1].rpartition(".")[0]
    site = place / version / "site-packages"
    site.mkdir(parents=True)
    linked(site)  # pip fetches the others
    data.mkdir()
    (data / "mine.toml").write_text(STUDY)
    volumes = [f"--volume=/usr/{folder}:/usr/{folder}:ro" for folder in SYSTEM]
    volumes.append(f"--volume={site}:/opt/diskproof/lib/{version}/site-packages")
    options = ["--network", "host", *volumes, "--tag", IMAGE]
    if CERTIFICATES.exists():
        options += ["--build-arg", f"PIP_CERT={CERTIFICATES}"]
    with engine() as folder:
        podman("build", "--build-arg", f"BASE={machine_as_image(folder)}", *options, str(context))

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            options = ["--rm", "--network", "none", *volumes, f"--volume={data}:/data"]
            command = ["podman", "run", *options, IMAGE, *arguments]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        measured = run("run", "mine.toml")
        assert measured.returncode in (0, 12), measured.stderr
        assert "1 of 1 trial" in measured.stdout
        assert next((data / "runs/mine").iterdir()).joinpath("report.html").is_file()
        refused = run("run", "power-cut")
        assert refused.returncode == 2, refused.stdout
        assert "--privileged" in refused.stderr
