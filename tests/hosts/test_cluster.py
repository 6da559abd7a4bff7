"""The cluster as one program sees it; Ray is replaced where it would start something."""

import signal
from types import FrameType
from typing import Any

import pytest

from diskproof.hosts.cluster import connected
from diskproof.refusal import RefusalError


def rays_own(_number: int, _frame: FrameType | None) -> None:
    raise AssertionError


def test_ray_takes_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:26400")
    given: list[Any] = []

    def init(**options: Any) -> None:
        given.append(options)
        signal.signal(signal.SIGTERM, rays_own)

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "nodes", list)
    before = signal.getsignal(signal.SIGTERM)
    with connected() as hosts:
        assert signal.getsignal(signal.SIGTERM) == before
    assert hosts == []
    assert len(given) == 1


def test_an_empty_address_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "")
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path_factory.mktemp("state")))
    with pytest.raises(RefusalError, match="is in no cluster"), connected():
        pass
