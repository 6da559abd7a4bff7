"""`vary`: what a study may say of it, and the storages that come of it."""

from pathlib import Path

import pytest

from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, read_study

STUDY = """
question = "What does a flush cost?"
[servers.sqlite]
family = "sqlite"
[storages.dial]
virtual = "dial"
size = "1 GiB"
{vary}
[storages.other]
virtual = "null"
[tunings.safest]
storages = ["dial"]
[tunings.fast]
[workloads.load]
rows = 100
"""


def read(folder: Path, vary: str) -> StudyFile:
    study = folder / "study.toml"
    study.write_text(STUDY.format(vary=vary))
    return read_study(study)


def test_each_value_is_a_storage_of_its_own(tmp_path: Path) -> None:
    file = read(tmp_path, 'vary = { flush_us = ["1 ms", 30, 2500] }')
    assert list(file.study.storages) == ["dial-30us", "dial-1ms", "dial-2.5ms", "other"]
    place = file.study.data_place("dial-2.5ms")
    assert (place.virtual, int(place.size or 0)) == ("dial?flush_us=2500", 2**30)
    plan = make_plan(file)
    point = plan.dials["dial-1ms"]
    assert (point.dial, point.device, point.values) == ("dial", "dial", {"flush_us": 1000.0})
    assert {cell.storage for cell in plan.cells if cell.tuning == "safest"} == set(plan.dials)


def test_two_properties_give_a_storage_for_each_pair(tmp_path: Path) -> None:
    file = read(tmp_path, 'vary = { flush_us = [100, 200], "iops.fixed" = [1000, 16000] }')
    plan = make_plan(file)
    assert list(plan.dials) == ["dial-100us-1000", "dial-100us-16000", "dial-200us-1000", "dial-200us-16000"]
    assert len({point.family for point in plan.dials.values()}) == 2
    assert file.study.data_place("dial-200us-1000").virtual == "dial?flush_us=200&iops.fixed=1000"


def test_a_device_file_beside_the_study_can_be_varied(tmp_path: Path) -> None:
    study = STUDY.replace('virtual = "dial"', 'virtual = "mine.toml"').format(
        vary="vary = { flush_us = [5] }"
    )
    (tmp_path / "study.toml").write_text(study)
    file = read_study(tmp_path / "study.toml")
    assert file.study.data_place("dial-5us").virtual == f"{tmp_path / 'mine.toml'}?flush_us=5"


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("vary = {}", "one or two properties"),
        ("vary = { a = [1], b = [1], c = [1] }", "one or two properties"),
        ("vary = { flush_us = 3 }", "as a list"),
        ("vary = { flush_us = [] }", "as a list"),
        ("vary = { flush_us = [3, 3.0] }", "twice"),
        ('vary = { flush_us = ["3 hours"] }', "'3 hours'"),
        ('vary = { mib_per_s = ["3 ms"] }', "give numbers"),
        ("vary = { flush_us = [true] }", "give numbers"),
        ("vary = { flush_us = [-1] }", "above 0"),
        ("vary = { flush_us = [inf] }", "above 0"),
        ('vary = { "a b" = [1] }', "disk show"),
        ('vary = { flush_us = [1] }\n[storages.dial-1us]\nvirtual = "null"', "would be called `dial-1us`"),
        (
            'vary = { flush_us = [1] }\n[storages.b]\nvirtual = "null"\nvary = { flush_us = [2] }',
            "one storage",
        ),
    ],
)
def test_what_cannot_be_varied_is_refused_with_its_line(tmp_path: Path, vary: str, said: str) -> None:
    with pytest.raises(StudyError) as refused:
        read(tmp_path, vary)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{tmp_path / 'study.toml'}:")


def test_only_a_virtual_disk_can_be_varied(tmp_path: Path) -> None:
    study = STUDY.replace('virtual = "dial"\nsize = "1 GiB"', 'directory = "here"')
    (tmp_path / "study.toml").write_text(study.format(vary="vary = { flush_us = [1] }"))
    with pytest.raises(StudyError, match="only a storage that is `virtual`"):
        read_study(tmp_path / "study.toml")


def test_whoever_names_the_storage_means_all_its_points(tmp_path: Path) -> None:
    text = STUDY.format(vary="vary = { flush_us = [1000, 2000] }")
    crash = '[crash]\nstorages = ["dial"]\nways = { power = ["dial"], kill = ["other"] }\n'
    (tmp_path / "study.toml").write_text(text + crash.replace('storages = ["dial"]\n', ""))
    ways = read_study(tmp_path / "study.toml").study.crash
    assert ways is not None
    assert ways.ways == {"power": ["dial-1ms", "dial-2ms"], "kill": ["other"]}
    (tmp_path / "study.toml").write_text(text + '[crash]\nstorages = ["dial"]\n')
    cut = read_study(tmp_path / "study.toml").study.crash
    assert cut is not None
    assert cut.storages == ["dial-1ms", "dial-2ms"]


def test_large_values_keep_all_their_digits(tmp_path: Path) -> None:
    file = read(tmp_path, 'vary = { "iops.fixed" = [500000, 1000000] }')
    assert list(file.study.storages)[:2] == ["dial-500000", "dial-1000000"]
