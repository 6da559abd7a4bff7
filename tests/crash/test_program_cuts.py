"""Programs of the user's own: what they promise, what a cut leaves of it, and loads and checks that err."""

import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from diskproof.crash.ids import NEVER_US, Ids, compare_ids, read_ids
from diskproof.crash.promises import Promises
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.record import ROLES
from diskproof.server.base import Dirs
from diskproof.server.program import ProgramKind, ProgramRunning
from diskproof.study.program import ProgramChoice
from diskproof.study.read import StudyError, parse_study
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter
from diskproof.system.run_processes import processes_of
from paths import STUDIES
from support.command import diskproof_here, wait_for
from support.virtual import needs_virtual_disks

TOLD = "begin a 1\nack a 2\nbegin b 3\nbegin c 3\nack b 4\nack c 5\nbegin d 6\n"


def outcome(text: str, there: str, cut_us: int) -> tuple[int, ...]:
    found = compare_ids(read_ids(text), Ids(Counter(there)), cut_us)
    return found.acknowledged, found.lost, found.unacknowledged_present, found.never_sent, found.out_of_order


def test_promises_are_compared_with_what_is_there() -> None:
    assert outcome(TOLD, "abcd", 10) == (3, 0, 1, 0, 0)
    assert outcome(TOLD, "abc", 4) == (2, 0, 1, 0, 0), "c was acknowledged after the cut"
    assert outcome(TOLD, "ab", 10) == (3, 1, 0, 0, 0)
    assert outcome(TOLD, "acx", 10) == (3, 1, 1, 1, 0), "c was begun before b was acknowledged"
    assert outcome(TOLD, "bc", 10) == (3, 1, 0, 0, 1), "both were begun after a was acknowledged"
    assert outcome(TOLD + "sync 4\n", "a", 10) == (2, 1, 0, 0, 0), "only a and b were to be durable"


