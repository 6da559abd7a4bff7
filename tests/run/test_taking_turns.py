"""Sides that are up at once and measured in alternate windows: real servers, and what is refused."""

import json
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from diskproof.audit import kinds
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Phases
from diskproof.run import capacity, trials
from diskproof.run.turns import GAP_S, Turns, length_s
from diskproof.study.plan import make_plan, next_block
from diskproof.study.read import StudyError, StudyFile, parse_study
from diskproof.system.mounts import mounts
from support.command import begin, diskproof, diskproof_here, marks_in, wait_for
from support.servers import needs_mariadb
from support.studies import plan_of

pytestmark = pytest.mark.timeout(240)

STUDY = """
question = "Which of two?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0.3
measure_s = 1
clients = [2]
memory = ["32 MiB"]
alternate = true
window_s = 0.25
[servers.db]
family = "sqlite"
[storages.memory]
ram = "600 MiB"
[tunings.safest]
[tunings.unsafe]
[workloads.load]
mix = "update-index"
tables = 1
rows = 500
"""

ID = attrgetter("id")

MARIADB = STUDY.replace("sqlite", "mysql")


def write(folder: Path, text: str) -> None:
    (folder / "study.toml").write_text(text)


def folder_of(path: Path) -> RunFolder:
    (run,) = (path / "runs" / "study").iterdir()
    return RunFolder.open(run)


def assert_nothing_left(folder: Path, marks: Iterable[str] = ()) -> None:
    """Find nothing of the folder's runs, whose marks their mounts carry."""
    wait_for(lambda: not marks_in(folder), 10)
    assert not list((folder / "state").glob("*.jsonl"))
    assert not [mount for mount in mounts() for mark in marks if f"diskproof-{mark}" in mount.mount_point]


@needs_mariadb
def test_two_servers_are_up_at_once_and_measured_in_turns(tmp_path: Path) -> None:
    write(tmp_path, MARIADB)
    made = diskproof(tmp_path, "run", "study.toml")
    assert made.returncode in (0, 12), made.stderr
    folder = folder_of(tmp_path)
    one, other = folder.trials()
    assert one.finished and other.finished, one.findings + other.findings
    assert (one.took_turns_with, other.took_turns_with) == ([other.id], [one.id])
    assert "--turn 1/2" in one.load_command and "--turn 2/2" in other.load_command
    for trial in (one, other):
        assert trial.load is not None and trial.load.windows is not None and trial.usage is not None
        assert (trial.load.windows.runs, trial.load.windows.seconds) == (2, 0.25)
        # Two clients that never rest: so the seconds are those at work (Little's law).
        assert trial.load.latency_us is not None
        in_service = trial.load.transactions_per_s * trial.load.latency_us.mean / 1e6
        assert in_service == pytest.approx(2, rel=0.15)
        assert trial.usage.seconds > 1.2
        assert trial.timings is not None and trial.timings.measure_s == 1 and trial.timings.total_s > 1
        # The other side's processes are known, and what is of the whole machine is not this trial's.
        assert {"server", "load", "sides"} <= trial.usage.cpu.keys()
        assert trial.usage.activity is None and trial.usage.context_switches is None
        table = folder.series(trial.id, source="load", metric="transactions_per_s")
        assert table is not None
        # A window in which the machine let no client work has no row.
        times = [row["t_s"] for row in table.to_pylist()]
        assert 1 <= len([t_s for t_s in times if t_s > 0]) <= 4
        assert 1 <= len([t_s for t_s in times if t_s < 0]) <= 2
    paths = {place.path for trial in (one, other) for place in trial.places}
    assert len(paths) == 2, "each has a file system of its own"
    assert not any(Path(path).exists() for path in paths)
    report = json.loads(diskproof_here(tmp_path, "report", str(folder.path), "--format", "json").stdout)
    assert "in alternate windows" in made.stdout
    for limit in report["limits"]["cells"]:
        assert limit["limit"] is None and "took turns" in json.dumps(limit["missing"])
    assert_nothing_left(tmp_path)


