"""What the head of a run over hosts does by itself, without Ray."""

from pathlib import Path

import pytest

from diskproof.hosts.over import _run_name
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder


def test_a_run_has_one_head_and_one_name(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with _run_name(folder) as name:
        with pytest.raises(RefusalError, match="another program runs"), _run_name(folder):
            pass
        assert len(name) == 16
    with _run_name(folder) as again:
        assert again == name
    (tmp_path / "hosts.id").write_text("../..")
    with pytest.raises(RefusalError, match="is damaged"), _run_name(folder):
        pass
