"""What a run starts, mounts and makes can be undone after any kill."""

import errno
import json
import os
import subprocess
import sys
import textwrap
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from diskproof.refusal import RefusalError
from diskproof.system import journal as module
from diskproof.system import run_processes
from diskproof.system.journal import AnotherRunError, Journal, clean, state_folder
from diskproof.system.processes import Starter
from diskproof.system.run_processes import is_gone, processes_in, processes_of
from diskproof.system.undoing import Undone
from support.command import wait_for

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a tmpfs needs root")


def journals() -> list[Path]:
    return list(state_folder().glob("*.jsonl"))


def commands_of(mark: str) -> list[str]:
    """Return the commands of a run's processes, sorted.

    Amid exec, a process has its new name before it has arguments and environment; it gets these at once.
    """
    found = []
    for process in processes_of(mark):
        with suppress(psutil.Error):
            found += process.cmdline()[:1]
    return sorted(found)


def test_a_run_that_ends_leaves_nothing(tmp_path: Path) -> None:
    journal = Journal.begin("test")
    folder = journal.directory(tmp_path / "work")
    (folder / "file").write_text("x")
    process = Starter(journal).start(["sleep", "60"])
    wait_for(lambda: commands_of(journal.mark) == ["sleep"], 10)
    assert [found.pid for found in processes_of(journal.mark)] == [process.pid]
    assert all(item.done for item in journal.finish())
    assert process.poll() is not None
    assert not folder.exists()
    assert journals() == []


def test_a_run_interrupted_as_it_begins_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(mark: str | None) -> None:
        if mark is not None:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("diskproof.system.programs.carry", interrupted)
        with suppress(KeyboardInterrupt):
            Journal.begin("test")
    assert journals() == []
    Journal.begin("test").finish()


LOST = """
    import signal, time
    from diskproof.system.endings import ending_in_good_order
    from diskproof.system.journal import machine_taken

    class Destroyed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    with ending_in_good_order(), machine_taken("test", print):
        Destroyed()
        time.sleep(20)
"""


def test_an_interruption_that_a_destructor_has_lost_comes_again_as_one() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LOST)], check=False, capture_output=True, text=True, timeout=15
    )
    assert ended.stderr.strip().endswith("KeyboardInterrupt")
    assert "RuntimeError" not in ended.stderr
    assert journals() == []


LATE = """
    import sys, time
    from pathlib import Path
    from diskproof.system import journal as module
    from diskproof.system.endings import ending_in_good_order

    class Destroyed:
        def __del__(self):
            raise KeyboardInterrupt

    def slowly(path, undo=module.undo):
        time.sleep(0.1)
        return undo(path)

    module.undo = slowly
    with ending_in_good_order(), module.machine_taken("test", print) as journal:
        journal.directory(Path(sys.argv[1]))
        Destroyed()
        raise KeyboardInterrupt
"""


def test_an_interruption_that_comes_again_does_not_end_the_clean_up(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", textwrap.dedent(LATE), str(tmp_path / "own")]
    ended = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=15)
    assert ended.stderr.strip().endswith("KeyboardInterrupt")
    assert not (tmp_path / "own").exists()
    assert journals() == []


