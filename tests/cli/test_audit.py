"""`diskproof audit` as a user has it: kinds told by content, exit codes, refusals, a run left behind."""

import json
import os
from pathlib import Path

from diskproof.results.folder import RunFolder
from support.command import diskproof_here
from support.samples import SAMPLES
from support.trials import make_machine, make_plan, make_series, make_trials

OLTP = str(SAMPLES / "sysbench-1.0-oltp.txt")
PGBENCH = str(SAMPLES / "pgbench-steady.txt")


def test_several_files_are_read_together_and_left_as_a_run(tmp_path: Path) -> None:
    said = diskproof_here(
        tmp_path, "audit", OLTP, str(SAMPLES / "my.cnf"), "--out", "made", "--format", "json"
    )
    assert said.returncode == 10, said.stderr
    kinds = [subject["kind"] for subject in json.loads(said.stdout)["subjects"]]
    assert kinds == ["result", "configuration"]
    assert "run: made" in said.stderr
    report = diskproof_here(tmp_path, "report", "made", "--format", "markdown")
    assert report.returncode == 0, report.stderr
    again = diskproof_here(tmp_path, "audit", "made", "--why")
    assert "imported results" in again.stdout
    assert "warm-up: " in again.stdout
    refused = diskproof_here(tmp_path, "audit", OLTP, "--out", "made")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "is there already" in refused.stderr


def test_a_sound_run_of_ours_passes(tmp_path: Path) -> None:
    plan = make_plan()
    trials = make_trials(plan)
    folder = RunFolder.create(tmp_path / "run", "", plan)
    folder.write(make_machine(plan))
    for trial in trials:
        folder.append(trial)
    for trial_id, rates in make_series(trials).items():
        rows = [(at, "load", "transactions_per_s", rate) for at, rate in enumerate(rates, start=1)]
        folder.write_series(trial_id, rows)
    said = diskproof_here(tmp_path, "audit", "run")
    assert said.returncode == 0, said.stdout
    assert "40 of 40 trials count, and no check failed" in " ".join(said.stdout.split())


def test_what_cannot_be_audited_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "plan.json").write_text('{"study": "x\x1b[2J"}')
    for argument, why in (
        ("pipe", "not a regular file"),
        ("binary", "is binary"),
        ("absent", "there is no file absent"),
        (
            "folder",
            "it has no plan.json; if it holds other tools' output, name its files: `folder/*`",
        ),
        ("broken", "plan.json cannot be read"),
        (str(SAMPLES / "status-table.txt"), "counters (SHOW GLOBAL STATUS) are not read"),
    ):
        said = diskproof_here(tmp_path, "audit", argument)
        assert said.returncode == 2, argument
        assert why in said.stderr
        assert "Traceback" not in said.stderr
    assert "nothing to audit" in diskproof_here(tmp_path, "audit").stderr


def test_names_that_steer_a_terminal_do_not(tmp_path: Path) -> None:
    hostile = tmp_path / "a\x1b[2J`b`|<b>.txt"
    hostile.write_text(Path(OLTP).read_text())
    for form in ("text", "markdown", "json"):
        said = diskproof_here(tmp_path, "audit", hostile.name, "--format", form)
        assert said.returncode == 10
        assert "\x1b" not in said.stdout + said.stderr


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "iostat.log").write_text("Device r/s w/s\nsda 1.0 2.0\n")
    words = (OLTP, "iostat.log", "absent", "--format")
    said = diskproof_here(tmp_path, "audit", *words, "text")
    assert said.returncode == 2
    words_of = " ".join(said.stdout.split())
    assert "1 result; 2 files could not be read: " in words_of
    assert "not read iostat.log is recognised as nothing" in words_of
    assert "there is no file absent" in words_of
    refused = json.loads(diskproof_here(tmp_path, "audit", *words, "json").stdout)["refused"]
    assert [one.split()[0] for one in refused] == ["iostat.log", "there"]


def test_a_sweep_is_listed_by_its_clients(tmp_path: Path) -> None:
    for clients in (1, 2, 16, 128):
        head = f"Number of threads: {clients}\n"
        (tmp_path / f"x.{clients}.txt").write_text(
            Path(OLTP).read_text().replace("Number of threads: 4\n", head)
        )
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["x.1.txt", "x.128.txt", "x.16.txt", "x.2.txt"], "as a shell sorts them"
    told = diskproof_here(tmp_path, "audit", *files, "--out", "made", "--format", "json")
    subjects = json.loads(told.stdout)["subjects"]
    in_order = ["x.1.txt", "x.2.txt", "x.16.txt", "x.128.txt"]
    assert [one["place"] for one in subjects if one["kind"] == "result"] == in_order
    assert [cell.clients for cell in RunFolder.open(tmp_path / "made").plan().cells] == [1, 2, 16, 128]


SLOW = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 500

Threads started!

SQL statistics:
    queries performed:
        read:                            28000
        write:                           8000
        other:                           4000
        total:                           40000
    transactions:                        2000   (4.55 per sec.)
    queries:                             40000  (90.91 per sec.)

General statistics:
    total time:                          440.0000s
    total number of events:              2000

Latency (ms):
         min:                                90000.00
         avg:                               110000.00
         max:                               130000.00
         95th percentile:                   100000.00
         sum:                            220000000.00
"""


def test_a_lower_bound_is_marked_wherever_a_report_shows_it(tmp_path: Path) -> None:
    (tmp_path / "slow.txt").write_text(SLOW)
    shown = json.loads(
        diskproof_here(tmp_path, "audit", "slow.txt", "--out", "made", "--format", "json").stdout
    )
    assert any(">= 100,000 ms" in one["text"] for one in shown["subjects"][0]["remarks"])
    report = diskproof_here(tmp_path, "report", "made").stdout
    assert ">= 100,000" in report
    assert "100,000" not in report.replace(">= 100,000", "")


def test_a_finding_names_the_file_of_several(tmp_path: Path) -> None:
    (tmp_path / "broken.txt").write_text(
        Path(OLTP).read_text().partition("General stat")[0] + "FATAL: lost\n"
    )
    (tmp_path / "conf.d").mkdir()
    for name in "abc":
        (tmp_path / "conf.d" / f"{name}.cnf").write_text("[mysqld]\nsync_binlog = 1\n")
    (tmp_path / "my.cnf").write_text("[mysqld]\ninnodb_flush_log_at_trx_commit = 1\n!includedir conf.d\n")
    said = " ".join(diskproof_here(tmp_path, "audit", "broken.txt", PGBENCH).stdout.split())
    assert "in broken.txt" in said.partition("verdict")[0], said
    alone = diskproof_here(tmp_path, "audit", "broken.txt").stdout
    assert "in broken.txt" not in alone, "there is only one"
    assert "conf.d/a.cnf and 2 more" in " ".join(diskproof_here(tmp_path, "audit", "my.cnf").stdout.split())
