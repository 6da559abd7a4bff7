"""Disks of one layout lose power together, however long each takes over what survives."""

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

import pytest

from diskproof.disk import Control, DiskError, Facts, Served, ask_at_once
from diskproof.results.machine import VirtualFacts
from diskproof.storage.layout import Layout
from diskproof.storage.virtual import PowerCut, ServedDisk

WAIT_S = 5.0


@contextmanager
def answering(
    path: Path, answer: Facts, together: threading.Barrier, heard: list[Facts]
) -> Iterator[Control]:
    """A disk that answers one request once all of them were asked."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(WAIT_S)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                heard.append(json.loads(connection.makefile("rb").readline()))
                try:
                    together.wait(WAIT_S)
                except threading.BrokenBarrierError:
                    return  # without an answer
                connection.sendall(json.dumps(answer).encode() + b"\n")

        thread = threading.Thread(target=serve)
        thread.start()
        yield Control(path)
        thread.join()


class OfDisks(Layout):
    """A layout of disks that are there already."""

    def __init__(self, disks: list[ServedDisk]) -> None:
        self._given = disks

    def cut_disks(self) -> list[ServedDisk]:
        return list(self._given)


def served(control: Control, name: str) -> ServedDisk:
    facts = VirtualFacts(name=name, device="null", title="", model="null", size_bytes=1, one_at_a_time=False)
    process = cast("subprocess.Popen[bytes]", None)
    return ServedDisk(Served(process, control, None, {}), Path(), facts)


@pytest.mark.parametrize("seed", range(4))
def test_each_is_asked_before_any_has_answered(tmp_path: Path, seed: int) -> None:
    together, heard = threading.Barrier(3), list[Facts]()
    with ExitStack() as stack:
        disks = [
            served(
                stack.enter_context(
                    answering(tmp_path / name, {"ok": True, "at_monotonic_us": at_us}, together, heard)
                ),
                name,
            )
            for name, at_us in {"data": 30, "log": 10, "binlog": 20}.items()
        ]
        answers = OfDisks(disks).cut(PowerCut(seed, "subset"))
    assert [(disk.facts.name, facts["at_monotonic_us"]) for disk, facts in answers] == [
        ("log", 10),
        ("binlog", 20),
        ("data", 30),
    ]
    assert {(one["do"], one["keep"]) for one in heard} == {("cut", "subset")}
    assert len({one["seed"] for one in heard}) == 3, "each disk draws for itself"


def test_refusals_and_missing_disks_are_reported(tmp_path: Path) -> None:
    alone, heard = threading.Barrier(1), list[Facts]()
    with (
        answering(tmp_path / "one", {"ok": False, "error": "nothing is tracked"}, alone, heard) as one,
        pytest.raises(DiskError, match="refused `cut`: nothing is tracked"),
    ):
        ask_at_once("cut", [(one, {})])
    with pytest.raises(DiskError, match="is gone"):
        ask_at_once("cut", [(Control(tmp_path / "nobody"), {})])