STUDY = """
question = "?"
[program]
load = "true"
check = "true {sync}"
[storages.ssd]
virtual = "laptop-ssd-2012"
size = "1 GiB"
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[servers.a]\nfamily = 'sqlite'\n", "`servers`: a study of a [program] has no others"),
        ("[crash]\nclients = 4\n", "`crash.clients`: the load of a [program] is its own command"),
        ("[tunings.a]\nbase = 'safest'\n", "`tunings.a`: a [program] has only `variables`"),
        ("[tunings.a.variables]\nsnyc = 1\n", "`tunings.a.variables`: no command has `{snyc}`"),
        ("[design]\ndilation = 2\n", "`design.dilation`: a [program] keeps the machine's time"),
    ],
)
def test_a_study_of_a_program_has_nothing_of_databases(more: str, said: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse_study(STUDY + more, "study.toml")
    assert said in str(refused.value)


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starter]:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    journal = Journal.begin("tests of programs")
    yield Starter(journal)
    try:
        # The kernel takes a moment for those that were killed.
        wait_for(lambda: not [*processes_of(journal.mark)], 5)
    finally:
        for process in processes_of(journal.mark):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        journal.finish()


def started(folder: Path, starter: Starter, **commands: str) -> tuple[ProgramRunning, Promises]:
    paths = {role: folder / role for role in ROLES}
    for path in (*paths.values(), folder / "run", folder / "log"):
        path.mkdir()
    dirs = Dirs(**paths, run=folder / "run", log=folder / "log")
    given = {"load": "sleep 60", "check": "true", **commands}
    kind = ProgramKind("program", ProgramChoice.model_validate({**given, "limit_s": 1.0}))
    running = kind.start(dirs, kind.settings(dirs, variables={}), starter)
    return running, Promises(running, folder / "log")


OWN_GROUP = 'python3 -c \'import subprocess as s; s.Popen(["sleep", "60"], process_group=0)\''

PROMISES = "echo begin 1; echo ack 1;"


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (
            {"load": "echo why >&2; sleep 60"},
            "no commit was acknowledged within 1 s; its messages end with:\nwhy",
        ),
        ({"load": f"{PROMISES} echo ack 1; sleep 60"}, "line 3 of what `load` printed is a second `ack 1`"),
        ({"load": "echo ack 1; sleep 60"}, "`ack 1` without `begin` before it"),
        ({"load": "echo hello; sleep 60"}, "'hello': write `begin ID` and `ack ID` there"),
        ({"load": f"{PROMISES} yes 'begin 2'"}, "line 4 of what `load` printed is a second `begin 2`"),
        ({"load": f"{PROMISES} exit 3"}, "`load` ended before the cut (exit code 3)"),
        ({"load": f"setsid sleep 60 & sleep 0.1; {PROMISES} sleep 60"}, "has left its process group"),
        ({"load": f"{OWN_GROUP}; {PROMISES} sleep 60"}, "has left its process group"),
        ({"load": f"{PROMISES} sleep 60", "start": "sleep 60 & exit 0"}, "it has to stay in the foreground"),
    ],
)
def test_a_load_that_does_not_speak_as_it_must(
    commands: dict[str, str], said: str, tmp_path: Path, starter: Starter
) -> None:
    running, promises = started(tmp_path, starter, **commands)
    try:
        with pytest.raises(RefusalError) as refused:
            promises.begin()
            promises.wait(0.2)
        assert said in str(refused.value)
    finally:
        running.kill()


def test_a_load_that_was_not_begun_is_killed_without_a_word(tmp_path: Path, starter: Starter) -> None:
    running, promises = started(tmp_path, starter)
    promises.kill()
    running.kill()


def states_of(pids: Iterable[int]) -> set[str]:
    states: set[str] = set()
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            states.add(psutil.Process(pid).status())
    return states


def test_what_the_pipe_holds_at_the_cut_is_promised_and_nothing_is_printed_after_it(
    tmp_path: Path, starter: Starter
) -> None:
    ahead = "n=0; while :; do n=$((n + 1)); echo begin $n; echo ack $n; done"
    running, promises = started(tmp_path, starter, load=ahead)
    promises.begin()
    promises.wait(0.2)
    promises.freeze()
    cut_us = time.monotonic_ns() // 1000
    # A process that waits for a processor shows that it is stopped only when it gets one.
    until = time.monotonic() + 5
    while (states := states_of(running.pids)) != {psutil.STATUS_STOPPED}:
        if time.monotonic() > until:
            break
        time.sleep(0.01)
    running.kill()
    promises.kill()
    acknowledged = [one.at_us for one in read_ids(promises.told()) if one.at_us < NEVER_US]
    assert states == {psutil.STATUS_STOPPED}
    assert max(acknowledged) <= cut_us


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("sleep 60", "`check` did not end within 1 s"),
        ("echo all is well", "line 1 of what `check` printed is no id: 'all is well'"),
        ("yes", "`check` printed more than 64 MiB"),
    ],
)
def test_a_check_that_hangs_or_prints_no_ids(check: str, said: str, tmp_path: Path, starter: Starter) -> None:
    running, _ = started(tmp_path, starter, check=check)
    with pytest.raises(RefusalError) as refused:
        running.ids()
    running.kill()
    assert said in str(refused.value)


def test_a_check_may_find_ids_and_damage(tmp_path: Path, starter: Starter) -> None:
    start = f"trap '' TERM; touch {tmp_path}/deaf; sleep 60 & wait"
    running, _ = started(tmp_path, starter, check="echo a; echo torn >&2; exit 1", start=start)
    wait_for((tmp_path / "deaf").exists)
    assert running.ids() == Counter("a")
    assert running.damage() == ["`check` ended with exit code 1:\ntorn"]
    assert not running.stop(0.1), "it ignores SIGTERM"


@needs_virtual_disks
@pytest.mark.timeout(120)
def test_rename_without_fsync_of_the_directory_loses_and_with_it_does_not(tmp_path: Path) -> None:
    study = STUDIES / "programs" / "rename.toml"
    only = ["--only", "/directory-synced", "--only", "/nothing-synced"]
    done = diskproof_here(tmp_path, "crash", "--program", str(study), "--cuts", "1", *only)
    assert done.returncode == 0, done.stdout + done.stderr
    [run] = (tmp_path / "runs" / "rename").glob("*")
    cuts = {cut.cell.rpartition("/")[2]: cut for cut in RunFolder.open(run).cuts()}
    assert cuts["directory-synced"].lost == 0
    assert cuts["directory-synced"].acknowledged
    assert cuts["nothing-synced"].lost


@needs_virtual_disks
@pytest.mark.timeout(120)
def test_a_program_on_a_disk_with_faults_may_end_and_is_checked_all_the_same(tmp_path: Path) -> None:
    text = (STUDIES / "programs" / "rename.toml").read_text()
    before, _, _ = text.partition("[[crash.controls]]")
    shutil.copy(STUDIES / "programs" / "rename.py", tmp_path)
    (tmp_path / "study.toml").write_text(
        before.replace("[crash]", '[faults.flush]\nkind = "error"\non = "flush"\nafter_s = 0.1\n[crash]')
    )
    done = diskproof_here(tmp_path, "crash", "study.toml", "--cuts", "1", "--only", "/directory-synced")
    assert done.returncode == 0, done.stdout + done.stderr
    [run] = (tmp_path / "runs" / "study").glob("*")
    none, flush = sorted(RunFolder.open(run).cuts(), key=lambda cut: not cut.cell.endswith("none"))
    for cut in (none, flush):
        assert cut.tells and cut.acknowledged and not cut.has_harm, cut
    assert none.trouble and not none.trouble.gave_up
    assert flush.trouble and flush.trouble.hits and flush.trouble.gave_up, "it ends at the first error"