def test_the_users_password_stays_with_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own servers have none: MariaDB refuses a log-in that brings one."""
    monkeypatch.setenv("DISKPROOF_PASSWORD", "of another server")
    monkeypatch.setenv("LC_TIME", "C")
    journal = Journal.begin("test")
    process = Starter(journal).start(["env"], stdout=subprocess.PIPE)
    said = process.communicate()[0].decode().splitlines()
    journal.finish()
    assert "LC_TIME=C" in said
    assert not any(line.startswith("DISKPROOF_PASSWORD") for line in said)


def test_children_of_children_are_ended_too() -> None:
    journal = Journal.begin("test")
    process = Starter(journal).start(["sh", "-c", "sleep 60 & sleep 60 & wait"])
    wait_for(lambda: commands_of(journal.mark) == ["sh", "sleep", "sleep"], 10)
    found = list(processes_of(journal.mark))
    journal.finish()
    process.wait()
    assert all(map(is_gone, found))


def test_a_second_run_is_refused_and_the_first_is_named() -> None:
    journal = Journal.begin("study alpha")
    with pytest.raises(AnotherRunError, match=f"process {os.getpid()}, study alpha"):
        Journal.begin("study beta")
    with pytest.raises(AnotherRunError, match=r"wait for it, .* set DISKPROOF_STATE"):
        clean()
    journal.finish()
    Journal.begin("study beta").finish()


KILLED_RUN = """
    import os, signal, sys
    from pathlib import Path
    from diskproof.system.journal import Journal
    from diskproof.system.processes import Starter
    journal = Journal.begin("doomed")
    journal.parents(Path(sys.argv[1]) / "made" / "on" / "the-way")
    journal.directory(Path(sys.argv[1]) / "made" / "on" / "the-way")
    if os.geteuid() == 0:
        ram = journal.directory(Path(sys.argv[1]) / f"ram-{journal.mark}")
        journal.mounted(ram, "none")
        os.system(f"mount -t tmpfs none {ram}")
        (ram / "file").write_text("x")
    # A server that made itself a daemon: not our child any more, and deaf to our death.
    Starter(journal).start(["sh", "-c", "setsid sleep 600 & sleep 600 & wait"])
    print(journal.mark, flush=True)
    sys.stdin.read()
"""


def killed_run(tmp_path: Path) -> str:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED_RUN), str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    mark = process.stdout.readline().strip()
    wait_for(lambda: commands_of(mark) == ["sh", "sleep", "sleep"], 10)
    process.kill()
    process.wait()
    return mark


def test_clean_undoes_a_killed_run(tmp_path: Path) -> None:
    mark = killed_run(tmp_path)
    assert len(journals()) == 1
    undone = clean()
    assert undone
    assert all(item.done for item in undone)
    assert not list(processes_of(mark))
    assert not (tmp_path / "made").exists()
    assert not list(tmp_path.glob("ram-*"))
    assert journals() == []
    assert clean() == []


def test_the_direct_child_dies_with_the_run_itself(tmp_path: Path) -> None:
    mark = killed_run(tmp_path)
    wait_for(lambda: commands_of(mark) == ["sleep", "sleep"], 10)
    clean()


def test_a_torn_last_line_does_no_harm(tmp_path: Path) -> None:
    state_folder().mkdir(parents=True)
    half = tmp_path / "0badcafe-half"
    half.mkdir()
    journal = state_folder() / "0badcafe.jsonl"
    journal.write_text(json.dumps({"directory": str(half)}) + '\n{"mount": "/')
    assert [item.done for item in clean()] == [True]
    assert not half.exists()


def test_what_two_processes_undo_at_once_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state_folder().mkdir(parents=True)
    left = tmp_path / "0badcafe-left"
    left.mkdir()
    path = state_folder() / "0badcafe.jsonl"
    path.write_text(json.dumps({"directory": str(left)}) + "\n")
    undo_entry = module._undo

    def undo_after_another(*_: object) -> list[Undone]:
        monkeypatch.setattr(module, "_undo", undo_entry)
        assert all(item.done for item in module.undo(path))
        return []

    monkeypatch.setattr(module, "_undo", undo_after_another)
    assert module.undo(path) == []
    assert not left.exists()
    assert not path.exists()


SPOILT = [
    b"\x00\x00\xff", b"", b"[1]", b"{}", b"7", b'{"mount": 1}', b'{"mount": null, "source": "x"}',
    b'{"directory": ["/"]}', b'{"loop": "a\\u0000b"}', b'{"file": "\\ud800", "identity": "1 2 3"}',
    b'{"mouot": "/mnt"}', b"[" * 100_000,
]  # fmt: skip


def test_a_spoilt_line_keeps_nothing_from_being_undone_and_is_not_forgotten(tmp_path: Path) -> None:
    journal = Journal.begin("test")
    first, second = journal.directory(tmp_path / "first"), tmp_path / "second"
    with journal.path.open("ab") as file:
        file.write(b"".join(line + b"\n" for line in SPOILT))
    journal.directory(second)
    undone = journal.finish()
    assert not first.exists()
    assert not second.exists()
    left = [item.what for item in undone if not item.done]
    numbers = range(len(SPOILT) + 2, 2, -1)
    assert [what.partition(":")[0] for what in left] == [
        f"line {number} of {journal.path} cannot be read" for number in numbers
    ]
    assert [item.what for item in clean()] == left, "it is said until the file is gone"
    journal.path.unlink()
    assert clean() == []


def test_a_command_that_an_earlier_version_would_have_run_is_named() -> None:
    journal = Journal.begin("test")
    with journal.path.open("a") as file:
        file.write('{"tear_down": "mdadm --stop /dev/md7", "cwd": "/"}\n')
    (left,) = journal.finish()
    assert "undo it by hand" in left.what and "mdadm --stop /dev/md7" in left.what and not left.done
    journal.path.unlink()


def kernels(folder: Path, first: bytes) -> Path:
    """Write a journal that begins with a line, and names what a kernel holds after it."""
    state_folder().mkdir(parents=True)
    path = state_folder() / "0badcafe.jsonl"
    entries = [{"loop": str(folder / "image")}, {"mount": str(folder / "ram"), "source": "diskproof"}]
    path.write_bytes(first + b"".join(b"\n" + json.dumps(entry).encode() for entry in entries) + b"\n")
    return path


def test_mounts_stay_if_the_kernels_start_is_unknown(tmp_path: Path) -> None:
    """It may be of an earlier start of the machine, and another's by now: but nobody forgets it."""
    path = kernels(tmp_path, b'{"run": "test", "boot": "\xff')
    mount, loop, first = (item.what for item in clean())
    assert mount.startswith(f"mount {tmp_path / 'ram'} (not undone: ")
    assert loop.startswith(f"loop {tmp_path / 'image'} (not undone: ")
    assert first.startswith(f"line 1 of {path} cannot be read")
    assert path.exists()


