"""A limit of the address space ends a command in words."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from diskproof.reading import read_bytes
from support.command import environment

MIB = 2**20


@pytest.mark.parametrize("mebibytes", [60, 200, 400])
def test_a_plan_ends_in_words(mebibytes: int, tmp_path: Path) -> None:
    whole = "[storages.d]\ndirectory = 'place'\n[workloads.w]\nkind = 'oltp'\n"
    (tmp_path / "study.toml").write_text(f'question = "q"\n[servers.s]\nfamily = "sqlite"\n{whole}')
    ended = subprocess.run(
        [sys.executable, "-m", "diskproof", "plan", "study.toml"],
        check=False,
        cwd=tmp_path,
        env=environment(tmp_path),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, 2 * (mebibytes * MIB,)),
        capture_output=True,
        text=True,
    )
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0 or (ended.returncode == 2 and "memory" in ended.stderr), ended.stderr
    assert ended.returncode or mebibytes > 60


def test_a_small_file_takes_little_whatever_its_limit_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 3 * MIB)
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 64 * MIB, before[1]))
    try:
        assert len(read_bytes(tmp_path / "file", 2**40)) == 3 * MIB
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
