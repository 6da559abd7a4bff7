"""A FUSE server that waits for itself, where no signal reaches it, does not hold up an undo."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from diskproof.system.journal import Journal, clean
from diskproof.system.mounts import is_mounted
from diskproof.system.run_processes import processes_of

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/dev/fuse").exists(), reason="mounts a FUSE file system: root, /dev/fuse"
)

SERVER = """
    import ctypes, os, struct, sys, threading
    mount = sys.argv[1]
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mount(b"diskproof", mount.encode(), b"fuse", 6, options) == 0, os.strerror(ctypes.get_errno())
    def serve():
        _, _, number = struct.unpack_from("IIQ", os.read(fuse, 1 << 20))
        os.write(fuse, struct.pack("IiQ", 80, 0, number) + struct.pack("III", 7, 31, 0) + bytes(52))
        while True:
            os.read(fuse, 1 << 20)  # and no answer
    threading.Thread(target=serve, daemon=True).start()
    print(flush=True)
    os.stat(mount + "/file")
"""


def waits(pid: int) -> bool:
    return "\nState:\tD" in Path(f"/proc/{pid}/status").read_text()


def test_a_server_that_waits_for_itself_is_ended_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    journal = Journal.begin("doomed")
    mount = journal.directory(tmp_path / f"diskproof-{journal.mark}-disk") / "fuse"
    mount.mkdir()
    journal.mounted(mount, "diskproof")
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER), str(mount)],
        stdout=subprocess.PIPE,
        env={**os.environ, "DISKPROOF_RUN": journal.mark},
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"\n"
    time.sleep(0.3)
    server.kill()
    end = time.monotonic() + 20
    while not waits(server.pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert list(processes_of(journal.mark)), "it outlives SIGKILL"
    journal.leave()
    began = time.monotonic()
    undone = clean()
    assert time.monotonic() - began < 8
    assert [item.what for item in undone if not item.done] == []
    assert not is_mounted(mount)
    assert not mount.parent.exists()
    server.communicate()
