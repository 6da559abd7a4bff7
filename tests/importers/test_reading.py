"""Files as they come: what they are, how large, in which encoding; refused politely, and at once."""

import os
from pathlib import Path

import pytest

from diskproof.importers import text as reader
from diskproof.importers.read import read_file
from diskproof.importers.text import read_text
from diskproof.refusal import RefusalError
from diskproof.results.imported import ImportedResult, Settings

SAMPLES = Path(__file__).parent / "samples"
WHOLE = (SAMPLES / "sysbench-0.5-oltp.txt").read_text()


def results_of(path: Path) -> list[ImportedResult]:
    return [found for found in read_file(path) if isinstance(found, ImportedResult)]


def refusal_of(path: Path) -> str:
    with pytest.raises(RefusalError) as refused:
        read_file(path)
    return str(refused.value)


@pytest.fixture(name="path")
def some_path(tmp_path: Path) -> Path:
    return tmp_path / "output.txt"


def test_what_is_no_file_is_refused(tmp_path: Path, path: Path) -> None:
    assert f"there is no file {path}" in refusal_of(path)
    assert "it is a folder: name a file" in refusal_of(tmp_path)
    assert "/dev/zero is a device, not a regular file" in refusal_of(Path("/dev/zero"))
    assert "no name of a file" in refusal_of(Path("a\0b"))


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    assert "is a pipe, not a regular file; save what it holds to a file first" in refusal_of(path)


def test_what_holds_no_output_is_refused(path: Path) -> None:
    path.write_text(" \n\n")
    assert "is empty" in refusal_of(path)
    path.write_bytes(b"\x7fELF\x00\x01" + WHOLE.encode())
    assert "is binary: byte 4 is zero" in refusal_of(path)
    path.write_text("Dear diary,\nnothing was measured today.\n")
    said = refusal_of(path)
    assert "recognised as nothing" in said
    for known in ("sysbench", "fio", "pgbench", "my.cnf"):
        assert known in said


def test_what_is_known_by_sight_and_not_read_is_told_what_to_do(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text('question = "?"\n[design]\nblocks = 5\n')
    assert "run it with `diskproof run`, and name its run folder" in refusal_of(study)
    (tmp_path / "my.cnf").write_text("# port = 3306\n\n;user = me\n")
    assert "holds comments alone, and sets nothing" in refusal_of(tmp_path / "my.cnf")
    # Of another ending, or without a table, nobody knows what it is.
    (tmp_path / "study.txt").write_text("blocks: 5\n")
    assert "recognised as nothing" in refusal_of(tmp_path / "study.txt")


def test_what_is_too_large_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with path.open("wb") as file:
        file.truncate(reader.MOST_BYTES + 1)
    assert "larger than 20 MiB" in refusal_of(path)
    monkeypatch.setattr(reader, "MOST_LINES", 100)
    path.write_text(WHOLE + "\n" * 100)
    assert "more than 100 lines" in refusal_of(path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_each_encoding_is_read(path: Path, encoding: str) -> None:
    path.write_bytes(("Prüfung\n" + WHOLE).encode(encoding))
    (found,) = results_of(path)
    assert found.load.transactions == 2024
    assert any("Latin-1" in remark for remark in found.remarks) is (encoding == "latin-1")


def test_an_endless_line_is_cut(path: Path) -> None:
    path.write_text("x" * 5_000_000 + "\n" + WHOLE)
    (found,) = results_of(path)
    assert found.load.transactions == 2024
    assert "1 lines were longer than 20000 characters and were cut" in found.remarks


def test_json_in_one_line_is_whole(path: Path) -> None:
    path.write_text('{"fio version": "' + "x" * 50_000 + '"}')
    text, remarks = read_text(path)
    assert len(text.content) > 50_000
    assert remarks == []


def test_what_steers_a_terminal_is_gone(path: Path) -> None:
    path.write_text("\x1b]0;title\x07\x1b[2Jabc\x07d\u202ee\n 5%\r 50%\r100% done\r\nlast\n")
    text, _ = read_text(path)
    assert text.lines == ["abc\N{REPLACEMENT CHARACTER}d\N{REPLACEMENT CHARACTER}e", "100% done", "last"]


def test_a_files_name_is_kept_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m<b>`|.txt"
    path.write_text(WHOLE)
    (found,) = results_of(path)
    assert found.source.file.endswith("a\x1b[31m<b>`|.txt")
    assert found.source.sha256 == read_text(path)[0].sha256
    broken = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
    Path(broken).write_text(WHOLE)
    results_of(Path(broken))[0].model_dump_json()


@pytest.mark.parametrize(
    "before",
    ["2020-01-17 16:48:46 ", "2020-01-17T16:48:46.123Z ", "[2020-01-17 16:48:46] ",
     "Jan  7 16:48:46 host sysbench[12]: ", "load_1  | ", "> ", ">"],
)  # fmt: skip
def test_what_a_logger_writes_before_each_line_is_left_out(path: Path, before: str) -> None:
    path.write_text("".join(f"{before}{line}\n" for line in WHOLE.splitlines()))
    (found,) = results_of(path)
    assert found.load.reads == 28448
    assert len(found.intervals_per_s) == 3


@pytest.mark.parametrize("mark", ["`", "**"])
def test_a_line_that_markdown_marks_is_read(path: Path, mark: str) -> None:
    plain = [line.strip() for line in WHOLE.splitlines()]
    marked = [f"{mark}{line}{mark}" if line.startswith("transactions:") else line for line in plain]
    path.write_text("\n".join(marked))
    (found,) = results_of(path)
    assert found.load.transactions


def test_a_post_with_several_tools_in_it_is_read_whole(path: Path) -> None:
    cnf = "```\n[mysqld]\ninnodb_flush_log_at_trx_commit = 2\nsync_binlog = 1\n```\n"
    pgbench = (SAMPLES / "pgbench-steady.txt").read_text()
    path.write_text(f"# Which disk?\n{cnf}\n{WHOLE}\nAnd then:\n{pgbench}")
    found = read_file(path)
    assert [one.source.format for one in found if isinstance(one, ImportedResult)] == [
        "sysbench 0.5 OLTP",
        "pgbench",
    ]
    assert any(isinstance(one, Settings) for one in found)
    lines = [one.source.line for one in found]
    assert lines == sorted(lines)
