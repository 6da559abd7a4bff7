"""Which cuts are worth keeping, and how many of them."""

from pathlib import Path

import pytest

from diskproof.crash.evidence import MOST_EXPECTED, MOST_KEPT, READ_ME, REPLAY, Shelf, explain, failure, keep
from diskproof.crash.ledger import Acknowledgement, Ledger
from diskproof.results.crash import Must, Says
from diskproof.results.cut import CutTrial
from diskproof.results.fault import Trouble
from diskproof.results.plan import Control, Cuts, Documented
from support.cuts import make_crash_plan, make_cut, make_ledger, refused, unfinished
from support.trials import change

PLAN = make_crash_plan(tunings=["safest"], cuts=20)
EVERYWHERE = {"ways": ["power"], "servers": ["mariadb"], "storages": ["ssd"], "tunings": ["safest"]}


def documented(says: Says) -> Cuts:
    return change(PLAN, documented=[Documented(**EVERYWHERE, says=says)])


def controlled(must: Must) -> Cuts:
    return change(PLAN, controls=[Control(**EVERYWHERE, must=must)])


def a_cut(number: int = 0, **changes: object) -> CutTrial:
    return make_cut(PLAN, PLAN.trials[number], **changes)


def lossy(number: int = 0) -> CutTrial:
    return a_cut(number, ledger=make_ledger(100, lost=3, window_s=0.1))


def test_a_cut_that_lost_nothing_is_not_kept() -> None:
    kept_all = a_cut(ledger=make_ledger(100))
    assert failure(kept_all, PLAN) is None
    assert failure(kept_all, controlled("keep")) is None


def test_a_loss_is_a_failure_if_all_must_be_kept() -> None:
    assert failure(lossy(), PLAN) is None
    assert failure(lossy(), controlled("lose")) is None
    assert failure(lossy(), documented("may lose")) is None
    assert "3 acknowledged" in str(failure(lossy(), controlled("keep")))
    assert "3 acknowledged" in str(failure(lossy(), documented("kept")))


def test_a_loss_after_a_fault_is_kept_although_nothing_was_promised() -> None:
    met = Trouble(
        lasted_s=1.0, hits=1, bin_s=0.1, course=[1], silent_s=0.1, serves_again_s=None, stopped=True
    )
    assert "3 acknowledged" in str(failure(change(lossy(), trouble=met), PLAN))
    assert failure(change(a_cut(ledger=make_ledger(100)), trouble=met), PLAN) is None


def test_promises_for_other_ways_or_storages_do_not_count() -> None:
    other = [Documented(**{**EVERYWHERE, "ways": ["kill"]}, says="kept")]
    assert failure(lossy(), change(PLAN, documented=other)) is None


@pytest.mark.parametrize("plan", [PLAN, documented("may corrupt"), documented("kept")])
def test_damage_and_refusal_are_always_looked_at(plan: Cuts) -> None:
    assert failure(refused(a_cut()), plan)
    half = make_ledger(100).model_copy(update={"half_applied": 2})
    assert failure(a_cut(ledger=half), plan)


def test_a_cut_that_broke_off_leaves_no_evidence() -> None:
    assert failure(unfinished(a_cut()), documented("kept")) is None


@pytest.mark.parametrize(("says", "most"), [("may corrupt", MOST_EXPECTED), ("kept", MOST_KEPT)])
def test_there_is_an_end_to_it(says: Says, most: int) -> None:
    shelf = Shelf(documented(says), [])
    takes = [shelf.takes(refused(a_cut(number))) for number in range(20)]
    assert [why is not None for why in takes] == [True] * most + [False] * (20 - most)


def test_evidence_of_an_interrupted_campaign_counts() -> None:
    recorded = [change(refused(a_cut(number)), evidence=f"cuts/{number}") for number in range(MOST_KEPT)]
    assert Shelf(documented("kept"), recorded).takes(refused(a_cut(11))) is None
    assert Shelf(documented("kept"), recorded[1:]).takes(refused(a_cut(11))) is not None


def test_the_folder_explains_its_files_and_the_replay(tmp_path: Path) -> None:
    told = [Acknowledgement(0, 1, 10), Acknowledgement(0, 2, 20)]
    ledger = Ledger([(0, 1, 3, 4, 5)], [(1, 1_000_000, 0)])
    keep(tmp_path, lossy(), told, ledger, 30)
    (tmp_path / REPLAY).touch()
    (tmp_path / "server").mkdir()
    explain(tmp_path, lossy(), "it lost", 30)
    assert (tmp_path / "lost.csv").read_text().splitlines() == ["client,number,acknowledged_at_us", "0,2,20"]
    assert (tmp_path / "entries.csv").read_text().splitlines()[1:] == ["0,1,3,4,5"]
    assert CutTrial.model_validate_json((tmp_path / "cut.json").read_bytes()) == lossy()
    said = (tmp_path / READ_ME).read_text()
    assert "diskproof crash --replay cuts/c001-01" in said
    assert "add the study file if it names files" in said
    assert "it lost" in said
    assert "a copy of that whole folder" in said
    assert "lost.csv" in said


def test_the_folder_explains_only_its_own_files(tmp_path: Path) -> None:
    killed = refused(change(a_cut(), way="kill", disks=[]))
    for folder, files in {"server": ["error.log"], "recovery": []}.items():
        (tmp_path / folder).mkdir()
        for file in files:
            (tmp_path / folder / file).touch()
    keep(tmp_path, killed, [], None, 30)
    explain(tmp_path, killed, "it is gone", 30)
    said = (tmp_path / READ_ME).read_text()
    assert [word for word in ("cut.json", "server/") if word not in said] == []
    others = (
        "acknowledgements ",
        "lost.csv",
        "entries.csv",
        "accounts.csv",
        "recovery/",
        "requests-",
        "load.log",
    )
    assert [word for word in others if word in said] == []
    assert "--replay" not in said
    assert "nothing to be replayed" in said
