"""What a lab does on its host, without Ray."""

from pathlib import Path

import pytest

from diskproof.hosts.lab import HostLab
from diskproof.hosts.membership import OUT
from diskproof.refusal import RefusalError


@pytest.mark.parametrize("run", ["", ".", "..", "../../kept", "/home", "0123456789ABCDEF", "0" * 16 + "/.."])
def test_only_a_name_of_a_run_is_removed(run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OUT, str(tmp_path / "out"))
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    others, kept = tmp_path / "out" / "parts" / ("0" * 16), tmp_path / "kept"
    others.mkdir(parents=True)
    kept.mkdir()
    with pytest.raises(RefusalError, match="no name of a run"):
        HostLab().forget(run)
    assert others.is_dir()
    assert kept.is_dir()
    (others / "log").write_text("begun")
    assert HostLab().kept() == (str(others.parent), 5)
    HostLab().clean()  # a run of which nothing was finished
    assert not others.exists()
    trials = others / "1" / "study" / "20260101-000000" / "trials.jsonl"
    trials.parent.mkdir(parents=True)
    trials.write_text("{}\n")
    HostLab().clean()
    assert trials.exists()
    HostLab().forget(others.name)
    assert not others.exists()
    assert HostLab().kept() == (str(others.parent), 0)
