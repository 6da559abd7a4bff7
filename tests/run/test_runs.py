"""Whole runs on real servers, through the command line, as a user makes them."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from diskproof.analysis.folder import invalidating
from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial
from diskproof.run.attempt import PAUSED_S
from diskproof.system.kernel import has_quick_clock
from diskproof.system.mounts import mounts
from diskproof.system.programs import MARK
from support.command import begin, diskproof, diskproof_here, environment, open_for_others, wait_for

needs_mariadb = pytest.mark.skipif(
    not (shutil.which("mariadbd") or Path("/usr/sbin/mariadbd").exists()),
    reason="no MariaDB: apt-get install mariadb-server-core",
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts file systems: root")

pytestmark = pytest.mark.timeout(240)

FREEZERS = (Path("/sys/fs/cgroup/freezer"), Path("/sys/fs/cgroup"))
"""Of control groups' first version and their second."""

STUDY = """
question = "Does it run?"
[design]
repeat_disturbed = false
blocks = {blocks}
warm_up_s = 0.2
measure_s = {measure_s}
clients = [2]
memory = ["32 MiB"]
[servers.db]
family = "{family}"
[storages.disk]
directory = "place/deep"
[storages.dram]
ram = "600 MiB"
[tunings.safest]
{tuning}
[workloads.load]
mix = "{mix}"
tables = 2
rows = 500
{rate}
"""


def write_study(
    folder: Path,
    family: str = "sqlite",
    *,
    mix: str = "read-write",
    blocks: int = 2,
    measure_s: float = 0.5,
    tuning: str = "",
    rate: str = "rate = 50",
) -> None:
    """Write a study whose load leaves the processors to other tests, unless its `rate` is empty."""
    text = STUDY.format(family=family, mix=mix, blocks=blocks, measure_s=measure_s, tuning=tuning, rate=rate)
    (folder / "study.toml").write_text(text)


def run_folder(folder: Path) -> RunFolder:
    [path] = (folder / "runs" / "study").iterdir()
    return RunFolder.open(path)


def processes_in(folder: Path) -> list[psutil.Process]:
    """Return what runs of this folder left running, by the mark and the state directory they carry."""
    found = []
    for process in psutil.process_iter():
        try:
            variables = process.environ()
        except psutil.Error:
            continue
        if MARK in variables and variables.get("DISKPROOF_STATE") == str(folder / "state"):
            found.append(process)
    return found


def assert_nothing_left(folder: Path) -> None:
    assert processes_in(folder) == []
    assert not (folder / "place").exists(), sorted(map(str, (folder / "place").rglob("*")))
    assert list((folder / "state").glob("*.jsonl")) == []
    assert not [mount for mount in mounts() if str(folder) in mount.mount_point]
    golden = folder / "runs" / ".golden"
    assert not golden.exists() or not [
        path for path in golden.iterdir() if path.name.startswith("diskproof-")
    ]


def trials_in(folder: Path) -> list[Trial]:
    return [trial for path in (folder / "runs" / "study").glob("*") for trial in RunFolder(path).trials()]


