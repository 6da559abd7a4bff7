"""The journal of a test's own: all that stands in it can be undone, and nothing of it stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.system.journal import Journal
from support.virtual import left_of


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    journal = Journal.begin("test")
    yield journal
    assert all(item.done for item in journal.finish())
    assert left_of(journal.mark) == []
    assert not list(Path("/tmp").glob(f"diskproof-{journal.mark}*"))
