"""Whole campaigns of cuts through the command line: real servers on virtual disks that really lose power."""

import json
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.cli import call
from diskproof.crash.clients import Clients
from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from support.command import begin, diskproof_here, marks_in, wait_for
from support.virtual import left_of, needs_virtual_disks

pytestmark = [needs_virtual_disks, pytest.mark.timeout(240)]

STUDY = """
question = "What does a cut take?"
[design]
memory = ["32 MiB"]
[servers.{server}]
family = "{family}"
[storages.honest]
virtual = "laptop-ssd-2012"
size = "500 MiB"
below_floor = true
[storages.liar]
virtual = "desktop-7200"  # its cache keeps for long what it has
size = "500 MiB"
below_floor = true
flushes = "ignored"
[storages.plain]
directory = "./plain"
[tunings.safest]
[tunings.fast]
[tunings.unsafe]
[crash]
cuts = 1
clients = 4
accounts = 100
keep = "nothing"
cut_after_s = 0.3
cut_before_s = 0.6
{crash}
"""

FAMILIES = {"mariadb": "mysql", "postgresql": "postgresql", "sqlite": "sqlite"}

KEEPS = """
[[crash.controls]]
tunings = ["safest"]
must = "keep"
"""


def of(storage: str, *tunings: str) -> str:
    return f'storages = ["{storage}"]\ntunings = {json.dumps(tunings)}\n'


