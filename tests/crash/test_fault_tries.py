"""Tries with faults through the command line: real servers on virtual disks that err, lie and fill up."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.cli import call
from diskproof.cli import crash as cli_crash
from diskproof.crash.ledger import Ledger, LedgerError, compare, read_acknowledgements, read_failures
from diskproof.crash.trouble import trouble
from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from diskproof.run import cut_rights
from diskproof.storage import kinds, virtual
from diskproof.storage.faults import fill_up
from support.command import diskproof_here
from support.virtual import needs_virtual_disks

STUDY = """
question = "What does a fault take?"
[design]
memory = ["32 MiB"]
[servers.{server}]
family = "{family}"
[storages.disk]
virtual = "{disk}"
size = "500 MiB"
below_floor = true
[tunings.safest]
{faults}
[crash]
cuts = 1
clients = 4
accounts = 100
keep = "nothing"
cut_after_s = 1.5
cut_before_s = 1.6
{crash}
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own user reaches: other sessions of pytest close theirs again and again."""
    with tempfile.TemporaryDirectory(prefix="diskproof-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def tries(folder: Path, **study: str) -> dict[tuple[str, str], CutTrial]:
    (folder / "study.toml").write_text(STUDY.format(**study))
    done = diskproof_here(folder, "crash", "study.toml")
    assert done.returncode == 0, done.stderr
    [path] = (folder / "runs" / "study").glob("*")
    made = RunFolder.open(path).cuts()
    assert all(cut.finished for cut in made), [cut.findings for cut in made]
    return {(cut.cell.rpartition("/")[2], cut.way): cut for cut in made}


@needs_virtual_disks
@pytest.mark.timeout(120)
def test_a_disk_that_begins_to_lie_loses_and_one_that_errs_is_told(tmp_path: Path) -> None:
    faults = (
        '[faults.lying]\nkind = "lying-flush"\nafter_s = 0.3\n'
        '[faults.flush]\nkind = "error"\non = "flush"\nafter_s = 0.3\n'
        '[faults.full]\nkind = "full"\nafter_s = 0.3\nfor_s = 0.5\n'
    )
    controls = (
        '[[crash.controls]]\nfaults = ["none", "flush", "full"]\nmust = "keep"\n'
        '[[crash.controls]]\nfaults = ["lying"]\nmust = "lose"\n'
    )
    made = tries(
        tmp_path,
        server="sqlite",
        family="sqlite",
        disk="desktop-7200",
        faults=faults,
        crash=f'ways = ["power"]\nfiller_bytes = 4000\n{controls}',
    )
    none, lying, flush, full = (made[fault, "power"] for fault in ("none", "lying", "flush", "full"))
    assert none.lost == flush.lost == full.lost == 0
    assert lying.lost  # whether SQLite notices is chance: its file may be malformed
    for one in (none, lying, flush, full):
        assert one.trouble is not None
    assert none.trouble and not none.trouble.errors and none.trouble.hits is None
    assert lying.trouble and not lying.trouble.errors and lying.trouble.hits
    assert flush.trouble and flush.trouble.errors.get("SQLITE_IOERR"), flush.trouble
    assert flush.trouble.serves_again_s is None and flush.trouble.silent_s > 0.5
    page = diskproof_here(tmp_path, "report", str(next((tmp_path / "runs" / "study").glob("*"))))
    assert "with lying (1 of 1)" in " ".join(page.stdout.split()), page.stdout


@needs_virtual_disks
@pytest.mark.timeout(120)
def test_a_server_is_stopped_in_good_order_and_wrong_data_are_found(open_folder: Path) -> None:
    made = tries(
        open_folder,
        server="postgresql",
        family="postgresql",
        disk="laptop-ssd-2012",
        faults='[faults.flip]\nkind = "flip"\nafter_s = 0.3\n',
        crash='ways = ["restart"]\n[[crash.controls]]\nfaults = ["none"]\nmust = "keep"\n',
    )
    none, flip = made["none", "restart"], made["flip", "restart"]
    assert not none.has_harm and none.disks == []
    assert flip.trouble and flip.trouble.hits
    assert flip.is_damaged and not flip.is_unnoticed


TOLD = "0 1 1000000\n1 1 1100000\n0 2 !1030 1200000\n0 3 !lost 2100000\n1 2 2500000\n0 4 cut off"


def test_failures_are_told_from_acknowledgements_and_take_their_numbers() -> None:
    told, failed = read_acknowledgements(TOLD), read_failures(TOLD)
    assert [one.key for one in told] == [(0, 1), (1, 1), (1, 2)]
    assert [(one.number, one.code) for one in failed] == [(2, "1030"), (3, "lost")]
    for wrong in ("0 1 ! 5\n", "0 1 !x y 5\n", "0 2 !x 5\n", "x 1 !x 5\n"):
        with pytest.raises(LedgerError):
            read_failures(wrong)
    # What failed may be there all the same, and so may the next that was sent.
    for number, never_sent in ((3, 0), (4, 0), (5, 1)):
        ledger = Ledger([(0, 1, 1, 2, 5), (1, 1, 1, 2, 5), (1, 2, 1, 2, 5), (0, number, 1, 2, 5)], [])
        assert compare(told, ledger, 2, 3_000_000, failed).never_sent == never_sent


def test_silence_counts_from_the_fault_and_ends_with_a_commit() -> None:
    met = trouble(read_acknowledgements(TOLD), read_failures(TOLD), 1_000_000, 3_000_000, 0.5, 7)
    assert (met.silent_s, met.serves_again_s) == (1.0, 1.0)
    assert met.errors == {"1030": 1, "lost": 1}
    assert sum(met.course) == 3 and len(met.course) == 40
    never = trouble(read_acknowledgements(TOLD), [], 1_000_000, 9_000_000, 0.5, None)
    assert (never.silent_s, never.serves_again_s) == (6.5, None)
    nothing = trouble([], [], 1_000_000, 1_000_000, 0.5, None)
    assert (nothing.silent_s, nothing.serves_again_s, nothing.course) == (0.0, None, [0])


def test_what_fills_a_file_system_that_is_full_already_takes_nothing(tmp_path: Path) -> None:
    fill_up(tmp_path / "filler", 1 << 62)
    assert (tmp_path / "filler").stat().st_size == 0


@needs_virtual_disks
@pytest.mark.timeout(120)
def test_what_a_lost_write_did_is_traced_to_it_and_replayed(tmp_path: Path) -> None:
    lost = tries(
        tmp_path,
        server="sqlite",
        family="sqlite",
        disk="laptop-ssd-2012",
        faults='[faults.lost]\nkind = "lost-write"\nafter_s = 0.3\nchance = 0.2\n',
        crash='ways = ["kill"]\n',
    )["lost", "kill"]
    assert lost.has_harm and lost.trouble and lost.trouble.hits and lost.evidence
    assert len(lost.trouble.struck) == min(lost.trouble.hits, 8)
    assert any("sbtest.db-wal (at " in one for one in lost.trouble.struck), lost.trouble.struck
    [run] = (tmp_path / "runs" / "study").glob("*")
    read_me = (run / lost.evidence / "READ-ME.txt").read_text()
    assert f"The fault hit {lost.trouble.hits:,} requests" in read_me and lost.trouble.struck[0] in read_me
    again = diskproof_here(tmp_path, "crash", "--replay", str(run / lost.evidence))
    assert again.returncode == 0, again.stdout + again.stderr
    assert "the result is the same" in again.stdout


@pytest.mark.skipif(bool(virtual.missing_means(block=False)), reason="no virtual disk here")
@pytest.mark.timeout(120)
def test_a_disk_that_is_served_as_a_directory_has_faults_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a user without root, who has neither loop devices nor power cuts."""
    monkeypatch.setattr(kinds.virtual, "as_directory", lambda: True)
    for module in (cli_crash, cut_rights):
        monkeypatch.setattr(module, "no_power_cuts", lambda: "no root here")
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    faults = (
        '[faults.flush]\nkind = "error"\non = "flush"\nafter_s = 0.3\n'
        '[faults.lost]\nkind = "lost-write"\nafter_s = 0.3\nchance = 0.2\n'
        '[faults.full]\nkind = "full"\nafter_s = 0.3\n'
    )
    text = STUDY.format(
        server="sqlite",
        family="sqlite",
        disk="laptop-ssd-2012",
        faults=faults,
        crash='ways = ["restart", "power"]\n[[crash.controls]]\nfaults = ["none"]\nmust = "keep"\n',
    )
    (tmp_path / "study.toml").write_text(text)
    assert call(["crash", "study.toml"]) == 0
    [path] = (tmp_path / "runs" / "study").glob("*")
    made = {cut.cell.rpartition("/")[2]: cut for cut in RunFolder.open(path).cuts()}
    assert {cut.way for cut in made.values()} == {"restart"}
    none, flush, lost, full = (made[fault] for fault in ("none", "flush", "lost", "full"))
    assert not none.has_harm and none.tells
    assert flush.trouble and flush.trouble.hits and flush.trouble.errors.get("SQLITE_IOERR")
    assert lost.trouble and lost.trouble.hits and lost.has_harm
    assert full.trouble and full.trouble.errors and not full.lost  # a write-back tells only the next flush