@pytest.mark.parametrize("family", ["sqlite", "mysql", "postgresql"])
def test_a_whole_run(tmp_path: Path, family: str) -> None:
    if not [line for line in doctor_lines(tmp_path) if line.startswith("ok") and family in line]:
        pytest.skip(f"no {family} server on this machine")
    # At a rate they compute too little to be seen at it. PostgreSQL looks for a deadlock after a second: both
    # clients may spend a shorter trial in one.
    write_study(tmp_path, family, measure_s=2.5 if family == "postgresql" else 1, rate="")
    if family == "postgresql":
        open_for_others(tmp_path)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    assert "Does it run?" in result.stdout
    folder = run_folder(tmp_path)
    trials = folder.trials()
    assert len(trials) == len(folder.plan().trials) == 4
    for trial in trials:
        assert trial.finished, trial.findings
        assert trial.load is not None
        assert trial.load.known_transactions > 0
        # On PostgreSQL two clients may insert the same row at once; such transactions are run again.
        assert all(error.transient for error in trial.load.errors), trial.load.errors
        # 20 statements a transaction, counted by the clients themselves; but each client may have one
        # that straddles either end of the measured second, and those run again count each time.
        straddling = trial.load.known_clients
        again = (trial.load.retries or 0) + (trial.load.failed_transactions or 0)
        surplus = trial.load.known_statements - 20 * trial.load.known_transactions
        assert -20 * straddling <= surplus <= 20 * (straddling + again)
        assert trial.settings
        assert all(setting.holds for setting in trial.settings), trial.settings
        assert {file.role for file in trial.open_files} >= {"data"}
        assert all(file.as_declared for file in trial.open_files), trial.open_files
        assert (trial.usage is not None) and (trial.usage.server_cpu_s is None) == (family == "sqlite")
        assert_work_is_told(trial, family)
        series = folder.series(trial.id)
        assert series is not None
        assert "transactions_per_s" in series.column("metric").to_pylist()
    machine = folder.machine()
    assert machine is not None
    kinds = {(place.storage, place.filesystem == "tmpfs") for place in machine.places}
    assert ("dram", True) in kinds
    assert (folder.path / "report.html").stat().st_size > 10_000
    assert (folder.path / "report.md").read_text().startswith("#")
    assert_nothing_left(tmp_path)
    # The forms and the comparison are the same for all families: the one that is always there shows them.
    for form in ("text", "markdown", "csv", "json") if family == "sqlite" else ("csv",):
        rendered = diskproof_here(tmp_path, "report", str(folder.path), "--format", form)
        assert rendered.returncode == 0, rendered.stderr
        assert rendered.stdout.strip()
        if form == "json":
            json.loads(rendered.stdout)
    if family == "sqlite":
        shutil.copytree(folder.path, tmp_path / "copy")
        same = diskproof_here(tmp_path, "compare", str(folder.path), str(tmp_path / "copy"))
        assert same.returncode == 0, same.stderr
        assert " is faster" not in same.stdout


def assert_work_is_told(trial: Trial, family: str) -> None:
    """No more than all CPUs have, and with a server's own processes in its account to a tick each."""
    usage = trial.usage
    assert usage is not None
    assert list(usage.cpu) == (["load"] if family == "sqlite" else ["server", "load"])
    assert 0 < sum(used.used_s for used in usage.cpu.values()) <= (os.cpu_count() or 1) * usage.seconds + 0.1
    account = usage.account
    match family:
        case "sqlite":
            assert account is None
        case "mysql":
            assert account is not None
            assert account.page_requests
        case _:
            assert account is not None
            # Backends hand their counts in once a second: of one second there may be none.
            assert account.commits is not None
            assert (account.log_flush_s is not None) == has_quick_clock()
            assert account.waiting_sessions is not None
    assert usage.runnable_mean is not None
    assert usage.activity is not None
    assert usage.activity.moments >= 5
    assert {"computing"} <= {one.act for one in usage.activity.doings}
    assert all(0 < one.share <= min(one.threads, 1) for one in usage.activity.doings)
    if usage.server_cpu_s is not None:
        assert usage.cpu["server"].used_s == pytest.approx(usage.server_cpu_s, abs=0.1)


def doctor_lines(folder: Path) -> list[str]:
    result = diskproof_here(folder, "doctor")
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def hold_to(folder: Path, cpus: int) -> None:
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace("[design]", f"[design]\ncpus = {cpus}"))


@needs_mariadb
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU has no other beside it")
def test_a_study_holds_the_server_and_its_load_to_one_cpu(tmp_path: Path) -> None:
    """The kernel's word on each trial; one that is moved by somebody while it runs does not count."""
    write_study(tmp_path, "mysql", blocks=1, measure_s=1.5)
    hold_to(tmp_path, 1)
    process = begin(tmp_path, "run", "study.toml")
    moved: set[int] = set()
    wait_for(lambda: len(trials_in(tmp_path)) == 1 and running_server(tmp_path))
    server = running_server(tmp_path)
    assert server is not None
    assert len(os.sched_getaffinity(process.pid)) == len(os.sched_getaffinity(0)) - 1
    for task in Path(f"/proc/{server.pid}/task").iterdir():
        moved |= os.sched_getaffinity(int(task.name))
        os.sched_setaffinity(int(task.name), os.sched_getaffinity(0))
    assert len(moved) == 1
    process.communicate(timeout=60)
    assert process.returncode == 12
    folder = run_folder(tmp_path)
    machine, [first, second] = folder.machine(), folder.trials()
    assert machine is not None
    assert machine.held_cpus == sorted(moved)
    assert machine.cpus == len(os.sched_getaffinity(0))
    assert first.held_cpus is not None
    assert first.held_cpus.cpus == first.held_cpus.server == first.held_cpus.load == machine.held_cpus
    assert first.usage is not None
    assert first.usage.held_cpu_busy_s
    assert "held-cpus" not in {finding.check for finding in invalidating(folder, first)}
    assert "held-cpus" in {finding.check for finding in invalidating(folder, second)}