def write_study(folder: Path, server: str, crash: str = "") -> None:
    text = STUDY.format(server=server, family=FAMILIES[server], crash=crash)
    (folder / "study.toml").write_text(text)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own user reaches: other sessions of pytest close theirs again and again."""
    with tempfile.TemporaryDirectory(prefix="diskproof-tests-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def run_of(folder: Path) -> RunFolder:
    [path] = (folder / "runs" / "study").glob("*")
    return RunFolder.open(path)


def cuts_of(folder: Path) -> dict[tuple[str, str], CutTrial]:
    return {(cut.cell.partition("/")[2], cut.way): cut for cut in run_of(folder).cuts()}


def assert_nothing_is_left(folder: Path, mark: str) -> None:
    assert marks_in(folder) == {}
    assert left_of(mark) == []
    assert not list(Path("/tmp").glob(f"diskproof-{mark}*"))
    assert list((folder / "state").glob("*.jsonl")) == []


@pytest.mark.skipif(
    not (shutil.which("mariadbd") or Path("/usr/sbin/mariadbd").exists()), reason="no MariaDB here"
)
def test_mariadb_dies_in_three_ways_and_loses_what_each_takes(tmp_path: Path) -> None:
    write_study(
        tmp_path, "mariadb", 'ways = ["kill", "stop", "power"]\n' + of("honest", "safest", "fast") + KEEPS
    )
    # Else it flushes its log once a second, and may have done so in the moment before the cut.
    study, seldom = tmp_path / "study.toml", "variables = { innodb_flush_log_at_timeout = 60 }"
    study.write_text(study.read_text().replace("[tunings.fast]", f"[tunings.fast]\n{seldom}"))
    done = diskproof_here(tmp_path, "crash", "study.toml", "--only", "honest")
    assert done.returncode == 0, done.stderr
    cuts = cuts_of(tmp_path)
    assert all(cut.tells for cut in cuts.values()), [cut.findings for cut in cuts.values()]
    for way in ("kill", "stop", "power"):
        safest = cuts["honest/safest", way]
        assert safest.lost == 0
        assert not safest.is_damaged
        assert safest.acknowledged
        assert safest.ledger
        assert safest.ledger.present >= safest.acknowledged
        assert safest.recovery
        assert safest.recovery.server_s
        assert (safest.recovery.mount_s is None) == (way == "kill") == (safest.disks == [])
        assert all(setting.holds for setting in safest.settings)
    assert cuts["honest/fast", "kill"].lost == 0
    assert cuts["honest/fast", "stop"].disks[0].kept == "all"
    fast = cuts["honest/fast", "power"]
    assert fast.lost, "the end of its redo log lay in the page cache"
    assert fast.ledger
    assert not fast.ledger.is_broken
    assert fast.ledger.first_lost_before_s
    assert fast.unflushed_acknowledgements is not None
    assert fast.recovery
    assert fast.recovery.engine_only is not None


@pytest.mark.skipif(not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")), reason="no PostgreSQL here")
def test_postgresql_keeps_commits_on_an_honest_disk_only(open_folder: Path) -> None:
    tmp_path = open_folder
    write_study(tmp_path, "postgresql", 'tunings = ["safest"]\nstorages = ["honest", "liar"]\n')
    done = diskproof_here(tmp_path, "crash", "study.toml")
    assert done.returncode == 0, done.stderr
    cuts = cuts_of(tmp_path)
    assert all(cut.tells for cut in cuts.values()), [cut.findings for cut in cuts.values()]
    assert cuts["honest/safest", "power"].lost == 0
    assert not cuts["honest/safest", "power"].is_damaged
    lied_to = cuts["liar/safest", "power"]
    assert lied_to.lost or lied_to.is_damaged
    assert lied_to.disks[0].answered_at_risk_writes > 0


def test_a_cut_that_breaks_off_without_power_says_why_and_the_next_ones_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_study(tmp_path, "sqlite", 'at_once = 1\nways = ["power"]\n' + of("honest", "safest"))
    told = Clients.told

    def torn_once(_: Clients) -> str:
        monkeypatch.setattr(Clients, "told", told)
        return "no acknowledgement\n"

    monkeypatch.setattr(Clients, "told", torn_once)
    done = diskproof_here(tmp_path, "crash", "study.toml", "--cuts", "2")
    first, second = run_of(tmp_path).cuts()
    assert (first.finished, second.finished) == (False, True), done.stderr
    [why] = first.findings
    assert "line 1 of the acknowledgements is 'no acknowledgement'" in why.message.text


def test_a_failed_control_is_reported_kept_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What `fast` has not flushed is in the page cache: it is lost in every cut, however busy the machine is.
    write_study(tmp_path, "sqlite", of("liar", "fast") + KEEPS.replace("safest", "fast"))
    done = diskproof_here(tmp_path, "crash", "study.toml")
    assert done.returncode == 10, done.stderr
    assert done.stderr.rstrip().endswith("a control failed")
    cuts = run_of(tmp_path).cuts()
    [failed] = cuts
    assert failed.finished
    assert failed.evidence
    folder = run_of(tmp_path).path / str(failed.evidence)
    command = re.search(r"diskproof (crash --replay \S+)", (folder / "READ-ME.txt").read_text())
    assert command
    # It loads nothing: a server whose dump a study takes may be out of reach by now.
    monkeypatch.setattr("diskproof.run.session.check", lambda *_: pytest.fail("a load was looked at"))
    again = diskproof_here(run_of(tmp_path).path, *command[1].split())
    assert again.returncode == 0, again.stderr
    assert "the result is the same" in again.stdout
    assert failed.recovery
    # Of what every cut has: one that lost the database has no ledger.
    recovery = failed.recovery.model_copy(update={"binlog_only": -1})
    record = failed.model_copy(update={"recovery": recovery})
    (folder / "cut.json").write_text(record.model_dump_json())
    other = diskproof_here(tmp_path, "crash", "--replay", str(folder), "study.toml")
    assert other.returncode == 10
    assert "transactions in the binary log alone: -1 then, " in other.stdout
    (folder / "requests-desktop-7200.log").unlink()
    gone = diskproof_here(tmp_path, "crash", "--replay", str(folder))
    assert gone.returncode == 2
    assert "requests-desktop-7200.log is missing" in gone.stderr


def test_a_kill_in_the_middle_leaves_nothing_and_the_rest_is_made_later(tmp_path: Path) -> None:
    write_study(tmp_path, "sqlite", "at_once = 2\n" + of("honest", "safest", "fast"))
    process = begin(tmp_path, "crash", "study.toml", "--cuts", "4")
    wait_for(lambda: list((tmp_path / "runs" / "study").glob("*/cuts.jsonl")))
    time.sleep(0.8)  # anywhere in the next cuts
    [mark] = marks_in(tmp_path)
    assert sorted(path.name for path in Path(f"/tmp/diskproof-{mark}").glob("run*")) == ["run", "run-2"]
    process.kill()
    process.communicate()
    made = len(run_of(tmp_path).cuts())
    cleaned = diskproof_here(tmp_path, "clean")
    assert cleaned.returncode == 0, cleaned.stdout
    assert_nothing_is_left(tmp_path, mark)
    process = begin(tmp_path, "crash", "study.toml", "--cuts", "4", "--resume")
    wait_for(lambda: len(run_of(tmp_path).cuts()) > made)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "`diskproof crash study.toml --cuts 4 --resume`" in err
    assert_nothing_is_left(tmp_path, mark)
    done = diskproof_here(tmp_path, "crash", "study.toml", "--cuts", "5", "--resume")  # beyond its end
    assert done.returncode == 0, done.stderr
    assert [cut.finished for cut in run_of(tmp_path).cuts()] == [True] * 10
    assert max(cut.timings.turn_s for cut in run_of(tmp_path).cuts()) > 0.1, "one load at a time"
    assert "10 of 10 cuts" in done.stdout
    assert sorted(path.name for path in (run_of(tmp_path).path / "cuts").glob("c*")) == sorted(
        cut.id for cut in run_of(tmp_path).cuts() if cut.evidence
    )


def test_a_place_that_is_not_virtual_is_only_killed_and_a_study_without_crash_by_defaults(
    tmp_path: Path,
) -> None:
    write_study(tmp_path, "sqlite")
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text[: text.index("[crash]")] + "[workloads.load]\nrows = 100\n")
    planned = diskproof_here(tmp_path, "plan", "study.toml")
    assert "cuts" not in planned.stdout
    done = diskproof_here(tmp_path, "crash", "study.toml", "--only", "plain/safest", "--cuts", "1")
    assert done.returncode == 0, done.stderr
    assert "has no [crash]" in done.stderr
    [(key, cut)] = cuts_of(tmp_path).items()
    assert key == ("plain/safest", "kill")
    assert cut.disks == []
    assert cut.lost == 0
    plan = run_of(tmp_path).plan().crash
    assert plan
    assert ["not verified" in why for why in plan.unverified.values()] == [True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["study.toml", "--cuts", "0"], "--cuts is a number from 1"),
        (["study.toml", "--only", "nothing"], "no cell matches `nothing`"),
        ([], "no study file: name one"),
        (["--replay", "."], "is not the evidence of a cut"),
        (["missing.toml"], "there is no file missing.toml"),
        (["study.toml", "--resume"], "there is no run under"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    write_study(tmp_path, "sqlite")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    assert call(["crash", *arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
