"""One function reads all files from outside: regular ones of bounded size, and nothing is waited for."""

import os
import socket
from pathlib import Path

import pytest

from diskproof.reading import MissingFileError, UnreadableError, read_bytes, read_text

MOST = 1000


def refused(path: Path) -> str:
    with pytest.raises(UnreadableError) as refusal:
        read_bytes(path, MOST)
    return str(refusal.value)


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert "cannot be read: No such device or address" in refused(tmp_path / "socket")
    assert "is a pipe, not a regular file; save what it holds to a file first" in refused(tmp_path / "pipe")
    assert "is a device, not a regular file" in refused(Path("/dev/zero"))
    assert "it is a folder: name a file" in refused(tmp_path)
    assert "'a\\x00b' is no name of a file" in refused(Path("a\0b"))


def test_a_line_break_in_a_name_is_shown_and_refused(tmp_path: Path) -> None:
    forged = tmp_path / "x\nAll is well."
    forged.write_text("")
    said = refused(forged)
    assert "x\\nAll is well.' has a line break in its name; rename it" in said
    assert "\n" not in said


def test_a_file_that_is_not_there_is_told_from_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    assert refused(tmp_path / "link") == (
        f"{tmp_path}/link is a link to nowhere, which does not exist; mend or remove the link"
    )
    with pytest.raises(MissingFileError, match="there is no file"):
        read_bytes(tmp_path / "absent", MOST)


def test_a_file_that_is_too_large_is_refused_whatever_size_it_tells(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * (MOST + 1))
    assert "is larger than 1,000 bytes; is it the right file?" in refused(tmp_path / "large")
    assert "is larger than 1,000 bytes" in refused(Path("/proc/kallsyms"))  # tells 0
    (tmp_path / "whole").write_bytes(b"x" * MOST)
    assert len(read_bytes(tmp_path / "whole", MOST)) == MOST


def test_a_text_may_begin_with_a_byte_order_mark_and_must_be_utf_8(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("Größe".encode("utf-8-sig"))
    assert read_text(tmp_path / "text", MOST) == "Größe"
    (tmp_path / "text").write_bytes("Größe".encode("utf-16"))
    with pytest.raises(UnreadableError, match="byte 0 is not UTF-8"):
        read_text(tmp_path / "text", MOST)
