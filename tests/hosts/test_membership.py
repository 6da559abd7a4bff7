"""Machines join a cluster of real Ray, are listed, are refused in words, and leave."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from diskproof.hosts import membership
from diskproof.hosts.membership import FIRST_PORT, PORTS
from diskproof.refusal import RefusalError
from machines import Host, leave


def test_hosts_join_are_checked_and_leave(hosts: list[Host], monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c = hosts
    leave(hosts)
    assert "is in no cluster" in a.run("host", "list", expect=2)
    assert "nothing answers at" in b.run("host", "join", a.address, "--token-file", "no", expect=2)
    a.head()
    token = a.scratch / "token"
    assert token.stat().st_mode & 0o777 == 0o600
    folder = _folder(a)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [*folder.glob("ray/session_*/sockets/raylet")]
    assert "already the host `a`" in a.run("host", "start", "--head", expect=2)

    (a.scratch / "open").write_text(token.read_text())
    assert "others can read the token" in b.run("host", "join", a.address, "--token-file", "open", expect=2)
    wrong = a.scratch / "wrong"
    wrong.touch(mode=0o600)
    wrong.write_text("0" * 64)
    refused = c.start("host", "join", a.address, "--token-file", "wrong")  # Ray tries for 20 s

    metadata = a.scratch / "other" / "diskproof-9.9.9.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.1\nName: diskproof\nVersion: 9.9.9\n")
    monkeypatch.setitem(b.env, "PYTHONPATH", f"{metadata.parent.parent}:{os.environ.get('PYTHONPATH', '')}")
    b.join(a)
    assert FIRST_PORT in open_ports(a)
    assert open_ports(a) | open_ports(b) <= {*range(FIRST_PORT, FIRST_PORT + PORTS)}
    listed = " ".join(a.run("host", "list").split())
    assert f"b {b.address} python" in listed
    assert "diskproof 9.9.9 there" in listed

    said = refused.communicate(timeout=60)[1]
    assert refused.returncode == 2
    assert "refuses the token in" in said
    b.run("host", "leave")
    a.run("host", "leave")
    left = [path for path in Path("/proc").glob("[0-9]*") if str(token).encode() in _environ(path)]
    assert [(path / "cmdline").read_text() for path in left] == []
    assert not folder.exists()
    assert not any(host.is_member for host in hosts)


def open_ports(host: Host) -> set[int]:
    """Return the TCP ports on which a machine takes connections (`man 5 proc_net`: state 0A)."""
    tables = [Path(f"/proc/{host.holder.pid}/net/{kind}").read_text() for kind in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table.splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}


def _folder(host: Host) -> Path:
    member = json.loads((host.state / "host.json").read_text())
    return Path("/tmp") / f"diskproof-{member['mark']}"


def _environ(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


NO_HEAD = """
import socketserver, sys

class Answers(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))  # its settings: none
        self.rfile.read(24)
        while frame := self.rfile.read(9):
            self.rfile.read(int.from_bytes(frame[:3]))
            if frame[3] == 1:  # a request: status 404 is entry 13 of HPACK's static table
                self.wfile.write(bytes([0, 0, 1, 1, 5]) + frame[5:] + bytes([0x80 | 13]))

socketserver.ThreadingTCPServer((sys.argv[1], 6380), Answers).serve_forever()
"""
"""A server of HTTP/2 (RFC 9113) that knows no page: a proxy is one."""


def test_a_port_that_is_no_heads_is_named(hosts: list[Host]) -> None:
    a, b, _ = hosts
    leave(hosts)
    token = a.scratch / "any"
    token.touch(mode=0o600)
    token.write_text("0" * 64)
    on_a = ["nsenter", "-t", str(a.holder.pid), "-n", "--", sys.executable, "-c", NO_HEAD, a.address]
    server = subprocess.Popen(on_a, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 10
        while 6380 not in open_ports(a) and time.monotonic() < until:
            time.sleep(0.05)
        said = b.run("host", "join", f"{a.address}:6380", "--token-file", "any", expect=2)
    finally:
        server.kill()
        server.wait()
    assert f"{a.address}:6380 answers, but not as a head of diskproof" in said
    assert not b.is_member


@pytest.mark.parametrize(("complaint", "left"), [("timed out during startup", 0), ("no such option", 1)])
def test_a_start_that_a_busy_machine_missed_is_tried_again(
    complaint: str, left: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("ray")
    complaints = [f"Exception: {complaint}", None]
    monkeypatch.setattr(membership, "_run_ray", lambda *_: complaints.pop(0))
    member = membership.Membership(
        name="a", head="10.0.0.1:1", address="10.0.0.1", token_file="token", mark="0", is_head=True
    )
    with suppress(RefusalError):
        membership._start_ray(member, FIRST_PORT, tmp_path)
    assert len(complaints) == left


@pytest.mark.parametrize("text", ["", "{}", '{"name": "a", "colour": "red"}'])
def test_a_file_of_another_version_is_refused_in_words(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path))
    (tmp_path / "host.json").write_text(text)
    with pytest.raises(RefusalError, match=r"host\.json is of another version of diskproof, or damaged"):
        membership.leave()


def test_without_ray_the_extra_is_named(tmp_path: Path) -> None:
    code = (
        "import sys, importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'ray' else found(name, *rest)\n"
        "from diskproof.cli import call; sys.exit(call(['host', 'list']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "pip install 'diskproof[hosts]'" in done.stderr