def test_mounts_of_an_earlier_start_need_no_undo(tmp_path: Path) -> None:
    path = kernels(tmp_path, b'{"run": "test", "boot": "another"}')
    assert clean() == []
    assert not path.exists()


def full_disk(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_nothing_is_made_without_a_journal_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.begin("test")
    journal.directory(tmp_path / "work")
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full_disk)
        with pytest.raises(RefusalError, match="its disk is full: make room there, or set DISKPROOF_STATE"):
            journal.directory(tmp_path / "more")
        assert not (tmp_path / "more").exists()
        assert all(item.done for item in journal.finish()), "undoing needs no room"
    assert not (tmp_path / "work").exists()
    assert journals() == []


def test_processes_without_the_mark_are_left_alone() -> None:
    stranger = psutil.Popen(["sleep", "60"])
    journal = Journal.begin("test")
    Starter(journal).start(["sleep", "60"])
    journal.finish()
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def begin_without_environment(folder: Path) -> psutil.Popen:
    """Start what PostgreSQL's children look like: no environment left to read, at work in a folder."""
    process = psutil.Popen(["sleep", "60"], env={}, cwd=folder)
    wait_for(lambda: process.cmdline() == ["sleep", "60"], 10)
    return process


def test_processes_without_a_mark_are_known_by_their_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    journal = Journal.begin("test")
    folder = journal.directory(tmp_path / "work")
    (folder / "data").mkdir()
    ours = begin_without_environment(folder / "data")
    stranger = begin_without_environment(elsewhere)
    shell = psutil.Popen(["sleep", "60"], cwd=folder / "data")  # with an environment, and no mark in it
    undone = journal.finish()
    try:
        assert Undone(f"process {ours.pid}", done=True) in undone
        assert is_gone(ours)
        assert stranger.is_running()
        assert shell.is_running()
    finally:
        for process in (stranger, shell):
            process.kill()
            process.wait()


