"""The memory of a run is divided among its virtual disks, or the run is refused."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from diskproof.refusal import RefusalError
from diskproof.run.capacity import DISKS_SHARE, check_room, disk_limits
from diskproof.server.base import ServerError
from diskproof.server.choice import find_chosen
from diskproof.storage.layout import LOG_BYTES
from diskproof.study.model import Study
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, parse_study
from support.disks import needs_root

GIB = 2**30
FREE_BYTES = 8 * GIB

STUDY = """
question = "How much?"
[design]
memory = ["1 GiB"]
[servers.db]
family = "mysql"
[servers.other]
family = "postgresql"
[tunings.safest]
[workloads.load]
mix = "read-write"
tables = 1
rows = {rows}
"""

ONE = """
[storages.one]
virtual = "fujitsu-mbc2073rc"
"""
TWO = """
[storages.two]
data = { virtual = "fujitsu-mbc2073rc", label = "data" }
redo = { virtual = "fujitsu-mbc2073rc", label = "log" }
"""
POOL = """
[storages.pool.zpool]
redundancy = "raidz"
data = [
  { virtual = "null", label = "a" },
  { virtual = "null", label = "b" },
  { virtual = "null", label = "c" },
]
log = [{ virtual = "null", label = "log" }]
"""
COMPOSED = """
[storages.made]
composed = { how = "block-cache", front = "null", back = "fujitsu-mbc2073rc" }
"""
ELSEWHERE = """
[storages.elsewhere]
directory = "/tmp/elsewhere"
"""


@pytest.fixture(autouse=True)
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=FREE_BYTES))


def limits(storages: str, rows: int = 1000) -> tuple[Study, dict[str, int]]:
    text = STUDY.format(rows=rows) + storages
    study = parse_study(text, "study.toml")
    return study, disk_limits(study, make_plan(StudyFile("study", text, study)))


@needs_root
def test_a_folder_that_a_server_cannot_reach_is_refused(tmp_path: Path) -> None:
    text = STUDY.format(rows=1000) + ELSEWHERE
    study = parse_study(text, "study.toml")
    plan = make_plan(StudyFile("study", text, study))
    servers = {"other": find_chosen("other", study.servers["other"])}
    tmp_path.chmod(0o700)
    with pytest.raises(ServerError, match=f"cannot reach {tmp_path}/images: .* is closed"):
        check_room(study, plan, servers, tmp_path / "images")


def test_one_disk_has_all_that_servers_leave() -> None:
    _, [only] = limits(ONE)[0], limits(ONE)[1].values()
    assert only == pytest.approx(DISKS_SHARE * (FREE_BYTES - GIB), rel=1e-6)


@pytest.mark.parametrize(
    ("storages", "count"), [(ONE + TWO, 3), (POOL, 4), (COMPOSED, 1), (ONE + TWO + POOL + COMPOSED, 8)]
)
def test_several_disks_share_the_memory(storages: str, count: int) -> None:
    study, found = limits(storages)
    keys = {
        key
        for storage in study.storages.values()
        for place in storage.places().values()
        for key in place.disk_keys
    }
    assert found.keys() == keys
    assert len(found) == count
    assert sum(found.values()) <= DISKS_SHARE * (FREE_BYTES - GIB)
    assert min(found.values()) > LOG_BYTES


def test_who_holds_more_gets_more() -> None:
    study, found = limits(TWO, rows=1_000_000)
    places = study.storages["two"].places()
    data, log = found[places["data"].key], found[places["redo"].key]
    # Two servers' data sets are kept, and a trial writes on a third.
    assert data / log == pytest.approx(
        (LOG_BYTES + 3 * study.workloads["load"].data_bytes) / LOG_BYTES, rel=1e-6
    )
    study, found = limits(POOL, rows=1_000_000)
    a, b, c, log = found.values()
    assert a == b == c
    assert 1.5 < log / a < 2, "of three disks one is redundant, and a log may hold all that is written"


def test_a_run_that_does_not_fit_is_refused_with_a_remedy() -> None:
    with pytest.raises(
        RefusalError, match=r"virtual disks of this study \(3\) .* 5\.25 GiB are free .* less data \(`rows`"
    ):
        limits(ONE + TWO, rows=9_000_000)


def test_a_run_without_virtual_disks_is_not_concerned() -> None:
    assert limits(ELSEWHERE, rows=9_000_000)[1] == {}
