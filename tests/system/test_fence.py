"""What reads foreign files reads what was named, answers, and can do nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from diskproof.cli import fenced
from diskproof.cli.screen import results
from diskproof.cli.values.options import options
from diskproof.cli.values.run import gathered
from diskproof.load import program
from diskproof.refusal import RefusalError
from diskproof.study.part import KeptOptions
from diskproof.system import fence
from diskproof.system.programs import Ended
from support.command import diskproof, diskproof_here
from support.runs import write_run
from support.samples import SAMPLES
from support.trials import make_machine, make_plan, make_trials

TRIED = {
    "read a file": "open('/etc/passwd')",
    "read another process": "open(f'/proc/{os.getppid()}/environ')",
    "list a folder": "os.listdir('/')",
    "write beside": "open(NAMED + '.new', 'w')",
    "write": "open(NAMED, 'w')",
    "write elsewhere": "open('/tmp/diskproof-never', 'w')",
    "remove": "os.unlink(NAMED)",
    "change a mode": "os.chmod(NAMED, 0o777)",
    "connect": "socket.socket()",
    "connect here": "socket.socket(socket.AF_UNIX)",
    "fork": "os.fork()",
    "start another program": "os.execv('/bin/true', ['true'])",
    "end the lab": "os.kill(os.getppid(), 15)",
    "become root": "os.setuid(0)",
    "make a namespace": "ctypes.CDLL(None).unshare(0x10000000) and 1 / 0",
    "trace": "ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) and 1 / 0",
    "take memory": "bytearray(5 << 30)",
}

CODE = """
import ctypes, os, socket
NAMED = {named!r}
assert open(NAMED).read() == "named"
for name, does in {tried!r}.items():
    try:
        eval(does)
    except (OSError, MemoryError, ZeroDivisionError):
        continue
    print(name)
print(os.geteuid())
"""


def test_a_process_in_the_fence_can_only_read_what_was_named(tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.write_text("named")
    named.chmod(0o600)
    argv = fence.python_inside(["-c", CODE.format(named=str(named), tried=TRIED)], [named])
    ended = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout.split() == ["65534" if os.geteuid() == 0 else str(os.geteuid())], ended.stderr
    assert named.read_text() == "named"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    plan = make_plan(blocks=2)
    return write_run(tmp_path / "run", plan, make_trials(plan), make_machine(plan)).path


WITHOUT_LANDLOCK = """
import ctypes, os, struct, sys