def test_blocks_are_added_with_all_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "OVERLAP_ALLOWED", 1.0)  # a busy machine keeps transactions waiting
    monkeypatch.setattr(RunFolder, "trials_s", lambda folder: 5.0 * len(folder.trials()))
    monkeypatch.setattr(
        trials, "_mean_seconds", lambda folder: dict.fromkeys(map(ID, folder.plan().cells), 5)
    )
    text = STUDY.replace("measure_s = 1", "measure_s = 0.5").replace(
        "blocks = 1", 'blocks = 2\nsame_within = 0.0001\nuntil = "decided"\nat_most_s = 40'
    )
    write(tmp_path, text.replace("[tunings.unsafe]", '[tunings.as-safe]\nbase = "safest"'))
    made = diskproof_here(tmp_path, "run", "study.toml")
    assert made.returncode in (0, 12), made.stderr
    folder = folder_of(tmp_path)
    plan, made_trials = folder.plan(), {trial.id: trial for trial in folder.trials()}
    assert len(plan.blocks()) == 4
    for group in plan.at_once(plan.trials):
        assert len(group) == 2
        assert made_trials[group[0].id].took_turns_with == [group[1].id]


@needs_mariadb
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_end_while_both_are_up_leaves_nothing(tmp_path: Path, how: signal.Signals) -> None:
    write(tmp_path, MARIADB.replace("measure_s = 1", "measure_s = 20"))
    process = begin(tmp_path, "run", "study.toml")

    def loads() -> int:
        names: list[str] = []
        for one in chain.from_iterable(marks_in(tmp_path).values()):
            with suppress(psutil.NoSuchProcess):
                names.append(one.name())
        return min(names.count("diskproof-load"), names.count("mariadbd"))

    wait_for(lambda: process.poll() is not None or loads() == 2)
    time.sleep(1)
    marks = set(marks_in(tmp_path))
    process.send_signal(how)
    process.communicate(timeout=60)
    if how == signal.SIGKILL:
        assert diskproof(tmp_path, "clean").returncode == 0
    else:
        assert process.returncode == 130
    assert marks
    assert_nothing_left(tmp_path, marks)


@needs_mariadb
def test_if_one_server_dies_neither_trial_counts(tmp_path: Path) -> None:
    write(tmp_path, MARIADB.replace("measure_s = 1", "measure_s = 6"))
    process = begin(tmp_path, "run", "study.toml")
    wait_for(lambda: len(list((tmp_path / "runs" / "study").glob("*/servers/*/load.log"))) == 2)
    time.sleep(1)
    found = [one for several in marks_in(tmp_path).values() for one in several]
    next(one for one in found if one.name() == "mariadbd").kill()
    began = time.monotonic()
    process.communicate(timeout=120)
    assert time.monotonic() - began < 12, "the other side does not go on alone"
    one, other = folder_of(tmp_path).trials()
    said = sorted((trial.findings[-1].message.text for trial in (one, other)), key=len)
    assert said[0].startswith("it took turns with b01-t0") and "the server died" in said[1]
    assert not one.finished and not other.finished
    assert_nothing_left(tmp_path)
    resumed = diskproof(tmp_path, "run", "study.toml", "--resume")
    assert resumed.returncode in (0, 12), resumed.stderr
    assert all(trial.finished for trial in folder_of(tmp_path).trials())


DIRECTORIES = '[storages.here]\ndirectory = "/tmp/one"\n[storages.there]\ndirectory = "/tmp/two"'


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("alternate = true\n", "", "it needs `alternate = true`"),
        ("[tunings.unsafe]\n", "", "nothing can take turns: give two levels of server, storage, tuning or"),
        ('["32 MiB"]', '["32 MiB", "64 MiB"]', "tuning and memory vary: make a study of each"),
        (
            'mix = "update-index"\n',
            'mix = "update-index"\nrate = 100\n',
            "a load at a set rate cannot alternate",
        ),
        (
            "[workloads.load]",
            '[workloads.job]\nkind = "slap"\nqueries = 100\n[workloads.load]',
            "it ends by itself, so it cannot alternate",
        ),
        ('ram = "600 MiB"', 'directory = "/tmp/x"', "all sides lie on `directory`, so what one writes back"),
        ("clients = [2]", "clients = [9000]", "its sides have 18000 clients together"),
        (
            '[storages.memory]\nram = "600 MiB"\n[tunings.safest]\n[tunings.unsafe]',
            '[storages.a]\nram = "600 MiB"\n[storages.b]\nram = "600 MiB"\n[tunings.safest]',
            "`a` has the same place",
        ),
        (
            '[storages.memory]\nram = "600 MiB"\n[tunings.safest]\n[tunings.unsafe]',
            '[storages.a]\nram = "600 MiB"\n[storages.b]\nblock = "/dev/sdx"\nformat = "/dev/sdx"\n'
            "[tunings.safest]",
            "it cannot be told whether a place that is `block` shares a disk",
        ),
    ],
)
def test_what_cannot_alternate_is_refused(before: str, after: str, why: str) -> None:
    assert before in STUDY
    with pytest.raises(StudyError) as refused:
        plan_of(STUDY.replace(before, after))
    assert why in str(refused.value)


