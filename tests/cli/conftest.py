"""Runs are read in this process: tests/system/test_fence.py asks what the fence around a reader holds."""

import pytest

from diskproof.analysis.folder import gather_folder
from diskproof.cli import advise, predict
from diskproof.results.folder import RunFolder


@pytest.fixture(autouse=True)
def runs_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare each `predict` and `advise` the start of another Python, which takes longest of them."""
    for verb in (advise, predict):
        monkeypatch.setattr(verb, "gathered", lambda run: gather_folder(RunFolder.open(run)))
