"""The page of the workloads is true: its commands run, its study is one."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof import load
from diskproof.families import Family
from diskproof.server.base import Running, ServerKind, ServerNotFoundError
from diskproof.server.registry import find
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter
from support.servers import make_dirs, start

PAGE = (Path(__file__).parents[2] / "docs" / "workloads.md").read_text()

TINY = {
    "--rows": "200",
    "--tables": "2",
    "--clients": "2",
    "--seconds": "0.3",
    "--transactions": "20",
    "--report-interval": "0.1",
    "--queries": "40",
    "--iterations": "2",
}
"""The page's figures are a user's; a test needs the same commands with less to do."""

FAMILIES: dict[str, Family] = {"MARIADB": "mysql", "POSTGRESQL": "postgresql"}


def blocks(language: str, text: str = PAGE) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """Return the files that the page shows, by name."""
    return dict(re.findall(r"^`([a-z]+\.sql)`:\n\n```sql\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))


def tiny(command: str) -> list[str]:
    words = shlex.split(command)
    for at, word in enumerate(words[:-1]):
        if word in TINY:
            words[at + 1] = TINY[word]
        elif word == "--variable":
            words[at + 1] = re.sub(r"=\d+$", "=200", words[at + 1])
        elif word == "--scale":
            words[at + 1] = "0.001" if words[2] == "sqlbench" else "1"
    if words[2] == "sqlbench":
        words += [] if "--tests" in words else ["--tests", "transactions,wisconsin"]
        words += [] if "--scale" in words else ["--scale", "0.001"]
    return words


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Servers"]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISKPROOF_STATE", str(tmp_path_factory.mktemp("state")))
        # A short path, which a server under another user can reach, too.
        folder = Path(tempfile.mkdtemp(prefix="dp-", dir="/tmp"))
        folder.chmod(0o755)
        found = Servers(folder, Journal.begin("tests of documents"))
        try:
            yield found
        finally:
            found.end()
            shutil.rmtree(folder, ignore_errors=True)


class Servers:
    """The servers that the page's commands name, each started when it is first asked for."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._folder, self._journal = folder, journal
        self._running: dict[Family, Running] = {}

    def url(self, family: Family) -> str:
        if family not in self._running:
            try:
                kind: ServerKind = find(family)
            except ServerNotFoundError as error:
                pytest.skip(str(error))
            dirs = make_dirs(self._folder / family)
            kind.initialise(dirs, Starter(self._journal))
            self._running[family] = start(kind, dirs, Starter(self._journal), "unsafe")
        return self._running[family].url

    def end(self) -> None:
        for running in self._running.values():
            running.stop()
        self._journal.finish()


@pytest.mark.parametrize("block", blocks("sh"), ids=lambda block: " ".join(block.split()[1:3]))
def test_every_command_runs(block: str, servers: Servers, tmp_path: Path) -> None:
    for name, text in files().items():
        (tmp_path / name).write_text(text)
    for line in block.splitlines():
        assert line.startswith("diskproof-load "), line
        variable = re.search(r"\$([A-Z]+)", line)
        assert variable, line
        url = servers.url(FAMILIES[variable[1]])
        words = [str(load.program()), *tiny(line.replace(f"${variable[1]}", url))[1:]]
        said = subprocess.run(
            words,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
        assert said.returncode == 0, f"{line}\n{said.stdout}{said.stderr}"


def test_a_studys_defaults_and_those_by_hand_stand_apart() -> None:
    assert "| `mix` | `complex`; by hand read-write, or complex with --schema sbtest |" in PAGE
    assert "| `queries` | the list once" in PAGE
    assert "| `files` (`--file`) | required |" in PAGE
    assert "| `size` (study) | `256 MiB` |" in PAGE
