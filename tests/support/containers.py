"""A Podman with a storage of its own, and images made of the servers that this machine has."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diskproof.server.mysql.installation import find_mysql
from diskproof.server.postgresql.installation import find_postgresql

IMAGES = {"mysql": "localhost/mariadb:test", "postgresql": "localhost/postgres:test"}

STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/images"
runroot = "{folder}/state"
"""

LIMITS = """
[containers]
default_ulimits = ["nofile={files}:{files}", "nproc=4096:4096"]
[engine]
runtime = "{runtime}"
tmp_dir = "{folder}/run"
"""
"""The limits are at most our own: a machine may not let its root raise them. What one Podman has in `run` is
removed by the reset of another."""


@contextmanager
def engine() -> Iterator[Path]:
    """Let the environment name a Podman without images, and yield the folder in which it has all."""
    if not shutil.which("podman"):
        pytest.skip("podman is missing")
    folder = Path(tempfile.mkdtemp(prefix="dp-images-"))
    with pytest.MonkeyPatch.context() as patch:
        runtime = "runc" if shutil.which("runc") else "crun"
        (folder / "storage.conf").write_text(STORAGE.format(folder=folder))
        files = min(os.sysconf("SC_OPEN_MAX"), 20_000)
        (folder / "containers.conf").write_text(LIMITS.format(folder=folder, files=files, runtime=runtime))
        patch.setenv("CONTAINERS_STORAGE_CONF", str(folder / "storage.conf"))
        patch.setenv("CONTAINERS_CONF", str(folder / "containers.conf"))
        try:
            yield folder
        finally:
            podman("system", "reset", "--force", check=False)
            shutil.rmtree(folder, ignore_errors=True)


def podman(*arguments: str, check: bool = True) -> str:
    """Run Podman, and return what it said."""
    ended = subprocess.run(["podman", *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0 or not check, ended.stderr
    return ended.stdout


def make_images(folder: Path) -> None:
    """Copy both servers and what they need into one tree, and import it under both names."""
    tree = folder / "tree"
    mariadb, postgresql = find_mysql(wanted="MariaDB").binary, find_postgresql().programs
    programs = [postgresql / name for name in ("initdb", "postgres")]
    programs += [Path("/bin/sh"), Path("/bin/cat"), mariadb]
    modules = [file for file in postgresql.parent.glob("lib/*.so") if "llvm" not in file.name]
    parts = [*programs, *modules, *_libraries(programs)]
    share = Path("/usr/share/mysql")
    parts += [share / "english", share / "charsets", *share.glob("*.sql")]
    parts += [Path(f"/usr/share/postgresql/{postgresql.parent.name}")]
    parts += [Path("/usr/share/zoneinfo/UTC"), Path("/usr/lib/locale/C.utf8"), Path("/etc/passwd")]
    for part in parts:
        _copy(part, tree)
    (tree / "tmp").mkdir(mode=0o1777)
    archive = folder / "tree.tar"
    subprocess.run(["tar", "-C", tree, "-cf", archive, "."], check=True)
    path = f"ENV PATH=/usr/sbin:/usr/bin:/bin:{mariadb.parent}:{postgresql}"
    podman("import", "--change", path, str(archive), IMAGES["mysql"])
    podman("tag", *IMAGES.values())
    shutil.rmtree(tree)
    archive.unlink()


def _libraries(programs: list[Path]) -> set[Path]:
    said = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=False).stdout
    return {Path(word) for word in said.split() if word.startswith("/") and not word.endswith(":")}


def _copy(part: Path, tree: Path) -> None:
    to = tree / part.relative_to("/")
    to.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-rL", part, to], check=True)
