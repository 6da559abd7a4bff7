"""`[faults]`: what a study may say of them, and the cells that come of it."""

from pathlib import Path

import pytest

from diskproof.refusal import RefusalError
from diskproof.results.fault import NO_FAULT, Fault
from diskproof.storage.faults import schedule_of
from diskproof.study.cuts import plan_cuts
from diskproof.study.read import StudyError, StudyFile, read_study

STUDY = """
question = "What does a fault take?"
[servers.mariadb]
family = "mysql"
[servers.sqlite]
family = "sqlite"
[storages.disk]
virtual = "laptop-ssd-2012"
[tunings.safest]
{faults}
[crash]
cut_after_s = 3
cut_before_s = 4
{crash}
"""


def read(folder: Path, faults: str, crash: str = "") -> StudyFile:
    study = folder / "study.toml"
    study.write_text(STUDY.format(faults=faults, crash=crash))
    return read_study(study)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ('kind = "fire"', "not 'fire'"),
        ('kind = "stall"', "a `stall` needs `for_s`"),
        ('kind = "slow"', "`slow` needs `factor` or `add_ms`"),
        ('kind = "error"\nfactor = 2.0', "`factor` is no key of a `error`"),
        ('kind = "full"\non = "write"', "`on` is no key of a `full`"),
        ('kind = "flip"\non = "flush"', "a flush has no bytes"),
        ('kind = "stall"\nfor_s = 0.5\nevery_s = 1', "`every_s` and `repeat` (2 or more) belong together"),
        (
            'kind = "error"\nfor_s = 0.5\nevery_s = 1\nrepeat = 3\ntimes = 1',
            "give `times` or `repeat`, not both",
        ),
        ('kind = "stall"\nfor_s = 2\nevery_s = 1\nrepeat = 3', "shorter than `every_s`"),
        ('kind = "error"\nchance = 0', "more than 0"),
        ('kind = "error"\ntimes = 0', "give 1 or more"),
        ('kind = "error"\nafter_s = 3', "raise `cut_after_s`"),
        ('kind = "error"\nrole = "tmp"', "role"),
        ('kind = "error"\nservers = ["oracle"]', "this study has mariadb, sqlite, not `oracle`"),
    ],
)
def test_what_cannot_be_is_refused_in_words(tmp_path: Path, fault: str, said: str) -> None:
    with pytest.raises(StudyError) as refusal:
        read(tmp_path, f"[faults.bad]\n{fault}")
    assert said in str(refusal.value)


def test_the_level_without_a_fault_has_its_name_and_a_fault_its_place(tmp_path: Path) -> None:
    error = '[faults.{}]\nkind = "error"\n'
    with pytest.raises(StudyError, match="rename it"):
        read(tmp_path, error.format(NO_FAULT))
    with pytest.raises(StudyError, match="not `other`"):
        read(tmp_path, error.format("bad"), 'faults = ["other"]')
    with pytest.raises(StudyError, match="leave `load` out"):
        read(tmp_path, error.format("bad"), 'load = "tpcc"')
    study = STUDY.format(faults=error.format("bad"), crash="")
    for before, after, said in (
        ('virtual = "laptop-ssd-2012"', 'ram = "1 GiB"', "only virtual disks have faults"),
        (study[study.index("[crash]") :], '[workloads.ledger]\nkind = "ledger"\n', "add [crash]"),
    ):
        (tmp_path / "study.toml").write_text(study.replace(before, after))
        with pytest.raises(StudyError) as refusal:
            read_study(tmp_path / "study.toml")
        assert said in str(refusal.value)


def test_each_cell_has_each_of_its_faults_and_none(tmp_path: Path) -> None:
    faults = '[faults.bad]\nkind = "error"\n[faults.only]\nkind = "lying-flush"\nservers = ["sqlite"]\n'
    study = read(tmp_path, faults, "clients = [1, 4]\ncuts = 2").study
    cuts = plan_cuts(study)
    assert cuts is not None
    levels = [(cell.server, cell.fault, cell.clients) for cell in cuts.cells]
    of_mariadb = [("mariadb", fault, clients) for fault in ("none", "bad") for clients in (1, 4)]
    of_sqlite = [("sqlite", fault, clients) for fault in ("none", "bad", "only") for clients in (1, 4)]
    assert levels == of_mariadb + of_sqlite
    assert cuts.cells[0].id == "mariadb/disk/safest/none/1c"
    assert len(cuts.trials) == 2 * len(levels)
    assert set(cuts.faults) == {"bad", "only"}
    without_root = plan_cuts(study, no_power_cuts="no root here")
    assert without_root and without_root.ways == {"disk": ["kill"]}
    orderly = plan_cuts(
        read(tmp_path, faults, 'ways = ["restart", "power"]').study, no_power_cuts="no root here"
    )
    assert orderly and orderly.ways == {"disk": ["restart"]}
    with pytest.raises(RefusalError, match="only loses power"):
        plan_cuts(read(tmp_path, faults, "states = 5").study)


def test_a_fault_may_come_before_some_deaths_alone(tmp_path: Path) -> None:
    faults = (
        '[faults.bad]\nkind = "error"\nways = ["restart"]\n[faults.never]\nkind = "error"\nways = ["stop"]\n'
    )
    cuts = plan_cuts(read(tmp_path, faults, 'ways = ["restart", "kill"]').study, ["sqlite"])
    assert cuts is not None
    deaths = [(cell.fault, way) for cell, way in cuts.deaths]
    assert deaths == [("none", "restart"), ("none", "kill"), ("bad", "restart")]
    assert [cell.fault for cell in cuts.cells] == ["none", "bad"]
    assert len(cuts.trials) == cuts.cuts * len(deaths)


def test_a_disk_gets_its_schedule() -> None:
    stalls = Fault(kind="stall", after_s=1, for_s=0.3, every_s=1, repeat=3)
    assert [(one["after_us"], one["for_us"]) for one in schedule_of(stalls)] == [
        (1_000_000, 300_000),
        (2_000_000, 300_000),
        (3_000_000, 300_000),
    ]
    assert [one["on"] for one in schedule_of(Fault(kind="read-only"))] == ["write", "discard"]
    [flip] = schedule_of(Fault(kind="flip", times=1, chance=0.1))
    assert (flip["fault"], flip["on"], flip["times"], "for_us" in flip) == ("corrupt", "write", 1, False)
    assert schedule_of(Fault(kind="full")) == [], "that is the file system's"
