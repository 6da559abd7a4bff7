"""A placement is a name for ordinary places: which ones, and what it refuses."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from diskproof import disk as program
from diskproof.results.record import ROLES, Role
from diskproof.storage.kinds.composed import device_file
from diskproof.study.placements import PLACEMENTS
from diskproof.study.places import Composed, PlaceChoice
from diskproof.study.storages import StorageChoice

DISK = {"virtual": "seagate", "size": "2 GiB"}
SSD = {"virtual": "ocz", "size": "1 GiB", "label": "fast"}
DISK_BLOCK = {"block": "/dev/sda2", "format": "/dev/sda2", "overwrite": True}
SSD_BLOCK = {"block": "/dev/sdb1", "format": "/dev/sdb1"}


def places(placement: str, **keys: Any) -> dict[Role, PlaceChoice]:
    chosen = {"placement": placement, "disk": DISK, "ssd": SSD, **keys}
    return StorageChoice.model_validate({key: value for key, value in chosen.items() if value}).places()


def at(choice: dict[str, Any]) -> PlaceChoice:
    return PlaceChoice.model_validate(choice)


def test_everything_on_the_ssd() -> None:
    assert places("ssd-as-storage", disk=None) == dict.fromkeys(ROLES, at(SSD))


@pytest.mark.parametrize(
    ("placement", "on_ssd"),
    [
        ("log-on-ssd", {"redo", "binlog"}),
        ("tmp-on-ssd", {"tmp"}),
        ("log-and-tmp-on-ssd", {"redo", "binlog", "tmp"}),
    ],
)
def test_some_roles_on_the_ssd(placement: str, on_ssd: set[Role]) -> None:
    found = places(placement)
    assert found == {role: at(SSD if role in on_ssd else DISK) for role in ROLES}


def test_one_ssd_is_log_and_cache_of_a_pool() -> None:
    found = places("ssd-as-cache", pool={"log_size": "256 MiB", "record_size": "16 KiB"})
    assert len({choice.key for choice in found.values()}) == 1
    pool = found["data"].zpool
    assert pool is not None
    assert [disk.virtual for disk in pool.data] == ["seagate"]
    assert pool.log == pool.cache == pool.shared
    assert (str(pool.log[0]), pool.log[0].label, pool.log[0].size) == ("ocz", "fast", 2**30)
    assert (pool.log_size, pool.record_size) == (256 * 2**20, 16 * 2**10)


def test_block_devices_become_disks_of_a_pool() -> None:
    pool = places("ssd-as-cache", disk=DISK_BLOCK, ssd=SSD_BLOCK)["data"].zpool
    assert pool is not None
    assert (pool.data[0].block, pool.data[0].overwrite) == (Path("/dev/sda2"), True)
    assert (pool.cache[0].block, pool.cache[0].overwrite) == (Path("/dev/sdb1"), False)


@pytest.mark.parametrize(
    ("placement", "how", "front", "back"),
    [
        ("ssd-as-block-cache", "block-cache", "ocz", "seagate"),
        ("disk-as-write-cache", "write-cache", "seagate", "ocz"),
    ],
)
def test_a_composed_disk_has_the_size_and_the_file_system_of_the_one_behind(
    placement: str, how: str, front: str, back: str
) -> None:
    keys = {"disk": {"virtual": "seagate"}, "ssd": {"virtual": "ocz"}}
    behind = "disk" if back == "seagate" else "ssd"
    keys[behind] |= {"size": "1 GiB", "filesystem": "xfs"}
    choice = places(placement, **keys)["data"]
    assert choice.composed == Composed.model_validate({"how": how, "front": front, "back": back})
    assert (choice.size, choice.filesystem) == (2**30, "xfs")
    assert choice.in_memory
    assert choice.has_virtual_disks


@pytest.mark.parametrize("how", ["block-cache", "write-cache"])
def test_the_device_file_of_a_composed_disk_is_one(how: str, tmp_path: Path) -> None:
    text = device_file(Composed.model_validate({"how": how, "front": "null", "back": 'it"s\\.toml'}))
    read = tomllib.loads(text)
    (parameters,) = read["device"].values()
    assert parameters["front"] == {"named": "null"}
    assert parameters["back"]["named"].endswith('it"s\\.toml')
    if not program.is_installed():
        return
    file = tmp_path / "composed.toml"
    file.write_text(device_file(Composed.model_validate({"how": how, "front": "null", "back": "null"})))
    if how == "block-cache":  # the rules are those of the disk that comes with diskproof
        mine, theirs = (program.show(name)["device"]["cache"] for name in (str(file), "ssd-cache-over-disk"))
        rules = mine.keys() - {"front", "back"}
        assert {key: mine[key]["value"] for key in rules} == {key: theirs[key]["value"] for key in rules}
    assert program.show(str(file))["capacity_bytes"] == program.show("null")["capacity_bytes"]


def test_a_role_may_have_a_place_of_its_own_beside_a_placement() -> None:
    other = {"directory": "/srv/third"}
    found = places("log-on-ssd", tmp=other)
    assert (found["tmp"], found["redo"], found["data"]) == (at(other), at(SSD), at(DISK))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"placement": "ssd-as-storage"}, "leave `disk` out"),
        ({"placement": "log-on-ssd", "ssd": None}, "needs `ssd`"),
        ({"placement": "log-on-ssd", "disk": None}, "needs `disk`"),
        ({"placement": "log-on-ssd", "ssd": DISK}, "the same place"),
        ({"placement": "log-on-ssd", "pool": {"compression": "lz4"}}, "`pool` has no meaning"),
        (
            {"placement": "ssd-as-cache", "disk": {"directory": "/srv"}},
            "`directory` cannot be a disk of a pool",
        ),
        ({"placement": "ssd-as-cache", "disk": {**DISK, "filesystem": "xfs"}}, "`filesystem` has no meaning"),
        ({"placement": "disk-as-write-cache", "disk": DISK_BLOCK}, "`block` cannot be composed"),
        ({"placement": "disk-as-write-cache"}, "`size` has no meaning for the disk in front"),
        ({"placement": "log-on-ssd", "directory": "/srv"}, "leave `directory` out"),
        ({"placement": "log-on-ssd", "data": DISK}, "leave `data` out"),
        ({"placement": None, "directory": "/srv", "disk": None}, "`ssd` belongs to a `placement`"),
        ({"placement": "ssd-in-the-cupboard"}, "Input should be"),
    ],
)
def test_what_makes_no_sense_is_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        places(**{"placement": None, **keys})


def test_every_placement_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "places.md").read_text()
    assert [name for name in PLACEMENTS if f"`{name}`" not in page] == []
