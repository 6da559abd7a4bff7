"""The run folder: what was appended is there, whatever moment a kill falls in."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.series import BATCH_ROWS, Row
from diskproof.results.trial import Finding, Trial
from diskproof.wording import numbers

CELL = Cell(
    id="a/b/c/d/e/1c", server="a", storage="b", tuning="c", workload="d", memory_bytes=2**28, clients=1
)
PLAN = Plan(
    study="s",
    question="?",
    seed=1,
    same_within=0.03,
    warm_up_s=1,
    measure_s=1,
    cells=[CELL],
    trials=[PlannedTrial(id=f"b01-t{at:02}", block=1, position=at, cell=CELL.id) for at in (1, 2)],
    estimated_s=1,
    estimated_bytes=1,
)


def trial(identity: str, *, finished: bool = True) -> Trial:
    return Trial(
        id=identity,
        cell=CELL.id,
        block=1,
        position=1,
        started_at="2026-01-01T00:00:00+00:00",
        finished=finished,
    )


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", "question = '?'", PLAN)


def test_what_is_written_is_read_back(folder: RunFolder) -> None:
    folder.append(trial("b01-t01"))
    folder.append(trial("b01-t02"))
    again = RunFolder.open(folder.path)
    assert again.plan() == PLAN
    assert [found.id for found in again.trials()] == ["b01-t01", "b01-t02"]
    assert again.machine() is None


def test_a_torn_line_is_no_trial_and_the_next_one_is_whole(folder: RunFolder) -> None:
    folder.append(trial("b01-t01"))
    path = folder.path / "trials.jsonl"
    whole = path.read_bytes()
    for cut in (1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole + whole[:cut])
        assert [found.id for found in folder.trials()] == ["b01-t01"]
        folder.append(trial("b01-t02"))
        assert [found.id for found in folder.trials()] == ["b01-t01", "b01-t02"]


LINE_ENDS = "a\u2028b\u2029c\x85d\x0be\rf"
"""What Unicode calls a line's end, and JSON leaves as it is."""


def test_text_that_unicode_would_break_stays_on_its_line(folder: RunFolder) -> None:
    said = Finding(check="finished", severity="note", message=LINE_ENDS)
    folder.append(trial("b01-t01").model_copy(update={"findings": [said]}))
    folder.append(trial("b01-t02"))
    assert [found.id for found in folder.trials()] == ["b01-t01", "b01-t02"]
    assert folder.trials()[0].findings == [said]


def test_a_kill_within_a_character_is_a_torn_line_too(folder: RunFolder) -> None:
    folder.append(trial("b01-t01"))
    path = folder.path / "trials.jsonl"
    path.write_bytes(path.read_bytes() + '{"id": "b01-t02", "cell": "é'.encode()[:-1])
    assert [found.id for found in folder.trials()] == ["b01-t01"]


WRITE_AND_READ = """
import sys
from pathlib import Path
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan
plan = Plan.model_validate_json(sys.stdin.buffer.read())
folder = RunFolder.create(Path(sys.argv[1]), "question = '\\u00e9\\u2192?'", plan)
assert folder.study_text() == "question = '\\u00e9\\u2192?'"
assert folder.plan() == plan
"""


def test_a_run_folder_is_utf_8_in_every_locale(tmp_path: Path) -> None:
    plan = PLAN.model_copy(update={"question": "é→?"})
    subprocess.run(
        [sys.executable, "-c", WRITE_AND_READ, str(tmp_path / "run")],
        input=plan.model_dump_json().encode(),
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        check=True,
    )
    assert (tmp_path / "run" / "study.toml").read_bytes() == "question = 'é→?'".encode()