ALLOW, NO_SUCH_CALL, CREATE_RULESET = 0x7FFF0000, 0x50000 | 38, 444
# Load the call's number; if it is that one, answer; else let it pass.
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, CREATE_RULESET), (0x06, 0, 0, NO_SUCH_CALL), (0x06, 0, 0, ALLOW)]
rules = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(rules)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
assert prctl(38, 1, 0, 0, 0) == 0
assert prctl(22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_log_is_read_without_landlock_only_with_a_word(tmp_path: Path) -> None:
    log = tmp_path / "general.log"
    log.write_text("2026-11-28T10:15:21.000300Z\t    8 Query\tSELECT 1\n")
    command = [str(program()), "import", str(log), "--output", str(tmp_path / "own.load")]
    for before, is_told in (([], False), ([sys.executable, "-c", WITHOUT_LANDLOCK], True)):
        ended = subprocess.run([*before, *command], capture_output=True, text=True, check=True, timeout=60)
        assert "1 statements" in ended.stdout
        assert ("no Landlock" in ended.stderr) == is_told, ended.stderr


def test_a_report_and_its_page_are_the_same_inside_and_outside(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    inside = diskproof(tmp_path, "report", "run", "--html", "page.html")
    drawn = page.read_text()
    assert page.stat().st_uid == os.geteuid()
    outside = diskproof_here(tmp_path, "report", "run", "--html=page.html")
    assert page.read_text() == drawn
    assert (inside.returncode, outside.returncode) == (0, 0), inside.stderr
    assert inside.stdout == outside.stdout
    assert inside.stderr == "page: page.html\n"
    assert drawn.startswith("<!doctype html>")
    assert run.is_dir()


def test_a_terminal_without_unicode_is_given_none(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    assert diskproof(tmp_path, "report", run.name).stdout.isascii()


def test_a_run_folder_leads_to_no_other_file(run: Path, tmp_path: Path) -> None:
    (run / "trials.jsonl").unlink()
    (run / "trials.jsonl").symlink_to("/etc/shadow")
    shutil.copytree(run, run.with_name("other"), symlinks=True)
    refused = diskproof(tmp_path, "compare", "run", "other")
    assert refused.returncode == 2
    assert "trials.jsonl cannot be read: you have no permission" in refused.stderr, refused.stderr
    assert all(fenced.is_apart([verb, "run"]) for verb in ("audit", "publish", "report"))
    with pytest.raises(RefusalError, match="no permission"):
        gathered(run)


def test_results_become_a_run_outside(tmp_path: Path) -> None:
    made = diskproof(tmp_path, "audit", str(SAMPLES / "sysbench-1.0-oltp.txt"), "--out", "made")
    assert made.returncode in (0, 10), made.stderr
    assert made.stderr == "run: made\n"
    again = diskproof_here(tmp_path, "report", "made")
    assert again.returncode == 0, again.stderr
    twice = diskproof_here(tmp_path, "audit", str(SAMPLES / "sysbench-1.0-oltp.txt"), "--out", "made")
    assert (twice.returncode, "made is there already" in twice.stderr) == (2, True)


def test_what_an_option_file_includes_is_read_if_it_is_configuration(tmp_path: Path) -> None:
    folder = tmp_path / "conf.d"
    folder.mkdir()
    (folder / "mine.cnf").write_text("[mysqld]\nsync_binlog = 1\n")
    (tmp_path / "secret").write_text("[mysqld]\nsync_binlog = 7\n")
    (tmp_path / "a.cnf").symlink_to("secret")
    content = b"[mysqld]\n! includedir conf.d\n!include secret\n!include a.cnf\n"
    (tmp_path / "my.cnf").write_bytes(content)
    asked, missing, _ = options("mysql", KeptOptions(tmp_path / "my.cnf", content))
    assert [option.value for option in asked] == ["1"]
    assert ["secret is not read: its name does not end in .cnf" in one for one in missing] == [True, True]
    content = b"INCLUDE_DIR'conf.d'\n"
    (folder / "mine.conf").write_text("fsync = off\n")
    (tmp_path / "p.conf").write_bytes(content)
    asked, missing, _ = options("postgresql", KeptOptions(tmp_path / "p.conf", content))
    assert ([option.value for option in asked], missing) == (["off"], [])


def test_what_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence, "LIMIT_S", 0.01)
    with pytest.raises(RefusalError, match="were not read within"):
        gathered(tmp_path)


def test_a_crash_ends_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    died = Ended(-11, "", "")
    monkeypatch.setattr(fence, "run", lambda *_args, **_options: died)
    with pytest.raises(RefusalError, match="ended by signal 11"):
        fence.run_inside("any", [], [])


def test_only_colours_reach_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "\x1b[1;31mred\x1b[0m \x1b]0;title\x07 \x1b[2J\n"
    monkeypatch.setattr(fenced, "run_inside", lambda *_: (Ended(0, said, ""), ""))
    assert fenced.obey(["report", "x"]) == 0
    assert capsys.readouterr().out == "\x1b[1;31mred\x1b[0m \ufffd]0;title\ufffd \ufffd[2J\n"
    assert not results.is_terminal


def test_sql_of_others_stays_in_the_folder_of_its_database(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    script = tmp_path / "own.sql"
    script.write_text(f"ATTACH '{other}/b.db' AS b;\nCREATE TABLE b.t (a);\n")
    argv = [str(program()), "prepare", "script", "--url", f"sqlite:{home}/a.db", "--any-database"]
    refused = subprocess.run([*argv, "--file", str(script)], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "unable to open database" in refused.stderr
    script.write_text(
        "CREATE TABLE t (a);\nWITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500000) "
        "INSERT INTO t SELECT hex(randomblob(20)) FROM n;\nCREATE INDEX i ON t (a);\n"
    )
    sorts = subprocess.run([*argv, "--file", str(script)], capture_output=True, text=True, check=False)
    assert sorts.returncode == 0, sorts.stderr
    assert not list(other.iterdir())
