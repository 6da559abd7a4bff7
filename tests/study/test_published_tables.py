"""Published figures in a study file: read as they were printed, refused where they cannot be meant."""

import pytest

from diskproof.results.published import Published
from diskproof.study.read import StudyError, parse_study

STUDY = """
question = "Does it hold?"
[design]
memory = ["2 GiB"]
[servers.sqlite]
family = "sqlite"
[storages.hdd]
ram = "1 GiB"
[storages.ssd]
ram = "1 GiB"
[workloads.complex]
rows = 1000
[published]
title = "Two disks"
by = "A. N. Author, 2001"
"""

TABLE = """
[[published.tables]]
title = "Table 1"
place = "page 3"
at = {{ memory = "{memory}" }}
columns = ["storage", "clients", "transactions_per_s", "latency_mean_ms"]
rows = [["ssd", 8, 400, 2], ["hdd", 8, 50, 16]]
"""


def published(text: str) -> Published:
    study = parse_study(STUDY + text, "study.toml")
    assert study.published is not None
    return study.published.record(study.levels)


def complaint(text: str) -> str:
    with pytest.raises(StudyError) as refused:
        parse_study(STUDY + text, "study.toml")
    return str(refused.value)


@pytest.mark.parametrize("memory", ["2 GiB", "2GiB", "2048 MiB", "2147483648"])
def test_a_size_of_memory_may_be_written_in_several_ways(memory: str) -> None:
    assert {figure.at["memory"] for figure in published(TABLE.format(memory=memory)).figures} == {"2 GiB"}


@pytest.mark.parametrize("memory", ["much", "2 apples", ""])
def test_what_is_no_size_is_refused(memory: str) -> None:
    assert "is not a size such as `2 GiB`" in complaint(TABLE.format(memory=memory))


def test_ratios_are_of_speeds_against_the_level_that_the_study_names_first() -> None:
    [ratio] = published(TABLE.format(memory="2 GiB")).ratios
    assert (ratio.level, ratio.baseline, ratio.ratio) == ("ssd", "hdd", 8)
    assert ratio.at == {"memory": "2 GiB", "clients": "8"}


def test_a_ratio_of_memory_sizes_names_them_as_cells_do() -> None:
    claim = """
[[published.ratios]]
title = "Abstract"
place = "page 1"
measure = "transactions_per_s"
factor = "memory"
level = "4096 MiB"
baseline = "2GiB"
ratio = 1.5
"""
    [ratio] = published(claim).ratios
    assert (ratio.level, ratio.baseline) == ("4 GiB", "2 GiB")
    assert "is not a size" in complaint(claim.replace("4096 MiB", "plenty"))


def test_levels_that_the_study_does_not_have_are_refused() -> None:
    said = complaint(TABLE.format(memory="2 GiB").replace('["ssd", 8', '["nvme", 8'))
    assert "`published.tables number 1`: storage `nvme` is not in this study, which has hdd, ssd" in said


def test_two_tables_of_one_title_are_refused() -> None:
    """Reports tell them apart by it."""
    both = TABLE.format(memory="2 GiB") + TABLE.format(memory="1 GiB")
    said = complaint(both)
    line = (STUDY + both)[: (STUDY + both).rindex("title = ")].count("\n") + 1
    assert f"study.toml:{line}: " in said
    assert "another table is also called `Table 1`: give each its own title" in said


FILES = """
[workloads.files]
kind = "fileio"
mode = "rndrd"
"""


def of(measure: str, at: str = "") -> str:
    return f"""
[[published.tables]]
title = "Table 9"
place = "page 9"
at = {{ {at} }}
columns = ["storage", "{measure}"]
rows = [["ssd", 4], ["hdd", 1]]
"""


@pytest.mark.parametrize(
    ("measure", "at"),
    [
        ("requests_per_s", ""),
        ("transactions_per_s", ""),
        ("transactions_per_s", 'tuning = "safest"'),
        ("latency_mean_ms", 'workload = "files"'),
        ("megabytes_per_s", 'workload = "files"'),
    ],
)
def test_a_measure_that_some_workload_has_is_taken(measure: str, at: str) -> None:
    assert len(published(FILES + of(measure, at)).figures) == 2