def test_names_are_on_the_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was synced may still lose its name with the power: its folder is synced after it."""
    synced: list[Path] = []
    sync = os.fsync

    def recording(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", recording)
    folder = RunFolder.create(tmp_path / "runs" / "study" / "now", "question = '?'", PLAN)
    assert {tmp_path, tmp_path / "runs", tmp_path / "runs" / "study"} <= set(synced)
    assert synced.index(folder.path / "plan.json.partial") < len(synced) - 1
    assert synced[-1] == folder.path
    folder.append(trial("b01-t01"))
    assert synced[-2:] == [folder.path / "trials.jsonl", folder.path]
    folder.append(trial("b01-t02"))
    assert synced[-1] == folder.path / "trials.jsonl"
    folder.write_series("b01-t01", [])
    assert synced[-2:] == [folder.path / "series" / "b01-t01.parquet.partial", folder.path / "series"]


def test_of_a_repeated_trial_the_last_counts(folder: RunFolder) -> None:
    folder.append(trial("b01-t01", finished=False))
    folder.append(trial("b01-t01"))
    assert [found.finished for found in folder.trials()] == [True]


def test_series_keep_their_columns(folder: RunFolder) -> None:
    folder.write_series("b01-t01", [(0.5, "load", "transactions_per_s", 12.0)])
    folder.write_series("b01-t02", [])
    full, empty = folder.series("b01-t01"), folder.series("b01-t02")
    assert full is not None
    assert empty is not None
    assert full.to_pylist() == [{"t_s": 0.5, "source": "load", "metric": "transactions_per_s", "value": 12.0}]
    assert empty.num_rows == 0
    assert folder.series("b09-t09") is None


def row(t_s: float, source: str = "load") -> Row:
    return (t_s, source, "transactions_per_s", 2 * t_s)


def test_a_series_is_written_in_batches_and_read_in_parts(folder: RunFolder) -> None:
    writer = folder.series_writer("b01-t01")
    writer.add(row(float(second)) for second in range(2 * BATCH_ROWS + 5))
    partial = folder.path / "series" / "b01-t01.parquet.partial"
    assert partial.stat().st_size > BATCH_ROWS, "the first batches lie on the disk before the end"
    writer.add([row(0.5, "host"), row(1.5, "host")])
    assert folder.series("b01-t01") is None, "a series has its name only when it is whole"
    writer.close()
    writer.add([row(9.0)])
    writer.close()
    assert pq.ParquetFile(folder.path / "series" / "b01-t01.parquet").num_row_groups == 3
    assert not partial.exists()
    whole = folder.series("b01-t01")
    assert whole is not None
    assert whole.num_rows == 2 * BATCH_ROWS + 7
    part = folder.series("b01-t01", source="host", metric="transactions_per_s")
    assert part is not None
    assert part["t_s"].to_pylist() == [0.5, 1.5]
    none = folder.series("b01-t01", source="host", metric="cpu_busy")
    assert none is not None
    assert none.num_rows == 0


def test_a_torn_series_is_none(folder: RunFolder) -> None:
    folder.write_series("b01-t01", [row(float(second)) for second in range(1000)])
    path = folder.path / "series" / "b01-t01.parquet"
    whole = path.read_bytes()
    for torn in (b"", whole[:3], whole[: len(whole) // 2], whole[:-1], whole[:50] + bytes(len(whole) - 50)):
        path.write_bytes(torn)
        assert folder.series("b01-t01") is None
    damaged = bytearray(whole)
    damaged[4:60] = bytes(56)  # the first page, which the footer still promises
    path.write_bytes(damaged)
    assert folder.series("b01-t01") is None


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"has no plan\.json"):
        RunFolder.open(tmp_path)


def test_a_run_folder_is_never_made_over_another(folder: RunFolder) -> None:
    with pytest.raises(FileExistsError):
        RunFolder.create(folder.path, "", PLAN)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1536, "1.5 KiB"), (128 * 2**20, "128 MiB"), (3 * 2**40, "3 TiB")]
)
def test_sizes_are_written_as_people_do(size: int, text: str) -> None:
    assert numbers.size(size) == text


def test_a_line_that_is_no_record_is_told_with_its_number(folder: RunFolder) -> None:
    folder.append(trial("b01-t01"))
    path = folder.path / "trials.jsonl"
    whole = path.read_text()
    for damaged, said in (
        ("garbage\n", r"trials\.jsonl, line 2, cannot be read: it is no JSON"),
        ("\n", r"line 2, cannot be read: it is no JSON"),
        ("{}\n", r"line 2, cannot be read: `id` is missing; .* another version of diskproof"),
        (whole.replace('"block":1', '"block":"x"'), r"line 2, cannot be read: `block`: .*, and is 'x'"),
        (whole.replace(CELL.id, "x/y"), r"line 2, is of a cell .x/y. that .*plan\.json does not have"),
        (
            whole.replace("b01-t01", "b09-t01"),
            r"is of a trial .b09-t01 of .*plan\.json does not have",
        ),
        (whole.replace("b01-t01", "../../../../etc/passwd"), r"line 2, cannot be read: `id`: .*etc/passwd"),
        ("\ufffd\x00\n", r"line 2, cannot be read: it is no JSON"),
    ):
        path.write_text(whole + damaged)
        with pytest.raises(RunFolderError, match=said):
            folder.trials()


def test_what_only_another_version_writes_is_passed_over(folder: RunFolder) -> None:
    folder.append(trial("b01-t01"))
    path = folder.path / "trials.jsonl"
    path.write_text(path.read_text().replace('"block":1', '"block":1,"moon":1'))
    assert folder.trials() == [trial("b01-t01")]


def test_a_plan_without_an_end_is_refused(folder: RunFolder) -> None:
    path = folder.path / "plan.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"at_most_s": float("inf")}))
    with pytest.raises(RunFolderError, match="at_most_s"):
        RunFolder.open(folder.path).plan()


def test_the_folder_of_a_studys_runs_is_told_from_a_run(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=rf"it holds runs, the newest is {folder.path}"):
        RunFolder.open(tmp_path)
    with pytest.raises(RunFolderError, match="there is no such folder"):
        RunFolder.open(tmp_path / "none")
    with pytest.raises(RunFolderError, match="it is a file"):
        RunFolder.open(folder.path / "plan.json")


def test_a_study_that_is_gone_from_its_run_is_told(folder: RunFolder) -> None:
    (folder.path / "study.toml").unlink()
    with pytest.raises(RunFolderError, match=r"there is no file .*study\.toml"):
        folder.study_text()


def test_each_opening_of_a_run_keeps_the_bytes_of_its_own_disks(tmp_path: Path) -> None:
    """A session that goes on with a run formats its disks anew: logs of requests begin from other bytes."""
    first, second = RunFolder(tmp_path), RunFolder(tmp_path)
    images = first.images_folder()
    (images / "ssd.image").write_bytes(b"first")
    assert first.images_folder() == images
    assert second.images_folder() != images
    assert list(second.images_folder().iterdir()) == []
    assert (images / "ssd.image").read_bytes() == b"first"


@pytest.mark.parametrize("name", ["plan.json", "machine.json", "trials.jsonl", "cuts.jsonl", "study.toml"])
def test_a_pipe_or_a_link_in_the_place_of_a_file_is_refused(folder: RunFolder, name: str) -> None:
    def read_all() -> None:
        RunFolder.open(folder.path).plan()
        folder.study_text()
        folder.machine()
        folder.trials()
        folder.cuts()

    path = folder.path / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(RunFolderError, match="is a pipe, not a regular file"):
        read_all()
    path.unlink()
    path.symlink_to("nowhere")
    with pytest.raises(RunFolderError, match="is a link to nowhere"):
        read_all()


def test_a_series_that_is_none_is_left_out(folder: RunFolder) -> None:
    path = folder.path / "series" / "b01-t01.parquet"
    os.mkfifo(path)
    assert folder.series("b01-t01") is None
    path.unlink()
    pq.write_table(pa.table({"t_s": [1], "value": ["x"]}), path)
    assert folder.series("b01-t01", source="load") is None
    path.unlink()
    folder.write_series("b01-t01", [(1.0, "load-source", "metric", 2.0)])
    path.write_bytes(path.read_bytes().replace(b"load-source", b"load-\xff\xfe\xfdrce"))
    assert folder.series("b01-t01") is None


def test_a_plan_with_damaged_cuts_is_refused(folder: RunFolder) -> None:
    crash = {"cells": [], "ways": {}, "trials": [], "cuts": 2, "keep": "random", "estimated_s": 1}
    crash |= {"accounts": 10, "filler_bytes": 0, "cut_after_s": 1, "cut_before_s": 2}
    plan = json.loads(PLAN.model_dump_json()) | {"crash": crash}
    (folder.path / "plan.json").write_text(json.dumps(plan))
    assert folder.plan().crash is not None
    wrong: list[object] = [
        [],
        {**crash, "cells": 1},
        {**crash, "cells": [{"storage": []}]},
        {**crash, "ways": {"a": [1]}},
    ]
    for damaged in wrong:
        (folder.path / "plan.json").write_text(json.dumps(plan | {"crash": damaged}))
        with pytest.raises(RunFolderError, match="cannot be read"):
            folder.plan()
