"""The cluster as one program sees it; Ray is replaced where it would start something."""

import re
import signal
from types import FrameType
from typing import Any

import pytest

from diskproof.hosts.cluster import Asked, Host, connected, named
from diskproof.hosts.lab import HostFacts
from diskproof.hosts.membership import versions
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


@pytest.mark.parametrize(
    ("ahead_s", "within_s", "why"),
    [
        (5.0, 0.1, "its clock is 5.0 s ahead of this machine's"),
        (-1.2, 0.1, "its clock is 1.2 s behind this machine's"),
        (1.05, 0.1, None),
        (-5.0, 4.5, None),
    ],
)
def test_a_clock_is_refused_if_it_is_certainly_off(ahead_s: float, within_s: float, why: str | None) -> None:
    pytest.importorskip("ray")
    facts = HostFacts(versions=versions(), time_s=0.0, free_bytes=2**40, out="runs")
    asked = Asked(Host("a", "10.0.0.1", "", versions()), facts, ahead_s, within_s)
    assert asked.clock_is_off == (why is not None)
    assert (asked.why_not or "").startswith(why or "")
    assert (asked.why_not is None) == (why is None)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (
            {"versions": "python-3.11.7_ray-2.60.0_diskproof-9.9.9"},
            "it has other versions: .*diskproof 9.9.9",
        ),
        ({"free_bytes": 2**20}, "runs has only 1 MiB free there: make room"),
        ({"why_no_load": "diskproof-load is missing"}, "diskproof-load is missing"),
        ({}, None),
    ],
)
def test_a_host_that_cannot_take_part_says_why(facts: dict[str, Any], why: str | None) -> None:
    pytest.importorskip("ray")
    sound = {"versions": versions(), "time_s": 0.0, "free_bytes": 2**40, "out": "runs"}
    asked = Asked(Host("a", "10.0.0.1", "", None), HostFacts(**{**sound, **facts}))
    assert (asked.why_not is None) == (why is None)
    assert re.match(why or "", asked.why_not or "")


def test_a_host_with_other_versions_takes_no_part() -> None:
    pytest.importorskip("ray")
    other = Host("a", "10.0.0.1", "", versions().replace("diskproof-", "diskproof-9"))
    with pytest.raises(RefusalError, match=r"host `a` has other versions: diskproof 9\.?.* there"):
        named([other], ["a"])


def test_a_run_is_resumed_without_a_host_that_is_gone() -> None:
    pytest.importorskip("ray")
    a, b = (Host(name, "10.0.0.1", "", versions()) for name in "ab")
    with pytest.raises(RefusalError, match="the cluster has no host `c`"):
        named([a, b], ["a", "c"])
    assert named([a, b], ["a", "c"], resume=True) == [a]
    with pytest.raises(RefusalError, match="the cluster has no host `c`, `d`"):
        named([a, b], ["c", "d"], resume=True)


def test_a_label_with_fewer_versions_differs() -> None:
    pytest.importorskip("ray")
    differs = Host("a", "10.0.0.1", "", versions().rpartition("_")[0]).differs
    assert differs is not None
    assert differs.startswith("nothing there, diskproof ")
