"""A study whose run takes some seconds: of SQLite, with a setting that decides how fast it is."""

import shutil
import tempfile
from pathlib import Path

from support.command import diskproof_here
from support.shared import once

STUDY = """
question = "Is it still as fast?"
[design]
blocks = {blocks}
warm_up_s = 0
measure_s = 0.5
clients = [1]
repeat_disturbed = false
[servers.sqlite]
family = "sqlite"
[storages.here]
directory = "data"
[tunings.mine]
base = "unsafe"
variables = {{ synchronous = "{setting}" }}
[workloads.load]
mix = "update-non-index"
tables = 1
rows = 200
"""

FAST, SLOW = "OFF", "FULL"
"""What SQLite's `synchronous` is."""

STUDY_NAME = "shop"


def write_small(folder: Path, setting: str = FAST, *, blocks: int = 5) -> str:
    """Write the study, and return the name of its file."""
    (folder / f"{STUDY_NAME}.toml").write_text(STUDY.format(setting=setting, blocks=blocks))
    return f"{STUDY_NAME}.toml"


def give_a_run(folder: Path) -> Path:
    """Give a folder a run of the study at its fast setting, which is made once for all workers."""
    made = shutil.copytree(once("small-study", _make) / STUDY_NAME, folder / "runs" / STUDY_NAME)
    (run,) = made.iterdir()
    return run


def _make(runs: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:  # on the disk on which the tests' own runs are
        done = diskproof_here(Path(folder), "run", write_small(Path(folder)))
        assert done.returncode in (0, 12), done.stderr
        shutil.copytree(Path(folder) / "runs" / STUDY_NAME, runs / STUDY_NAME)
