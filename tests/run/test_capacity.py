"""The memory of a run is divided among its virtual disks, or the run is refused."""

from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from diskproof.refusal import RefusalError
from diskproof.results.plan import Plan
from diskproof.run.capacity import DISKS_SHARE, check_room, disk_limits, fitting
from diskproof.server.base import ServerError
from diskproof.server.choice import find_chosen
from diskproof.storage.layout import LOG_BYTES
from diskproof.study.model import Study
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, parse_study
from support.disks import needs_root

MIB, GIB = 2**20, 2**30
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
RAM = """
[storages.memory]
ram = "4 GiB"
"""
ELSEWHERE = """
[storages.elsewhere]
directory = "/tmp/elsewhere"
"""


@pytest.fixture(autouse=True)
def free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        psutil, "virtual_memory", lambda: SimpleNamespace(available=FREE_BYTES, total=2 * FREE_BYTES)
    )


CUTS = """
[crash]
accounts = {accounts}
filler_bytes = 4000
{more}
"""


def planned(
    storages: str, accounts: int = 1000, more: str = "", rows: int | None = None
) -> tuple[Study, Plan]:
    """Return a study with cuts, and with a workload if that has rows."""
    text = STUDY.format(rows=rows) if rows else STUDY.partition("[workloads")[0]
    text += storages + CUTS.format(accounts=accounts, more=more)
    study = parse_study(text, "study.toml")
    return study, make_plan(StudyFile("study", text, study)).with_every_cell()


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


THEIRS = "mysql://app@127.0.0.1/shop"


def test_there_is_room_for_a_dump_beside_its_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs: list[int] = []
    monkeypatch.setattr("diskproof.run.capacity.check_free", lambda _what, _where, need: needs.append(need))
    (tmp_path / "look.sql").write_text("SELECT 1;\n")
    (tmp_path / "dump.sql").write_text("CREATE TABLE t (a INT);\n")
    for prepare, sizes in (("dump.sql", [256]), (THEIRS, [256]), (THEIRS, [256, 256]), (THEIRS, [256, 512])):
        text = STUDY.partition("[servers.other]")[0] + "[tunings.safest]\n"
        for number, size in enumerate(sizes):
            text += f'[workloads.load{number}]\nkind = "script"\nfiles = ["look.sql"]\n'
            text += f'prepare = "{prepare}"\nsize = "{size} MiB"\n'
        study = parse_study(text + RAM, str(tmp_path / "study.toml"))
        check_room(study, make_plan(StudyFile("study", text, study)), {}, tmp_path / "images")
    file, server, twice, larger = needs
    assert server - file == 256 * MIB
    assert twice == server, "both workloads have one dump and one data set"
    assert larger - server == 2 * 256 * MIB


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
    assert 1.8 < log / a < 3, "each disk of the data has a third, and a log may hold all that is written"


def test_a_run_that_does_not_fit_is_refused_with_a_remedy() -> None:
    with pytest.raises(
        RefusalError, match=r"virtual disks of this study \(3\) .* 5\.25 GiB are free .* less data \(`rows`"
    ):
        limits(ONE + TWO, rows=9_000_000)


def test_a_run_without_virtual_disks_is_not_concerned() -> None:
    assert limits(ELSEWHERE, rows=9_000_000)[1] == {}


@pytest.fixture
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


@pytest.mark.usefixtures("two_cpus")
@pytest.mark.parametrize(("accounts", "lanes"), [(1000, 3), (120_000, 2), (250_000, 1)])
def test_as_many_cuts_at_once_as_fit_into_memory(accounts: int, lanes: int) -> None:
    study, plan = planned(ONE, accounts)
    made = fitting(study, plan)
    assert plan.crash is not None
    assert made.crash is not None
    assert (plan.crash.at_once, made.crash.at_once) == (3, lanes)
    assert made.crash.estimated_s == pytest.approx(plan.crash.estimated_s * 3 / lanes)
    assert made.crash.trials == plan.crash.trials
    own, beside = disk_limits(study, made), disk_limits(study, made, beside=True)
    assert sum(own.values()) + (lanes - 1) * sum(beside.values()) <= DISKS_SHARE * (FREE_BYTES - lanes * GIB)


def test_a_number_of_cuts_at_once_that_is_asked_for_is_refused_if_it_does_not_fit() -> None:
    study, plan = planned(ONE, 250_000, "at_once = 3")
    assert fitting(study, plan) == plan
    with pytest.raises(RefusalError, match=r"disks of this study \(3\) .* or set `at_once = 1` in \[crash\]"):
        disk_limits(study, plan)


def test_a_trials_disk_leaves_lanes_what_cuts_need() -> None:
    study, plan = planned(ONE, 1000, "at_once = 3", rows=1_000_000)
    [own], [beside] = disk_limits(study, plan).values(), disk_limits(study, plan, beside=True).values()
    trial = study.workloads["load"].data_bytes
    assert own > beside + trial, "no lane beside the first one holds the data sets of trials"
    assert own + 2 * beside == pytest.approx(DISKS_SHARE * (FREE_BYTES - 3 * GIB), rel=1e-6)
    # What is only measured is there once.
    study, plan = planned(ONE + TWO, 1000, 'at_once = 3\nstorages = ["one"]', rows=1000)
    limits = disk_limits(study, plan)
    assert limits.keys() - disk_limits(study, plan, beside=True).keys() == {
        place.key for place in study.storages["two"].places().values()
    }


@pytest.mark.usefixtures("two_cpus")
def test_each_lane_has_a_data_set_in_memory_of_its_own(tmp_path: Path) -> None:
    made = fitting(*planned(RAM, 600_000))
    assert made.crash is not None
    assert made.crash.at_once == 2
    study, plan = planned(RAM, 1000, "at_once = 16")
    with pytest.raises(RefusalError, match=r"needs about 19\.19 GiB .* or fewer cuts `at_once`"):
        check_room(study, plan, {}, tmp_path)
