"""Two versions of a study as one, in which both are levels."""

import tomllib
from pathlib import Path

import pytest

from diskproof.refusal import RefusalError
from diskproof.study.interleaved import AFTER, BEFORE, interleaved
from diskproof.study.read import parse_study

STUDY = """
question = "As fast?"
thresholds = ["p99 <= 20 ms"]
[design]
blocks = 3
[servers.mariadb]
family = "mysql"
[storages.disk]
directory = "/mnt/disk/x"
[storages.ssd]
directory = "/mnt/ssd/x"
[tunings.safest]
[tunings.fast]
storages = ["disk"]
[workloads.load]
kind = "oltp"
"""
CELL = {"server": "mariadb", "storage": "disk", "tuning": "fast"}


def joined(before: str, after: str, tmp_path: Path, **cell: str) -> dict[str, dict[str, dict[str, object]]]:
    runs = {BEFORE: (tmp_path / "before", before), AFTER: (tmp_path / "after", after)}
    text = interleaved(runs, CELL | cell)
    parse_study(text, str(tmp_path / "study.toml"))
    return tomllib.loads(text)


def test_a_changed_setting_is_a_level_beside_the_one_before(tmp_path: Path) -> None:
    after = STUDY.replace("[tunings.fast]\n", "[tunings.fast]\nvariables = { innodb_io_capacity = 50 }\n")
    made = joined(STUDY, after, tmp_path)
    assert list(made["tunings"]) == ["fast-before", "fast-after"]
    assert made["tunings"]["fast-before"] == {"base": "fast", "storages": ["disk"]}
    assert made["tunings"]["fast-after"]["variables"] == {"innodb_io_capacity": 50}
    assert set(made["storages"]) == {"disk", "ssd"}
    assert "thresholds" not in made


def test_names_of_changed_levels_change_where_they_are_used(tmp_path: Path) -> None:
    made = joined(STUDY, STUDY.replace("/mnt/disk/x", "/mnt/disk/y"), tmp_path)
    assert list(made["storages"]) == ["disk-before", "disk-after"]
    assert made["tunings"]["fast"]["storages"] == ["disk-before", "disk-after"]


def test_option_files_are_the_copies_that_each_run_keeps(tmp_path: Path) -> None:
    study = STUDY.replace("[tunings.fast]\n", '[tunings.fast]\nmy_cnf = "conf/my.cnf"\n')
    for when, content in ((BEFORE, "innodb_io_capacity = 100"), (AFTER, "innodb_io_capacity = 50")):
        copy = tmp_path / when / "scripts" / "tuning-fast" / "my.cnf"
        copy.parent.mkdir(parents=True)
        copy.write_text(f"[mysqld]\n{content}\n")
    made = joined(study, study, tmp_path)
    assert made["tunings"]["fast-before"]["my_cnf"] == str(tmp_path / "before/scripts/tuning-fast/my.cnf")
    assert made["tunings"]["fast-after"]["my_cnf"] == str(tmp_path / "after/scripts/tuning-fast/my.cnf")
    (tmp_path / "before/scripts/tuning-fast/my.cnf").write_text("[mysqld]\ninnodb_io_capacity = 50\n")
    with pytest.raises(RefusalError, match="are the same"):
        joined(study, study, tmp_path)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (STUDY, "are the same"),
        (STUDY.replace("blocks = 3", "blocks = 4"), "differ in design, and only servers"),
        (STUDY.replace('kind = "oltp"', 'kind = "oltp"\ntables = 2'), "differ in workloads"),
        (STUDY.replace("/mnt/ssd/x", "/mnt/ssd/y"), "storages differ between the runs, but not `disk`"),
    ],
)
def test_what_cannot_run_side_by_side_is_refused(tmp_path: Path, after: str, said: str) -> None:
    with pytest.raises(RefusalError, match=said):
        joined(STUDY, after, tmp_path)
