"""Every state of a cut: made of a log of requests, tried on a disk, made smaller, replayed."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from diskproof.crash.ledger import Acknowledgement
from diskproof.crash.marks import Marks
from diskproof.crash.recovery import Recovered, Verified
from diskproof.crash.states import Digests, Log, Moment, State, read_log, states_of
from diskproof.refusal import RefusalError
from diskproof.results.cut import CutTrial, Recovery
from diskproof.results.folder import RunFolder
from diskproof.run import states as searching
from diskproof.run.states import StatesAttempt
from paths import STUDIES
from support.command import diskproof_here
from support.virtual import needs_virtual_disks

HEADER = {"log": "diskproof-disk requests", "version": 1, "medium": {"sector_bytes": 512}}

Event = tuple[str, int, int, str] | tuple[str, int]
"""A write with its number, which is odd, its sector and a letter for each of its sectors; or a verb."""


def a_log(folder: Path, *events: Event) -> Path:
    """Write a log in which each event takes a microsecond."""
    path = folder / "requests.log"
    with path.open("wb") as file:
        file.write(json.dumps(HEADER).encode() + b"\n")
        for moment, (verb, number, *rest) in enumerate(events, start=1):
            asked, data = {"number": number, "at_ns": moment * 1000, "writes": number % 2}, b""
            if rest:
                sector, letters = rest
                data = b"".join(letter.encode() * 512 for letter in str(letters))
                asked |= {"offset_bytes": int(str(sector)) * 512, "length_bytes": len(data)}
            file.write(json.dumps({verb: asked}).encode() + b"\n" + data)
        file.write(b'{"end": {"records": 1, "digest": ""}}\n')
    return path


TWO_FLUSHES: tuple[Event, ...] = (
    ("write", 1, 0, "ab"),
    ("answered", 1),
    ("flush", 2),
    ("write", 3, 0, "c"),
    ("answered", 2),
    ("answered", 3),
    ("flush", 4),
    ("answered", 4),
)


def contents(log: Log, state: State) -> bytes:
    disk = bytearray(2 * 512)
    for offset, piece in log.patches(state):
        disk[offset : offset + len(piece)] = piece
    return bytes(disk[::512])


def test_a_write_is_at_risk_until_a_flush_that_was_asked_for_after_its_answer(tmp_path: Path) -> None:
    log = read_log(a_log(tmp_path, *TWO_FLUSHES), 0, flushes_ignored=False)
    assert [(one.at_us, one.arrived, one.risk) for one in log.moments] == [(5, 2, (0, 1)), (8, 2, (1,))]
    assert read_log(log.file, 6, flushes_ignored=False).moments == log.moments[1:], "the load began later"


def test_a_disk_without_a_cache_makes_a_write_safe_by_its_answer(tmp_path: Path) -> None:
    events: tuple[Event, ...] = (
        ("write", 1, 0, "a"),
        ("stable", 1),
        ("answered", 1),
        ("flush", 2),
        ("answered", 2),
    )
    assert read_log(a_log(tmp_path, *events), 0, flushes_ignored=False).moments == [Moment(3, 1, (0,))]
    assert read_log(a_log(tmp_path, *TWO_FLUSHES), 0, flushes_ignored=True).moments == []


def test_states_differ_in_their_bytes_alone(tmp_path: Path) -> None:
    log = read_log(a_log(tmp_path, *TWO_FLUSHES), 0, flushes_ignored=False)
    digests = Digests(log)
    found: dict[int, set[bytes]] = {}
    for state in states_of(log, seed=1, page_bytes=1024):
        found.setdefault(digests.of(state), set()).add(contents(log, state))
    assert all(len(one) == 1 for one in found.values()), "equal digests have equal bytes"
    assert {one for ones in found.values() for one in ones} == {b"\0\0", b"ab", b"cb", b"c\0"}
    assert len(found) == 4


def test_a_log_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    log = a_log(tmp_path, *TWO_FLUSHES)
    log.write_bytes(log.read_bytes()[:-38])
    with pytest.raises(RefusalError, match="cut short"):
        read_log(log, 0, flushes_ignored=False)


class OfOneTable(StatesAttempt):
    """A search without disks and servers, in which each state recovers with the same rows."""

    def _dirs(self, log: str) -> Any:
        (self.folder / log).mkdir(exist_ok=True)
        return SimpleNamespace(log=self.folder / log)

    def _put(self, log: Log, state: State) -> None: ...

    def _come_up(self, mount: object) -> Recovered:
        del mount
        return Recovered()


def test_the_record_counts_no_promise_that_its_states_were_not_held_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Verified(Recovery(mount_s=0.0, server_s=0.0), Marks([(0, 1)]))
    monkeypatch.setattr(searching, "request_log", lambda *_: a_log(tmp_path, *TWO_FLUSHES))
    monkeypatch.setattr(searching, "LEFT_EARLY_US", 2)
    monkeypatch.setattr(searching, "books_of", lambda *_: None)
    monkeypatch.setattr(searching, "look", lambda *_: held)
    disk = SimpleNamespace(facts=SimpleNamespace(flushes_ignored=False))
    attempt: Any = object.__new__(OfOneTable)
    attempt.layout = SimpleNamespace(cut_disks=lambda: [disk], disks=list, mount_again=None)
    attempt.bench = SimpleNamespace(slowness={}, study=None, starter=None)
    attempt.planned, attempt.kind = SimpleNamespace(seed=1), SimpleNamespace(page_bytes=1024)
    attempt.crash, attempt.cell = SimpleNamespace(accounts=0), SimpleNamespace(clients=1)
    attempt.began_us, attempt.cut_us, attempt.most, attempt.laps, attempt._last = 0, 9, 10, {}, 0.0
    attempt.folder, attempt.verified, attempt.failed = tmp_path, None, []
    attempt.told = [Acknowledgement(0, 1, 4), Acknowledgement(0, 2, 7)]  # its moments are 5 and 8
    attempt.search()
    assert attempt.finished
    assert attempt.seen.counterexample is None
    assert (attempt._outcome().acknowledged, attempt._outcome().lost) == (1, 0)


@needs_virtual_disks
@pytest.mark.timeout(120)
def test_the_states_of_rename_name_the_write_that_is_missing(tmp_path: Path) -> None:
    study = STUDIES / "programs" / "rename.toml"
    only = ["--only", "/directory-synced", "--only", "/file-synced"]
    done = diskproof_here(tmp_path, "crash", str(study), "--states", "6", *only)
    assert done.returncode == 0, done.stdout + done.stderr
    [run] = (tmp_path / "runs" / "rename").glob("*")
    cuts: dict[str, CutTrial] = {cut.cell.rpartition("/")[2]: cut for cut in RunFolder.open(run).cuts()}
    kept, lost = cuts["directory-synced"], cuts["file-synced"]
    assert kept.states
    assert (kept.states.checked, kept.states.counterexample, kept.lost) == (6, None, 0)
    assert lost.states
    assert lost.states.counterexample
    assert lost.lost == 1
    assert len(lost.states.counterexample.lost) <= 2
    assert "the smallest counterexample lacks" in done.stderr
    assert "acknowledged, in each of 6 states" in done.stderr
    replayed = diskproof_here(tmp_path, "crash", "--replay", str(run / str(lost.evidence)))
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