def refused_by_the_machine(text: str) -> str:
    file = StudyFile("study", text, parse_study(text, "study.toml"))
    with pytest.raises(RefusalError) as refused:
        capacity._check_memory(file.study, make_plan(file))
        capacity._check_apart(file.study, make_plan(file))
    return str(refused.value)


def test_sides_that_do_not_fit_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=300 * 2**20))
    said = refused_by_the_machine(STUDY)
    assert "safest" in said and "unsafe" in said and "together need about" in said
    assert "leave `alternate` out" in said
    in_turn = STUDY.replace("alternate = true\nwindow_s = 0.25\n", "")
    file = StudyFile("study", in_turn, parse_study(in_turn, "study.toml"))
    capacity._check_memory(file.study, make_plan(file))  # one at a time they fit


def test_sides_on_one_disk_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = STUDY.replace('[storages.memory]\nram = "600 MiB"', DIRECTORIES).replace("[tunings.unsafe]\n", "")
    on = SimpleNamespace(filesystem="ext4")
    monkeypatch.setattr(capacity, "mount_of", lambda _path: on)
    monkeypatch.setattr(capacity, "block_device", lambda _mount: SimpleNamespace(counted=["sda"]))
    assert "storages `here` and `there` lie on one disk (sda)" in refused_by_the_machine(text)
    monkeypatch.setattr(capacity, "block_device", lambda _mount: None)
    assert "lies on no single disk" in refused_by_the_machine(text)


def test_a_block_keeps_sides_together_and_the_first_one_is_random() -> None:
    text = STUDY.replace("blocks = 1", "blocks = 12").replace("clients = [2]", "clients = [1, 2, 4]")
    plan = plan_of(text)
    firsts = set()
    for group in plan.at_once(plan.trials):
        cells = [plan.cell(planned.cell) for planned in group]
        assert {cell.tuning for cell in cells} == {"safest", "unsafe"} and len(
            {cell.clients for cell in cells}
        ) == 1
        assert group[1].position == group[0].position + 1
        firsts.add(cells[0].tuning)
    assert len(firsts) == 2
    two = {cell.id for cell in plan.cells if cell.clients == 2}
    assert {planned.cell for planned in next_block(plan, two)} == two


def test_a_plan_says_that_levels_alternate(tmp_path: Path) -> None:
    write(tmp_path, STUDY)
    said = diskproof_here(tmp_path, "plan", "study.toml")
    assert "the levels of tuning are up at once, in alternate windows" in " ".join(said.stdout.split())


def test_the_windows_of_a_side() -> None:
    assert [length_s(*times) for times in [(0.5, 0.5), (1.5, 0.5), (60, 0.5), (1, 0.4)]] == [
        0.25,
        0.375,
        0.5,
        0.25,
    ]
    assert length_s(1, 0.2) == pytest.approx(1 / 6, abs=1e-6) and length_s(1, 0.2) * 6 >= 1
    phases = Phases(warm_up_s=0.6, measure_s=2)
    turns = Turns(["a", "b"], 0.5)
    slots = [round(turns.turn(one).warming_s(phases) / (0.5 + GAP_S)) for one in ("a", "b")]
    assert slots == [4, 4]  # A B B A A: two windows of warm-up each
    assert round(turns.turn("a").warming_s(Phases(warm_up_s=0.5, measure_s=2)) / (0.5 + GAP_S)) == 3