def test_a_process_between_fork_and_program_is_not_taken_for_one_without_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_processes, "_is_executing", lambda _: False)
    starting = begin_without_environment(tmp_path)
    try:
        assert starting.pid not in {one.pid for one in processes_in([tmp_path])}
        monkeypatch.undo()
        assert starting.pid in {one.pid for one in processes_in([tmp_path])}
    finally:
        starting.kill()
        starting.wait()


def test_processes_in_a_directory_that_is_not_ours_are_left_alone(tmp_path: Path) -> None:
    """A kill may fall between writing a directory down and finding that somebody else has it."""
    precious = tmp_path / "precious"
    precious.mkdir()
    stranger = begin_without_environment(precious)
    state_folder().mkdir(parents=True)
    (state_folder() / "0badcafe.jsonl").write_text(json.dumps({"directory": str(precious)}) + "\n")
    clean()
    try:
        assert stranger.is_running()
    finally:
        stranger.kill()
        stranger.wait()


@needs_root
def test_processes_on_a_mount_of_ours_are_ended_before_it_goes(tmp_path: Path) -> None:
    journal = Journal.begin("test")
    ram = journal.directory(tmp_path / f"ram-{journal.mark}")
    journal.mounted(ram, "none")
    subprocess.run(["mount", "-t", "tmpfs", "none", str(ram)], check=True)
    process = begin_without_environment(ram)
    assert all(item.done for item in journal.finish())
    assert is_gone(process)
    assert not ram.exists()


def test_an_adopted_file_that_was_made_anew_stays(tmp_path: Path) -> None:
    journal = Journal.begin("test")
    kept, replaced = tmp_path / "kept", tmp_path / "replaced"
    for file in (kept, replaced):
        file.write_text("x")
        journal.adopt(file)
    replaced.write_text("longer")
    assert [item.what for item in journal.finish()] == [f"file {kept}"]
    assert replaced.exists()


def test_a_study_may_be_called_as_it_likes_in_any_locale() -> None:
    script = "from diskproof.system.journal import Journal; Journal.begin('study größe').finish()"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run(
        [sys.executable, "-c", script.encode("unicode_escape").decode()], env=environment, check=True
    )
    with (state_folder() / "lock").open(encoding="utf-8") as lock:
        assert "study größe" in lock.read()


class KilledError(BaseException):
    """Stands for SIGKILL: nothing is tidied up."""


@pytest.mark.parametrize("at", range(1, 12))
def test_a_kill_at_any_moment_leaves_nothing_that_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """The calls that make directories and marks are counted, and the kill comes before one of them."""
    calls = 0

    def counted(name: str, killing: pytest.MonkeyPatch) -> None:
        real = getattr(os, name)

        def call(*arguments: object, **named: object) -> object:
            nonlocal calls
            calls += 1
            if calls == at:
                raise KilledError
            return real(*arguments, **named)

        killing.setattr(os, name, call)

    journal = Journal.begin("test")
    with monkeypatch.context() as killing, suppress(KilledError):
        for name in ("mkdir", "rename", "open"):
            counted(name, killing)
        journal.parents(tmp_path / "a" / "b" / "x")
        journal.directory(tmp_path / "a" / "b" / f"diskproof-{journal.mark}")
    journal._lock.close()
    assert all(item.done for item in clean())
    assert not (tmp_path / "a").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_another_program_makes_a_parent_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.begin("test")
    real, kept = Path.rename, tmp_path / "a" / "theirs"

    def rename(path: Path, name: Path) -> Path:
        if not kept.exists():
            kept.mkdir(parents=True)
        return real(path, name)

    with monkeypatch.context() as racing:
        racing.setattr(Path, "rename", rename)
        journal.parents(tmp_path / "a" / "b" / "x")
    assert (tmp_path / "a" / "b").is_dir()
    assert all(item.done for item in journal.finish())
    assert [*(tmp_path / "a").iterdir()] == [kept]
    assert {path.name for path in tmp_path.iterdir()} == {"a", "state"}


def test_text_that_no_path_can_have_is_not_written_down() -> None:
    journal = Journal.begin("test")
    with pytest.raises(RefusalError, match="NUL"):
        journal.pool("a\0pool")
    assert journal.finish() == []
    assert journals() == []
