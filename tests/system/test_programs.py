"""Every program starts in one way: marked, tied to the lab, without a password, with a limit."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from diskproof.system import programs
from diskproof.system.journal import Journal
from diskproof.system.run_processes import processes_of, working_in

ANSWERS = 20.0


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))


def test_a_program_has_the_runs_mark_and_not_the_users_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_PASSWORD", "of another server")
    journal = Journal.begin("test")
    during = programs.run(["env"]).out.splitlines()
    of_the_user = programs.run(["env"], marked=False).out.splitlines()
    journal.finish()
    after = programs.run(["env"]).out.splitlines()
    mark = f"{programs.MARK}={journal.mark}"
    assert [mark in said for said in (during, of_the_user, after)] == [True, False, False]
    assert not any("of another server" in line for said in (during, of_the_user, after) for line in said)


def test_a_program_gets_what_it_needs_and_a_users_command_all_but_passwords(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed = {"LC_TIME": "C", "XDG_RUNTIME_DIR": "/run/x", "TMPDIR": "/tmp", "DISKPROOF_STATE": "/s"}
    others = {
        "PGPASSWORD": "1",
        "MYSQL_PWD": "2",
        "AWS_SECRET_ACCESS_KEY": "3",
        "https_proxy": "4",
        "OURS": "5",
    }
    for name, value in {**needed, **others, "THE_SECRET": "6"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(programs, "_hidden", set(programs._hidden))
    programs.hide("THE_SECRET")
    little, whole = programs.environment(), programs.environment(whole=True)
    assert little.items() >= needed.items()
    assert not little.keys() & {*others, "THE_SECRET"}
    assert whole.items() >= others.items()
    assert "THE_SECRET" not in whole


def test_a_program_that_exceeds_its_time_is_killed_with_what_it_started(tmp_path: Path) -> None:
    script = f"sleep 100 & echo $! >{tmp_path}/child; sleep 100"
    with pytest.raises(programs.TimedOut):
        programs.run(["sh", "-c", script], limit_s=0.3)
    with suppress(psutil.NoSuchProcess):  # it was killed; a busy machine takes a moment to end it
        assert psutil.wait_procs([psutil.Process(int((tmp_path / "child").read_text()))], timeout=5)[0]


def test_nobody_waits_for_a_daemon_that_holds_the_output(tmp_path: Path) -> None:
    ended = programs.run(["sh", "-c", f"setsid sleep 100 & echo $! >{tmp_path}/child; echo said"])
    assert ended.out == "said\n"
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


def test_what_is_missing_or_fails_has_words() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program is missing: install"):
        programs.run(["no-such-program"])
    assert programs.run(["false"]).complaint == "exit code 1"


LAB = """
    import sys
    from diskproof.system import programs
    from diskproof.system.journal import Journal
    print(Journal.begin("doomed").mark, flush=True)
    programs.run(["sh", "-c", "echo began >&2; sleep 100"])
"""


def test_a_program_dies_with_the_lab() -> None:
    lab = subprocess.Popen([sys.executable, "-c", textwrap.dedent(LAB)], stdout=subprocess.PIPE, text=True)
    assert lab.stdout is not None
    mark = lab.stdout.readline().strip()
    end = time.monotonic() + ANSWERS
    while "sleep" not in names_of(mark) and time.monotonic() < end:
        time.sleep(0.01)
    lab.kill()
    lab.communicate()
    while "sh" in names_of(mark) and time.monotonic() < end:
        time.sleep(0.01)
    assert names_of(mark) == ["sleep"], "only what it started itself lives on, for `clean` to find"
    for process in processes_of(mark):
        process.kill()


def names_of(mark: str) -> list[str]:
    found = []
    for process in processes_of(mark):
        try:
            found.append(process.name())
        except psutil.Error:
            continue
    return sorted(found)


def test_a_process_that_ends_while_it_is_asked_for_its_name_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
    try:
        assert list(working_in(tmp_path)) == ["sleep"]

        def gone(process: psutil.Process) -> str:
            raise psutil.NoSuchProcess(process.pid)

        monkeypatch.setattr(psutil.Process, "name", gone)
        assert list(working_in(tmp_path)) == []
    finally:
        here.kill()
        here.wait()