def running_server(folder: Path) -> psutil.Process | None:
    for one in processes_in(folder):
        with suppress(psutil.NoSuchProcess):
            if one.name() == "mariadbd":
                return one
    return None


def test_more_cpus_than_the_machine_has_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    write_study(tmp_path)
    hold_to(tmp_path, 5_000)
    refused = diskproof_here(tmp_path, "run", "study.toml")
    assert refused.returncode == 2
    assert "`design.cpus` is 5000" in refused.stderr
    assert not (tmp_path / "runs").exists()


def test_ctrl_c_keeps_the_finished_trials_and_resume_goes_on(tmp_path: Path) -> None:
    write_study(tmp_path, blocks=3, measure_s=0.6)
    process = begin(tmp_path, "run", "study.toml")
    wait_for(lambda: len(trials_in(tmp_path)) >= 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    print(err)  # shown if anything is left behind
    assert process.returncode == 130, err
    assert "the finished trials are kept" in err
    assert "Traceback" not in err
    kept = trials_in(tmp_path)
    counted = {trial.started_at for trial in kept if not invalidating(run_folder(tmp_path), trial)}
    assert 2 <= len(kept) < 6
    assert_nothing_left(tmp_path)
    resumed = diskproof_here(tmp_path, "run", "study.toml", "--resume")
    assert resumed.returncode in (0, 12), resumed.stderr
    after = trials_in(tmp_path)
    assert len(after) == 6
    assert counted <= {trial.started_at for trial in after}, "what counted was not run again"
    changed = (tmp_path / "study.toml").read_text().replace("rows = 500", "rows = 501")
    (tmp_path / "study.toml").write_text(changed)
    refused = diskproof_here(tmp_path, "run", "study.toml", "--resume")
    assert refused.returncode == 2
    assert "another version of this study" in refused.stderr


def test_a_data_set_whose_facts_are_damaged_is_loaded_again(tmp_path: Path) -> None:
    write_study(tmp_path, blocks=1)
    assert diskproof_here(tmp_path, "run", "study.toml").returncode in (0, 12)
    [facts] = (tmp_path / "runs" / ".golden").glob("*/image.json")
    before = facts.read_text()
    for damage in ("", "{", '{"data_bytes": "x"}'):
        facts.write_text(damage)
        again = diskproof_here(tmp_path, "run", "study.toml", "--resume")
        assert again.returncode in (0, 12), again.stderr
        assert "loading 1,000 rows into db" in again.stderr
    assert facts.read_text().partition("load_s")[0] == before.partition("load_s")[0]


def test_a_lab_that_was_stopped_amid_a_measurement_makes_its_trial_invalid(tmp_path: Path) -> None:
    """The load is in a session of its own and goes on, so the counters cover another time."""
    write_study(tmp_path, blocks=1, measure_s=1)
    process = begin(tmp_path, "run", "study.toml")
    wait_for(lambda: list((tmp_path / "runs" / "study").glob("*/servers/*/load.log")))
    time.sleep(0.6)
    process.send_signal(signal.SIGSTOP)
    time.sleep(2)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 12, err
    stopped, undisturbed = trials_in(tmp_path)
    assert stopped.finished
    assert "stopped" in [finding.check for finding in invalidating(run_folder(tmp_path), stopped)]
    assert "stopped" not in [finding.check for finding in undisturbed.findings]


def freeze(group: Path, *, on: bool) -> None:
    """Freeze or thaw a control group, of either version; no process of it gets a signal."""
    if (group / "freezer.state").exists():
        (group / "freezer.state").write_text("FROZEN" if on else "THAWED")
    else:
        (group / "cgroup.freeze").write_text("1" if on else "0")


@pytest.fixture
def freezer() -> Iterator[Path]:
    """Make a control group whose processes can be frozen."""
    hierarchy = next((one for one in FREEZERS if one.is_dir()), None)
    if os.geteuid() != 0 or hierarchy is None:
        pytest.skip("freezing processes needs root and control groups")
    group = hierarchy / f"test-{os.getpid()}"
    group.mkdir()
    yield group
    freeze(group, on=False)
    wait_for(lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


@pytest.mark.parametrize("whole", [False, True])
def test_a_paused_lab_makes_its_trial_invalid(tmp_path: Path, freezer: Path, whole: bool) -> None:
    """Nobody sends a signal: the lab alone is frozen, or all its programs with it."""
    write_study(tmp_path, blocks=1, measure_s=1)
    process = begin(tmp_path, "run", "study.toml")
    if whole:
        (freezer / "cgroup.procs").write_text(str(process.pid))
    wait_for(lambda: list((tmp_path / "runs" / "study").glob("*/servers/*/load.log")))
    time.sleep(0.6)
    if not whole:
        (freezer / "cgroup.procs").write_text(str(process.pid))
    freeze(freezer, on=True)
    time.sleep(PAUSED_S + 1)
    freeze(freezer, on=False)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 12, err
    paused, undisturbed = trials_in(tmp_path)
    assert paused.finished
    assert "stopped" in [finding.check for finding in invalidating(run_folder(tmp_path), paused)]
    assert "stopped" not in [finding.check for finding in undisturbed.findings]


@needs_mariadb
@pytest.mark.parametrize("moment", ["loading", "measuring"])
def test_sigkill_leaves_nothing_that_clean_does_not_clear(tmp_path: Path, moment: str) -> None:
    write_study(tmp_path, "mysql", measure_s=3)
    process = begin(tmp_path, "run", "study.toml")
    wanted = {"loading": "mariadb", "measuring": "diskproof-load"}[moment]
    wait_for(lambda: any(wanted in found.name() for found in processes_in(tmp_path)))
    if moment == "measuring":
        wait_for(lambda: list((tmp_path / "runs" / "study").glob("*/servers/*/load.log")))
    process.kill()
    process.communicate()
    cleaned = diskproof_here(tmp_path, "clean")
    assert cleaned.returncode == 0, cleaned.stdout
    assert "removed" in cleaned.stdout
    assert_nothing_left(tmp_path)
    assert diskproof_here(tmp_path, "clean").stdout == "nothing to clean\n"


@needs_mariadb
def test_a_server_that_dies_makes_its_trial_invalid_and_the_run_goes_on(tmp_path: Path) -> None:
    write_study(tmp_path, "mysql", blocks=1, measure_s=3)
    process = begin(tmp_path, "run", "study.toml")
    wait_for(lambda: list((tmp_path / "runs" / "study").glob("*/servers/*/load.log")))
    time.sleep(1)
    victim = next(found for found in processes_in(tmp_path) if found.name() == "mariadbd")
    victim.kill()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 12, err
    trials = trials_in(tmp_path)
    assert [trial.finished for trial in trials] == [False, True]
    message = trials[0].findings[0].message.text
    assert "the server died during the trial" in message
    assert "ready for connections" in message  # the last lines of its log
    assert "the server died" in out
    assert_nothing_left(tmp_path)
    resumed = diskproof_here(tmp_path, "run", "study.toml", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert all(trial.finished for trial in trials_in(tmp_path))


@needs_mariadb
def test_a_variable_that_the_server_does_not_know_ends_the_run_at_once(tmp_path: Path) -> None:
    write_study(tmp_path, "mysql", tuning="variables = { innodb_flash_speed = 11 }")
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 2
    assert "innodb_flash_speed" in result.stderr
    assert "Traceback" not in result.stderr
    assert_nothing_left(tmp_path)


STRAY = """variables = {{ table_open_cache = 99999999 }}
[tunings.stray]
base = "safest"
variables = {{ slow_query_log = true, slow_query_log_file = "{stray}" }}"""


@needs_mariadb
def test_what_a_server_limits_is_noted_and_a_file_that_lands_elsewhere_makes_the_trial_invalid(
    tmp_path: Path,
) -> None:
    """MariaDB caps a variable quietly, and says so if it is asked: on all sides alike."""
    stray = tmp_path / "stray.log"
    write_study(tmp_path, "mysql", blocks=1, tuning=STRAY.format(stray=stray))
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace('[storages.dram]\nram = "600 MiB"\n', ""))
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 12, result.stderr
    limited, strayed = sorted(trials_in(tmp_path), key=lambda trial: "stray" in trial.cell)
    assert all(setting.holds for setting in limited.settings)
    notes = [one.message.text for one in limited.findings]
    assert any(note.startswith("`table_open_cache` = 99999999 was asked for, and the serv") for note in notes)
    assert "placement" not in [one.check for one in invalidating(run_folder(tmp_path), limited)]
    assert "placement" in [one.check for one in invalidating(run_folder(tmp_path), strayed)]
    assert str(stray) in (run_folder(tmp_path).path / "report.md").read_text()
    assert_nothing_left(tmp_path)


def fill(folder: Path) -> None:
    """Leave no byte free. The writes are not buffered: nothing is left to fail when the file is closed."""
    full = pytest.raises(OSError, match="No space left")
    with (folder / "ballast").open("wb", buffering=0) as ballast, full:
        while True:
            ballast.write(b"x" * 2**20)


@needs_mariadb
@needs_root
def test_a_disk_that_fills_up_while_loading_is_reported(tmp_path: Path) -> None:
    write_study(tmp_path, "mysql")
    study = tmp_path / "study.toml"
    study.write_text(study.read_text().replace("rows = 500", "rows = 300_000"))
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=700m", "none", str(small)], check=True)
    try:
        process = begin(tmp_path, "run", "study.toml", "--out", str(small / "runs"))
        wait_for(lambda: list((small / "runs").glob(".golden/*/data/sbtest/sbtest1.*")))
        fill(small)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 2, out + err
        assert "Traceback" not in err
        assert "free" in err or "space" in err.lower() or "is full" in err, err
        assert not [path for path in (small / "runs").glob(".golden/*") if path.name.startswith("diskproof-")]
        assert processes_in(tmp_path) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    write_study(tmp_path, measure_s=8)
    first = begin(tmp_path, "run", "study.toml")
    wait_for(lambda: list((tmp_path / "state").glob("*.jsonl")))
    second = diskproof_here(tmp_path, "run", "study.toml")
    assert second.returncode == 2
    assert f"a run is under way here: process {first.pid}, study study" in second.stderr
    first.send_signal(signal.SIGTERM)
    _, err = first.communicate(timeout=30)
    assert first.returncode == 130, err
    assert_nothing_left(tmp_path)


def test_a_terminal_that_closes_ends_the_run_in_good_order(tmp_path: Path) -> None:
    write_study(tmp_path, measure_s=3)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execve(
            sys.executable, [sys.executable, "-m", "diskproof", "run", "study.toml"], environment(tmp_path)
        )
    wait_for(lambda: list((tmp_path / "runs" / "study").glob("*/servers/*/load.log")))
    os.close(terminal)
    ended, status = 0, 0
    deadline = time.monotonic() + 30
    while not ended and time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    assert ended == pid
    assert os.waitstatus_to_exitcode(status) == 130
    assert_nothing_left(tmp_path)


def test_a_threshold_that_is_not_proved_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    write_study(tmp_path, mix="point-select", blocks=1, rate="")
    claim = 'thresholds = ["ratio of storage dram to disk >= 1000"]\n'
    study = tmp_path / "study.toml"
    study.write_text(claim + study.read_text())
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 10, result.stderr
    assert "threshold not proved: ratio of storage dram to disk >= 1000: " in result.stderr


def test_a_terminal_shows_progress_and_a_pipe_plain_lines(tmp_path: Path) -> None:
    write_study(tmp_path, blocks=1)
    plain = diskproof(tmp_path, "run", "study.toml")
    assert "[1/2]" in plain.stderr
    assert "\x1b" not in plain.stdout + plain.stderr
