"""What the disk did not take is not there by half, and is told in words."""

import errno
import os
from pathlib import Path

import pytest

from diskproof.refusal import NotWrittenError, refusal_of
from diskproof.results.durable import append_line, make_folder, write_whole, writing


class FullAfter:
    """A disk that takes some more bytes, and then none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room_bytes: int) -> None:
        self.room_bytes = room_bytes
        self._write = os.write
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor: int, content: bytes) -> int:
        if self.room_bytes == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = self._write(descriptor, bytes(content)[: self.room_bytes])
        self.room_bytes -= written
        return written


def test_a_line_that_the_disk_takes_half_of_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trials.jsonl"
    append_line(path, "first")
    full = FullAfter(monkeypatch, 3)
    with pytest.raises(OSError, match="No space left"):
        append_line(path, "second")
    assert path.read_text() == "first\n"
    full.room_bytes = 100
    append_line(path, "third")
    assert path.read_text() == "first\nthird\n"


def test_a_line_is_whole_though_the_disk_takes_it_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, bytes(content)[:2]))
    append_line(tmp_path / "log", "a line")
    assert (tmp_path / "log").read_text() == "a line\n"


def test_what_cannot_be_written_leaves_the_file_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    write_whole(path, "old")

    def full(_path: Path, _content: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with (
        pytest.raises(NotWrittenError, match=r"report\.html cannot be written: its disk is full: make room"),
        writing(path),
    ):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    write_whole(device, "text")
    assert device.is_symlink()
    assert not device.is_file()


def test_only_what_a_user_can_mend_has_a_remedy(tmp_path: Path) -> None:
    read_only = OSError(errno.EROFS, os.strerror(errno.EROFS), str(tmp_path))
    assert refusal_of(read_only) == (
        f"{tmp_path}: Read-only file system: its file system is read-only: name another folder, or mount it "
        "writable"
    )
    assert refusal_of(OSError(errno.EBADF, "Bad file descriptor")) is None
    assert refusal_of(FileNotFoundError(errno.ENOENT, "x", "y")) is None, "that may be a mistake of ours"


def test_a_folder_below_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("nowhere")
    for folder in (tmp_path / "out", tmp_path / "out" / "study" / "run"):
        with pytest.raises(NotWrittenError, match="out is a link to nowhere, which does not exist"):
            make_folder(folder)
